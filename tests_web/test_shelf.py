"""The start page: games at three levels, to continue, and to watch."""

import re

import pytest
from playwright.sync_api import Browser, expect
from tests.driving import first_quick
from tests.web.server import Client

from linkzoo import game_names, get_game
from linkzoo_training.web.game_session import GameSession
from tests_web.conftest import Screen


def _opened(screen: Screen) -> GameSession:
    screen.page.wait_for_url(re.compile("#/game/"))
    screen.page.wait_for_selector(".board svg")
    return screen.client.server.viewer(screen.page.url.split("/")[-1]).session


@pytest.mark.parametrize("game", first_quick(game_names(), slow=0))
def test_a_game_is_a_click_away(screen: Screen, client: Client, game: str) -> None:
    """At each level; with the options for an even game, and the first seat."""
    offered = {one["name"]: one for one in client.ask("catalogue")[1]["games"]}[game]
    title = get_game(game).title
    for level in offered["levels"][:2]:
        screen.open()
        screen.page.get_by_role(
            "button", name=f"Play {title}, I am {level['level']}", exact=True
        ).click()
        session = _opened(screen)
        assert list(map(str, session.seats)) == ["human", level["agent"]]
        chosen = session.record.options
        assert chosen.items() >= get_game(game).facts.balanced_options.items()
    screen.open()
    screen.page.get_by_role("button", name=f"Watch strong play of {title}").click()
    assert list(map(str, _opened(screen).seats)) == offered["watch"]


def test_a_game_goes_on_where_one_left_it(screen: Screen) -> None:
    screen.open()
    screen.page.get_by_role("button", name="Play Linkage, I am new").click()
    session = _opened(screen)
    screen.choose("W", "a1", "b1")
    screen.confirm()
    screen.page.wait_for_selector(".log li >> nth=1")
    screen.page.get_by_role("link", name="linkzoo").click()
    going_on = screen.page.locator("section", has_text="Continue").locator("a", has_text="Linkage")
    going_on.first.click()
    assert _opened(screen) is session
    screen.page.get_by_role("button", name="Resign").click()
    screen.page.get_by_role("button", name="Resign for good?").click()
    screen.page.get_by_role("button", name="Rematch").wait_for()
    screen.page.get_by_role("link", name="linkzoo").click()
    screen.page.wait_for_selector(".shelf")
    expect(going_on).to_have_count(0)


@pytest.mark.parametrize("motion", first_quick(["no-preference", "reduce"], slow=0))
def test_pictures_change_for_less_than_five_seconds_if_at_all(
    browser: Browser, client: Client, motion: str
) -> None:
    page = browser.new_page(reduced_motion=motion)
    page.clock.install()  # nobody waits for it
    screen = Screen(page, client)
    screen.open()
    page.wait_for_selector(".shelf img")
    first = ".shelf .picture >> nth=0 >> img >> nth=0"
    for wait, is_first in ((1800, motion == "reduce"), (3200, True), (2000, True)):
        page.clock.run_for(wait)
        assert ("shown" in str(page.get_attribute(first, "class"))) == is_first
    assert screen.wrong == []
    page.close()
