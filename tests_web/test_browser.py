"""The page in a real browser: every game to its end by clicks, replay, take back, hidden hands."""

import json
import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from tests.web.server import Client

from linkzoo import GameRecord, game_names
from linkzoo.testing.play import mask_of, positions
from linkzoo_training import load_agent
from linkzoo_training.web.pictures import as_html
from tests_web.conftest import Screen

PLAYED = Path(__file__).parents[1] / "docs" / "games" / "played"
_MOST_CLICKS = 1500


@pytest.mark.parametrize("opponent", ["random", "checkpoint"])
@pytest.mark.parametrize("game", game_names())
def test_a_whole_game_by_clicks(screen: Screen, game: str, opponent: str) -> None:
    screen.start(game, ["human", opponent])
    for _ in range(_MOST_CLICKS):
        if not screen.click():
            break
    assert re.search(r"wins?\.|draw", screen.status())


def test_real_clicks_choose_a_colour_and_two_cells(screen: Screen) -> None:
    screen.start("linkage", ["human", "random"])
    screen.page.click('.board [data-part="R"].lit')
    screen.page.click('.board [data-part="c3"].lit')
    screen.page.click('.board [data-part="d3"].lit')
    screen.page.wait_for_function("() => document.querySelectorAll('.log li').length >= 2")
    assert screen.page.inner_text(".log li") == "0: R c3-d3"


def test_keys_alone_make_a_move(screen: Screen) -> None:
    screen.start("linkage", ["human", "random"])
    for part in ("R", "b1", "b2"):
        screen.page.wait_for_selector(f'.board [data-part="{part}"].lit')
        for _ in range(40):
            if screen.page.evaluate("() => document.activeElement.dataset.part") == part:
                break
            screen.page.keyboard.press("Tab")
        else:
            pytest.fail(f"Tab never came to {part}")
        screen.page.keyboard.press("Enter")
    screen.page.wait_for_selector(".log li")
    assert screen.page.inner_text(".log li") == "0: R b1-b2"
    screen.page.focus("#move")
    screen.page.wait_for_selector(".moves button")
    move = screen.page.inner_text(".moves button")
    screen.page.keyboard.type(move)
    screen.page.keyboard.press("Enter")
    screen.page.wait_for_function("() => document.querySelectorAll('.log li').length >= 3")


def test_take_back_and_reload_go_on(screen: Screen) -> None:
    screen.start("linkage", ["human", "random"])
    before = screen.page.inner_html(".board")
    screen.page.click(".moves button >> nth=3")
    screen.page.wait_for_selector(".log li >> nth=1")
    screen.page.wait_for_selector(".board .lit")
    after = screen.page.inner_html(".board")
    screen.page.reload()
    screen.page.wait_for_selector(".log li >> nth=1")
    assert screen.page.inner_html(".board") == after != before
    screen.page.get_by_role("button", name="Take back").click()
    screen.page.wait_for_function("() => document.querySelectorAll('.log li').length === 0")
    assert screen.page.inner_html(".board") == before


def test_two_people_never_get_what_the_other_holds(screen: Screen, client: Client) -> None:
    screen.page.on("response", screen.keep)
    screen.start("link_o", ["human", "human"])
    table = client.server.tables.get(screen.page.url.split("/")[-1])
    for _ in range(6):
        screen.page.wait_for_selector(".cover h1")
        seat = table.waiting
        assert seat is not None
        assert screen.page.inner_text(".cover h1") == f"Pass the screen to player {seat}"
        assert screen.page.inner_html(".board") == ""
        screen.page.click(".cover button")
        screen.page.wait_for_selector(".board .lit")
        seen, before = {seat}, len(screen.traffic)
        other = json.dumps(table.game.drawing.text(table.state, 1 - seat))
        while table.waiting is None:
            screen.click()
            time.sleep(0.05)
        for _, body in screen.traffic[before - 1 :]:
            assert other not in body
            looking = json.loads(body).get("looking")
            assert looking is None or looking in seen


def test_watching_and_a_replay_with_its_slider(screen: Screen) -> None:
    screen.start("linkage", ["random", "greedy"])
    screen.page.select_option("[aria-label=pace]", "200")
    screen.page.get_by_role("button", name="Play", exact=True).click()
    screen.page.wait_for_function(
        "() => /wins/.test(document.querySelector('.status').textContent)"
    )
    screen.page.get_by_role("button", name="Replay").click()
    ply = "() => /Ply {} /.test(document.querySelector('.status').textContent)"
    screen.page.wait_for_function(ply.format(0))
    first = screen.page.inner_html(".board")
    screen.page.keyboard.press("ArrowRight")
    screen.page.wait_for_function("() => location.hash.endsWith('/1')")
    screen.page.wait_for_function(
        "() => /Ply 1 /.test(document.querySelector('.status').textContent)"
    )
    assert screen.page.inner_html(".board") != first
    screen.page.fill("input[type=range]", "3")
    screen.page.wait_for_function(
        "() => /Ply 3 /.test(document.querySelector('.status').textContent)"
    )
    address = screen.page.url
    screen.page.goto("about:blank")
    screen.page.goto(address)
    screen.page.wait_for_function(
        "() => /Ply 3 /.test(document.querySelector('.status').textContent)"
    )
    screen.page.get_by_role("button", name="Analyse").click()
    screen.page.wait_for_selector(".analysis td")


