"""Games of two agents that share a table: each deal is played with every half of the seats.

A `Match` seats one agent against copies of another, which hides what a third player may do to the
leader; here both agents have several seats.
"""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, Game, get_game
from linkzoo.core.agent import decision_seeds
from linkzoo.engine.rng import STREAM_ACTION, random_u64s
from linkzoo_training.agents.playing import compiled_player, play_games
from linkzoo_training.evaluation.openings import read_openings
from linkzoo_training.evaluation.result import win_shares
from linkzoo_training.evaluation.statistics import Estimate, from_blocks
from linkzoo_training.search.duel import play_duels

_DEALS_IN_LOCK_STEP = 64


def mixed_tables(
    game: str,
    a: Agent,
    b: Agent,
    deals: int,
    *,
    num_players: int,
    seed: int = 0,
    openings: str | None = None,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Estimate:
    """Plays every deal once for each choice of half of the seats for A; B has the others.

    With an odd number of players A has one seat less or one more, equally often.

    Args:
        game: The game's name.
        a: Agent A.
        b: Agent B.
        deals: The number of deals.
        num_players: The number of players, each of them a side.
        seed: Determines openings, chance and the agents' seeds.
        openings: Random plies before each game, as in `Match`.
        progress: Called as `progress(finished, deals)`.

    Returns:
        A's share of the wins, with an interval over deals. Equal agents have 0.5.

    Raises:
        ValueError: Some players form a team, or an agent plays an illegal action.
    """
    rules = get_game(game)
    sides = rules.facts.sides(num_players)
    if len(set(sides)) < num_players:
        raise ValueError(f"num_players: {num_players} players of {game} form teams: play a match")
    seatings = _seatings(num_players)
    blank = rules.blank(num_players)
    deal = read_openings(openings, rules, [blank], deals)
    shares = []
    for first in range(0, deals, _DEALS_IN_LOCK_STEP):
        numbers = range(first, min(first + _DEALS_IN_LOCK_STEP, deals))
        starts = deal.begin(rules, blank, np.uint64(seed), numbers)
        deal_seeds = random_u64s(seed, STREAM_ACTION, np.array(numbers))
        states = np.repeat(starts, len(seatings))
        game_seeds = np.repeat(deal_seeds, len(seatings))
        _play(rules, states, (a, b), np.tile(seatings, (len(numbers), 1)), game_seeds)
        won = win_shares(states["winners"], range(num_players))
        by_seating = won.reshape(len(numbers), len(seatings), num_players)
        shares.append((by_seating * seatings).sum(2).mean(1))
        progress(numbers.stop, deals)
    return from_blocks(np.concatenate(shares), 0.0, 1.0)


def _play(
    game: Game,
    states: NDArray[Any],
    agents: tuple[Agent, Agent],
    has_first: NDArray[np.bool_],
    game_seeds: NDArray[np.uint64],
) -> None:
    """Plays games [N] to the end, in place; the first agent has the seats bool[N, players]."""
    a, b = (compiled_player(agent, game) for agent in agents)
    if a is not None and b is not None:
        play_duels(game, states, game_seeds, np.where(has_first, 0, 1), a, b)
        return

    def acting(states: NDArray[Any]) -> NDArray[Any]:
        return np.where(has_first[np.arange(len(states)), states["seat"]], 0, 1)

    def seeds(rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        return decision_seeds(game_seeds[rows], states[rows])

    for _ in play_games(game, states, agents, acting, seeds):
        pass


def _seatings(players: int) -> NDArray[np.bool_]:
    """Returns A's seats in each game of a deal, bool[games, players]."""
    sizes = sorted({players // 2, (players + 1) // 2})
    choices = [seats for size in sizes for seats in combinations(range(players), size)]
    seatings = np.zeros((len(choices), players), np.bool_)
    for index, seats in enumerate(choices):
        seatings[index, list(seats)] = True
    return seatings
