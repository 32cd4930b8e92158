"""The guides of the games: texts for people, and the areas of drawings that the page can use."""

import re
from collections import defaultdict
from html import unescape
from xml.etree import ElementTree

import connect_four
import numpy as np
import pytest

from linkzoo import Game, get_game
from linkzoo.core.options import option_names
from linkzoo.core.protocols import Draw
from linkzoo.registry import NAMES
from linkzoo.svg import elements
from linkzoo.svg.panel import TALL
from linkzoo.svg.raster import to_png
from linkzoo.testing.play import clone, mask_of, new, positions
from tests.common.variants import Variant, every_size

SECRET = ("link_o", "love_formula")


def legal(game: Game, state: np.record) -> list[int]:
    return [int(action) for action in np.flatnonzero(mask_of(game, state))]


def some(states: list[np.record], number: int = 10) -> list[np.record]:
    """Evenly among the positions of a game."""
    return states[:: max(len(states) // number, 1)]


@every_size
def test_every_position_has_its_words(variant: Variant) -> None:
    """A prompt for the seat to act that cites a rule, a row of the score for every seat."""
    game, players = variant.game, variant.num_players
    *running, last = positions(game, players, variant.options, 4)
    for state in some(running):
        assert re.search(r"\(R\d", game.guide.prompt(state, int(state.seat)))
        for action in legal(game, state)[:3]:
            assert game.guide.action_words(state, action)
            parts = game.notation.action_parts
            assert parts is not None
            assert all(game.guide.part_words(state, part) for part in parts(state, action))
        rows = game.guide.score_rows(state)
        assert all(len(row.values) == players for row in rows)
    assert re.search(r"\bwins?\b|draw", game.guide.outcome(last))
    assert game.guide.prompt(last, 0) == game.guide.outcome(last)


@every_size
def test_what_a_move_touched_lies_in_all_drawings(variant: Variant) -> None:
    game, total = variant.game, 0
    states = some(positions(game, variant.num_players, variant.options, 5)[:-1])
    for state in states:
        action = legal(game, state)[-1]
        follower = game.guide.after(state, action)
        drawn = [unescape(draw(follower)) for draw in drawings(game)]
        for item in game.guide.touched(state, action):
            assert all(f'data-item="{item}"' in svg for svg in drawn)
            total += 1
    assert total > 3


@every_size
def test_all_drawings_have_the_same_parts_and_the_tall_one_large_letters(variant: Variant) -> None:
    """11 pixels or more on a screen of 320."""
    game = variant.game
    for state in some(positions(game, variant.num_players, variant.options, 6), 5):
        seat = max(int(state.seat), 0)
        wide, page, tall = (draw(state, seat) for draw in drawings(game))
        for mark in ("part", "item"):
            named = [set(re.findall(f'data-{mark}="([^"]*)"', svg)) for svg in (wide, page, tall)]
            assert named[0] == named[1] == named[2]
        root = ElementTree.fromstring(tall)  # noqa: S314
        assert root.get("viewBox", "").startswith(f"0 0 {TALL} ")
        assert min(letters(root, 320 / TALL)) >= 11


def drawings(game: Game) -> list[Draw]:
    """The wide drawing, the one for a page, and the one for a narrow screen."""
    return [game.draw_svg, game.draw_page, game.draw_tall]


def letters(element: ElementTree.Element, scale: float) -> list[float]:
    """The sizes of all letters."""
    for factor in re.findall(r"scale\(([\d.]+)\)", element.get("transform", "")):
        scale *= float(factor)
    own = [scale * float(element.get("font-size", "nan"))] if element.text and scale else []
    sizes = own if element.tag.endswith("text") else []
    return sizes + [size for child in element for size in letters(child, scale)]


@pytest.mark.slow
@pytest.mark.parametrize("name", SECRET)
def test_words_tell_a_seat_what_it_knows(name: str) -> None:
    """Moves that lead to one view of a seat are one event, also from other worlds."""
    game, groups = get_game(name), 0
    assert game.notation.to_dict is not None
    for state in some(positions(game, 3, dict(game.fixed.values), 9)[:-1]):
        for seat in range(3):
            texts = defaultdict(set)
            game.determinize(world := clone(state), seat, np.uint64(5))
            for there in (state, world):
                for words in (game.guide.prompt, game.guide.score_rows):
                    assert words(there, seat) == words(state, seat)
                for action in legal(game, there)[:4]:
                    view = repr(game.to_dict(game.guide.after(there, action), seat))
                    event = game.guide.event(there, action, seat)
                    texts[view].add((event, game.guide.touched(there, action, seat)))
            assert all(len(alternatives) == 1 for alternatives in texts.values())
            groups += sum(seat != state.seat for _ in texts)
    assert groups > 10


def test_hidden_choices_are_told_to_their_seat() -> None:
    game = get_game("love_formula")
    state = new(game, 2, {"skip_forced": False}, 1)
    pick = legal(game, state)[0]
    card = game.notation.action_to_text(state, pick).removeprefix("CARD ")
    assert game.guide.event(state, pick, 0) == f"Player 0 picks {card}."
    assert game.guide.event(state, pick, 1) == ""


MOVES = [
    (
        "linkage",
        "B c3-c4",
        "blue domino on c3 and c4",
        "Player 0 places a blue domino on c3 and c4",
    ),
    ("linkage", "W a1-b1", "white domino on a1 and b1", ": 1 group."),
]


@pytest.mark.parametrize(("name", "move", "spoken", "told"), MOVES)
def test_spoken_moves(name: str, move: str, spoken: str, told: str) -> None:
    game = get_game(name)
    state = new(game, 2, {}, 1)
    action = game.notation.text_to_action(state, move)
    assert game.guide.action_words(state, action) == spoken
    assert told in game.guide.event(state, action)


def test_a_closed_bracelet_is_reckoned() -> None:
    """R16: the parts that an event lists are the points that the score gains."""
    game, closed = get_game("love_links"), 0
    for state in positions(game, 4, {}, 1)[:-1]:
        for action in legal(game, state):
            sentence = game.guide.event(state, action)
            if "closes" in sentence:
                points, _, parts = sentence.partition(" for ")[2].partition(" point")
                listed = re.findall(r"(?:[a-z]) (-?\d+)(?=,|\.)", parts)
                assert sum(map(int, listed)) == int(points), sentence
                gained = game.guide.after(state, action).scores - state.scores
                assert gained.sum() == int(points)
                closed += 1
    assert closed > 10


@pytest.mark.parametrize("name", NAMES)
def test_rules_and_options_are_explained(name: str) -> None:
    game = get_game(name)
    short = game.guide.rules_text()
    full = game.guide.rules_text(full=True)
    assert short is not None
    assert full is not None
    assert 300 < len(short) < 900
    assert "**R1 " in full
    assert "## Notation" in full
    options = set(option_names(game.options))
    assert options <= set(game.guide.option_words())
    assert min(map(len, game.guide.option_words().values())) > 8


def test_words_of_a_game_that_says_nothing() -> None:
    game = connect_four.GAME
    state = new(game, 2, {}, 1)
    assert game.guide.rules_text() is None
    assert game.guide.option_words() == {}
    assert game.guide.touched(state, 0) == ()
    assert game.guide.prompt(state, 0) == "Choose a move."
    assert game.guide.prompt(state, 1) == "Player 0 is to act."
    text = game.notation.action_to_text(state, 3)
    assert game.guide.event(state, 3, 1) == f"Player 0: {text}."
    assert game.draw_tall(state) == game.draw_svg(state)


def test_forced_moves_are_told_too() -> None:
    """With `skip_forced`, a move and the forced ones behind it are one event."""
    game, forced = get_game("linkage"), 0
    states = np.zeros(1, game.state)
    states[0] = new(game, 2, {"skip_forced": True}, 3)
    state = states[0]
    while state.seat >= 0:
        action = legal(game, state)[0]
        forced += game.guide.event(state, action).count(" places ")
        for _, _, follower in game.guide._steps(state, action):
            state = follower
    assert forced == state.num_pieces


def test_colours_of_the_dark_are_for_screens_only() -> None:
    box = elements.rect(0, 0, 8, 8, fill="#ffffff")
    light, both = (
        elements.document(8, 8, "box", box, dark=dark) for dark in ({}, {"#ffffff": "#000000"})
    )
    assert "light-dark(#ffffff,#000000)" in both
    assert "light-dark" not in light
    assert to_png(both) == to_png(light)
