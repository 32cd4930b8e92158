"""A server and a real browser: the installed Chromium, driven by Playwright."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from tests.web.server import Client, serving


def _chromium() -> str:
    """Where the browser is: CHROMIUM, or on the PATH."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        raise RuntimeError("no browser: apt-get install chromium, or CHROMIUM=/path/to/it")
    return found


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with serving(tmp_path_factory.mktemp("games")) as asking:
        yield asking


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # Chromium's sandbox doesn't work for root; the pages are our own.
        running = playwright.chromium.launch(executable_path=_chromium(), args=["--no-sandbox"])
        yield running
        running.close()


class Screen:
    """A page on the server: whatever goes wrong in it fails the test; `traffic` is what it got."""

    def __init__(self, page: Page, client: Client) -> None:
        self.page, self.client = page, client
        self.wrong: list[str] = []
        self.traffic: list[tuple[str, str]] = []
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", self._said)

    def _said(self, said: Any) -> None:
        if said.type == "error":
            self.wrong.append(said.text)

    def keep(self, response: Any) -> None:
        """Keeps what the page got, for `page.on("response", …)`."""
        if "/api/" in response.url:
            self.traffic.append((response.url, response.text()))

    def open(self, path: str = "") -> None:
        """Goes to an address of the page."""
        self.page.goto(f"http://127.0.0.1:{self.client.port}/{path}")

    def start(self, game: str, seats: list[str]) -> None:
        """A new game by the form."""
        self.open()
        self.page.select_option("#game", game)
        self.page.select_option("#players", str(len(seats)))
        for seat, who in enumerate(seats):
            self.page.fill(f"#seat{seat}", who)
        self.page.fill("#seed", "4")
        self.page.click("button.main")
        self.page.wait_for_selector(".status, .cover h1")

    def status(self) -> str:
        """What the page says."""
        return str(self.page.inner_text(".status"))

    def click(self) -> bool:
        """Clicks on something that is lit, as soon as anything is; False at the end of the game."""
        return bool(
            self.page.wait_for_function(
                """() => {
                  const lit = ".board [data-part].lit, .choices [data-choice]";
                  const found = [...document.querySelectorAll(lit)];
                  const status = document.querySelector(".status").textContent;
                  if (!found.length) return /wins?\\.|draw/.test(status) ? "over" : "";
                  const one = found[Math.floor(Math.random() * found.length)];
                  one.dispatchEvent(new MouseEvent("click", { bubbles: true }));
                  return "clicked";
                }"""
            ).json_value()
            == "clicked"
        )


@pytest.fixture
def screen(browser: Browser, client: Client) -> Iterator[Screen]:
    page = browser.new_page(viewport={"width": 1300, "height": 950})
    shown = Screen(page, client)
    yield shown
    page.close()
    assert shown.wrong == []
