"""`linkzoo.testing.check_game` names the broken part: right games with one broken part each."""

from dataclasses import fields, replace
from functools import partial
from typing import Any

import connect_four
import numpy as np
import pytest
from connect_four import observation, rules, text
from numpy.typing import NDArray

from linkzoo import (
    Field,
    Game,
    Graph,
    Mask,
    ObservationPart,
    ObservationSpec,
    Record,
    compiled,
    make_vec,
    register,
    rng,
)
from linkzoo.engine import interpreter
from linkzoo.testing import check_game
from tests.driving import first_quick
from tests.outside import cards

OVER, FOUR, CARDS, OPEN = -1, connect_four.GAME, cards.GAME, cards.OPEN
four_payoffs = FOUR.payoffs


@compiled
def _changes_the_seed(state: Record, action: int) -> None:
    rules.apply(state, action)
    state.seed += np.uint64(1)


@compiled
def _seed_begins(state: Record, seed: np.uint64) -> None:
    rules.new_game(state, seed)
    state.seat = np.int64(seed % np.uint64(2))


@compiled
def _forgets_plies(state: Record, action: int) -> None:
    rules.apply(state, action)
    state.ply = 1


@compiled
def _ends_without_winners(state: Record, action: int) -> None:
    rules.apply(state, action)
    if state.ply == 5:
        state.seat = OVER


@compiled
def _goes_on_without_a_move(state: Record, action: int) -> None:
    rules.apply(state, action)
    if state.seat == OVER:
        state.seat = 0
        state.winners = 0
        state.board[:] = 1


@compiled
def _fourth_column_is_a_dead_end(state: Record, action: int) -> None:
    rules.apply(state, action)
    if action == 3 and state.ply == 1:
        state.seat = OVER


@compiled
def _leaves_the_board(state: Record, seed: np.uint64) -> None:
    if state.ply == 0:
        state.board[:] = -1
    state.seed, state.winners, state.ply, state.seat = seed, 0, 0, 0


@compiled
def _mask_of_twos(state: Record, mask: Mask) -> None:
    rules.legal_actions(state, mask)
    mask *= 2


@compiled
def _half_a_mask(state: Record, mask: Mask) -> None:
    for column in range(1, 7):
        mask[column] = state.seat != OVER and state.board[5, column] == -1


@compiled
def _mask_that_counts(state: Record, mask: Mask) -> None:
    rules.legal_actions(state, mask)
    state.board[0, 0] = 1


