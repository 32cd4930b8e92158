"""Short ways to drive the game, to write positions, and to walk through whole games."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from linkzoo.registry import get_game
from tests import driving
from tests.love_links.oracle import Json, Move, Oracle, Setup, by_id

GAME = get_game("love_links")

legal_mask = partial(driving.legal_mask, game=GAME)
legal_list = partial(driving.legal_list, game=GAME)
legal_texts = partial(driving.legal_texts, game=GAME)
clone = partial(driving.clone, game=GAME)
payoffs = partial(driving.payoffs, game=GAME)
margins = partial(driving.margins, game=GAME)
observe = partial(driving.observe, game=GAME)
piece = partial(driving.piece, game=GAME)
play_text = partial(driving.play_text, game=GAME)
play_random = partial(driving.play_random, game=GAME)

SETUPS: tuple[Setup, ...] = tuple(
    Setup(players, short) for players in (2, 3, 4) for short in (False, True)
)

Policy = Callable[[list[Move], np.random.Generator], Move]


def start(setup: Setup | None = None, seed: int = 0) -> np.record:
    """A new game."""
    setup = setup or Setup()
    state = GAME.blank(setup.num_players, setup.kwargs())
    GAME.rules.new_game(state, np.uint64(seed))
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
        GAME.rules.apply(state, GAME.notation.text_to_action(state, str(move)))
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
        "version": 0,
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
