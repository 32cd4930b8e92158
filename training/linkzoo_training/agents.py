"""Everything that plays, behind one protocol (`linkzoo.Agent`), and how to name it."""

import re
from collections.abc import Callable
from math import inf

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, Game, Positions, RandomAgent, get_game
from linkzoo.chance import STREAM_ACTION, word
from linkzoo.compiled import Record
from linkzoo_training.resources import find_checkpoint
from linkzoo_training.search import uct
from linkzoo_training.search.exact import DRAW, check_solver, solver, successors
from linkzoo_training.search.greedy import greedy

__all__ = [
    "ExactAgent",
    "GreedyAgent",
    "HumanAgent",
    "QuitError",
    "RandomAgent",
    "UctAgent",
    "check_agent",
    "make_agent",
    "searching",
    "source_of",
]

_UCT = r"(uct|cheat)-([0-9]+)"
_MOST_SIMULATIONS = 10**6  # of tree search: about 60 MB for each thread
_MOST_DIGITS = 18  # of a number in an agent's name
# A checkpoint's source, views, temperature and simulations.
_CHECKPOINT = r"(.+?)(?:@([0-9]+))?(?:~([0-9]+(?:\.[0-9]+)?))?(?::([0-9]+))?"
_COLUMNS = 4  # of the list of legal moves
_HELP = "Type a move, its number, ? for the legal moves, help, or quit."


class GreedyAgent:
    """Plays the action that the game appraises best (its margin, by default), ties at random."""

    name = "greedy"

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """The greedy action of each position, int64[N]."""
        masks, actions = _buffers(positions)
        greedy(positions.game)(positions.states.copy(), positions.seeds, masks, actions)
        return actions


class UctAgent:
    """Tree search with random rollouts (`search.uct`): `simulations` of them for each move.

    `exploration` is UCB1's constant; None is that of the game.

    One that `cheats` sees what is hidden from its seat, and the chance ahead: no player, but a
    ceiling to measure players by.
    """

    def __init__(
        self, simulations: int, exploration: float | None = None, *, cheats: bool = False
    ) -> None:
        if not 1 <= simulations <= _MOST_SIMULATIONS:
            raise ValueError(f"simulations={simulations} is not in 1..{_MOST_SIMULATIONS}")
        if exploration is not None and not 0 <= exploration < inf:
            raise ValueError(f"exploration={exploration} is not 0 or more, and finite")
        self.simulations, self.exploration = simulations, exploration
        self.cheats = cheats
        self.name = f"{'cheat' if cheats else 'uct'}-{simulations}"

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """The most visited action of each position, int64[N]; positions share the CPU threads."""
        masks, actions = _buffers(positions)
        search = uct.searcher(positions.game, self.cheats)
        states, seeds = positions.states.copy(), positions.seeds
        constant = positions.game.uct_c if self.exploration is None else float(self.exploration)
        search(states, seeds, self.simulations, constant, masks, actions)
        return actions


class ExactAgent:
    """Plays perfectly, in games that have a solver (`search.exact`) and positions in its reach.

    A win is kept, or a draw, by any of the actions that keep it; a lost position is played at
    random.
    """

    name = "exact"

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """An action of each position, int64[N]; OutOfReachError if one takes too long to solve."""
        exact = solver(positions.game)
        chosen = []
        for state, seed in zip(positions.states, positions.seeds, strict=True):
            after = successors(positions.game, state)
            order = sorted(after, key=lambda action: int(word(seed, STREAM_ACTION, action)))
            winner = exact.winner(state)
            keep = (action for action in order if exact.winner(after[action]) == winner)
            chosen.append(next(keep) if winner in (state.seat, DRAW) else order[0])
        return np.array(chosen, np.int64)


def _buffers(positions: Positions) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Working space and room for the actions of the compiled players."""
    count = len(positions)
    return np.empty((count, positions.game.num_actions), np.int8), np.empty(count, np.int64)


class QuitError(Exception):
    """The person at the terminal wants to stop."""


class HumanAgent:
    """A person at the terminal, who sees what the seat to act may know.

    `read(prompt)` returns a line or raises EOFError, `write(text)` shows one.
    """

    name = "human"

    def __init__(
        self, read: Callable[[str], str] = input, write: Callable[[str], None] = print
    ) -> None:
        self._read, self._write = read, write

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Asks for a move in each position, int64[N]; QuitError if the person stops."""
        masks = positions.action_mask
        chosen = [
            self._ask(positions.game, state, np.flatnonzero(mask).tolist())
            for state, mask in zip(positions.states, masks, strict=True)
        ]
        return np.array(chosen, np.int64)

    def _ask(self, game: Game, state: Record, legal: list[int]) -> int:
        self._write(game.draw_text(state, int(state.seat)))
        moves = {game.action_to_text(state, action): action for action in legal}
        while True:
            try:
                text = " ".join(self._read(f"Player {state.seat}, your move: ").split())
            except EOFError:
                raise QuitError from None
            if text.lower() in ("quit", "exit", "q"):
                raise QuitError
            if text == "?":
                self._write(_listed(moves))
            elif text.lower() in ("help", ""):
                self._write(f"{_HELP} For example: {next(iter(moves))}")
            else:
                try:
                    return _read_move(game, state, moves, text)
                except ValueError as error:
                    self._write(f"{error}. {_HELP}")


