"""The page by keys alone, for screen readers, on small screens and in the dark."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser
from tests.driving import first_quick
from tests.web.server import Client

from linkzoo import game_names, get_game
from linkzoo_training.web.players import Player
from tests_web.conftest import Screen

PLAYED = Path(__file__).parents[1] / "docs" / "games" / "played"
_AXE = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}


def _violations(screen: Screen) -> list[str]:
    found = Axe().run(screen.page, options=_AXE).response["violations"]
    return [f"{wrong['id']}: {[node['html'][:200] for node in wrong['nodes']]}" for wrong in found]


def _replay(screen: Screen, game: str) -> None:
    record = json.loads((PLAYED / f"{game}.json").read_text())
    screen.open(f"#/replay/{screen.client.ask('replays', record)[1]['id']}/9")
    screen.page.wait_for_selector(".chart svg")


def _strength(screen: Screen, _: str) -> None:
    screen.open("#/strength")
    screen.page.wait_for_selector(".bar")


def _history(screen: Screen, _: str) -> None:
    screen.start("linkage", ["human", "random"])
    screen.open("#/history")
    screen.page.wait_for_selector(".history li")


def _learn(screen: Screen, game: str) -> None:
    screen.open(f"#/learn/{game}/2")
    screen.page.wait_for_selector(".lesson .board svg")
    screen.page.wait_for_selector(".lesson .board .lit, .lesson .choices button")


def _puzzle(screen: Screen, _: str) -> None:
    screen.open("#/puzzle/linkage/1")
    screen.page.wait_for_selector(".lesson .board .lit")


def _shelf(screen: Screen, _: str) -> None:
    screen.open()
    screen.page.wait_for_selector(".shelf img")


def _setup(screen: Screen, _: str) -> None:
    screen.open("#/new")
    screen.page.wait_for_selector("form")


def _play(screen: Screen, game: str) -> None:
    screen.start(game, ["human", "random"])
    screen.page.wait_for_selector(".board .lit, .choices button")
    assert _violations(screen) == []
    screen.click()
    screen.page.get_by_role("button", name="Analyse").click()
    screen.page.wait_for_selector(".analysis td")


def _cover(screen: Screen, _: str) -> None:
    screen.start("link_o", ["human", "human"])


def _help(screen: Screen, game: str) -> None:
    screen.start(game, ["human", "random"])
    screen.page.get_by_role("button", name="Rules and help").click()
    screen.page.wait_for_selector("dialog[open] figure svg")
    screen.page.click("dialog summary")


_SCREENS = [(320, "light"), (1440, "dark"), (320, "dark"), (1440, "light")]
_OF_GAMES: list[list[Any]] = [
    [(path, game, *screen) for game in game_names() for screen in _SCREENS[:2]]
    for path in (_play, _help, _replay)
]
_OTHERS: list[list[Any]] = [
    [(path, "link_o", *screen) for screen in _SCREENS]
    for path in (_shelf, _setup, _learn, _strength, _cover, _history, _puzzle)
]
_IN_CI = (_play, _replay, _shelf, _setup, _learn)
_PAGES = [
    page
    for screens in [*_OF_GAMES, *_OTHERS]
    for page in first_quick(screens, int(screens[0][0] in _IN_CI), 0)
]


@pytest.mark.parametrize(("path", "game", "width", "scheme"), _PAGES)
def test_axe_finds_no_violation_and_nothing_is_wider_than_the_screen(
    browser: Browser,
    client: Client,
    path: Callable[[Screen, str], None],
    game: str,
    width: int,
    scheme: str,
) -> None:
    page = browser.new_page(
        viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    screen = Screen(page, client)
    path(screen, game)
    assert _violations(screen) == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    assert screen.wrong == []
    page.close()


# Letters and targets of a picture on the screen, in pixels.
_SIZES = """() => {
  const svg = document.querySelector(".board svg");
  const letters = [...svg.querySelectorAll("text")].filter((text) => text.textContent.trim());
  const size = (text) => text.getScreenCTM().a * parseFloat(getComputedStyle(text).fontSize);
  const sizes = letters.map(size);
  const boxes = [...svg.querySelectorAll(".lit")].map((part) => part.getBoundingClientRect());
  return [Math.min(...sizes), Math.min(...boxes.map((box) => Math.min(box.width, box.height)))];
}"""


@pytest.mark.parametrize("game", first_quick(game_names()[::-1], slow=0))
def test_a_telephone_has_letters_and_targets_one_can_read_and_hit(
    browser: Browser, client: Client, game: str
) -> None:
    page = browser.new_page(viewport={"width": 320, "height": 800}, reduced_motion="reduce")
    screen = Screen(page, client)
    screen.start(game, ["human", "random"])
    for _ in range(8):
        page.wait_for_selector(".board .lit, .choices button")
        letters, targets = page.evaluate(_SIZES)
        assert letters >= 11
        assert targets >= 24
        screen.click()
    page.close()


def _focused(screen: Screen) -> str | None:
    found = screen.page.evaluate("() => document.activeElement.dataset.part ?? null")
    return None if found is None else str(found)


_TOWARDS = """(part) => {
  const there = document.querySelector(`.board [data-part="${part}"]`);
  const [a, b] = [document.activeElement, there].map((one) => one.getBoundingClientRect());
  const x = b.left + b.width / 2 - a.left - a.width / 2;
  const y = b.top + b.height / 2 - a.top - a.height / 2;
  if (document.activeElement === there) return "";
  if (Math.abs(x) > Math.abs(y)) return x > 0 ? "ArrowRight" : "ArrowLeft";
  return y > 0 ? "ArrowDown" : "ArrowUp";
}"""


def _walk(screen: Screen, part: str) -> None:
    """Goes to an element by arrow keys, as one who sees the board would."""
    for _ in range(40):
        key = screen.page.evaluate(_TOWARDS, part)
        if not key:
            return
        screen.page.keyboard.press(key)
    pytest.fail(f"arrows never came to {part}")


@pytest.mark.nightly  # CI: every game is begun and played by keys alone
def test_keys_alone_make_moves(screen: Screen) -> None:
    session = screen.start("linkage", ["human", "random"])
    page = screen.page
    page.wait_for_selector(".board .lit")
    stops = page.locator('.board [tabindex="0"]')
    assert stops.count() == 1  # for Tab
    for _ in range(12):
        page.keyboard.press("Tab")
        if _focused(screen):
            break
    _walk(screen, "R")
    page.keyboard.press("Enter")
    assert stops.count() == 1
    for part in ("b1", "b2"):
        _walk(screen, part)
        page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.textContent") == "Play"
    page.keyboard.press("Enter")
    page.wait_for_selector(".log li >> nth=1")
    page.wait_for_selector(".board .lit")
    # The focus is on the board again, where it was.
    assert _focused(screen) is not None
    assert page.inner_text(".log li") == session.history.seen(None)[0].words


def _tab(screen: Screen, words: str) -> None:
    """Goes with Tab to what has this id or these words."""
    for _ in range(60):
        screen.page.keyboard.press("Tab")
        found = "() => document.activeElement.id || document.activeElement.textContent"
        if screen.page.evaluate(found) == words:
            return
    pytest.fail(f"Tab never came to {words}")


@pytest.mark.parametrize("game", first_quick(game_names(), slow=0))
def test_every_game_is_begun_and_played_by_keys_alone(screen: Screen, game: str) -> None:
    page, press = screen.page, screen.page.keyboard.press
    screen.open("#/new")
    page.wait_for_selector("form")
    _tab(screen, "game")
    page.keyboard.type(get_game(game).title)
    _tab(screen, "seat1")
    page.keyboard.type("random")
    _tab(screen, "Start")
    press("Enter")
    page.wait_for_selector(".board .lit")
    session = screen.client.server.viewer(page.url.split("/")[-1]).session
    assert session.game.name == game
    _tab(screen, "Rules and help")
    press("Enter")
    page.wait_for_selector("dialog[open] figure svg")
    press("Escape")
    page.wait_for_selector("dialog", state="hidden")
    _tab(screen, "Hint")
    press("Enter")
    page.get_by_text("would play:").wait_for()
    ready = "() => document.activeElement.matches('.board [role=button], .choices button')"
    while not page.evaluate(ready):
        press("Shift+Tab")
    press("Enter")
    assert page.locator(".board .chosen").count()
    for _ in range(4):
        press("Escape")
    assert page.locator(".board .chosen").count() == 0
    for _ in range(50):
        page.wait_for_function(ready)
        press("Enter")
        if session.history.last_of([0]) is not None and len(session.record.actions) >= 10:
            return
    pytest.fail("Enter alone never made ten moves")


def test_the_focus_stays_on_the_board_while_an_agent_thinks(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    thought, act = threading.Event(), Player.act

    def slowly(player: Player, *given: Any) -> tuple[int, str]:
        thought.wait(60)
        return act(player, *given)

    monkeypatch.setattr(Player, "act", slowly)
    screen.start("linkage", ["human", "uct-100"])
    page = screen.page
    for part in ("R", "b1", "b2"):
        page.wait_for_selector(f'.board [data-part="{part}"].lit')
        page.focus(f'.board [data-part="{part}"]')
        page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "() => /thinking|Compiling/.test(document.querySelector('.status').textContent)"
    )
    assert page.evaluate("() => document.activeElement.className") == "board"
    thought.set()
    page.wait_for_selector(".log li >> nth=1")
    page.wait_for_selector(".board .lit")
    assert _focused(screen) is not None


@pytest.mark.parametrize("game", first_quick(game_names()[::-1], slow=0))
def test_everything_to_choose_has_a_spoken_name(screen: Screen, game: str) -> None:
    session = screen.start(game, ["human", "random"])
    screen.page.wait_for_selector(".board .lit")
    names = screen.page.eval_on_selector_all(
        ".board .lit", "all => all.map((one) => [one.dataset.part, one.getAttribute('aria-label')])"
    )
    for part, name in names:
        assert name == session.game.guide.part_words(session.state, part)
