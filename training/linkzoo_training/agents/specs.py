"""Agents by their names: everything that plays, behind one protocol (`linkzoo.Agent`)."""

import hashlib
import json
import re
from collections.abc import Callable

from linkzoo import Agent, RandomAgent, get_game
from linkzoo_training.agents.baselines import ExactAgent, GreedyAgent, MonteCarloAgent, UctAgent
from linkzoo_training.agents.human import HumanAgent
from linkzoo_training.agents.outside import (
    check_outside,
    is_outside,
    load_outside,
    outside_file,
)
from linkzoo_training.resources import find_checkpoint
from linkzoo_training.search.solver import check_solver

_SEARCH = r"(uct|cheat|mc)-([0-9]+)"
_MOST_DIGITS = 18  # of a number in an agent's name
# A checkpoint's source, views, temperature and simulations.
_CHECKPOINT = r"(.+?)(?:@([0-9]+))?(?:~([0-9]+(?:\.[0-9]+)?))?(?::([0-9]+))?"


_SIMPLE: dict[str, Callable[[], Agent]] = {
    "random": RandomAgent,
    "greedy": GreedyAgent,
    "exact": ExactAgent,
    "human": HumanAgent,
}


def make_agent(spec: str, game: str) -> Agent:
    """The agent that `spec` names, to play `game`.

    `random`, `greedy`, `uct-N` (N simulations a move), `cheat-N` (the same, but it sees what is
    hidden), `mc-N` (flat Monte Carlo: N playouts of every action), `exact` (perfect play, where the
    game has a solver), `human`, `checkpoint` (the one that ships for the game), a shipped
    checkpoint's name, or a checkpoint's folder; `path/to/file.py:NAME` or `package.module:NAME` is
    an agent from elsewhere. `@N` behind a checkpoint averages N symmetric views, `@1` is the bare
    network; `~T` behind that plays at temperature T, `~0` the likeliest action; `:N` behind that
    searches with N simulations a move. ValueError for all else.
    """
    check_agent(spec, game)
    if spec in _SIMPLE:
        return _SIMPLE[spec]()
    if is_outside(spec):
        return load_outside(spec)
    search = re.fullmatch(_SEARCH, spec)
    if search:
        return _search_agent(search[1], int(search[2]))
    from linkzoo_training.agents.policy import SearchAgent, load_agent

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


def check_agent(spec: str, game: str, *, human: bool = True) -> None:
    """ValueError if `make_agent` knows no such agent; what a checkpoint holds isn't looked at.

    Nor does `human` do where nobody may be there to be asked.
    """
    get_game(game)
    if spec == "human" and not human:
        raise ValueError("agent 'human' is asked at the terminal: name one that plays by itself")
    if is_outside(spec):
        check_outside(spec)
        return
    search = re.fullmatch(_SEARCH, spec)
    numbers = [search[2]] if search else filter(None, _checkpoint(spec)[1:])
    if any(len(number) > _MOST_DIGITS for number in numbers):
        raise ValueError(f"agent {spec!r}: a number of more than {_MOST_DIGITS} digits")
    if spec == "exact":
        check_solver(game)
    elif search:
        _search_agent(search[1], int(search[2]))
    elif spec not in _SIMPLE:
        source = _checkpoint(spec)[0]
        try:
            find_checkpoint(game if source == "checkpoint" else source)
        except ValueError as error:
            raise ValueError(
                f"agent {spec!r}: {error}; agents without a checkpoint are random, greedy, uct-N "
                "(such as uct-100), cheat-N, mc-N, exact, human, and agents of your own, "
                "FILE.py:NAME or module:NAME"
            ) from error


def _search_agent(kind: str, simulations: int) -> Agent:
    """A search without a network."""
    if kind == "mc":
        return MonteCarloAgent(simulations)
    return UctAgent(simulations, cheats=kind == "cheat")


def _checkpoint(spec: str) -> tuple[str, str | None, str | None, str | None]:
    """A checkpoint's source, views, temperature and simulations, of an agent's name."""
    parts = re.fullmatch(_CHECKPOINT, spec)
    return (parts[1], parts[2], parts[3], parts[4]) if parts else (spec, None, None, None)


def source_of(spec: str) -> str | None:
    """The checkpoint in `spec`, without what stands behind it; None for an agent of another kind.

    It is `checkpoint`, a name or a folder, which need not exist.
    """
    if spec in _SIMPLE or is_outside(spec) or re.fullmatch(_SEARCH, spec):
        return None
    return _checkpoint(spec)[0]


def content_of(spec: str, game: str) -> str | None:
    """SHA-256 of what the agent plays by, beside its name; None if the package says it all.

    That is a checkpoint's card, which holds the SHA-256 of its weights, without what was measured;
    or the file of an agent from outside, without what that imports.
    """
    from linkzoo_training.checkpoint import load_card  # loads torch

    source = source_of(spec)
    if source is not None:
        card = load_card(find_checkpoint(game if source == "checkpoint" else source))
        measured = {"strength": None, "blunder_rate": None}
        data = json.dumps(card | measured, sort_keys=True).encode()
    elif is_outside(spec) and (file := outside_file(spec)) is not None:
        data = file.read_bytes()
    else:
        return None
    return hashlib.sha256(data).hexdigest()


def searching(spec: str, simulations: int | None) -> str:
    """`spec`, but with a search of that many simulations if it is a checkpoint without one."""
    if simulations is None or source_of(spec) is None or _checkpoint(spec)[3] is not None:
        return spec
    return f"{spec}:{simulations}"
