"""The page of a game: choose, look and confirm; the log; the coach; several people."""

import json
import time

import pytest
from playwright.sync_api import Browser, Route, expect
from tests.driving import first_quick
from tests.web.server import Client

from linkzoo import game_names
from linkzoo.testing.play import mask_of, positions
from tests_web.conftest import Screen

_MOST_CLICKS = 3000


# Short games, with nothing left out of what can be clicked on.
_SHORT = {"link_o": {"target": 0}, "love_links": {"short": True}}


@pytest.mark.parametrize("confirming", first_quick([True, False], slow=0))
@pytest.mark.parametrize("game", game_names())
def test_a_whole_game_by_clicks(screen: Screen, game: str, *, confirming: bool) -> None:
    if confirming:
        session = screen.start(game, ["human", "random"], options=_SHORT.get(game, {}))
    else:
        session = screen.start(game, ["human", "checkpoint"])
    screen.page.set_checked(".tools input[type=checkbox]", confirming)
    for _ in range(_MOST_CLICKS):
        if not screen.click():
            break
    assert session.over
    assert screen.status() == session.game.guide.outcome(session.state)


def test_a_move_is_chosen_shown_and_confirmed(screen: Screen) -> None:
    session = screen.start("linkage", ["human", "random"])
    page, guide = screen.page, session.game.guide
    screen.choose("R", "c3", "d3")
    action = session.action("R c3-d3")
    assert page.inner_text(".choices .words") == guide.action_words(session.state, action)
    page.wait_for_selector('.past[data-kind="preview"]:not([hidden])')
    page.wait_for_selector(".past .marks.last rect")
    assert session.record.actions == []
    page.click('.board [data-part="c4"]')  # instead of d3
    assert page.inner_text(".choices .words") == "red domino on c3 and c4"
    screen.confirm()
    page.wait_for_selector(".log li")
    assert page.inner_text(".log li") == session.history.seen(None)[0].words


def test_without_the_question_the_last_part_plays_the_move(screen: Screen) -> None:
    session = screen.start("linkage", ["human", "random"])
    screen.page.uncheck(".tools input[type=checkbox]")
    screen.page.reload()  # the browser remembers
    screen.choose("R", "c3", "d3")
    screen.page.wait_for_selector(".log li")
    text_to_action = session.game.notation.text_to_action
    assert session.record.actions[0] == text_to_action(session.state, "R c3-d3")
    screen.page.check(".tools input[type=checkbox]")


def test_escape_takes_back_the_last_part_and_then_all(screen: Screen) -> None:
    screen.start("linkage", ["human", "random"])
    page = screen.page
    screen.choose("R", "c3", "d3")
    page.keyboard.press("Escape")
    assert page.inner_text(".choices .words") == "Chosen: red domino, c3."
    page.keyboard.press("Escape")
    assert page.locator(".choices .words").count() == 0
    assert page.locator(".board .chosen").count() == 0


@pytest.mark.nightly
def test_all_of_a_piece_is_its_target(screen: Screen) -> None:
    screen.start("linkage", ["human", "random"])
    for part in ("W", "R"):
        box = screen.page.locator(f'.board [data-part="{part}"]').bounding_box()
        assert box is not None
        for share in (0.02, 0.35, 0.66, 0.98):  # between the dominoes, too
            screen.page.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
            assert screen.page.locator(f'.board .chosen[data-part="{part}"]').count() == 1
            screen.page.keyboard.press("Escape")


def test_take_back_and_reload_go_on(screen: Screen) -> None:
    screen.start("linkage", ["human", "random"])
    page = screen.page
    page.wait_for_selector(".board .lit")
    before = page.inner_html(".board")
    screen.choose("W", "a1", "b1")
    screen.confirm()
    page.wait_for_selector(".log li >> nth=1")
    page.wait_for_selector(".board .lit")
    after = page.locator(".board .lit").count()
    page.reload()
    page.wait_for_selector(".log li >> nth=1")
    page.wait_for_selector(".board .lit")
    assert page.locator(".board .lit").count() == after
    page.get_by_role("button", name="Take back").click()
    page.wait_for_function("() => document.querySelectorAll('.log li').length === 0")
    assert page.inner_html(".board") == before


