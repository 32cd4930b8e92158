"""Love Links' observation: every piece against the oracle, and symmetry."""

from math import prod

import numpy as np
import pytest

from tests.driving import first_quick, same
from tests.love_links.helpers import (
    GAME,
    POLICIES,
    SETUPS,
    Policy,
    clone,
    legal_mask,
    margins,
    observe,
    payoffs,
    piece,
    play_random,
    play_text,
    position,
    read,
    start,
    walk,
)
from tests.love_links.oracle import LINKS, ORDER, TYPES, Json, Oracle, Setup


def expect(state: np.record, oracle: Oracle) -> None:
    """Every piece of every seat equals the oracle's, within its declared bounds."""
    space = GAME.observation.spec.space()
    for seat in range(oracle.setup.num_players):
        flat = observe(state, seat)
        assert space.contains(flat.reshape(GAME.observation.spec.shape))
        for name, expected in oracle.observation(seat).items():
            seen = GAME.observation.spec.view(flat, name)
            assert seen.shape == expected.shape
            same(seen, expected, words=f"{name} of seat {seat}")


def rotated(data: Json, by: int) -> Json:
    """The same game with every seat moved on by some seats."""
    players, sides = data["num_players"], len(data["scores"])

    def moved(seat: int | None) -> int | None:
        return None if seat is None else (seat + by) % players

    def rolled(values: list[object], count: int) -> list[object]:
        return [values[(index - by) % count] for index in range(count)]

    return data | {
        "seat": moved(data["seat"]),
        "hands": rolled(data["hands"], players),
        "bracelets": [
            bracelet | {"links": [[link, moved(owner)] for link, owner in bracelet["links"]]}
            for bracelet in data["bracelets"]
        ],
        "scores": rolled(data["scores"], sides),
        "captured": rolled(data["captured"], sides),
        "winners": sorted((seat + by) % players for seat in data["winners"]),
    }


def test_pieces() -> None:
    """These pieces, laid one after the other; four hands and three sides always."""
    pieces = {piece.name: piece for piece in GAME.observation.spec.parts}
    expected = Oracle.read(GAME.to_dict(start())).observation(0)
    assert pieces.keys() == expected.keys()
    assert {name: piece.shape for name, piece in pieces.items()} == {
        name: value.shape for name, value in expected.items()
    }
    assert prod(GAME.observation.spec.shape) == sum(value.size for value in expected.values())
    for name, shape in {
        "hand_key": (4, 5),
        "owned": (3, 24),
        "closing_value": (24,),
        "supply": (59,),
        "scores": (3,),
    }.items():
        assert pieces[name].shape == shape


@pytest.mark.parametrize("seed", first_quick([600, 601], slow=0))
@pytest.mark.parametrize(
    "policy", first_quick(POLICIES, slow=0), ids=lambda policy: policy.__name__
)
@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_every_piece_at_every_ply(setup: Setup, policy: Policy, seed: int) -> None:
    for state, oracle, _ in walk(setup, seed, policy):
        expect(state, oracle)


