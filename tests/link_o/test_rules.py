"""LINK-O's rules, R1-R23: by hand, and whole matches beside the oracle."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkzoo import make
from tests.driving import close, first_quick, same
from tests.link_o.helpers import (
    GAME,
    SHORT,
    Both,
    clone,
    fill,
    game_of,
    legal_mask,
    margins,
    nearly_full,
    payoffs,
    play_random,
    position,
    start,
    walk,
)
from tests.link_o.oracle import (
    ALL_TILES,
    BOARDS,
    CODES,
    DEFAULTS,
    Json,
    Oracle,
    Setup,
    color_of,
    is_opener,
    points,
    total,
    type_of,
)

SWITCHES: tuple[Json, ...] = (
    {"open_connectors": "adjacent_only"},
    {"dig": "one"},
    {"next_starter": "winner"},
    {"next_starter": "random"},
    {"blocked_tie": "split"},
    {"circle_bonus": 16},
    {"target": 0},
    {"target": 100},
    {"max_rounds": 2, "target": 400},
    {"redeal_inference": True},
    {"dig": "one", "open_connectors": "adjacent_only", "blocked_tie": "split", "target": 0},
)
SETUPS = (
    *(Setup(players) for players in range(2, 7)),
    *(Setup(players, {"board": "ring4x12"}) for players in range(2, 7)),
    *(Setup(players, {"board": "ring4x16x2"}) for players in range(2, 7)),
    *(Setup(2 + number % 5, options) for number, options in enumerate(SWITCHES)),
    *(Setup(2 + (number + 2) % 5, options) for number, options in enumerate(SWITCHES)),
    Setup(3, {"board": "ring4x12", "dig": "one", "circle_bonus": 5}),
    Setup(5, {"board": "ring4x16x2", "open_connectors": "adjacent_only"}),
)


# Whole matches


@pytest.mark.parametrize("setup", first_quick([SHORT, *SETUPS], slow=0), ids=str)
def test_matches_beside_the_oracle(setup: Setup) -> None:
    """R1-R23: positions, brute-force masks, payoffs and margins at every ply of a match."""
    game = game_of(setup.options.get("board", "ring4x16"))
    plies = 0
    for state, oracle, _ in walk(setup, 7):
        assert game.to_dict(state) == oracle.to_dict()
        same(legal_mask(state, game=game), oracle.mask())
        close(payoffs(state, game=game), oracle.payoffs())
        close(margins(state, game=game), oracle.margins())
        plies += 1
    assert plies > 20


@pytest.mark.parametrize("players", first_quick(range(2, 7), slow=0))
def test_skip_forced_plays_the_same_match(players: int) -> None:
    """The decisions with one choice are taken at once, and nothing else changes."""
    rng = np.random.default_rng(players)
    short = make("link_o", players, target=0, skip_forced=True)
    long = make("link_o", players, target=0)
    skipped = 0
    for seed in range(3):
        for env in (short, long):
            env.reset(seed=seed)
        while True:
            while (mask := long.infos[long.agent_selection]["action_mask"]).sum() == 1:
                long.step(int(mask.argmax()))
                skipped += 1
            one, two = short.to_dict(), long.to_dict()
            assert one["options"].pop("skip_forced") is True
            assert two["options"].pop("skip_forced") is False
            assert one == two
            if one["seat"] is None:
                break
            action = int(rng.choice(np.flatnonzero(mask)))
            short.step(action)
            long.step(action)
    assert skipped > 10


# Set-up


def test_players_and_actions() -> None:
    """R1: 2..6 players; 26 actions a space."""
    assert (GAME.min_players, GAME.max_players) == (2, 6)
    for players in (1, 7):
        with pytest.raises(ValueError, match="num_players"):
            GAME.blank(players)
    for name, board in BOARDS.items():
        assert game_of(name).num_actions == 26 * board.size
    assert GAME.num_actions == 1664


@pytest.mark.parametrize("players", first_quick(range(2, 7), slow=0))
def test_the_deal(players: int) -> None:
    """R2: 68 tiles, 8 for each and the tiles that the starter dug; nobody has played yet."""
    for seed in range(40):
        data = GAME.to_dict(start(Setup(players), seed))
        everything = [*data["bag"], *(tile for hand in data["hands"] for tile in hand)]
        assert Counter(everything) == Counter(ALL_TILES)
        assert [len(hand) for hand in data["hands"]] == [8 + dug for dug in data["dug"]]
        assert data["seat"] == data["starter"]
        assert (data["round"], data["ply"], data["last_round"]) == (1, 0, None)
        assert (data["board"], data["winners"]) == ({}, [])
        assert data["first_turn"] == [True] * players
        assert (data["scores"], data["passed"]) == ([0] * players, [False] * players)
        quiet = [types for types, dug in zip(data["lacks"], data["dug"], strict=True) if not dug]
        assert not any(quiet)


def chi_square(counts: Any, expected: float) -> float:
    """Pearson's statistic."""
    return float(sum((count - expected) ** 2 / expected for count in counts))


