"""The replay page, on the server and as a file, and the strength page."""

import re
from html import unescape
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route
from tests.driving import first_quick

from linkzoo import GameRecord, get_game
from linkzoo_training import load_agent
from linkzoo_training.agents.values import values_along
from linkzoo_training.web.replay_page import as_html
from tests_web.conftest import Screen

PLAYED = Path(__file__).parents[1] / "docs" / "games" / "played"


def _record(game: str) -> GameRecord:
    return GameRecord.load(PLAYED / f"{game}.json")


def _served(screen: Screen, game: str, ply: int) -> Page:
    """The replay of a recorded game on the server."""
    name = screen.client.ask("replays", _record(game).to_dict())[1]["id"]
    screen.open(f"#/replay/{name}/{ply}")
    return screen.page


def _file(browser: Browser, game: str, ply: int, folder: Path) -> Page:
    """The replay of a recorded game as a file, without a network."""
    record = _record(game)
    as_html(record, folder / "game.html", load_agent(game))
    page = browser.new_page(reduced_motion="reduce")
    page.context.set_offline(True)
    page.goto(f"{(folder / 'game.html').as_uri()}#{ply}")
    return page


def _at(page: Page, ply: int) -> None:
    """Waits until a ply is shown."""
    page.wait_for_function(
        f"() => document.querySelector('.status')?.textContent.startsWith('Move {ply} ')"
    )


@pytest.mark.parametrize("where", first_quick(["file", "server"], slow=0))
def test_a_replay_is_walked_by_buttons_keys_slider_moves_and_by_itself(
    screen: Screen, browser: Browser, tmp_path: Path, where: str
) -> None:
    page = (
        _served(screen, "linkage", 2)
        if where == "server"
        else _file(browser, "linkage", 2, tmp_path)
    )
    _at(page, 2)
    guide = get_game("linkage").guide
    states = list(_record("linkage").replay())
    sentence = guide.event(states[1], _record("linkage").actions[1])
    assert page.inner_text(".status") == f"Move 2 of 22: {sentence}"
    assert page.inner_text(".log [aria-current]") == sentence
    assert page.locator(".board .marks.last .over").count() == 1
    assert page.url.endswith("2")
    for name, ply in (("next", 3), ("previous", 2), ("last", 22), ("first", 0)):
        page.get_by_role("button", name=name, exact=True).click()
        _at(page, ply)
    for key, ply in (("End", 22), ("ArrowLeft", 21), ("Home", 0), ("ArrowRight", 1)):
        page.locator("body").press(key)
        _at(page, ply)
    page.fill("input[type=range]", "5")
    _at(page, 5)
    page.locator(".log button").nth(19).click()
    _at(page, 20)
    page.select_option("[aria-label=speed]", "fast")
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press(" ")
    _at(page, 22)
    assert guide.outcome(states[-1]) in page.inner_text(".play")
    page.get_by_role("button", name="Play", exact=True).wait_for()  # it has stopped
    if where == "file":
        page.close()


@pytest.mark.nightly  # CI: the log shows a move
def test_a_move_of_the_list_is_shown_while_it_is_pointed_at_or_focused(screen: Screen) -> None:
    page = _served(screen, "linkage", 2)
    _at(page, 2)
    page.locator(".log button").nth(4).hover()
    page.wait_for_selector('.past[data-note="move 5"] .marks.last')
    page.mouse.move(0, 0)
    page.wait_for_selector(".past", state="hidden")
    page.locator(".log button").nth(1).focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_selector('.past[data-note="move 3"] svg')
    page.keyboard.press("Enter")
    _at(page, 3)
    page.wait_for_selector(".past", state="hidden")


@pytest.mark.parametrize("where", first_quick(["server", "file"], slow=0))
def test_each_seat_has_its_view_and_its_moves(
    screen: Screen, browser: Browser, tmp_path: Path, where: str
) -> None:
    page = (
        _served(screen, "link_o", 3) if where == "server" else _file(browser, "link_o", 3, tmp_path)
    )
    _at(page, 3)
    record, game = _record("link_o"), get_game("link_o", _record("link_o").options)
    states = list(record.replay())
    state, moves = states[3], list(zip(states, record.actions, strict=False))
    for seat in (1, None, 0):
        page.select_option("[aria-label='seen by']", "" if seat is None else str(seat))
        words = re.findall(r"<text[^>]*>([^<]*)</text>", game.draw_page(state, seat))
        page.wait_for_function(
            """words => words === [...document.querySelectorAll(".board svg text")]
                .map((text) => text.textContent).join("|")""",
            arg="|".join(map(unescape, words)),
        )
        told = [game.guide.event(before, action, seat) for before, action in moves]
        assert page.locator(".log li").all_text_contents() == list(filter(None, told))
    if where == "file":
        page.close()


@pytest.mark.nightly
def test_keys_before_the_record_has_come_do_no_harm(screen: Screen) -> None:
    def late(route: Route) -> None:
        page.locator("body").press("End")
        route.continue_()

    page = screen.page
    page.route(re.compile(r"/api/replays/[^/?]+$"), late)
    _served(screen, "linkage", 3)
    _at(page, 3)
    page.locator("body").press("End")
    _at(page, 22)


