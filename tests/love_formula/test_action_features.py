"""Features of legal actions: bounds, no leaks, and the values of positions written by hand."""

from collections.abc import Iterator

import numpy as np
import pytest

from linkzoo.games.love_formula.action_features import ACTION_SPEC
from linkzoo.games.love_formula.cards import load_cards
from linkzoo.games.love_formula.tables import card_tables
from linkzoo.games.love_formula.traits import NAMES as TRAITS
from linkzoo.registry import get_game
from linkzoo.testing.play import action_features_of
from tests.common.variants import OTHER_CARDS
from tests.driving import first_quick
from tests.love_formula.helpers import (
    GAME,
    asked_all,
    clone,
    legal_list,
    legal_mask,
    play_text,
    position,
    read,
    redealt,
    start,
)
from tests.love_formula.oracle import Setup

NAMES = [part.name for part in ACTION_SPEC.parts]
CONTEXT = np.array([part.broadcast for part in ACTION_SPEC.parts])
SETUPS = (
    *(Setup(players) for players in (2, 3, 4)),
    *(asked_all(players, voluntary_discards="off") for players in (2, 3, 4)),
)


def decisions(setup: Setup, seed: int, greedy: bool) -> Iterator[np.record]:
    """The positions of a game: greedy play fills the fields, random play meets all decisions."""
    state, rng = start(setup, seed), np.random.default_rng(seed)
    while state.seat >= 0:
        yield state
        moves = legal_list(state)
        values = rng.random(len(moves))
        for number, action in enumerate(moves if greedy else ()):
            after = clone(state)
            GAME.rules.apply(after, int(action))
            values[number] += GAME.heuristic(state, after, state.seat)
        GAME.rules.apply(state, int(moves[values.argmax()]))


@pytest.mark.parametrize("greedy", [False, True])
@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0))
def test_bounds_and_no_leak(setup: Setup, greedy: bool) -> None:
    """Values lie within their bounds and are equal in worlds that the seat can't tell apart."""
    space = ACTION_SPEC.space()
    for number, state in enumerate(decisions(setup, 3, greedy)):
        if number % 3:
            continue
        before = state.tobytes()
        features = action_features_of(GAME, state)
        assert ((features >= space.low) & (features <= space.high)).all()
        assert (features[:, CONTEXT] == features[0, CONTEXT]).all()
        assert state.tobytes() == before
        for seed in range(2):
            other = redealt(state, int(state.seat), seed)
            assert (legal_mask(other) == legal_mask(state)).all()
            assert (action_features_of(GAME, other) == features).all()


def shown(state: np.record, move: str) -> dict[str, int]:
    """The features of a move that aren't 0, without the context."""
    row = list(legal_list(state)).index(GAME.notation.text_to_action(state, move))
    features = action_features_of(GAME, state)[row]
    values = zip(NAMES, features.tolist(), CONTEXT.tolist(), strict=True)
    return {name: value for name, value, is_context in values if value and not is_context}


MINE = {"Pen Pals": ["Love Letter"], "Surfer & Guitarist": [], "item": "Bouquet"}
THEIRS = {"Cooking Club Pair": ["School Festival"]}


def test_selections() -> None:
    """Effects of the hand's cards in this position: R10, R13, R26."""
    hand = ["Fireworks Show", "Bouquet", "Band Vocalist & Drummer", "Sudden Downpour", "Beach"]
    state = read(position([MINE, THEIRS], hands={0: hand}))
    features = shown(state, "CARD Fireworks Show")
    assert features["preparation"] == features["completes2"] == features["slot"] == 1
    assert (features["priority"], features["copies"], features["preparations"]) == (2, 1, 3)
    assert not {"advances", "stuck", "couple2", "obstacle"} & features.keys()
    assert shown(state, "CARD Beach")["advances"] == 1
    features = shown(state, "CARD Bouquet")  # nowhere to go: the free slot is taken
    assert features["stuck"] == features["wanted"] == 1
    features = shown(state, "CARD Band Vocalist & Drummer")
    assert (features["couple2"], features["met"], features["met_free"]) == (1, 1, 1)
    features = shown(state, "CARD Sudden Downpour")
    assert features["obstacle"] == features["bars"] == 1
    assert (features["harm"], features["priority"]) == (12, 5)


def test_placing() -> None:
    """R12: the points of each position."""
    state = play_text(read(position([MINE, THEIRS], {0: "Fireworks Show"})), "PASS")
    at_couple, free = shown(state, "COUPLE Pen Pals"), shown(state, "FREE")
    assert (at_couple["points"], free["points"]) == (4, 1)
    assert free["slots"] == -1
    assert free["worth"] < at_couple.get("worth", 0)


def test_another_table() -> None:
    """The features of another table of cards have the same layout, and its cards' traits."""
    table = load_cards(OTHER_CARDS)
    traits = card_tables(table).traits
    cards = {card.name: row for card, row in zip(table.cards, traits, strict=True)}
    assert cards["Date Crasher"][TRAITS.index("draws")] == 1
    assert cards["Shopping Spree"][TRAITS.index("discards")] == 1
    assert cards["Moving Away"][TRAITS.index("drains")] == 1
    assert get_game("love_formula", {"cards": OTHER_CARDS}).observation.action_spec == ACTION_SPEC