def test_a_position_by_hand() -> None:
    """Worked out on paper: three players, seen by seat 1."""
    chain = "2-5@B,5-8@C,8-4@A,4-6"
    data = position(
        "9-4",
        chain,
        "7-2@A",
        hands=("2-8,10-9", "7-M", "3-4,5-3"),
        scores=[11, 22, 33],
        captured=[1, 2, 3],
        seat=2,
        move=2,
        matched=True,
        supply={"bronze": [], "silver": [], "gold": ["4-10", "6-8", "4-10"]},
    )
    state = read(data)
    seen = {p.name: piece(state, p.name, 1).tolist() for p in GAME.observation.spec.parts}
    assert seen["hand_key"][0] == [7, 0, 0, 0, 0], "the observer's hand comes first"
    assert seen["hand_lock"] == [[11, 0, 0, 0, 0], [4, 3, 0, 0, 0], [8, 9, 0, 0, 0], [0] * 5]
    assert seen["hand_metal"] == [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 3, 0, 0, 0], [0] * 5]
    assert seen["hand_stone"] == [[0] * 5, [0, 2, 0, 0, 0], [0, 4, 0, 0, 0], [0] * 5]
    assert seen["hand_present"] == [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [0] * 5]
    assert seen["hand_size"] == [1, 2, 2, 0]
    assert seen["open"] == [1, 1, 1] + [0] * 21
    assert seen["open_key"][:3] == [9, 2, 7]
    assert seen["open_lock"][:3] == [4, 6, 2]
    assert seen["length"][:3] == [1, 4, 1]
    assert seen["metal"][:3] == [2, 6, 1]
    assert seen["stones"][:3] == [0, 0, 10]
    assert [row[:3] for row in seen["owned"]] == [[0, 1, 0], [0, 1, 0], [0, 1, 1]]
    assert seen["neutral"][:3] == [1, 1, 0]
    assert seen["closing_value"][:3] == [0, 6 + 0 + 2 + 0, 0]
    assert {TYPES[i]: n for i, n in enumerate(seen["supply"]) if n} == {"4-10": 2, "6-8": 1}
    assert seen["to_act"] == [1]
    assert (seen["round"], seen["move"], seen["matched"]) == ([2], [2], [1])
    assert seen["must_start"] == [0]
    assert seen["scores"] == [22, 33, 11]
    assert seen["captured"] == [2, 3, 1]
    assert seen["supply_size"] == [0, 0, 3]
    assert (seen["target"], seen["num_players"]) == ([0], [3])


def test_closing_value_of_teams_and_of_lone_owners() -> None:
    """Metal + 2 (n - 4) + captures or 10 + stones, for the observer's side."""
    chain = "2-7@A,7-2@C,2-4@A,4-6@C,6-4"  # metal 5, a diamond
    state = read(position(chain, hands=("2-8", "9-M", "9-M", "7-M")))
    values = [int(piece(state, "closing_value", seat)[0]) for seat in range(4)]
    assert values == [5 + 2 + 10 + 10, 5 + 2 + 4 + 10, 5 + 2 + 10 + 10, 5 + 2 + 4 + 10]
    assert [int(piece(state, "owned", seat)[0, 0]) for seat in range(4)] == [4, 0, 4, 0]
    assert [int(piece(state, "owned", seat)[1, 0]) for seat in range(4)] == [0, 4, 0, 4]
    assert piece(state, "owned", 3)[2].sum() == 0
    alone = read(position(chain, hands=("2-8", "9-M", "9-M")))
    values = [int(piece(alone, "closing_value", seat)[0]) for seat in range(3)]
    assert values == [5 + 2 + 2 + 10, 5 + 2 + 4 + 10, 5 + 2 + 2 + 10]


def test_closing_value_plus_the_link_is_the_score() -> None:
    """R16: the piece leaves out the closing link's metal, stone, matches and master."""
    closings = 0
    for setup in SETUPS:
        for seed in range(3):
            earlier = start(setup)
            for state, _, move in walk(setup, 50 + seed, POLICIES[1]):
                if move is not None and move.verb == "CLOSE":
                    assert move.slot is not None
                    old = GAME.to_dict(earlier)
                    link = LINKS[move.link]
                    chain = next(b["links"] for b in old["bracelets"] if b["slot"] == move.slot)
                    first, last = LINKS[chain[0][0]], LINKS[chain[-1][0]]
                    own = link.metal + {"": 0, "diamond": 10}.get(link.stone, 5)
                    own += 4 * ((link.key == last.lock) + (link.lock == first.key))
                    own -= 4 * (link.lock == 11)
                    value = int(piece(earlier, "closing_value", int(earlier.seat))[move.slot])
                    side = int(earlier.seat) % setup.sides
                    gained = GAME.to_dict(state)["scores"][side] - old["scores"][side]
                    assert gained == value + own
                    closings += 1
                earlier = clone(state)
    assert closings > 100


def test_every_seat_is_told_who_acts() -> None:
    """Relative to the observer, none when over."""
    for setup in SETUPS:
        state = start(setup, 1)
        rng = np.random.default_rng(1)
        while state.seat >= 0:
            for seat in range(setup.num_players):
                relative = (int(state.seat) - seat) % setup.num_players
                assert piece(state, "to_act", seat).tolist() == [relative]
            play_random(state, rng, 1)
        for seat in range(setup.num_players):
            assert piece(state, "to_act", seat).tolist() == [-1]