_SIMPLE: dict[str, Callable[[], Agent]] = {
    "random": RandomAgent,
    "greedy": GreedyAgent,
    "exact": ExactAgent,
    "human": HumanAgent,
}


def _read_move(game: Game, state: Record, moves: dict[str, int], text: str) -> int:
    """The legal action that a person typed, in either case; ValueError says what is wrong."""
    for move, action in moves.items():
        if text.lower() == move.lower():
            return action
    if text.isdecimal():
        action = int(text)
        if action in moves.values():
            return action
        if action >= game.num_actions:
            raise ValueError(f"no action {action}; actions are 0..{game.num_actions - 1}")
        text = f"{action} ({game.action_to_text(state, action)})"
    else:
        game.text_to_action(state, text)
    raise ValueError(f"{text} is not legal here")


def _listed(moves: dict[str, int]) -> str:
    """The legal moves in columns, each with its number."""
    items = [f"{action:>5}  {text}" for text, action in moves.items()]
    width = max(map(len, items)) + 2
    rows = -(-len(items) // _COLUMNS)
    lines = ["".join(item.ljust(width) for item in items[row::rows]) for row in range(rows)]
    return "\n".join(line.rstrip() for line in lines)


def make_agent(spec: str, game: str) -> Agent:
    """The agent that `spec` names, to play `game`.

    `random`, `greedy`, `uct-N` (N simulations a move), `cheat-N` (the same, but it sees what is
    hidden), `exact` (perfect play, where the game has a solver), `human`, `checkpoint` (the one
    that ships for the game), a shipped checkpoint's name, or a checkpoint's folder. `@N` behind a
    checkpoint averages N symmetric views, `@1` is the bare network; `~T` behind that plays at
    temperature T, `~0` the likeliest action; `:N` behind that searches with N simulations a move.
    ValueError for all else.
    """
    check_agent(spec, game)
    if spec in _SIMPLE:
        return _SIMPLE[spec]()
    search = re.fullmatch(_UCT, spec)
    if search:
        return UctAgent(int(search[2]), cheats=search[1] == "cheat")
    from linkzoo_training.checkpoint import SearchAgent, load_agent

    source, views, temperature, simulations = _checkpoint(spec)
    try:
        policy = load_agent(
            game if source == "checkpoint" else source,
            views=None if views is None else int(views),
            temperature=None if temperature is None else float(temperature),
        )
        return policy if simulations is None else SearchAgent(policy, int(simulations))
    except ValueError as error:
        raise ValueError(f"agent {spec!r}: {error}") from error


def check_agent(spec: str, game: str) -> None:
    """ValueError if `make_agent` knows no such agent; what a checkpoint holds isn't looked at."""
    get_game(game)
    search = re.fullmatch(_UCT, spec)
    numbers = [search[2]] if search else filter(None, _checkpoint(spec)[1:])
    if any(len(number) > _MOST_DIGITS for number in numbers):
        raise ValueError(f"agent {spec!r}: a number of more than {_MOST_DIGITS} digits")
    if spec == "exact":
        check_solver(game)
    elif search:
        UctAgent(int(search[2]))
    elif spec not in _SIMPLE:
        source = _checkpoint(spec)[0]
        try:
            find_checkpoint(game if source == "checkpoint" else source)
        except ValueError as error:
            raise ValueError(
                f"agent {spec!r}: {error}; agents without a checkpoint are random, greedy, uct-N "
                "(such as uct-100), cheat-N, exact, human"
            ) from error


def _checkpoint(spec: str) -> tuple[str, str | None, str | None, str | None]:
    """A checkpoint's source, views, temperature and simulations, of an agent's name."""
    parts = re.fullmatch(_CHECKPOINT, spec)
    return (parts[1], parts[2], parts[3], parts[4]) if parts else (spec, None, None, None)


def source_of(spec: str) -> str | None:
    """The checkpoint in `spec`, without what stands behind it; None for an agent of another kind.

    It is `checkpoint`, a name or a folder, which need not exist.
    """
    if spec in _SIMPLE or re.fullmatch(_UCT, spec):
        return None
    return _checkpoint(spec)[0]


def searching(spec: str, simulations: int | None) -> str:
    """`spec`, but with a search of that many simulations if it is a checkpoint without one."""
    if simulations is None or source_of(spec) is None or _checkpoint(spec)[3] is not None:
        return spec
    return f"{spec}:{simulations}"
