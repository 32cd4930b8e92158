"""Tutorials: a step is played by clicks or keys, another move is explained, rules open."""

import re

from tests_web.conftest import Screen


def test_a_tutorial_is_played_to_its_end(screen: Screen) -> None:
    page = screen.page
    screen.open()
    page.get_by_role("link", name="Learn", exact=True).click()
    page.get_by_role("link", name="Learn Linkage").click()
    page.wait_for_selector(".lesson .board .lit")
    screen.choose("W", "a1", "b1")
    page.wait_for_function("() => document.querySelector('.status').textContent.includes('legal')")
    assert page.locator(".marks.hint").count() == 1
    for number, parts in enumerate(("R d7 e7", "Y f3 g3", "R f6 f7", "Y f4 g4", "W g6 g7", "B"), 1):
        page.wait_for_selector(f"text=Step {number} of 6")
        page.wait_for_selector(".lesson .board .lit")
        before = screen.status()
        screen.choose(*parts.split())
        page.wait_for_function(
            "said => document.querySelector('.status').textContent !== said", arg=before
        )
        if number < 6:
            page.wait_for_selector(".lesson .main:focus")
            page.keyboard.press("Enter")  # the focus is on “Next”
    assert re.search("More wins", screen.status())
    page.get_by_role("link", name="Play Linkage").wait_for()


def test_a_rule_of_a_step_opens_in_the_rules(screen: Screen) -> None:
    page = screen.page
    screen.open("#/learn/linkage/5")
    page.get_by_role("button", name="Rule R6").click()
    page.wait_for_selector("dialog[open] li.wanted")
    assert page.inner_text("dialog li.wanted").startswith("R6 Passing.")
    assert page.locator("dialog li.wanted").is_visible()


def test_a_puzzle_takes_the_winning_move_alone(screen: Screen) -> None:
    page = screen.page
    screen.open("#/learn")
    page.get_by_role("link", name="Puzzles of Linkage").click()
    page.wait_for_selector(".lesson .board .lit")
    view = screen.client.ask("games/linkage/puzzles/0")[1]
    winning = next(move for move in view["moves"] if move["text"] in view["winning"])
    other = next(move for move in view["moves"] if move["text"] not in view["winning"])
    for move, words in ((other, "no longer win"), (winning, "Right")):
        for part in move["parts"]:
            if page.locator(f'.board [data-part="{part}"].lit').count():
                screen.choose(part)
        page.wait_for_function(
            "words => document.querySelector('.status').textContent.includes(words)", arg=words
        )
    page.get_by_role("link", name="Next puzzle").click()
    page.wait_for_selector("text=Puzzle 2 of")
