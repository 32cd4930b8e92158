"""Short ways to drive the game, to write positions, and to walk through whole games."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.games import get_game
from tests.love_links.oracle import Json, Move, Oracle, Setup, by_id, read_move

GAME = get_game("love_links")

SETUPS: tuple[Setup, ...] = tuple(
    Setup(players, short) for players in (2, 3, 4) for short in (False, True)
)

Policy = Callable[[list[Move], np.random.Generator], Move]


def start(setup: Setup | None = None, seed: int = 0) -> np.record:
    """A new game."""
    setup = setup or Setup()
    state = GAME.blank(setup.num_players, setup.kwargs())
    GAME.new_game(state, np.uint64(seed))
    return state


def legal_mask(state: np.record) -> NDArray[np.int8]:
    """The game's mask; the array starts dirty, so that every element has to be written."""
    mask = np.full(GAME.num_actions, 7, np.int8)
    GAME.legal_actions(state, mask)
    return mask


def legal_list(state: np.record) -> NDArray[np.intp]:
    """The legal action numbers."""
    return np.flatnonzero(legal_mask(state))


def legal_texts(state: np.record) -> set[str]:
    """The legal moves as texts."""
    return {GAME.action_to_text(state, int(action)) for action in legal_list(state)}


def clone(state: np.record) -> np.record:
    """An independent copy."""
    return GAME.from_bytes(state.tobytes())


def payoffs(state: np.record) -> list[float]:
    """Payoffs of all seats."""
    out = np.full(int(state.num_players), 99, np.float32)
    GAME.payoffs(state, out)
    return [float(value) for value in out]


def margins(state: np.record) -> list[float]:
    """Margins of all seats."""
    out = np.full(int(state.num_players), 99, np.float32)
    GAME.margins(state, out)
    return [float(value) for value in out]


def observe(state: np.record, seat: int) -> NDArray[Any]:
    """The flat observation of a seat; it starts dirty as well."""
    out = np.full(GAME.observation.size, 77, GAME.observation.dtype)
    GAME.observe(state, seat, out)
    return out


def piece(state: np.record, name: str, seat: int = 0) -> NDArray[Any]:
    """One named piece of a seat's observation."""
    return GAME.observation.view(observe(state, seat), name)


def play_text(state: np.record, *moves: str) -> np.record:
    """Plays moves written as `KEY 6-4 @3`, after checking that each is legal."""
    for text in moves:
        action = GAME.text_to_action(state, text)
        assert legal_mask(state)[action] == 1, f"{text} is illegal at ply {state.ply}"
        GAME.apply(state, action)
    return state


def play_random(state: np.record, rng: np.random.Generator, plies: int = 999) -> np.record:
    """Plays uniform legal actions until the end, or for some plies."""
    while state.seat >= 0 and plies > 0:
        GAME.apply(state, int(rng.choice(legal_list(state))))
        plies -= 1
    return state


# Ways to choose a move: uniform play doesn't reach every corner of the rules.


def uniform(moves: list[Move], rng: np.random.Generator) -> Move:
    """Any legal move."""
    return moves[int(rng.integers(len(moves)))]


def closing(moves: list[Move], rng: np.random.Generator) -> Move:
    """Completes a bracelet wherever it can."""
    return uniform([m for m in moves if m.verb == "CLOSE"] or moves, rng)


def hoarding(moves: list[Move], rng: np.random.Generator) -> Move:
    """Never completes a bracelet, and feeds the lowest slot: long chains."""
    joins = [m for m in moves if m.verb != "CLOSE" and m.slot is not None]
    lowest = min((m.slot for m in joins if m.slot is not None), default=None)
    return uniform([m for m in joins if m.slot == lowest] or moves, rng)


def spoiling(moves: list[Move], rng: np.random.Generator) -> Move:
    """Turns open ends into keys and locks that little fits: forced new bracelets."""

    def hope(move: Move) -> int:
        key, lock = move.link.split("-")
        if move.verb == "KEY":
            return {"7": 9, "9": 11, "10": 16, "5": 29}.get(key, 50)
        return {"5": 14, "3": 15, "2": 16, "7": 10}.get(lock, 30) if move.slot is not None else 0

    plain = [m for m in moves if m.verb != "CLOSE"] or moves
    return min(plain, key=lambda move: (hope(move), rng.random()))


POLICIES: tuple[Policy, ...] = (uniform, closing, hoarding, spoiling)


def walk(
    setup: Setup, seed: int, policy: Policy = uniform
) -> Iterator[tuple[np.record, Oracle, Move | None]]:
    """A game on both sides: every position, and the move that led to it.

    The oracle chooses from its own legal moves; the game is told by the text.
    """
    rng = np.random.default_rng([seed, setup.num_players, setup.short])
    state = start(setup, seed)
    oracle = Oracle.read(GAME.to_dict(state))
    yield state, oracle, None
    while oracle.seat is not None:
        move = policy(oracle.moves(), rng)
        GAME.apply(state, GAME.text_to_action(state, str(move)))
        oracle.apply(move)
        yield state, oracle, move


# Positions written by hand


def chain(text: str) -> list[list[Any]]:
    """`4-7@-,7-10@A` as a bracelet's links; without `@` a link is neutral."""
    links = []
    for part in text.split(","):
        link, _, owner = part.strip().partition("@")
        links.append([link, None if owner in ("", "-") else "ABCD".index(owner)])
    return links


def position(*chains: str, hands: tuple[str, ...], **changes: Any) -> Json:
    """A position as in the worked examples: round gold, no supply, seat 0 on its first move.

    Chains fill the slots from 0 on; hands are texts such as `6-4,2-3`.
    """
    data: Json = {
        "game": "love_links",
        "version": 1,
        "options": {"short": False, "skip_forced": False},
        "seed": 0,
        "num_players": len(hands),
        "seat": 0,
        "ply": 60,
        "round": "gold",
        "move": 1,
        "matched": False,
        "must_start": False,
        "hands": [by_id(hand.split(",")) if hand else [] for hand in hands],
        "bracelets": [
            {"slot": slot, "links": chain(text)} for slot, text in enumerate(chains) if text
        ],
        "supply": {"bronze": [], "silver": [], "gold": []},
        "scores": [0] * (2 if len(hands) == 4 else len(hands)),
        "captured": [0] * (2 if len(hands) == 4 else len(hands)),
        "completed": 0,
        "set_aside": [],
        "winners": [],
    }
    return data | changes


def read(data: Json) -> np.record:
    """The game's record of a position."""
    return GAME.from_dict(data)


def ends(state: np.record) -> dict[int, str]:
    """Each open bracelet by its slot, such as `3-7 7-4`."""
    return {
        bracelet["slot"]: " ".join(link for link, _ in bracelet["links"])
        for bracelet in GAME.to_dict(state)["bracelets"]
    }


def score(state: np.record, side: int = 0) -> int:
    """A side's score."""
    return int(GAME.to_dict(state)["scores"][side])


def link_of(text: str) -> str:
    """The link that a move's text names."""
    return read_move(text).link