def test_the_shares_of_an_agent_stand_on_the_board(screen: Screen, client: Client) -> None:
    screen.start("linkage", ["human", "random"])
    screen.page.wait_for_selector(".board .lit")
    screen.page.get_by_role("button", name="Analyse").click()
    screen.page.wait_for_selector(".board .share")
    table = screen.page.url.split("/")[-1]
    moves = client.ask(f"tables/{table}/analysis", {"agent": "linkage"})[1]["moves"]
    yellow = sum(move["share"] for move in moves if "Y" in move["parts"])
    shown = screen.page.locator(".board .share").all_text_contents()
    assert f"{yellow:.0%}".replace("%", " %") in shown
    assert 2 <= len(shown) <= 12
    screen.page.click('.board [data-part="Y"].lit')
    best = max((move for move in moves if "Y" in move["parts"]), key=lambda move: move["share"])
    cell = best["parts"][1]
    there = sum(move["share"] for move in moves if {"Y", cell} <= set(move["parts"]))
    after = screen.page.locator(".board .share").all_text_contents()
    assert f"{there:.0%}".replace("%", " %") in after
    screen.page.click(".moves button")
    screen.page.wait_for_function("() => !document.querySelector('.share')")


# Of Love Formula: a random game's seed and ply, and what the first seat points at there.
_POINTED = [(5, 193, "OBSTACLE Bullying#1"), (4, 123, "FREE"), (2, 178, "CARD School Festival")]


@pytest.mark.parametrize(("seed", "ply", "part"), _POINTED)
def test_what_a_card_asks_for_is_pointed_at_in_the_picture(
    screen: Screen, client: Client, seed: int, ply: int, part: str
) -> None:
    screen.start("love_formula", ["human", "random"])
    table = client.server.tables.get(screen.page.url.split("/")[-1])
    game = table.game
    put = positions(game, 2, dict(game.fixed.values), seed)[ply]
    with table.lock:
        table._states[0] = put
        table._mask[0] = mask_of(game, put)
        table.shown = None
    screen.page.reload()
    screen.page.click(f'.board [data-part="{part}"].lit')
    for _ in range(100):
        if table.log:
            break
        time.sleep(0.05)
    assert table.log[0] == (0, part)


def _falls_and_jumps(page: Page, ply: str) -> None:
    """The curve follows the ply, and what is named below it jumps there."""
    page.wait_for_selector(".falls button")
    assert page.locator(".chart path[stroke-dasharray]").count() == 2
    assert re.fullmatch(r" player 0 \(More\): \W\d\.\d\d", page.inner_text(".legend span"))
    before = page.get_attribute(".chart .now", "d")
    page.click(".falls button")
    fall = page.inner_text(".falls button").split(":")[0]
    page.wait_for_function(f"() => document.body.textContent.includes('{fall} of')")
    assert page.get_attribute(".chart .now", "d") != before
    page.click(".chart", position={"x": 27, "y": 40})
    page.wait_for_function(f"() => document.body.textContent.includes('{ply} of')")


def test_a_replay_shows_the_values_and_jumps_to_their_falls(
    screen: Screen, client: Client, browser: Browser, tmp_path: Path
) -> None:
    record = json.loads((PLAYED / "linkage.json").read_text())
    screen.open(f"#/replay/{client.ask('replays', record)[1]['id']}/3")
    _falls_and_jumps(screen.page, "Ply 0")
    as_html(GameRecord.from_dict(record), tmp_path / "game.html", load_agent("linkage"))
    page = browser.new_page(offline=True)
    page.goto((tmp_path / "game.html").as_uri())
    page.keyboard.press("ArrowRight")
    _falls_and_jumps(page, "Ply 0")
    page.close()


def test_the_page_of_one_record_needs_nothing_else(
    browser: Browser, client: Client, tmp_path_factory: pytest.TempPathFactory
) -> None:
    name = client.table("linkage", ["random", "random"])
    for _ in range(5):
        client.ask(f"tables/{name}/step", {})
        client.settled(name)
    file = tmp_path_factory.mktemp("pages") / "game.html"
    as_html(client.server.tables.get(name).record, file)
    page = browser.new_page(offline=True)
    page.goto(file.as_uri())
    for ply in range(1, 6):
        page.keyboard.press("ArrowRight")
        page.wait_for_function(f"() => /Ply {ply} of 5/.test(document.body.textContent)")
    game = client.server.tables.get(name)
    shown = page.inner_html("#board")
    assert shown.count("<rect") == game.game.draw_svg(game.state).count("<rect")
    page.close()


def test_strength_has_a_curve_and_a_table_for_each_checkpoint(screen: Screen) -> None:
    screen.open()
    screen.page.click("header .other")
    screen.page.wait_for_selector(".ladder svg")
    cards = json.loads(screen.page.evaluate("async () => (await fetch('api/strength')).text()"))
    assert screen.page.locator(".ladder svg").count() == len(cards["cards"])
    for card in cards["cards"]:
        rows = screen.page.locator(f"#{card['name']} .wide >> nth=0").locator("tr")
        assert rows.count() == len(card["matches"]) + 1
        mean = 100 * card["matches"][0]["share"]["mean"]
        assert f"{mean:.1f} [" in rows.nth(1).inner_text()
    screen.page.click("header .home")
    screen.page.wait_for_selector("#game")


@pytest.mark.parametrize("scheme", ["dark", "light"])
@pytest.mark.parametrize("game", game_names())
def test_nothing_is_wider_than_a_telephone(
    browser: Browser, client: Client, game: str, scheme: str
) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    screen = Screen(page, client)
    screen.start(game, ["human", "random"])
    page.wait_for_selector(".board .lit, .choices button")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    for path, there in (("", "#game"), ("#/strength", ".ladder svg")):
        screen.open(path)
        page.wait_for_selector(there)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    page.close()
