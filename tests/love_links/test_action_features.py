"""Features of legal actions: a turn's points by trying all its moves, and positions by hand."""

import numpy as np
import pytest
from numpy.typing import NDArray

from linkzoo.testing.play import action_features_of
from tests.driving import first_quick
from tests.love_links.helpers import (
    GAME,
    closing,
    hoarding,
    legal_list,
    legal_texts,
    position,
    read,
    uniform,
    walk,
)
from tests.love_links.oracle import Setup, Undealt, read_move

SPEC = GAME.observation.action_spec
assert SPEC is not None
AT = SPEC.starts()


MOST_SHOWN = 127


def features_of(state: np.record, text: str) -> NDArray[np.int8]:
    """The features of a legal action."""
    action = GAME.notation.text_to_action(state, text)
    row = int(np.flatnonzero(legal_list(state) == action)[0])
    features: NDArray[np.int8] = action_features_of(GAME, state)[row]
    return features


@pytest.mark.parametrize("players", first_quick((2, 4, 3)))
def test_a_turn_has_the_points_of_the_best_two_moves(players: int) -> None:
    """R8, R12, R15, R16: the slow model tries all of them."""
    rng = np.random.default_rng(players)
    seen = set()
    for policy in (uniform, closing, hoarding):
        for ply, (state, _, _) in enumerate(walk(Setup(players), 5, policy)):
            if ply % (4 * players) != 3 or state.seat < 0:
                continue
            text = str(rng.choice(sorted(legal_texts(state))))
            features = features_of(state, text)
            model = Undealt.read(GAME.to_dict(state))
            model.apply(read_move(text))
            seats = [(state.seat + step) % players for step in range(1, players)]
            points = [min(model.most_turn_points(seat), MOST_SHOWN) for seat in seats]
            seen.update(points)
            assert features[AT.next_turn] == points[0]
            assert features[AT.other_turn] == (points[-1] if players > 2 else 0)
            assert features[AT.partner_turn] == (points[1] if players == 4 else 0)
    assert len(seen) > 10


FOUR = "3-9@-,9-4@-,4-10@-,10-4@-"  # with 4-9: 12 for metal, 10 for domination, 4 for a match
OTHER_FOUR = "2-8@-,8-6@-,6-4@-,4-5@-"  # with 5-6: 8, 10 and 4


@pytest.mark.parametrize(
    ("chains", "hand", "points"),
    [
        (("9-10@-", "4-7@-"), "10-8,7-2", 1 + 3),  # R15: two matches
        ((FOUR,), "4-9", 26),  # R16
        ((FOUR[:-7],), "4-9,10-4", 12 + 10 + 2 * 4),  # R16: 10-4 matches at both ends
        ((FOUR, OTHER_FOUR), "4-9,5-6", 1 + 26),  # R12: a close and a third link would be needed
        ((FOUR, OTHER_FOUR), "4-9,5-6,7-M", 26 + 22),
        ((FOUR,), "7-M", 0),
    ],
)
def test_points_of_turns_written_by_hand(chains: tuple[str, ...], hand: str, points: int) -> None:
    state = read(position("7-10@-", *chains, hands=("10-9", hand)))
    assert features_of(state, "LOCK 10-9 @0")[AT.next_turn] == points
