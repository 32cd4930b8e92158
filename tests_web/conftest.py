"""A server and a real browser: the installed Chromium, driven by Playwright."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from tests.web.server import Client, serving

from linkzoo_training.web.game_session import GameSession


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

    def start(self, game: str, seats: list[str], **more: Any) -> GameSession:
        """A new game; the start page has tests of its own."""
        name = self.client.new_game(game, seats, **{"seed": 4, **more})
        self.open(f"#/game/{name}")
        self.page.wait_for_selector(".board svg, .cover h1")
        return self.client.server.viewer(name).session

    def status(self) -> str:
        """What the page says."""
        return str(self.page.inner_text(".status"))

    def choose(self, *parts: str) -> None:
        """Clicks on parts in turn, on the board or below it."""
        for part in parts:
            self.page.locator(
                f'.board [data-part="{part}"].lit, [data-choice="{part}"]'
            ).first.click()

    def confirm(self) -> None:
        """Plays the move that is chosen."""
        self.page.click(".choices .main")

    def click(self) -> bool:
        """Clicks on something to choose; False at the end of the game, or of a person's turn."""
        return bool(
            self.page.wait_for_function(
                """() => {
                  const ready = [...document.querySelectorAll(".choices .main")];
                  const lit = ".board [data-part].lit, .choices [data-choice]";
                  const found = ready.length ? ready : [...document.querySelectorAll(lit)];
                  const end = ".tools .main:not([hidden]), .cover:not([hidden]) h1";
                  const over = document.querySelector(end);
                  if (!found.length) return over ? "over" : "";
                  const one = found[Math.floor(Math.random() * found.length)];
                  one.dispatchEvent(new MouseEvent("click", { bubbles: true }));
                  return "clicked";
                }"""
            ).json_value()
            == "clicked"
        )


@pytest.fixture
def screen(browser: Browser, client: Client) -> Iterator[Screen]:
    page = browser.new_page(viewport={"width": 1300, "height": 950}, reduced_motion="reduce")
    shown = Screen(page, client)
    yield shown
    page.close()
    assert shown.wrong == []