@compiled
def _half_an_observation(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    for cell in range(42):
        out[cell] = state.board[cell // 7, cell % 7] == seat


@compiled
def _out_of_bounds(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    observation.observe(state, seat, out)
    out[83] = 2


@compiled
def _sees_the_seed(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    observation.observe(state, seat, out)
    out[0] = state.seed % np.uint64(2)


@compiled
def _pays_everyone(state: Record, out: NDArray[np.float32]) -> None:
    out[:] = 1


@compiled
def _pays_the_loser(state: Record, out: NDArray[np.float32]) -> None:
    four_payoffs(state, out)
    out *= np.float32(-1)


@compiled
def _no_margins(state: Record, out: NDArray[np.float32]) -> None:
    out[:] = np.nan


@compiled
def _keeps_the_seed(state: Record, seat: int, seed: np.uint64) -> None:
    state.ply = state.ply


@compiled
def _makes_another_board(state: Record, seat: int, seed: np.uint64) -> None:
    state.seed = seed
    state.board[0, 0] = 1 - seat


def _swapped() -> tuple[NDArray[np.int64], ...]:
    seen, acts, hidden = observation.symmetries()
    return seen, acts[:, [1, 0, 2, 3, 4, 5, 6]], hidden


def _wrong_reflection() -> tuple[NDArray[np.int64], ...]:
    seen, acts, hidden = observation.symmetries()
    return seen, np.stack([acts[0], acts[0]]), hidden


def _other_json(state: Record, seat: int | None = None) -> dict[str, Any]:
    return {**FOUR.to_dict(state, seat), "board": np.asarray(state.board)}


def _with_seed(state: Record, seat: int | None = None) -> dict[str, Any]:
    return FOUR.to_dict(state)


def _other_ply(data: Any) -> Any:
    state = FOUR.from_dict(data)
    state.ply = 0
    return state


def _any_text(state: Record, move: str) -> int:
    return max(text.LETTERS.find(move), 0)


def _drawn_at_first(state: Record, seat: int | None = None) -> str:
    return "<svg/>" if state.ply else '<svg><g data-part="2"/></svg>'


def _graph(last: int = 6, kind: str = "i8") -> Graph:
    """The columns in a row."""
    columns = np.arange(7)
    right = np.where(columns < 6, columns + 1, last)
    seen = columns[:, None].astype(kind)
    return Graph(seen, right[:, None], np.zeros(7, int), np.empty((1, 0), int))


# Indices out of bounds: compiled code would read and write other memory


@compiled
def _writes_above(state: Record, action: int) -> None:
    rules.apply(state, action)
    state.board[5 + state.ply, action] = 1


@compiled
def _reads_far_above(state: Record, action: int) -> None:
    state.board[0, 0] = state.board[action + 6000, action]


@compiled
def _writes_below(state: Record, action: int) -> None:
    state.board[-6 - state.ply, action] = -1
    rules.apply(state, action)


@compiled
def _first_nine(board: NDArray[np.int8]) -> int:
    row = 0
    while board[row, 0] != 9:  # nowhere
        row += 1
    return row


@compiled
def _searches_above(state: Record, action: int) -> None:
    rules.apply(state, _first_nine(state.board))


@compiled
def _sets_up_too_much(state: Record, seed: np.uint64) -> None:
    rules.new_game(state, seed)
    state.board[0, 7] = -1


@compiled
def _marks_too_much(state: Record, mask: Mask) -> None:
    rules.legal_actions(state, mask)
    mask[7] = 0


@compiled
def _looks_above(state: Record, mask: Mask) -> None:
    for column in range(7):
        mask[column] = state.board[6, column] == -1


@compiled
def _sees_too_far(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    observation.observe(state, seat, out)
    out[84] = 0


@compiled
def _pays_a_third_seat(state: Record, out: NDArray[np.float32]) -> None:
    four_payoffs(state, out)
    out[2] = 0


@compiled
def _deals_too_far(state: Record, seat: int, seed: np.uint64) -> None:
    state.seed = seed
    state.board[6, seat] = -1


@compiled
def _rates_too_far(before: Record, after: Record, seat: int) -> float:
    return after.board[0, 7] / 2  # type: ignore[no-any-return]  # a float


@compiled
def _validates_too_far(state: Record, scratch: Record) -> str:
    return "full" if state.board[6, 0] == 9 else ""


@compiled
def _reveals_too_far(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    cards.reveal(state, seat, out)
    out[27] = 0


@compiled
def _foresees_too_far(state: Record, action: int, after: Record, out: NDArray[np.int8]) -> None:
    out[1] = 0


# Loops without an end


@compiled
def _forever(number: int) -> None:
    while number >= 0:
        number ^= 1


@compiled
def _plays_forever(state: Record, action: int) -> None:
    rules.apply(state, action)
    while state.board[0, 0] < 9:
        state.ply += 0


@compiled
def _marks_forever(state: Record, mask: Mask) -> None:
    rules.legal_actions(state, mask)
    _forever(state.ply)


@compiled
def _sets_up_forever(state: Record, seed: np.uint64) -> None:
    rules.new_game(state, seed)
    _forever(0)


@compiled
def _sees_forever(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    observation.observe(state, seat, out)
    _forever(seat)


@compiled
def _deals_forever(state: Record, seat: int, seed: np.uint64) -> None:
    state.seed = seed
    _forever(seat)


# Worlds that keep what is hidden


@compiled
def _deals_nothing(state: Record, seat: int, seed: np.uint64) -> None:
    state.seed = seed


@compiled
def _mixes_the_deck(state: Record, seat: int, seed: np.uint64) -> None:
    state.seed = seed
    rng.shuffle(state.deck, state.left, seed, 2, 0)


@compiled
def _shuffles_the_deck(state: Record, seat: int, seed: np.uint64) -> None:
    size = 0
    for card in range(9):  # by number first
        held = 0
        for other in range(3):
            held += state.hands[other, card]
        if held == 0:
            state.deck[size] = card
            size += 1
    _mixes_the_deck(state, seat, seed)


@compiled
def _keeps_the_deck(state: Record, seat: int, seed: np.uint64) -> None:
    deck = np.empty(9, np.int64)
    for index in range(9):
        deck[index] = state.deck[index]
    cards.determinize(state, seat, seed)
    for index in range(9):
        state.deck[index] = deck[index]


@compiled
def _keeps_a_hand(state: Record, seat: int, seed: np.uint64) -> None:
    before, hand = (seat + 2) % 3, np.empty(9, np.int64)
    for card in range(9):
        hand[card] = state.hands[before, card]
    cards.determinize(state, seat, seed)
    for card in range(9):
        state.hands[before, card] = hand[card]


@compiled
def _copies_the_seed(state: Record, seed: np.uint64) -> None:
    rules.new_game(state, seed)
    state.luck = seed


# Seats that are never asked, and records that come back changed


@compiled
def _plays_alone(state: Record, action: int) -> None:
    rules.apply(state, action)
    state.seat = min(state.seat, 0)


@compiled
def _asks_two(state: Record, action: int) -> None:
    cards.apply(state, action)
    if state.seat == 2:
        state.winners, state.seat = 1, OVER


@compiled
def _seat_two(state: Record, seed: np.uint64) -> None:
    rules.new_game(state, seed)
    state.seat = 2


@compiled
def _over_at_once(state: Record, seed: np.uint64) -> None:
    rules.new_game(state, seed)
    state.winners, state.seat = 3, OVER


@compiled
def _empty_mask(state: Record, mask: Mask) -> None:
    mask[:] = 0


def _without_left(state: Record, seat: int | None = None) -> dict[str, Any]:
    data = CARDS.to_dict(state, seat)
    del data["left"]
    return data


def altered(name: str, base: Game = FOUR, **changes: Any) -> Game:
    """A game with other fields of its own or of its parts."""
    for part in ("rules", "observation", "notation", "drawing", "facts"):
        old = getattr(base, part)
        inside = {field.name for field in fields(old)} & changes.keys()
        changes[part] = replace(old, **{field: changes.pop(field) for field in inside})
    return replace(base, name=name, **changes)


BOUNDS = (Field("board", "i1", (rules.ROWS, rules.COLUMNS), -1, 0),)
CELLS = {"action_cells": np.arange(7)}
READ = {"from_dict": FOUR.from_dict}

BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "sides of one seat": ({"sides": lambda players: (0,)}, "sides: "),
    "two in a place": ({"action_cells": np.zeros(7, int)}, "action_cells: two"),
    "an edge to nowhere": (
        {"graph": partial(_graph, last=7), **CELLS},
        "graph: neighbours .* outside -1..6",
    ),
    "a graph of floats": (
        {"graph": partial(_graph, kind="f8"), **CELLS},
        "graph: cells .* float64",
    ),
    "places of places": ({"action_cells": np.arange(28).reshape(7, 2, 2)}, "action_cells: the sha"),
    "a place far away": ({"action_cells": np.arange(7) + 10**9}, "action_cells: there are more"),
    "a wrong length": ({"typical_length": 5}, "lengths: typical_length is 5"),
    "too long": ({"typical_length": 6, "max_length": 6}, "no end within max_length"),
    "seed": ({"apply": _changes_the_seed}, "header: seed has changed"),
    "a seed that decides": (
        {"new_game": _seed_begins},
        "chance: chance=False, but at ply 0 another seed decides: seat is",
    ),
    "plies": ({"apply": _forgets_plies}, "header: ply is 1 after 2"),
    "no winners": ({"apply": _ends_without_winners}, "header: winners are 0 at ply 5"),
    "nothing legal": ({"apply": _goes_on_without_a_move}, "positions: seat 0 is to act"),
    "dead end": ({"apply": _fourth_column_is_a_dead_end}, "every_legal_action: no winners after"),
    "old board": (
        {"new_game": _leaves_the_board},
        r"new_game: something of the old game is left in the record: board\[0, 0\] is 1, not -1",
    ),
    "mask of twos": ({"legal_actions": _mask_of_twos}, "positions: the mask holds"),
    "half a mask": ({"legal_actions": _half_a_mask}, "positions: the mask holds"),
    "a mask that plays": ({"legal_actions": _mask_that_counts}, "masks: legal_actions changes"),
    "half seen": ({"observe": _half_an_observation}, "observations: observe leaves elements"),
    "too much seen": ({"observe": _out_of_bounds}, "fills for seat 0 other with 0..2, not 0..1"),
    "the seed seen": (
        {"observe": _sees_the_seed, "symmetries": None},
        "determinize: seat . observes",
    ),
    "sum": ({"payoffs": _pays_everyone}, "payoffs: .* aren't zero-sum"),
    "loser paid": ({"payoffs": _pays_the_loser}, "payoffs: .*, but winners"),
    "margins": ({"score_margins": _no_margins}, "payoffs: score margins .* aren't finite"),
    "same seed": ({"determinize": _keeps_the_seed}, "determinize: it doesn't store the seed"),
    "another world": ({"determinize": _makes_another_board}, "determinize: "),
    "no number": ({"heuristic": compiled(lambda *_: np.nan)}, "heuristic: it returns nan"),
    "no identity": ({"symmetries": _swapped}, "symmetries: actions: the first isn't the identity"),
    "no reflection": ({"symmetries": _wrong_reflection}, "symmetries: symmetry 1 at ply 1: seat"),
    "arrays in JSON": ({"to_dict": _other_json, **READ}, "bytes_and_json: TypeError"),
    "hands in JSON": (
        {"base": CARDS, "fields": (CARDS.fields[0]._replace(hidden=None), *CARDS.fields[1:])},
        "determinize: JSON shows seat . more",
    ),
    "a seed in JSON": ({"to_dict": _with_seed, **READ}, "bytes_and_json: to_dict of a seat has"),
    "another ply": (
        {"to_dict": FOUR.to_dict, "from_dict": _other_ply},
        "ply 1: bytes_and_json: ValueError: ply: 1, but the rest of the position says 0",
    ),
    "refused": ({"validate": compiled(lambda state, scratch: "no")}, "from_bytes refuses it: no"),
    "one text": ({"action_to_text": lambda state, action: "a"}, "notation: two legal moves"),
    "back to a": ({"text_to_action": lambda state, text: 0}, "notation: action 1 is 'b', which is"),
    "any text": ({"text_to_action": _any_text}, "notation: '.*' is no move, but is accepted"),
    "no parts": ({"action_parts": lambda state, action: ()}, r"action_parts: \(\) at ply 0"),
    "shared parts": (
        {"action_parts": lambda state, action: ("x", "y") if action else ("y", "x")},
        "action_parts: .* leads to another action, too",
    ),
    "parts within others": (
        {"action_parts": lambda state, action: ("x", f"{action}")[: action + 1]},
        r"action_parts: \('x',\) leads to another action, too",
    ),
    "parts not drawn": (
        {"action_parts": lambda state, action: (f"{action}",), "svg": _drawn_at_first},
        r"action_parts: the picture lacks \['2'\] at ply 3",
    ),
    "no drawing": ({"text": lambda state, seat=None: None}, "drawings: text returns no string"),
    "no picture": ({"svg": lambda state, seat=None: "<html>"}, "drawings: svg returns no SVG"),
    "bounds too narrow": ({"fields": BOUNDS}, "ply 2: bytes_and_json: .* refuses it: board"),
}


def _at(function: str) -> str:
    """The name of a function, and a line number of this file."""
    return rf": {function} \(test_broken_games\.py:\d+\): "


BEYOND = "IndexError: index -?[0-9]+ is out of bounds for axis [01] with size [0-9]+"
ENDLESS = r"doesn't return within 0\.5 seconds \(an endless loop\?\)"
THREE = {"base": CARDS, "players": (3, 3)}
ONE_FEATURE = ObservationSpec((ObservationPart("one", (1,), 0, 0, "0"),), (1,))

# Found in the interpreter: nothing of the game is compiled.
DANGEROUS: dict[str, tuple[dict[str, Any], str]] = {
    "written above": ({"apply": _writes_above}, _at("_writes_above") + BEYOND),
    "read far above": ({"apply": _reads_far_above}, _at("_reads_far_above") + BEYOND),
    "written below": ({"apply": _writes_below}, _at("_writes_below") + BEYOND),
    "read in a helper": ({"apply": _searches_above}, _at("_first_nine") + BEYOND),
    "set up too much": ({"new_game": _sets_up_too_much}, _at("_sets_up_too_much") + BEYOND),
    "marked too much": ({"legal_actions": _marks_too_much}, _at("_marks_too_much") + BEYOND),
    "looked above": ({"legal_actions": _looks_above}, _at("_looks_above") + BEYOND),
    "seen too far": ({"observe": _sees_too_far}, _at("_sees_too_far") + BEYOND),
    "a third seat": ({"payoffs": _pays_a_third_seat}, _at("_pays_a_third_seat") + BEYOND),
    "margins of a third seat": (
        {"score_margins": _pays_a_third_seat},
        _at("_pays_a_third_seat") + BEYOND,
    ),
    "dealt too far": ({"determinize": _deals_too_far}, _at("_deals_too_far") + BEYOND),
    "rated too far": ({"heuristic": _rates_too_far}, _at("_rates_too_far") + BEYOND),
    "validated too far": ({"validate": _validates_too_far}, _at("_validates_too_far") + BEYOND),
    "revealed too far": (
        {"base": CARDS, "reveal": _reveals_too_far},
        _at("_reveals_too_far") + BEYOND,
    ),
    "foreseen too far": (
        {"action_spec": ONE_FEATURE, "observe_action": _foresees_too_far},
        _at("_foresees_too_far") + BEYOND,
    ),
    "played forever": ({"apply": _plays_forever}, _at("_plays_forever") + ENDLESS),
    "marked forever": ({"legal_actions": _marks_forever}, _at("_forever") + ENDLESS),
    "set up forever": ({"new_game": _sets_up_forever}, _at("_forever") + ENDLESS),
    "seen forever": ({"observe": _sees_forever}, _at("_forever") + ENDLESS),
    "dealt forever": ({"determinize": _deals_forever}, _at("_forever") + ENDLESS),
    "one plays alone": (
        {"apply": _plays_alone, "symmetries": None},
        "seats: seat 1 never acts in 60 random games",
    ),
    "two of three": ({**THREE, "apply": _asks_two}, "seats: seat 2 never acts in 60 random games"),
    "lost in JSON": (
        {
            "base": CARDS,
            "to_dict": _without_left,
            "from_dict": lambda data: OPEN.from_dict({**data, "left": 0}),
        },
        r"bytes_and_json: from_dict\(to_dict\) is another record: left is 0, not 7",
    ),
    "a mixed deck": (
        {"base": CARDS, "determinize": _mixes_the_deck},
        r"it depends on what the seat can't see: deck\[\d\] is \d, not \d",
    ),
}
HIDDEN: dict[str, tuple[dict[str, Any], str]] = {
    "nothing dealt": (
        {"base": CARDS, "determinize": _deals_nothing},
        r"hidden: determinize never changes \['deck', 'hands\[0\]'\], which reveal fills",
    ),
    "hands stay": (
        {**THREE, "determinize": _shuffles_the_deck},
        r"hidden: determinize never changes \['hands\[0\]', 'hands\[1\]'\], which reveal fills",
    ),
    "the deck stays": (
        {**THREE, "determinize": _keeps_the_deck},
        r"hidden: determinize never changes \['deck'\], which reveal fills",
    ),
    "a hand stays": (
        {**THREE, "determinize": _keeps_a_hand},
        r"hidden: determinize never changes \['hands\[1\]'\], which reveal fills",
    ),
    "a deck that nothing reveals": (
        {"base": OPEN, "determinize": _deals_nothing},
        r"hidden: determinize never changes \['deck', 'hands'\], which seat 0 can't see",
    ),
    "a copy of the seed": (
        {
            "fields": (*FOUR.fields, Field("luck", "u8")),
            "new_game": _copies_the_seed,
            "chance": True,
            "determinize": _deals_nothing,
            "symmetries": None,
        },
        r"hidden: determinize never changes \['luck'\], which seat 0 can't see in a new game",
    ),
}


@pytest.mark.parametrize("what", first_quick([*BROKEN, *DANGEROUS, *HIDDEN], 4, 99))
def test_broken_games(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "LIMIT", 0.5)
    every = {**BROKEN, **DANGEROUS, **HIDDEN}
    changes, complaint = every[what]
    game = altered(f"broken_{list(every).index(what)}", **changes)
    with pytest.raises(AssertionError, match=complaint):
        check_game(game, seeds=[1])
    if what in DANGEROUS:
        assert not any(getattr(part, "signatures", None) for part in changes.values())


BROKEN_AT_ONCE: dict[str, tuple[dict[str, Any], str]] = {
    "seat two": ({"new_game": _seat_two}, "no seat is to act"),
    "over": ({"new_game": _over_at_once}, "no seat is to act"),
    "twos": ({"legal_actions": _mask_of_twos}, "an element of the mask isn't 0 or 1"),
    "nothing": ({"legal_actions": _empty_mask}, "no action is legal"),
    "seen": ({"observe": _out_of_bounds}, "the observation is out of its bounds"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", first_quick(list(BROKEN_AT_ONCE), 2, slow=0))
def test_broken_games_in_a_vector_environment(what: str) -> None:
    """Where the first positions show it, `reset` refuses the game, each time."""
    changes, complaint = BROKEN_AT_ONCE[what]
    register(altered("broken", **changes))
    vec = make_vec("broken", 4)
    for _ in range(2):
        with pytest.raises(ValueError, match=f"broken: environment 0: {complaint} .*check_game"):
            vec.reset(seed=1)