def test_targets_and_players() -> None:
    for setup in SETUPS:
        state = start(setup)
        assert piece(state, "target").tolist() == [90 if setup.short else 0]
        assert piece(state, "num_players").tolist() == [setup.num_players]


def test_high_scores_stay_within_the_bounds() -> None:
    """A score far above those of real games is shown as the bound, and counted as it is."""
    data = position("7-4", hands=("3-7", "9-M"), scores=[12000, 499])
    state = read(data)
    flat = observe(state, 0)
    assert GAME.observation.spec.space().contains(flat.reshape(GAME.observation.spec.shape))
    assert piece(state, "scores").tolist() == [500, 499, 0]
    assert GAME.to_dict(play_text(state, "KEY 3-7 @0"))["scores"] == [12001, 499]


def test_the_supply_piece_counts_types() -> None:
    """R4: the links still to come, without their order; two-copy types count as two."""
    data = GAME.to_dict(start(seed=8))
    counts = np.zeros(59, np.int64)
    for links in data["supply"].values():
        for text in links:
            counts[ORDER[text]] += 1
    same(piece(start(seed=8), "supply"), counts)
    assert counts.max() == 2


@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_seats_are_symmetric(setup: Setup) -> None:
    """Moving everything on by some seats changes nobody's view, and the game goes on alike."""
    players = setup.num_players
    for seed in range(4):
        plies = 11 * seed + 5
        state = play_random(start(setup, seed), np.random.default_rng(seed), plies)
        data = GAME.to_dict(state)
        for by in range(1, players):
            other = GAME.from_dict(rotated(data, by))
            one = GAME.from_dict(data)
            rng = np.random.default_rng(seed)
            round_before = data["round"]
            while one.seat >= 0 and GAME.to_dict(one)["round"] == round_before:
                same(legal_mask(other), legal_mask(one))
                for seat in range(players):
                    there = observe(other, (seat + by) % players)
                    same(there, observe(one, seat))
                assert margins(other) == pytest.approx(np.roll(margins(one), by).tolist())
                action = int(rng.choice(np.flatnonzero(legal_mask(one))))
                GAME.rules.apply(one, action)
                GAME.rules.apply(other, action)
            if one.seat < 0:
                assert GAME.to_dict(other)["winners"] == rotated(GAME.to_dict(one), by)["winners"]


@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_seats_are_symmetric_to_the_end(setup: Setup) -> None:
    """From the gold round on nothing is dealt by seat any more: payoffs move along as well."""
    players = setup.num_players
    finished = 0
    for seed in range(20):
        state = play_random(start(setup, seed), np.random.default_rng(seed), 70)
        data = GAME.to_dict(state)
        if state.seat < 0 or data["round"] != "gold":
            continue
        for by in range(1, players):
            one, other = GAME.from_dict(data), GAME.from_dict(rotated(data, by))
            rng = np.random.default_rng(seed)
            while one.seat >= 0:
                action = int(rng.choice(np.flatnonzero(legal_mask(one))))
                GAME.rules.apply(one, action)
                GAME.rules.apply(other, action)
            assert GAME.to_dict(other) == rotated(GAME.to_dict(one), by)
            assert payoffs(other) == pytest.approx(np.roll(payoffs(one), by).tolist())
            finished += 1
    assert finished >= 3


def test_team_mates_see_the_same_sides() -> None:
    """R2: seats 0 and 2 agree on scores, captures, owners and closing values."""
    for seed in range(2):
        for state, _, _ in walk(Setup(4), seed, POLICIES[1]):
            for name in ("scores", "captured", "owned", "closing_value", "neutral"):
                for seat in (0, 1):
                    mine, partners = piece(state, name, seat), piece(state, name, seat + 2)
                    same(mine, partners)
            opposing = piece(state, "scores", 1)
            assert piece(state, "scores", 0).tolist() == [opposing[1], opposing[0], 0]


def test_pieces_have_meanings() -> None:
    for one in GAME.observation.spec.parts:
        assert one.meaning
        assert one.low < one.high