@pytest.mark.nightly
def test_a_failed_question_is_asked_again(screen: Screen) -> None:
    page = _served(screen, "link_o", 3)
    _at(page, 3)
    late = re.compile(r"/api/replays/[^/]+(\?seat=1|/4\?.*)$")
    page.route(late, lambda route: route.abort())
    page.select_option("[aria-label='seen by']", "1")
    page.wait_for_selector("#error:not([hidden])")
    page.unroute(late)
    page.locator("body").press("ArrowRight")
    _at(page, 4)
    screen.wrong.clear()  # the browser's own words about the question that failed


@pytest.mark.parametrize("where", first_quick(["server", "file"], slow=0))
def test_the_values_stay_in_their_chart_and_lead_to_the_turning_points(
    screen: Screen, browser: Browser, tmp_path: Path, where: str
) -> None:
    game = "love_formula"
    page = _served(screen, game, 3) if where == "server" else _file(browser, game, 3, tmp_path)
    if where == "server":
        page.click(".report summary")
        page.fill(".report input", game)
        page.get_by_role("button", name="Show", exact=True).click()
    page.wait_for_selector(".falls button")
    # One expression: the picture is replaced as the page settles, and a replaced one has no height.
    height = page.wait_for_function(
        "document.querySelector('.chart svg')?.clientHeight"
    ).json_value()
    for line in page.locator(".chart path[stroke-dasharray]").all():
        steps = [float(y) for y in re.findall(r" ([\d.-]+)", line.get_attribute("d") or "")]
        assert 0 < min(steps) <= max(steps) < height
    falls = values_along(load_agent(game), _record(game)).falls
    shown = page.locator(".falls button").all_text_contents()
    assert [int(words.split()[1].strip(",")) for words in shown] == [fall.ply for fall in falls]
    assert falls[0].move in shown[0]
    before = page.get_attribute(".chart .now", "d")
    page.click(".falls button")
    _at(page, falls[0].ply)
    assert page.get_attribute(".chart .now", "d") != before
    page.click(".chart", position={"x": 27, "y": 40})
    _at(page, 0)
    if where == "file":
        page.close()


def test_a_replay_says_who_wins_with_best_play(screen: Screen) -> None:
    page = _served(screen, "linkage", 0)
    exact = values_along(load_agent("linkage_az"), _record("linkage")).exact
    first = next(ply for ply, winner in enumerate(exact) if winner is not None)
    page.wait_for_function("() => document.querySelector('.exact').textContent")
    assert page.inner_text(".exact") == f"With best play: known from move {first} on."
    page.locator("body").press("End")
    _at(page, 22)
    assert page.inner_text(".exact") == "With best play: player 0 (More) wins."


def test_a_report_appears_by_itself_and_leads_to_the_better_moves(screen: Screen) -> None:
    """At the end of a game: accuracy, the chart, and decisions with arrows in the replay."""
    screen.start("linkage", ["human", "random"], options={"threshold": 13})
    page = screen.page
    name = page.url.split("/")[-1]
    for _ in range(4):
        view = screen.client.settled(name)
        assert (
            screen.client.ask(f"sessions/{name}/move", {"move": view["moves"][0]["text"]})[0] == 200
        )
    assert page.locator(".report").count() == 0
    for _ in range(2):  # the first click asks
        page.get_by_role("button", name="Resign").click()
    page.wait_for_selector(".column .report .accuracy li")
    assert page.locator(".accuracy li").count() == 2
    page.wait_for_selector(".report .chart svg")
    page.get_by_role("button", name="Report", exact=True).click()
    words = page.inner_text(".decisions button")
    ply = int(words.split()[1].strip(",")) - 1
    page.click(".decisions button")
    _at(page, ply)
    page.wait_for_selector(".board .marks.hint rect")
    page.wait_for_selector(".board .arrow.hint .head")
    page.wait_for_selector(".board .arrow.worse .head")
    assert page.locator(".evaluation .parts div").count() == 2
    assert "Better:" in page.inner_text(".advice")
    page.locator("body").press("End")
    page.wait_for_selector(".board .arrow", state="detached")
    assert page.inner_text(".advice") == ""


def test_strength_has_a_bar_for_each_match_and_nothing_lies_upon_another(screen: Screen) -> None:
    screen.open("#/strength")
    page = screen.page
    page.wait_for_selector(".bar")
    cards = screen.client.ask("strength")[1]["cards"]
    for card in cards:
        bars = page.locator(f"#{card['name']} .bar")
        assert bars.count() == len(card["matches"]) + len(card["blunders"])
        mean = 100 * card["matches"][0]["share"]["mean"]
        assert f"{mean:.1f} [" in page.inner_text(f"#{card['name']} td >> nth=0")
    for width in (320, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        assert page.evaluate(
            """() => [...document.querySelectorAll("th, td")].every((cell) =>
              cell.scrollWidth <= cell.clientWidth + 1)"""
        )


def test_the_file_of_a_record_needs_nothing_else(browser: Browser, tmp_path: Path) -> None:
    page = _file(browser, "linkage", 0, tmp_path)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    _at(page, 0)
    assert [url for url in asked if not url.startswith("data:")] == [page.url.split("#")[0]]
    page.close()