@pytest.mark.nightly  # CI: two people play on two devices
def test_two_tabs_agree_and_a_finished_game_stays(browser: Browser, client: Client) -> None:
    screens = [Screen(browser.new_page(reduced_motion="reduce"), client) for _ in range(2)]
    screens[0].start("linkage", ["human", "human"])
    pages = [screen.page for screen in screens]
    screens[1].open(pages[0].url.split("/", 3)[-1])
    for number, cells in ((0, ("W", "a1", "b1")), (1, ("B", "c3", "c4"))):
        screens[number].choose(*cells)
        screens[number].confirm()
        for page in pages:
            page.wait_for_selector(f".log li >> nth={number}")
            page.wait_for_selector(".board .lit")
    # The first tab doesn't hear of the next move, which it tries as well.
    pages[0].route("**/events*", lambda _: None)
    pages[0].reload()
    pages[0].wait_for_selector(".board .lit")
    screens[1].choose("Y", "e5", "e6")
    screens[1].confirm()
    pages[1].wait_for_selector(".log li >> nth=2")
    screens[0].choose("Y", "e5", "e6")
    screens[0].confirm()
    pages[0].wait_for_selector(".log li >> nth=2")
    pages[0].unroute("**/events*")
    pages[0].reload()
    pages[0].get_by_role("button", name="Resign").click()
    assert pages[0].get_by_role("button", name="Rematch").count() == 0
    pages[0].get_by_role("button", name="Resign for good?").click()
    for page in pages:
        page.get_by_role("button", name="Rematch").wait_for()
    game = pages[0].url
    pages[0].get_by_role("button", name="New game").click()
    pages[0].wait_for_selector(".shelf")
    pages[0].goto(game)
    pages[0].reload()
    pages[0].get_by_role("button", name="Rematch").wait_for()
    assert screens[1].wrong == []
    for page in pages:
        page.close()


def test_a_move_is_taken_back_if_the_other_agrees(browser: Browser, client: Client) -> None:
    body = {"game": "linkage", "seats": ["human", "human"], "seed": 1, "apart": True}
    links = client.ask("sessions", body)[1]["seats"]
    screens = [Screen(browser.new_page(reduced_motion="reduce"), client) for _ in links]
    for screen, link in zip(screens, links.values(), strict=True):
        screen.open(f"#/game/{link}")
    first, second = (screen.page for screen in screens)
    for answer, moves in (("Refuse", 1), ("Agree", 0)):
        if answer == "Refuse":
            screens[0].choose("W", "a1", "b1")
            screens[0].confirm()
        first.get_by_role("button", name="Ask to take back").click()
        first.get_by_text("You asked to take back your move").wait_for()
        second.get_by_role("button", name=answer).click()
        first.get_by_text("You asked to take back your move").wait_for(state="hidden")
        for page in (first, second):
            count = f"() => document.querySelectorAll('.log li').length === {moves}"
            page.wait_for_function(count)
    assert screens[0].wrong == screens[1].wrong == []
    for page in (first, second):
        page.close()


@pytest.mark.nightly
def test_the_result_comes_into_view_on_a_telephone(screen: Screen) -> None:
    session = screen.start("love_formula", ["human", "random"])
    screen.page.set_viewport_size({"width": 360, "height": 800})
    for words in ("Resign", "Resign for good?"):
        screen.page.get_by_role("button", name=words).click()
    screen.page.get_by_role("button", name="Rematch").wait_for()
    assert session.over
    expect(screen.page.locator(".status")).to_be_in_viewport()


@pytest.mark.nightly
def test_a_picture_for_another_width_that_comes_late_is_not_shown(screen: Screen) -> None:
    screen.start("link_o", ["human", "random"])
    page, held = screen.page, list[Route]()
    width = "() => document.querySelector('.board svg').viewBox.baseVal.width"
    wide = page.evaluate(width)

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/events?tall=true", hold)
    with page.expect_request("**/events?tall=true"):
        page.set_viewport_size({"width": 500, "height": 900})
    with page.expect_request("**/events?tall=false"):
        page.set_viewport_size({"width": 1300, "height": 900})
    held[0].continue_()
    page.wait_for_timeout(500)
    assert page.evaluate(width) == wide


