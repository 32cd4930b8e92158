"""The clock of a game between people: chosen, ticking, short of time, and at its end."""

import re

import pytest
from playwright.sync_api import Browser, expect
from tests.web.server import Client

from tests_web.conftest import Screen
from tests_web.test_access import _violations


def test_a_clock_is_chosen_where_the_turn_is_no_secret(screen: Screen, client: Client) -> None:
    screen.open("#/new")
    page = screen.page
    page.select_option("#game", "linkage")
    page.select_option("#seat1", "human")
    page.select_option("#clock", "5")
    page.select_option("#increment", "3")
    assert _violations(screen) == []
    page.select_option("#game", "love_formula")
    expect(page.locator("#clock")).to_be_hidden()
    expect(page.get_by_text("Love Formula has no clock")).to_be_visible()
    page.select_option("#game", "linkage")
    page.click("button[type=submit]")
    page.wait_for_url(re.compile("#/game/"))
    session = client.server.viewer(page.url.split("/")[-1]).session
    assert session.clock is not None
    assert session.clock.to_dict()["minutes"] == 5
    expect(page.get_by_role("timer")).to_have_text(["5:00", "5:00"])


@pytest.mark.nightly  # CI: tests/web has clocks that end games
def test_a_clock_ticks_and_ends_the_game(browser: Browser, client: Client) -> None:
    body = {"game": "linkage", "seats": ["human", "human"], "seed": 1, "apart": True}
    clock = {"minutes": 1, "increment": 0}
    links = client.ask("sessions", {**body, "names": ["Ada", "Bo"], "clock": clock})[1]["seats"]
    screens = [Screen(browser.new_page(reduced_motion="reduce"), client) for _ in links]
    for screen, link in zip(screens, links.values(), strict=True):
        screen.open(f"#/game/{link}")
        screen.page.wait_for_selector(".board svg")
    for seat, move in (("0", "W a1-b1"), ("1", "B c3-c4")):
        assert client.ask(f"sessions/{links[seat]}/move", {"move": move})[0] == 200
    session = client.server.viewer(links["0"]).session
    pages = [screen.page for screen in screens]
    times = [page.get_by_role("timer", name="time left of Ada") for page in pages]
    for time in times:
        expect(time).to_have_text(re.compile("^0:5[5-9]$"))  # it ticks
    assert pages[1].locator(".clocks .running").text_content().startswith("Ada 0:5")
    assert pages[0].locator(".clocks [role=status]").inner_text() == ""
    with session.lock:
        assert session.clock is not None
        session.clock.stop()
        session.clock._left[0] = 9.5
        session.clock.run(0)
        session.touch()
    pages[0].reload()
    pages[0].wait_for_selector(".clocks .low")
    assert re.fullmatch("! 0:0[0-9].[0-9]", times[0].inner_text())
    assert pages[0].locator(".clocks [role=status]").inner_text() == "Less than 30 seconds left."
    assert _violations(screens[0]) == []
    with session.lock:
        session.clock.stop()
        session.clock._left[0] = 0
        session.clock.run(0)
    for page in pages:
        expect(page.locator(".status")).to_have_text(
            "Player 0 (Ada) ran out of time. Player 1 wins."
        )
    expect(times[0]).to_have_text("! 0:00.0")
    screens[0].open("#/history")
    row = pages[0].locator(".history li").first
    expect(row).to_contain_text("lost (player 0 ran out of time)")
    for screen in screens:
        assert screen.wrong == []
        screen.page.close()