@pytest.mark.parametrize("players", first_quick(range(2, 7), slow=0))
def test_the_first_starter_is_any_seat(players: int) -> None:
    """R3: uniform; one false alarm in 10^5 (a chi-square of 5 degrees passes 30 that often)."""
    starters = Counter(GAME.to_dict(start(Setup(players), seed))["starter"] for seed in range(600))
    assert set(starters) == set(range(players))
    assert chi_square(starters.values(), 600 / players) < 30


@pytest.mark.slow
def test_the_shuffle_is_uniform() -> None:
    """R2: the last tile in the bag is uniform; one false alarm in 10^5 (63 degrees: 119)."""
    deals = [GAME.to_dict(start(Setup(3), seed)) for seed in range(3400)]
    for index in (-1, -9):
        counts = Counter(data["bag"][index] for data in deals)
        statistic = sum(
            (counts[tile] - 50 * copies) ** 2 / (50 * copies)
            for tile, copies in Counter(ALL_TILES).items()
        )
        assert statistic < 119


def two_rounds(players: int, seed: int, **options: Any) -> tuple[Json, Json]:
    """The first and the last position of a match of two rounds."""
    state = start(Setup(players, {"target": 400, "max_rounds": 2, **options}), seed)
    first = GAME.to_dict(state)
    last = GAME.to_dict(play_random(state, np.random.default_rng(seed)))
    assert (first["round"], last["round"]) == (1, 2)
    return first, last


def test_the_next_starter() -> None:
    """R3: left of the previous one."""
    for players in range(2, 7):
        for seed in range(4):
            first, last = two_rounds(players, seed)
            assert last["starter"] == (first["starter"] + 1) % players


def test_the_winner_starts() -> None:
    """R3 with the switch: who has scored in the first round."""
    won = 0
    for seed in range(60):
        first, last = two_rounds(4, seed, next_starter="winner")
        scores = list(last["scores"])
        if last["last_round"]["winner"] is not None:
            scores[last["last_round"]["winner"]] -= last["last_round"]["points"]
        if any(scores):
            assert scores[last["starter"]] == sum(scores)
            won += last["starter"] != (first["starter"] + 1) % 4
    assert won > 20


def test_the_next_starter_after_a_tie() -> None:
    """R3, section 6: no single winner, so left of the previous starter."""
    hands = [["red 3-4", "yellow 0-0"], ["blue 3-4"], ["green 4-4"]]
    for tie in ("no_score", "split"):
        options = {"next_starter": "winner", "blocked_tie": tie}
        data, move = nearly_full(hands, 1, 20, [], options=options, starter=1)
        assert Both(data).play(move).data["starter"] == 2


@pytest.mark.slow
def test_random_starters() -> None:
    """R3: every round anew, uniform over the seats; one false alarm in 10^4 (2 degrees: 19)."""
    starters: Counter[int] = Counter()
    moved: Counter[int] = Counter()
    for seed in range(300):
        first, last = two_rounds(3, seed, next_starter="random")
        starters[last["starter"]] += 1
        moved[(last["starter"] - first["starter"]) % 3] += 1
    for counts in (starters, moved):
        assert chi_square(counts.values(), 100) < 19


# Turns


def test_seats_take_turns() -> None:
    """R4: clockwise; whoever is left out has passed."""
    for players in range(2, 7):
        state, rng = start(Setup(players, {"target": 0}), 3), np.random.default_rng(3)
        before = GAME.to_dict(state)
        while state.seat >= 0:
            play_random(state, rng, 1)
            after = GAME.to_dict(state)
            if after["seat"] is not None:
                between = (after["seat"] - before["seat"] - 1) % players
                for step in range(between):
                    assert after["passed"][(before["seat"] + 1 + step) % players]
                assert not after["passed"][after["seat"]]
            before = after


def test_first_turn_of_the_starter() -> None:
    """R5: doubles and LINK-Os, each on the connectors of its colour."""
    hand = ["red 0-1", "red LINK-O", "blue 3-3", "green 1-2", "yellow 0-0"]
    both = Both(position({}, [hand, ["..."]], first=(0, 1)))
    assert both.legal() == {
        *("@4 red LINK-O", "@8 red LINK-O", "@24 blue 3-3", "@28 blue 3-3"),
        *("@48 yellow 0-0", "@52 yellow 0-0"),
    }