def test_two_people_never_get_what_the_other_holds(screen: Screen) -> None:
    screen.page.on("response", screen.keep)
    session = screen.start("link_o", ["human", "human"])
    for _ in range(3):
        screen.page.wait_for_selector(".cover h1")
        seat = session.waiting
        assert seat is not None
        assert screen.page.inner_text(".cover h1") == f"Pass the screen to player {seat}"
        assert screen.page.inner_html(".board") == ""
        screen.page.click(".cover button")
        screen.page.wait_for_selector(".board .lit")
        seen, before = {seat}, len(screen.traffic)
        other = json.dumps(session.game.drawing.text(session.state, 1 - seat))
        while session.waiting is None:
            screen.click()
            time.sleep(0.05)
        for _, body in screen.traffic[before - 1 :]:
            assert other not in body
            looking = json.loads(body).get("looking")
            assert looking is None or looking in seen


# Of Love Formula: a random game's seed and ply, and what the first seat points at there.
_POINTED = [(5, 193, "OBSTACLE Bullying#1"), (4, 123, "FREE"), (2, 178, "CARD School Festival")]


@pytest.mark.parametrize(("seed", "ply", "part"), first_quick(_POINTED, slow=0))
def test_what_a_card_asks_for_is_pointed_at_in_the_picture(
    screen: Screen, seed: int, ply: int, part: str
) -> None:
    session = screen.start("love_formula", ["human", "random"])
    game = session.game
    put = positions(game, 2, dict(game.fixed.values), seed)[ply]
    with session.lock:
        session._states[0] = put
        session._mask[0] = mask_of(game, put)
        session.touch()
    screen.page.reload()
    action = session.action(part)
    screen.choose(part)
    screen.confirm()
    for _ in range(100):
        if session.record.actions:
            break
        time.sleep(0.05)
    assert session.record.actions[0] == action


def test_the_log_shows_a_move_on_the_board(screen: Screen) -> None:
    session = screen.start("linkage", ["human", "random"])
    page = screen.page
    screen.choose("W", "a1", "b1")
    screen.confirm()
    page.wait_for_selector(".log li >> nth=1")
    first = session.history.seen(None)[0]
    page.hover(".log button >> nth=0")
    page.wait_for_selector('.past[data-kind="earlier"]:not([hidden]) .marks.last rect')
    shown = page.locator(".past .marks.last .over").count()
    assert shown == len(set(first.touched))
    page.mouse.move(5, 5)
    page.wait_for_selector(".past", state="hidden")
    page.focus(".log button >> nth=1")
    page.wait_for_selector(".past:not([hidden])")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("() => document.activeElement.textContent") == first.words


@pytest.mark.nightly  # CI: whole games by clicks
def test_opponents_moves_are_shown_one_after_another(browser: Browser, client: Client) -> None:
    page = browser.new_page(viewport={"width": 1300, "height": 950})
    screen = Screen(page, client)
    screen.start("love_links", ["human", "random", "random"])
    page.evaluate(
        """() => {
          window.said = [];
          const status = document.querySelector(".status");
          const watch = new MutationObserver(() => said.push(status.textContent));
          watch.observe(status, { childList: true });
        }"""
    )
    for _ in range(9):
        screen.click()
        if page.locator(".log li").count() > 3:
            break
    page.wait_for_function("() => /your move/i.test(document.querySelector('.status').textContent)")
    said = page.evaluate("() => said")
    entries = page.locator(".log li").all_inner_texts()
    assert [words for words in said if words in entries] == entries
    assert page.locator(".board .marks.last rect").count()
    assert screen.wrong == []
    page.close()


def test_an_opponents_last_move_is_marked(screen: Screen) -> None:
    session = screen.start("linkage", ["human", "random"])
    screen.choose("W", "a1", "b1")
    screen.confirm()
    screen.page.wait_for_selector(".log li >> nth=1")
    screen.page.wait_for_selector(".board .marks.last rect")
    touched = set(session.history.seen(None)[1].touched)
    assert screen.page.locator(".board .marks.last .over").count() == len(touched)


