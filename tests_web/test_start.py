"""A new game: opponents, options, two devices, one's games and saved games."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.driving import first_quick
from tests.web.server import Client, serving

from linkzoo import GameRecord
from tests_web.conftest import Screen


def _session_id(page: Page) -> str:
    page.wait_for_url(re.compile("#/game/"))
    return str(page.url.split("/")[-1])


@pytest.mark.nightly  # CI: every game is begun by keys alone
def test_a_game_is_set_up_by_keys_alone(screen: Screen, client: Client) -> None:
    screen.open("#/new")
    page = screen.page
    page.wait_for_selector("#seat1")
    wanted = {"game": "Love Links", "players": "3", "seat1": "random: ", "seat2": "linear: "}
    for name, text in wanted.items():
        for _ in range(30):
            page.keyboard.press("Tab")
            if page.evaluate("() => document.activeElement.id") == name:
                break
        page.keyboard.type(text)
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.textContent") == "Start":
            break
    page.keyboard.press("Enter")
    session = client.server.viewer(_session_id(page)).session
    assert session.game.name == "love_links"
    assert list(map(str, session.seats)) == ["human", "random", "linear"]


def test_the_menu_follows_the_game_and_says_how_strong(screen: Screen, client: Client) -> None:
    screen.open("#/new")
    page = screen.page
    page.wait_for_selector("#seat1")
    for game in client.ask("catalogue")[1]["games"]:
        page.select_option("#game", game["name"])
        shown = page.locator("#seat1 option").all_text_contents()
        assert shown[1:-1] == [f"{agent['name']}: {agent['words']}" for agent in game["agents"]]
        page.select_option("#seat1", "random")
        assert page.inner_text("#seat1-words") == "Strength 0, where random play has 0."
    page.select_option("#seat1", "other")
    page.fill("#seat1-other", "uct-x")
    page.click("button[type=submit]")
    expect(page.locator("#error")).to_contain_text("uct-x")
    screen.wrong.clear()  # the browser reports the refusal


def test_options_are_explained_and_taken(screen: Screen, client: Client) -> None:
    screen.open("#/new")
    page = screen.page
    page.select_option("#game", "linkage")
    page.click("summary")
    assert page.locator("#option-free_hole-words").inner_text().startswith("seat 0 puts the hole")
    page.get_by_label("Threshold").fill("14")
    page.fill("#seat0-name", "Ada")
    page.fill("#seed", "4")
    page.click("button[type=submit]")
    session = client.server.viewer(_session_id(page)).session
    assert session.record.options["threshold"] == 14
    assert [session.record.seed, session.names] == [4, ["Ada", ""]]
    screen.open("#/new")
    assert page.input_value("#seat0-name") == "Ada"


def test_games_that_are_left_unplayed_or_over_are_closed(screen: Screen, client: Client) -> None:
    page = screen.page
    ids = []
    for moves in (0, 1):
        screen.open("#/new")
        page.select_option("#game", "linkage")
        page.select_option("#seat1", "random")
        page.click("button[type=submit]")
        ids.append(_session_id(page))
        page.wait_for_selector(".board svg")
        if moves:
            client.ask(f"sessions/{ids[-1]}/move", {"move": "W a1-b1"})
        page.get_by_role("button", name="New game").click()
        page.wait_for_selector(".shelf")
    expect(page.locator(".list a")).to_have_count(1)
    assert client.server.peek(ids[0]) is None
    page.get_by_role("button", name=re.compile("Close Linkage")).click()
    expect(page.locator(".list a")).to_have_count(0)
    assert client.server.peek(ids[1]) is None


@pytest.mark.nightly  # quick: tests/web/test_sessions.py
def test_a_large_seed_stays(screen: Screen, client: Client, tmp_path: Path) -> None:
    """JavaScript rounds it: in the form, a download, a file, a saved game and a replay."""
    seed = 2**53 + 1
    screen.open("#/new")
    page = screen.page
    page.click("summary")
    page.fill("#seed", f"{seed}")
    page.click("button[type=submit]")
    name = _session_id(page)
    session = client.server.viewer(name).session
    assert session.record.seed == seed
    for _ in range(2):  # the first click asks
        page.get_by_role("button", name="Resign").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    file = tmp_path / "game.json"
    download.value.save_as(file)
    assert GameRecord.load(file) == session.record
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Replay").click()

    def opened() -> GameRecord:
        page.wait_for_url(re.compile("#/replay/"))
        page.wait_for_selector(".report")
        return client.server.replays.get(page.url.split("/")[-2])[0].record

    assert opened() == session.record
    screen.open("#/new")
    page.set_input_files("#file", file)
    page.get_by_role("button", name="Open", exact=True).click()
    assert opened().seed == seed
    screen.open("#/new")
    page.get_by_role("button", name=re.compile("^Open ")).first.click()
    assert opened().seed == seed


@pytest.mark.nightly
def test_requests_end_with_their_page(screen: Screen, client: Client) -> None:
    """The screen fails the test for any error; the answers come late, or not at all."""
    page = screen.page
    name = client.new_game("linkage", ["human", "random"])
    client.ask(f"sessions/{name}/move", {"move": "W a1-b1"})
    client.settled(name)
    for late in ("**/api/catalogue", "**/log/*", "**/analysis", "**/preview?*"):
        page.route(late, lambda _: None)  # never answered
        page.goto("about:blank")
        screen.open(f"#/game/{name}")
        page.wait_for_selector(".board svg")
        page.locator(".log button").first.hover()
        page.get_by_role("button", name="Analyse").click()
        page.get_by_role("button", name="Hint").click()
        page.locator(".board .lit").first.click()
        page.evaluate("location.hash = '#/strength'")
        page.wait_for_selector("h1:has-text('strong')")
        page.unroute(late)


def test_saved_games_are_opened_and_deleted(screen: Screen, client: Client) -> None:
    name = client.new_game("linkage", ["human", "random"])
    client.ask(f"sessions/{name}/save", {})
    screen.open("#/new")
    page = screen.page
    saved = page.locator("section", has_text="Saved games").locator("li")
    saved.first.wait_for()
    count = saved.count()
    page.get_by_role("button", name=re.compile("^Open Linkage")).first.click()
    page.wait_for_url(re.compile("#/replay/"))
    screen.open("#/new")
    drop = page.get_by_role("button", name=re.compile("^Delete Linkage")).first
    drop.click()
    expect(drop).to_have_text("Delete for good?")
    drop.click()
    expect(saved).to_have_count(count - 1)


@pytest.mark.parametrize("token", first_quick(["right", None], slow=0))
def test_two_people_play_on_two_devices(
    browser: Browser, tmp_path: Path, token: str | None
) -> None:
    with serving(tmp_path, token=token) as client:
        first, second = (browser.new_context(reduced_motion="reduce") for _ in range(2))
        page = first.new_page()
        page.goto(f"http://127.0.0.1:{client.port}/{f'?token={token}' if token else ''}#/new")
        page.select_option("#game", "link_o")
        page.select_option("#seat1", "human")
        page.check("#apart")
        page.click("button[type=submit]")
        links = page.locator(".list a[href*='#/game/']")
        expect(links).to_have_count(2)
        addresses = [str(links.nth(seat).get_attribute("href")) for seat in range(2)]
        assert all(("token=" in address) == bool(token) for address in addresses)
        pages = [page, second.new_page()]
        for one, address in zip(pages, addresses, strict=True):
            one.set_default_timeout(30_000)
            one.goto(address)
            one.wait_for_selector(".board svg")
        session = next(iter(client.server.sessions))
        for moves in range(1, 4):
            acting = int(session.state.seat)
            move = session.game.notation.action_to_text(session.state, session.legal()[0])
            pages[acting].wait_for_selector(".board .lit")
            pages[acting].evaluate(
                """([id, move]) => fetch(`api/sessions/${id}/move`, {method: "POST",
                headers: {"Content-Type": "application/json"}, body: JSON.stringify({move})})""",
                [_session_id(pages[acting]), move],
            )
            for one in pages:  # both pages hear of it by themselves
                one.wait_for_selector(f".log li >> nth={moves - 1}")
        pages[1].reload()
        pages[1].wait_for_selector(".log li >> nth=2")
        drawn = pages[1].inner_html(".board")
        assert str(session.game.to_dict(session.state, 1)["hands"][1][0]) in drawn
        first.close()
        second.close()


def test_agents_are_offered_for_the_chosen_options(screen: Screen) -> None:
    """A policy for the large board leaves the list of an edition; names stay."""
    screen.open("#/new")
    page = screen.page
    page.select_option("#game", "link_o")
    page.click("summary")
    policy = page.locator("#seat1 option[value=link_o_action]")
    expect(policy).to_have_count(1)
    page.select_option("#seat1", "link_o_action")
    page.fill("#seat0-name", "Ada")
    page.select_option("#option-board", "mini2x4a-h2")
    expect(policy).to_have_count(0)
    expect(page.locator("#seat1 option[value=linear]")).to_have_count(1)
    assert page.input_value("#seat1") == "random"
    assert page.input_value("#seat0-name") == "Ada"
    page.select_option("#option-board", page.locator("#option-board option").first.inner_text())
    expect(policy).to_have_count(1)