def test_first_turn_of_the_others() -> None:
    """R6: connectors without adjacency, and every normal place of a double or LINK-O."""
    hand = ["red 0-0", "red 0-3", "red LINK-O", "green LINK-O", "green 1-1"]
    board = {4: "red 2-2", 5: "red 2-0"}
    both = Both(position(board, [["..."], hand], seat=1, first=(1,)))
    assert both.legal("red 0-0") == {"@6 red 0-0", "@8 red 0-0"}
    assert both.legal("red LINK-O") == {"@3 red LINK-O", "@6 red LINK-O", "@8 red LINK-O"}
    assert both.legal("red 0-3") == set()
    assert both.legal("green LINK-O") == {"@32 green LINK-O", "@44 green LINK-O"}
    assert both.legal("green 1-1") == {"@32 green 1-1", "@44 green 1-1"}
    later = Both(position(board, [["..."], hand], seat=1))
    assert later.legal("red 0-0") == {"@6 red 0-0"}
    assert later.legal("red 0-3") == {"@6 red 0-3"}
    assert later.legal("red LINK-O") == {"@3 red LINK-O", "@6 red LINK-O"}
    assert later.legal("green LINK-O", "green 1-1") == set()


def test_open_connectors_adjacent_only() -> None:
    """R6: with the switch, only beside something; any connector while the board is empty."""
    options = {"open_connectors": "adjacent_only"}
    hand = ["blue 0-1", "blue 2-2", "blue 3-3", "blue LINK-O"]
    data = position({4: "red 2-2"}, [["..."], hand], seat=1, first=(1,), options=options)
    assert Both(data).legal() == {"@28 blue 2-2", "@28 blue LINK-O"}
    for first in ((0, 1), (1,)):  # whoever opens: the starter may have passed
        empty = position({}, [["..."], hand], seat=1, first=first, by=0, options=options)
        assert Both(empty).legal() == {
            f"@{space} blue {face}" for space in (24, 28) for face in ("2-2", "3-3", "LINK-O")
        }


@pytest.mark.parametrize("switch", ["any_matching_color", "adjacent_only"])
def test_an_empty_board_is_open_to_all(switch: str) -> None:
    """R5: whoever opens, also when all first turns were passed (with `dig="one"`)."""
    hand = ["blue 0-1", "blue 2-2", "green LINK-O"]
    options = {"open_connectors": switch, "dig": "one"}
    assert Both(position({}, [hand, ["..."]], options=options)).legal() == {
        *("@24 blue 2-2", "@28 blue 2-2", "@32 green LINK-O", "@44 green LINK-O"),
    }


def test_first_turn_digging_goes_on_until_it_fits() -> None:
    """R7: openers that can't be placed don't stop it, and pairs that fit don't either."""
    top = ["red 2-3", "blue 1-1", "blue 3-3", "red 1-1", "green 0-0"]
    board = {
        4: "red 2-2",
        5: "red 2-1",
        6: "red 1-4",
        8: "red 3-3",
        48: "yellow 3-3",
        24: "blue 4-4",
        32: "green 4-4",
    }
    hands = [["red 3-4", "..."], ["blue 0-1", "green 0-1"]]
    both = Both(position(board, hands, first=(1,), top=top)).play("@7 red 4-3")
    data = both.data
    # Blue connectors are 24 (filled) and 28 (a 2 across); red ones are filled, and no red 1 shows.
    assert data["dug"][1] == 5
    assert both.legal() == {"@44 green 0-0"}
    assert set(data["hands"][1]) == {*top, "blue 0-1", "green 0-1"}


def test_later_digging() -> None:
    """R16, R8: until a drawn tile can be placed; it is the only one that can."""
    top = ["blue 0-1", "green 2-2", "red 2-4", "red 2-3"]
    hands = [["red 1-2", "..."], ["yellow 0-1"]]
    both = Both(position({4: "red 2-2"}, hands, top=top)).play("@5 red 2-1")
    data = both.data
    assert (data["seat"], data["dug"][1]) == (1, 3)
    assert data["bag"][0] == "red 2-3"
    assert both.legal() == {"@3 red 4-2"}
    assert both.data["passed"] == [False, False]


def test_no_digging_while_able() -> None:
    """R8: whoever can place must, and draws nothing."""
    both = Both(position({4: "red 2-2"}, [["red 1-2", "..."], ["red 1-3", "green 0-1"]]))
    size = len(both.data["bag"])
    both.play("@5 red 2-1")
    assert both.legal() == {"@6 red 1-3"}
    assert (both.data["dug"], len(both.data["bag"])) == ([0, 0], size)


def test_dig_one() -> None:
    """R16 with the switch: one tile; it is placed if it can be, else he passes."""
    hands = [["red 1-2", "red 0-1", "..."], ["yellow 0-1"]]
    for top, passes in ((["blue 0-1", "red 2-3"], True), (["red 2-3", "blue 0-1"], False)):
        data = position({4: "red 2-2"}, hands, top=top, options={"dig": "one"})
        both = Both(data).play("@5 red 2-1")
        assert both.data["dug"] == [0, 1]
        assert both.data["passed"] == [False, passes]
        assert both.data["seat"] == (0 if passes else 1)
        assert both.data["bag"][0] == top[1]
        if not passes:
            assert both.legal() == {"@3 red 3-2"}