def test_the_shares_of_an_agent_stand_on_the_board(screen: Screen, client: Client) -> None:
    screen.start("linkage", ["human", "random"])
    screen.page.wait_for_selector(".board .lit")
    screen.page.get_by_role("button", name="Analyse").click()
    screen.page.wait_for_selector(".board .share")
    session = screen.page.url.split("/")[-1]
    agent = screen.page.input_value(".analysis input")
    moves = client.ask(f"sessions/{session}/analysis", {"agent": agent})[1]["moves"]
    yellow = sum(move["share"] for move in moves if "Y" in move["parts"])
    shown = screen.page.locator(".board .share").all_text_contents()
    assert f"{yellow:.0%}".replace("%", " %") in shown
    assert 2 <= len(shown) <= 12
    overprinted = """() => {
      const box = (one) => one.getBoundingClientRect();
      const shares = [...document.querySelectorAll(".board .share > rect")].map(box);
      const texts = [...document.querySelectorAll(".board text")];
      const words = texts.filter((one) => !one.closest(".share"));
      const apart = (a, b) => a.right <= b.left + 2 || b.right <= a.left + 2
        || a.bottom <= b.top + 4 || b.bottom <= a.top + 4;
      return words.filter((one) => shares.some((share) => !apart(share, box(one)))).length;
    }"""
    assert screen.page.evaluate(overprinted) == 0
    screen.choose("Y")
    best = max((move for move in moves if "Y" in move["parts"]), key=lambda move: move["share"])
    cell = best["parts"][1]
    there = sum(move["share"] for move in moves if {"Y", cell} <= set(move["parts"]))
    after = screen.page.locator(".board .share").all_text_contents()
    assert f"{there:.0%}".replace("%", " %") in after


def test_a_coach_shows_its_move_and_what_it_would_have_played(
    screen: Screen, client: Client
) -> None:
    screen.start("linkage", ["human", "random"])
    page, session = screen.page, screen.page.url.split("/")[-1]
    page.get_by_role("button", name="Hint").click()
    page.wait_for_selector(".board .marks.hint rect")
    judge = page.input_value(".analysis input")
    found = client.ask(f"sessions/{session}/analysis", {"agent": judge})[1]
    best = found["moves"][0]
    assert f"would play: {best['words']} " in page.inner_text(".coach [role=status]")
    assert page.locator(".board .marks.hint .over").count() == len(best["parts"])
    screen.choose("W", "a1", "b1")
    screen.confirm()
    page.wait_for_selector(".log li >> nth=1")
    page.get_by_role("button", name="What would you have played?").click()
    said = page.get_by_text("Instead of your last move it would have played:")
    assert best["words"] in said.inner_text()


def test_rules_are_in_the_page(screen: Screen) -> None:
    session = screen.start("linkage", ["human", "random"])
    page = screen.page
    page.get_by_role("button", name="Rules and help").click()
    page.wait_for_selector("dialog[open] figure svg")
    shown = page.inner_text("dialog")
    short = session.game.guide.rules_text()
    assert short is not None
    assert short.split(". ")[0].replace("*", "").split("\n")[0] in shown.replace("\n", " ")
    assert page.locator("dialog figure").count() == 3
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="hidden")


def test_a_card_shows_its_face(screen: Screen) -> None:
    """To a pointer, to a touch and to the focus, until Escape or the pointer leaves."""
    screen.start("love_formula", ["human", "random"])
    page = screen.page
    card, face = page.locator(".board [data-card]").first, page.locator(".face")
    name, words = card.locator("> title").text_content(), card.locator("> desc").text_content()
    assert name
    assert words
    card.hover()
    expect(face).to_have_text(name + words)
    page.keyboard.press("Escape")
    page.locator("h1").hover()
    expect(face).to_be_hidden()
    part = page.locator('.board [role="button"]:has([data-card])').first
    part.focus()
    expect(face).to_contain_text("priority")


def test_a_link_to_watch_shows_the_game_and_no_hand(browser: Browser, screen: Screen) -> None:
    session = screen.start("link_o", ["human", "human"], apart=True)
    page = screen.page
    page.get_by_role("button", name="Link to watch").click()
    address = page.get_attribute(".shared a", "href")
    assert address is not None
    other = browser.new_page(reduced_motion="reduce")
    other.goto(address)
    other.wait_for_selector(".board svg")
    assert "as a spectator" in other.inner_text("h1")
    hands = session.game.to_dict(session.state, None)["hands"]
    assert not {tile for hand in hands for tile in hand if f'data-part="{tile}"' in other.content()}
    assert other.locator(".board .lit").count() == 0
    for name in ("Resign", "Take back", "Save", "Rematch"):
        assert not other.get_by_role("button", name=name, exact=True).is_visible()
    before = other.locator(".log li").count()
    mover = screen.client.server.store.links(address.split("/")[-1])[int(session.state.seat)]
    move = screen.client.ask(f"sessions/{mover}")[1]["moves"][0]["text"]
    assert screen.client.ask(f"sessions/{mover}/move", {"move": move})[0] == 200
    other.wait_for_function(
        f"() => document.querySelectorAll('.log li').length > {before}"
    )  # by itself
    other.close()
