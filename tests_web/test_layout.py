"""The page of a game on a screen of 1280 x 800: nothing covers choices, all is in view."""

from typing import Any

import pytest
from playwright.sync_api import Browser
from tests.driving import first_quick
from tests.web.server import Client

from linkzoo import game_names
from linkzoo.testing.play import choose, mask_of, positions
from linkzoo_training.web.game_session import GameSession
from tests_web.conftest import Screen

_SCREEN = {"width": 1280, "height": 800}


def _put(session: GameSession, share: float) -> None:
    """Puts a position with seat 0 to act on the board, after a share of a random game."""
    game = session.game
    played = positions(game, len(session.seats), dict(game.fixed.values), 5)
    later = played[int(share * len(played)) :]
    choices = 5  # not only to pass, or to react
    state = next(s for s in later if s["seat"] == 0 and mask_of(game, s).sum() >= choices)
    with session.lock:
        session._states[0] = state
        session._mask[0] = mask_of(game, state)
        session.touch()


def _open(screen: Screen, game: str, share: float, players: int = 2) -> None:
    session = screen.start(game, ["human", *["random"] * (players - 1)])
    _put(session, share)
    screen.page.reload()
    screen.page.wait_for_selector(".board .lit", timeout=10_000)


# The choices on the board: names, and the points in their middles; hidden by others or not.
_CHOICES = """() => [...document.querySelectorAll(".board .lit")].map((part) => {
  const box = part.getBoundingClientRect();
  const face = document.querySelector(".face:not([hidden])")?.getBoundingClientRect();
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  const apart = !face || face.right <= box.left || face.left >= box.right
    || face.bottom <= box.top || face.top >= box.bottom;
  return { name: part.dataset.part, x, y, apart };
})"""


@pytest.mark.parametrize("width", first_quick([360, 1280], slow=0))
@pytest.mark.parametrize("game", first_quick(game_names(), slow=0))
def test_tips_cover_nothing_to_choose(
    browser: Browser, client: Client, game: str, width: int
) -> None:
    """Hovers the neighbours of each choice, then clicks its middle."""
    page = browser.new_page(viewport={"width": width, "height": 800}, reduced_motion="reduce")
    screen = Screen(page, client)
    for share in (0.02, 0.7):
        _open(screen, game, share)
        for choice in page.evaluate(_CHOICES):
            part = page.locator(f'.board [data-part="{choice["name"]}"].lit').first
            part.scroll_into_view_if_needed()
            now = page.evaluate(_CHOICES)
            here = next(one for one in now if one["name"] == choice["name"])

            def distance(one: dict[str, Any], here: dict[str, Any] = here) -> float:
                return abs(float(one["x"] - here["x"])) + abs(float(one["y"] - here["y"]))

            for other in sorted(now, key=distance)[3::-1]:
                page.mouse.move(other["x"], other["y"])
                assert all(one["apart"] for one in page.evaluate(_CHOICES))
            page.mouse.click(here["x"], here["y"])
            assert page.locator(f'.board .chosen[data-part="{choice["name"]}"]').count() >= 1
            for _ in range(2):
                page.keyboard.press("Escape")
            page.wait_for_function("() => !document.querySelector('.board .chosen')")
    assert screen.wrong == []
    page.close()


# The smallest letter, the smallest card to choose and field, and the lowest edges, in pixels.
_MEASURED = """() => {
  const svg = document.querySelector(".board svg");
  const letters = [...svg.querySelectorAll("text")].filter((text) => text.textContent.trim());
  const size = (text) => text.getScreenCTM().a * parseFloat(getComputedStyle(text).fontSize);
  const height = (one) => one.getBoundingClientRect().height;
  const heights = (what) => [...svg.querySelectorAll(what)].map(height);
  return {
    letters: Math.min(...letters.map(size)),
    cards: Math.min(Infinity, ...heights(".lit[data-card], .lit:has(> [data-card])")),
    fields: Math.min(Infinity, ...heights("[data-field]")),
    bottom: svg.getBoundingClientRect().bottom,
  };
}"""


@pytest.mark.nightly  # CI: board, turn, score and log are in view
@pytest.mark.parametrize("players", first_quick([4, 2, 3], slow=0))
@pytest.mark.parametrize("share", first_quick([0.3, 0, 0.01, 0.1, 0.6, 0.9], slow=0))
def test_a_table_of_cards_is_read_and_hit_on_a_laptop(
    browser: Browser, client: Client, share: float, players: int
) -> None:
    page = browser.new_page(viewport=_SCREEN, reduced_motion="reduce")
    screen = Screen(page, client)
    _open(screen, "love_formula", share, players)
    found = page.evaluate(_MEASURED)
    assert found["letters"] >= 12
    assert found["bottom"] <= _SCREEN["height"]
    assert found["cards"] >= 72
    assert found["fields"] >= 72
    page.close()


@pytest.mark.parametrize("game", first_quick(game_names(), slow=0))
def test_a_long_log_ends_with_the_screen(browser: Browser, client: Client, game: str) -> None:
    """At its latest move, of which at least two lines are in view."""
    clock = None if game == "love_formula" else {"minutes": 5, "increment": 0}
    body = {"game": game, "seats": ["human"] * 2, "seed": 3, "apart": True, "clock": clock}
    answer = client.ask("sessions", body)[1]
    session = client.server.viewer(answer["id"]).session
    for ply in range(12 if game == "linkage" else 24):  # it ends soon
        action = choose(mask_of(session.game, session.state), 7, ply)
        session.play(session.game.notation.action_to_text(session.state, action))
    page = browser.new_page(viewport=_SCREEN, reduced_motion="reduce")
    screen = Screen(page, client)
    screen.open(f"#/game/{answer['seats']['0']}")
    page.wait_for_selector(".log li")
    box = page.locator(".log").bounding_box()
    assert box is not None
    assert box["height"] >= 70
    assert box["y"] + box["height"] <= _SCREEN["height"]
    last = page.locator(".log li").last.bounding_box()
    assert last is not None
    assert last["y"] + last["height"] <= box["y"] + box["height"] + 5
    assert screen.wrong == []
    page.close()


@pytest.mark.parametrize("game", first_quick(game_names()[::-1], slow=0))
def test_board_turn_score_and_log_are_in_view_on_a_laptop(
    browser: Browser, client: Client, game: str
) -> None:
    page = browser.new_page(viewport=_SCREEN, reduced_motion="reduce")
    screen = Screen(page, client)
    _open(screen, game, 0.4)
    screen.click()
    page.wait_for_selector(".choices .words")
    boxes = {
        name: page.locator(name).first.bounding_box()
        for name in (".board svg", ".status", ".choices", ".seats", ".score", ".log")
    }
    for name, box in boxes.items():
        assert box is not None, name
        assert box["y"] + box["height"] <= _SCREEN["height"], name
    board = boxes[".board svg"]
    assert board is not None
    assert board["width"] >= 880 or board["height"] >= 700
    assert boxes[".score"]["x"] > board["x"] + board["width"] - 1
    page.close()