def test_dig_one_on_a_first_turn() -> None:
    """R7 with the switch: one tile as well, and the pass lifts the restriction."""
    hands = [["red 1-2", "..."], ["red 1-3"]]
    data = position(
        {4: "red 2-2"}, hands, first=(1,), top=["blue 0-1", "red 2-3"], options={"dig": "one"}
    )
    both = Both(data).play("@5 red 2-1")
    assert (both.data["seat"], both.data["passed"]) == (0, [False, True])
    assert both.data["first_turn"] == [False, False]
    assert both.data["hands"][1] == ["red 1-3", "blue 0-1"]
    both.play(min(both.legal() - {"@6 red 1-3"}))
    assert both.data["seat"] == 1
    assert both.data["dug"][1] == 0


# Placing


def test_colours() -> None:
    """R9: tiles go on circles of their colour, LINK-Os included."""
    hand = [*(f"{color} LINK-O" for color in ("red", "blue", "green", "yellow")), "blue 1-2"]
    both = Both(position({4: "red 2-2", 28: "blue 2-2"}, [hand, ["..."]]))
    assert both.legal() == {
        *("@3 red LINK-O", "@5 red LINK-O", "@27 blue LINK-O", "@29 blue LINK-O"),
        *("@27 blue 1-2", "@29 blue 2-1"),
    }


def test_adjacency_through_a_link() -> None:
    """R10: the partner counts for connectors; over the link nothing else is adjacent."""
    hand = ["blue 2-2", "blue 1-2", "yellow 2-2"]
    both = Both(position({4: "red 2-2"}, [hand, ["..."]]))
    assert both.legal() == {"@28 blue 2-2"}


def test_orientation() -> None:
    """R11: the left end faces prev, the right end next; the circle closes over its number 0."""
    board = {4: "red 2-2", 3: "red 4-2", 2: "red 0-4", 1: "red 1-0", 0: "red 3-1"}
    both = Both(position(board, [["red 0-3", "red 2-3", "red 3-3"], ["..."]]))
    assert both.on(15) == {"red 0-3", "red 2-3", "red 3-3"}
    assert both.on(5) == {"red 2-3"}
    assert not both.on(14)


def test_every_code_of_a_regular_space() -> None:
    """Section 6: orientation 0, then the turned non-doubles, then the LINK-O."""
    state = start()
    for number, pair in enumerate(CODES):
        face = "LINK-O" if pair is None else f"{pair[0]}-{pair[1]}"
        assert GAME.notation.action_to_text(state, 5 * 26 + number) == f"@5 red {face}"
        assert GAME.notation.text_to_action(state, f"@33 green {face}") == 33 * 26 + number
    assert [CODES.index((v, v)) for v in range(5)] == [0, 5, 9, 12, 14]


def test_connectors_take_doubles_and_linkos_only() -> None:
    """R12: never a pair of two values, whoever's turn it is."""
    hands = [["red 1-2", "red 2-2", "red LINK-O"], ["..."]]
    both = Both(position({3: "red 0-1", 5: "red 1-4"}, hands))
    assert both.on(4) == {"red LINK-O"}


@pytest.mark.parametrize("name", first_quick(sorted(BOARDS, key="ring4x16".__ne__)))
def test_connectors_of_every_board_take_doubles_and_linkos_only(name: str) -> None:
    """R12, in whole matches."""
    game = game_of(name)
    state, rng = start(Setup(2, {"board": name}), 1), np.random.default_rng(1)
    while state.seat >= 0:
        for action in np.flatnonzero(legal_mask(state, game=game)).tolist():
            if BOARDS[name].is_connector(action // 26):
                assert action % 26 in (0, 5, 9, 12, 14, 25)
        play_random(state, rng, 1, game=game)


@pytest.mark.parametrize(
    ("board", "legal"),
    [
        ({3: "red 0-1", 5: "red 1-4"}, {"red 1-1", "red LINK-O"}),
        ({3: "red 0-1", 5: "red 4-1"}, set()),
        ({3: "red 0-1", 28: "blue 1-1"}, {"red 1-1", "red LINK-O"}),
        ({3: "red 0-1", 28: "blue 0-0"}, set()),
        ({3: "red LINK-O", 28: "blue 0-0"}, {"red 0-0", "red LINK-O"}),
        ({3: "red LINK-O", 28: "blue LINK-O"}, {"red 0-0", "red 1-1", "red 4-4", "red LINK-O"}),
        ({3: "red LINK-O", 5: "red 3-0"}, {"red LINK-O"}),
        ({27: "blue 0-3", 28: "blue LINK-O"}, {"red LINK-O"}),
    ],
)
def test_constraint_sets(board: dict[int, str], legal: set[str]) -> None:
    """R12: prev, next and the link's value together."""
    hand = ["red 0-0", "red 1-1", "red 4-4", "red LINK-O"]
    assert Both(position(board, [hand, ["..."]])).on(4) == legal


def test_doubles_on_regular_spaces() -> None:
    """R13: ordinary tiles with two equal ends; nothing goes sideways."""
    board = {4: "red 2-2", 5: "red 2-1"}
    both = Both(position(board, [["red 1-1", "red 1-4"], ["..."]]))
    assert both.legal() == {"@6 red 1-1", "@6 red 1-4"}
    both = Both(position(board | {6: "red 1-1"}, [["red 1-4"], ["..."]]))
    assert both.legal() == {"@7 red 1-4"}


def values(both: Both) -> dict[int, int | None]:
    """The values of LINK-Os on connectors."""
    board = both.data["board"]
    return {int(space): cell["value"] for space, cell in board.items() if "value" in cell}


def test_values_come_over_the_link() -> None:
    """R14 (i), (iii): a double across, and a LINK-O across that gets a value."""
    linko = {4: "red LINK-O"}
    both = Both(position(linko, [["blue 3-3", "green 0-0"], ["..."]])).play("@28 blue 3-3")
    assert values(both) == {4: 3}
    data = position({4: "red LINK-O", 29: "blue 1-4"}, [["blue LINK-O", "green 0-0"], ["..."]])
    both = Both(data).play("@28 blue LINK-O")
    assert values(both) == {4: 1, 28: 1}
    data = position(linko, [["blue LINK-O", "green 0-0"], ["red 0-3", "..."]])
    both = Both(data).play("@28 blue LINK-O")
    assert values(both) == {4: None, 28: None}
    both.play("@3 red 0-3")
    assert values(both) == {4: 3, 28: 3}


@pytest.mark.parametrize(
    ("move", "value"), [("@3 red 0-1", 1), ("@3 red 1-0", 0), ("@5 red 0-1", 0)]
)
def test_values_come_from_the_facing_end(move: str, value: int) -> None:
    """R14 (ii)."""
    both = Both(position({4: "red LINK-O"}, [["red 0-1", "green 0-0"], ["..."]])).play(move)
    assert values(both) == {4: value}


def test_a_double_beside_fixes_the_value() -> None:
    """R14 (ii): doubles included."""
    both = Both(position({4: "red LINK-O"}, [["red 3-3", "green 0-0"], ["..."]]))
    assert values(both.play("@5 red 3-3")) == {4: 3}


def test_a_regular_linko_beside_determines_nothing() -> None:
    """R14, R15: nor do its neighbours give it a value."""
    hands = [["red LINK-O", "green 0-0"], ["red 0-1", "red 2-3", "..."]]
    both = Both(position({4: "red LINK-O"}, hands)).play("@5 red LINK-O")
    assert values(both) == {4: None}
    both.play("@6 red 0-1")
    assert values(both) == {4: None}
    wild = Both(position({4: "red 2-2", 5: "red LINK-O"}, [["red 0-1"], ["..."]]))
    assert wild.legal() == {"@6 red 0-1", "@6 red 1-0"}


def test_values_never_change() -> None:
    """R14: a value that is there constrains both sides and the link."""
    hands = [["red 0-3", "red 1-3", "blue 0-0", "blue 3-3"], ["..."]]
    both = Both(position({4: "red LINK-O", 5: "red 3-2"}, hands))
    assert values(both) == {4: 3}
    assert both.legal() == {"@3 red 0-3", "@3 red 1-3", "@28 blue 3-3"}


@pytest.mark.nightly  # no other board has such a space; quick: a user's board plays
def test_one_tile_fixes_two_linkos() -> None:
    """R14: between two connectors each takes its own end, and each link follows."""
    board = {3: "red LINK-O", 5: "red LINK-O", 27: "blue LINK-O"}
    options = {"board": "ring4x16x2"}
    hands = [["red 1-4", "green 0-0"], ["..."]]
    both = Both(position(board, hands, options=options)).play("@4 red 4-1")
    assert values(both) == {3: 4, 5: 1, 27: 1}


# Rounds and matches


def test_going_out_ends_the_round_at_once() -> None:
    """R17: the others' tiles count as sum of ends, LINK-Os 16; the winner may be any seat."""
    for seat in range(3):
        hands: list[list[str]] = [["yellow 0-0"], ["yellow 3-4"], ["yellow LINK-O", "yellow 4-4"]]
        hands[seat] = ["red 2-2"]
        off = [tile for hand in hands for tile in hand if color_of(tile) == "yellow"]
        spaces = [space for space in range(16, 48) if space != 28]
        board = fill(spaces, off, {28: "blue 2-2"})
        data = position(board, hands, seat=seat, by=0)
        both = Both(data).play("@4 red 2-2")
        expected = sum(total(hand) for other, hand in enumerate(hands) if other != seat)
        assert both.data["last_round"] == {"winner": seat, "points": expected, "how": "out"}


@pytest.mark.parametrize("loser", ["blue 3-4", "blue 4-4", "blue LINK-O"])
def test_the_blocked_winner_gets_the_others_whole_hands(loser: str) -> None:
    """R18: his own points aren't subtracted."""
    hands = [["red 1-4", "yellow 0-0"], [loser, "green 0-0"]]
    data, move = nearly_full(hands, 0, 40, [])
    both = Both(data).play(move)
    assert both.data["last_round"] == {"winner": 0, "points": points(loser), "how": "blocked"}
    assert both.data["scores"] == [points(loser), 0]


def restart_position() -> tuple[Json, str, str]:
    """Two spaces are left: a red one for seat 0, a blue one for a pair of seat 1's first turn."""
    hands = [["red 3-4", "green 3-4", "yellow 3-4"], ["blue 3-4"]]
    board = fill(range(64), [tile for hand in hands for tile in hand])
    blue = next(s for s in (17, 18, 19, 20, 21, 30) if not is_opener(board[s]))
    red, pair = board.pop(2), board.pop(blue)
    hands = [[*hands[0], type_of(red)], [*hands[1], type_of(pair)]]
    return position(board, hands, bag=[], first=(1,)), f"@2 {red}", f"@{blue} {pair}"


def test_a_first_turn_pass_restarts_the_count() -> None:
    """R18: two passes in succession, but the first one has lifted a restriction."""
    data, move, pair = restart_position()
    both = Both(data).play(move)
    assert (both.data["seat"], both.data["round"]) == (1, 1)
    assert both.data["first_turn"] == [False, False]
    assert both.data["passed"] == [True, False]
    assert pair in both.legal()


def test_first_turn_passes_alone_block_in_the_end() -> None:
    """R18: n more passes follow, then the round is over."""
    hands = [["red 3-4", "green 3-4"], ["blue 3-4"], ["yellow 1-2"]]
    data, move = nearly_full(hands, 0, 2, [], first=(1, 2), by=0)
    both = Both(data).play(move)
    assert both.data["last_round"] == {"winner": 2, "points": 21, "how": "blocked"}


def test_blocked_tie_split() -> None:
    """R19 with the switch: the others' sum in equal parts, rounded down."""
    split = {"blocked_tie": "split"}
    hands = [["red 3-4", "yellow 0-0"], ["blue 3-4"], ["green 4-4"]]
    data, move = nearly_full(hands, 1, 20, [], options=split)
    both = Both(data).play(move)
    assert both.data["scores"] == [4, 4, 0]
    assert both.data["last_round"]["winner"] is None
    hands = [["red 3-4"], ["blue 3-4"], ["green 3-4"], ["yellow 4-4"]]
    data, move = nearly_full(hands, 1, 20, [], options=split)
    assert Both(data).play(move).data["scores"] == [2, 2, 2, 0]  # 8 in three
    hands = [["red 0-3", "yellow 0-0"], ["blue 1-2", "green 0-0"]]
    data, move = nearly_full(hands, 1, 20, [], options=split)
    assert Both(data).play(move).data["scores"] == [0, 0]


def late(scores: list[int], options: Json, tie: bool = True) -> Both:
    """A tied blocked round (or one that seat 0 wins with 15 points) after it, from these scores."""
    hands = [["red 3-4", "yellow 0-0"], ["blue 3-4"], ["green 4-4"]]
    if not tie:
        hands[0] = ["red 0-4", "yellow 0-0"]
    before = {"winner": 0, "points": 1, "how": "out"}
    more: Json = {"scores": scores, "round": 4, "last_round": before, "ply": 200}
    data, move = nearly_full(hands, 1, 20, [], options=options, **more)
    return Both(data).play(move)


@pytest.mark.parametrize(
    ("scores", "options", "tie", "winners"),
    [
        ([48, 63, 0], {}, False, []),
        ([49, 63, 0], {}, False, [0]),
        ([60, 62, 0], {"blocked_tie": "split"}, True, [1]),
        ([60, 60, 0], {"blocked_tie": "split"}, True, []),
        ([66, 61, 66], {"blocked_tie": "split"}, True, [0]),
        ([66, 66, 0], {"blocked_tie": "split"}, True, []),
        ([64, 0, 64], {"blocked_tie": "split"}, True, [0]),
        ([60, 62, 0], {}, True, []),
        ([0, 0, 0], {"target": 15}, False, [0]),
        ([0, 0, 0], {"target": 16}, False, []),
        ([0, 14, 15], {"max_rounds": 4}, False, [0, 2]),
        ([0, 14, 16], {"max_rounds": 4}, False, [2]),
        ([0, 0, 0], {"max_rounds": 4}, True, [0, 1, 2]),
        ([0, 14, 16], {"max_rounds": 5}, False, []),
        ([90, 90, 16], {"max_rounds": 4}, True, [0, 1]),
        ([5, 9, 30], {"target": 0}, False, [0]),
        ([5, 9, 30], {"target": 0}, True, [0, 1, 2]),
        ([5, 9, 30], {"target": 0, "blocked_tie": "split"}, True, [0, 1]),
    ],
)
def test_the_end_of_a_match(
    scores: list[int], options: Json, tie: bool, winners: list[int]
) -> None:
    """R20, R21: the target after a round, equal totals, the last round, a single round."""
    if options.get("target") == 0:
        hands = [["red 3-4" if tie else "red 0-4", "yellow 0-0"], ["blue 3-4"], ["green 4-4"]]
        data, move = nearly_full(hands, 1, 20, [], options=options)
        both = Both(data).play(move)
    else:
        both = late(scores, options, tie)
    assert both.data["winners"] == winners
    assert (both.data["seat"] is None) == bool(winners)
    assert both.data["round"] == (1 if options.get("target") == 0 else 4 if winners else 5)


def test_a_round_of_no_points_can_be_won() -> None:
    """R22: going out against 0/0 only; with target 0 it wins the match."""
    hands = [["red 2-2"], ["yellow 0-0"], ["green 0-0"]]
    spaces = [*range(16, 28), *range(29, 48), 49, 50, 51]
    board = fill(spaces[:-3], ["yellow 0-0", "green 0-0"], {28: "blue 2-2"})
    data = position(board, hands, options={"target": 0})
    both = Both(data).play("@4 red 2-2")
    assert both.data["last_round"] == {"winner": 0, "points": 0, "how": "out"}
    assert (both.data["winners"], both.data["scores"]) == ([0], [0, 0, 0])
    assert payoffs(both.state) == pytest.approx([1, -0.5, -0.5])


@pytest.mark.parametrize("bonus", [0, 1, 16, 40])
def test_the_circle_bonus(bonus: int) -> None:
    """R23: to whoever fills a circle's last space, at once; the match ends with a round only."""
    hands = [["red 3-4"], ["green LINK-O"], ["blue 4-4"]]
    full = fill(range(64), [hand[0] for hand in hands] + ["yellow 1-2"])
    red, blue = full.pop(2), full.pop(18)
    held = [[*hands[0], type_of(red)], hands[1], [*hands[2], type_of(blue)]]
    before = {"winner": 0, "points": 1, "how": "out"}
    data = position(
        full,
        held,
        bag=["yellow 1-2"],
        options={"circle_bonus": bonus},
        scores=[50, 0, 0],
        round=3,
        ply=150,
        last_round=before,
    )
    both = Both(data).play(f"@2 {red}")
    assert both.data["scores"] == [50 + bonus, 0, 0]
    assert (both.data["seat"], both.data["round"]) == (2, 3)
    both.play(f"@18 {blue}")
    gained = [50 + bonus + 27, 0, bonus]
    assert both.data["scores"] == gained
    assert both.data["winners"] == [0]
    assert both.data["last_round"]["points"] == 27


def test_scores_and_margins() -> None:
    """Section 6: own score minus the mean of the others', over 64, at any ply."""
    before = {"winner": 0, "points": 31, "how": "out"}
    data = position(
        {4: "red 2-2"},
        [["red 1-2", "..."], ["red 1-3"], ["red 0-0"], ["red 0-4"]],
        scores=[31, 12, 0, 50],
        round=4,
        ply=100,
        last_round=before,
    )
    both = Both(data)
    assert margins(both.state) == pytest.approx([(31 - 62 / 3) / 64, *margins(both.state)[1:]])
    assert margins(both.state)[3] == pytest.approx((50 - 43 / 3) / 64)
    assert payoffs(both.state) == [0, 0, 0, 0]


def test_payoffs_of_several_winners() -> None:
    """Winners share; a draw of all is 0 for each."""
    both = late([60, 60, 0], {"blocked_tie": "split", "max_rounds": 4})
    assert both.data["winners"] == [0, 1]
    assert payoffs(both.state) == pytest.approx([0.25, 0.25, -0.5])
    assert payoffs(late([0, 0, 0], {"max_rounds": 4}).state) == [0, 0, 0]


# Options


@pytest.mark.parametrize(
    ("option", "wrong"),
    [
        ("target", -1),
        ("target", "64"),
        ("target", True),
        ("circle_bonus", -1),
        ("circle_bonus", 1.5),
        ("board", "ring4x17"),
        ("board", 3),
        ("board", "/no/such/board.json"),
        ("open_connectors", "none"),
        ("open_connectors", 1),
        ("dig", "two"),
        ("dig", None),
        ("next_starter", "loser"),
        ("blocked_tie", "shared"),
        ("max_rounds", 0),
        ("max_rounds", 101),
        ("max_rounds", "1"),
        ("redeal_inference", 1),
        ("skip_forced", 2),
    ],
)
def test_wrong_options(option: str, wrong: Any) -> None:
    """ValueError naming the option."""
    with pytest.raises(ValueError, match=option):
        make("link_o", 3, **{option: wrong})


def test_options_by_default() -> None:
    """Section 6."""
    assert GAME.to_dict(start())["options"] == DEFAULTS
    assert GAME.chosen_options(GAME.blank()) == DEFAULTS


# Properties of whole matches


@pytest.mark.slow  # quick: test_matches_beside_the_oracle
@pytest.mark.parametrize(
    "usual", first_quick([True, False], slow=0), ids=["usual_board", "other_boards"]
)
@settings(max_examples=6, deadline=None, derandomize=True)
@given(st.data(), st.integers(0, 2**64 - 1), st.integers(0, 1000))
def test_what_always_holds(usual: bool, data: st.DataObject, seed: int, moves: int) -> None:
    """Ends that touch are equal, 68 tiles, at most 64 placements a round, sizes within bounds."""
    setups = [setup for setup in SETUPS if ("board" not in setup.options) == usual]
    setup = data.draw(st.sampled_from(setups))
    game, players = game_of(setup.options.get("board", "ring4x16")), setup.num_players
    state, rng, seen = start(setup, seed), np.random.default_rng(moves), 0
    while True:
        shown = game.to_dict(state)
        oracle = Oracle.read(shown)
        tiles = [*shown["bag"], *(tile for hand in shown["hands"] for tile in hand)]
        tiles += [type_of(cell["tile"]) for cell in shown["board"].values()]
        assert Counter(tiles) == Counter(ALL_TILES)
        assert max(len(hand) for hand in shown["hands"]) <= 76 - 8 * players
        assert len(shown["bag"]) <= 68 - 8 * players
        assert len(shown["board"]) <= oracle.board.size <= 64
        for space, laid in oracle.laid.items():
            assert color_of(laid.tile) == oracle.board.color[space]
            if oracle.board.is_connector(space):
                # No neighbour shows another value, and no value is forgotten.
                assert is_opener(laid.tile)
                assert oracle.constraints(space) <= {oracle.value_of(space)} - {None}
            else:
                assert oracle.shows(space, 0) in (None, *facing(oracle, space, 0))
                assert oracle.shows(space, 1) in (None, *facing(oracle, space, 1))
        seen += 1
        if state.seat < 0:
            break
        play_random(state, rng, 1, game=game)
    assert seen > 15


def facing(oracle: Oracle, space: int, end: int) -> list[int]:
    """The values that fit a regular tile's end: the neighbour's value, or any if it has none."""
    neighbour = oracle.left_of(space) if end == 0 else oracle.right_of(space)
    return list(range(5)) if neighbour is None else [neighbour]


def test_equal_seeds_give_equal_games() -> None:
    """And others don't."""
    for players in range(2, 7):
        ends = []
        for seed in (5, 5, 6):
            state = start(Setup(players), seed)
            first = state.tobytes()
            ends.append((first, play_random(state, np.random.default_rng(0)).tobytes()))
        assert ends[0] == ends[1]
        assert ends[0][0][8:] != ends[2][0][8:]


def test_two_matches_of_one_seed_meet_the_same_bags() -> None:
    """R2: the bag of each round is fixed by the seed, whatever was played before."""
    bags: dict[int, set[str]] = {2: set(), 3: set()}
    for number in range(3):
        state = start(Setup(3, {"max_rounds": 3, "target": 400}), 8)
        rng, before = np.random.default_rng(number), 1
        while state.seat >= 0:
            play_random(state, rng, 1)
            data = GAME.to_dict(state)
            if data["round"] != before:
                before = data["round"]
                bags[before].add(str(data["bag"][-30:]))
    assert [len(kept) for kept in bags.values()] == [1, 1]
    assert bags[2] != bags[3]


def test_apply_changes_nothing_it_is_not_asked_to() -> None:
    """Masks, margins, JSON and pictures leave the record alone."""
    state = play_random(start(Setup(4), 2), np.random.default_rng(2), 40)
    before = clone(state).tobytes()
    legal_mask(state)
    margins(state)
    for shown in (GAME.to_dict, GAME.drawing.text, GAME.draw_svg):
        assert shown(state)
        assert shown(state, 2)
    assert state.tobytes() == before


def test_tile_points() -> None:
    """Section 3: 60 points a colour, and 16 for each LINK-O; 68 tiles, 28 of them can open."""
    assert (len(ALL_TILES), sum(is_opener(tile) for tile in ALL_TILES)) == (68, 28)
    assert sum(points(tile) for tile in ALL_TILES if color_of(tile) == "red") == 60 + 32
