"""Ratings against a frozen reference: fixed tables, opponents and deals rate any agent.

A file in `references/` has the opponents of a game with their ratings for each number of players,
the deals and the seed. At each table one side is the agent's; opponents drawn for this block have
the others, and the agent has each side once with the same luck. A side with strength s wins against
sides with strengths s_i with probability s / (s + the sum of s_i), the choice of Luce (1959), as in
the model of Plackett (1975); a rating is 1000 + 400 log10 (s / greedy's s).
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, Game, get_game
from linkzoo.core.agent import decision_seeds
from linkzoo.engine.rng import STREAM_ACTION, STREAM_REFERENCE, random_u64s
from linkzoo_training.agents.named import NamedAgent
from linkzoo_training.agents.playing import actions_digest, play_games
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.evaluation.json_files import read_game_data
from linkzoo_training.evaluation.openings import read_openings
from linkzoo_training.evaluation.result import variants_of, win_shares
from linkzoo_training.evaluation.statistics import Estimate
from linkzoo_training.selfplay.dispatch import TaskWorker
from linkzoo_training.selfplay.executors import Executor, LocalExecutor

FORMAT = "linkzoo-reference/1"
REFERENCES = Path(__file__).parent / "references"
ANCHOR = "greedy"  # its rating is 1000
ANCHOR_RATING = 1000.0
_SCALE = 400 / log(10)
_PROBE_SEED = 9202
_PROBES = 64  # positions whose actions identify an opponent
_BATCH = 256  # blocks in lock-step
_RESAMPLES = 1000
_BISECTIONS = 60
_WIDEST = 30.0  # of a logarithm of strength


@dataclass(frozen=True)
class Reference:
    """The fixed tables of a game.

    Attributes:
        game: The game's name.
        version: The version of the reference.
        seed: Determines deals, openings, opponents and the agents' seeds.
        openings: Random plies before each game, as in `Match`.
        options: Options of the game; each value of a list is played in every block.
        blocks: The number of blocks by the number of players.
        ratings: The ratings of the opponents by the number of players.
        digests: A hash of each opponent's actions in fixed positions.
    """

    game: str
    version: int
    seed: int
    openings: str
    options: Mapping[str, Any]
    blocks: Mapping[int, int]
    ratings: Mapping[int, Mapping[str, float]]
    digests: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON data."""
        return {"format": FORMAT, **self.__dict__}

    @property
    def opponents(self) -> tuple[str, ...]:
        """The names of the opponents."""
        return tuple(self.digests)

    @property
    def rules(self) -> Game:
        """The game, with the options of the first variant."""
        return get_game(self.game, variants_of(self.options)[0])

    def games_of_a_block(self, players: int) -> int:
        """Returns the games of a block: one for each side and variant of the options."""
        sides = set(self.rules.facts.sides(players))
        return len(sides) * len(variants_of(self.options))

    def agent(self, name: str | AgentSpec) -> NamedAgent:
        """Returns an agent that plays these games."""
        return NamedAgent(AgentSpec.parse(str(name)), self.game, variants_of(self.options)[0])

    def changed_opponents(self) -> list[str]:
        """Returns the opponents that play otherwise than when the reference was made."""
        return [
            name
            for name, digest in self.digests.items()
            if digest_of(self.rules, self.agent(name)) != digest
        ]


class Tables(NamedTuple):
    """Finished games in blocks of G games.

    Attributes:
        lineups: int64[B, G, sides], the number of the agent on each side.
        shares: float64[B, G, sides], each side's share of the win.
    """

    lineups: NDArray[np.int64]
    shares: NDArray[np.float64]

    def digest(self) -> str:
        """Returns a hash of the results: equal for the same games."""
        return hashlib.sha256(self.shares.astype("<f8").tobytes()).hexdigest()


def read_reference(game: str) -> Reference:
    """Returns the reference of a game; ValueError if it has none."""
    data = read_game_data(REFERENCES, game, FORMAT, "reference")
    for name in ("blocks", "ratings"):
        data[name] = {int(players): value for players, value in data[name].items()}
    return Reference(**data)


def digest_of(game: Game, agent: Agent) -> str:
    """Returns the `actions_digest` of an agent in fixed positions of random play."""
    plies = read_openings(f"0-{min(20, game.facts.max_length)}", game)
    states = plies.begin(game, game.blank(), np.uint64(_PROBE_SEED), range(2 * _PROBES))
    states = states[states["seat"] >= 0][:_PROBES]
    return actions_digest(agent, game, states, _PROBE_SEED, _PROBES)


def play_tables(
    reference: Reference,
    players: int,
    agent: Agent,
    blocks: int,
    progress: Callable[[int, int], None] = lambda *_: None,
    executor: Executor | None = None,
) -> Tables:
    """Plays an agent at the reference's tables; it is number 0, the opponents follow.

    Args:
        reference: The reference.
        players: The number of players.
        agent: The agent, picklable for an executor.
        blocks: The number of blocks, the first ones.
        progress: Called as `progress(finished, blocks)`.
        executor: Plays batches of blocks, after `executor.start`; None for this process.

    Returns:
        The games; they don't depend on the executor.

    Raises:
        ValueError: The agent plays an illegal action, or the game doesn't allow that many players.
    """
    if executor is None:
        executor = LocalExecutor()
        executor.start(TaskWorker)
    parts = [range(first, min(first + _BATCH, blocks)) for first in range(0, blocks, _BATCH)]
    tasks = [partial(_play_blocks, reference, players, agent, part) for part in parts]
    names = [f"{agent.name}, {players} players, from block {part.start}" for part in parts]
    played: list[Tables] = []
    with executor.play_in_order(tasks, names) as results:
        for part, tables in zip(parts, results, strict=True):
            played.append(tables)
            progress(part.stop, blocks)
    return Tables(
        lineups=np.concatenate([tables.lineups for tables in played]),
        shares=np.concatenate([tables.shares for tables in played]),
    )


def lineups_of(reference: Reference, players: int, blocks: Sequence[int]) -> NDArray[np.int64]:
    """Returns the agent on each side of every game of a variant, int64[B, sides, sides].

    In game k of a block the measured agent, number 0, has side k.
    """
    sides = reference.rules.facts.sides(players)
    count = len(set(sides))
    numbers = np.array(blocks)
    block_of = np.repeat(numbers, count - 1)
    opponent = np.tile(np.arange(count - 1), len(numbers))
    drawn = random_u64s(reference.seed, STREAM_REFERENCE, block_of, opponent)
    others = 1 + (drawn % np.uint64(len(reference.opponents))).astype(np.int64)
    others = others.reshape(len(numbers), count - 1)
    lineups = np.empty((len(numbers), count, count), np.int64)
    for side in range(count):
        lineups[:, side] = np.insert(others, side, 0, axis=1)
    return lineups


def _play_blocks(reference: Reference, players: int, agent: Agent, blocks: range) -> Tables:
    """Plays the blocks with these numbers."""
    game = reference.rules
    sides = np.array(game.facts.sides(players))
    lineups = lineups_of(reference, players, blocks)
    count = lineups.shape[2]
    variants = variants_of(reference.options)
    openings = read_openings(reference.openings, game)
    starts = [
        openings.begin(game, game.blank(players, variant), np.uint64(reference.seed), blocks)
        for variant in variants
    ]
    states = np.repeat(np.stack(starts, 1).ravel(), count)
    lineups = np.repeat(lineups[:, None], len(variants), 1).reshape(len(blocks), -1, count)
    by_game = lineups.reshape(-1, count)
    block_seeds = random_u64s(reference.seed, STREAM_ACTION, np.array(blocks))
    game_seeds = np.repeat(block_seeds, len(variants) * count)

    def acting(states: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(by_game[np.arange(len(states)), sides[states["seat"]]])

    def seeds(rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        return decision_seeds(game_seeds[rows], states[rows])

    agents = [agent, *(reference.agent(name) for name in reference.opponents)]
    for _ in play_games(game, states, agents, acting, seeds):
        pass
    shares = win_shares(states["winners"], game.one_of_each_side(players))
    return Tables(lineups, shares.reshape(lineups.shape))


def rating(tables: Tables, ratings: Sequence[float]) -> Estimate:
    """Returns the rating of agent 0, with a 95 % interval.

    It is the most likely one, given the opponents' ratings, with a prior of one block in which the
    agent wins as often as each of the opponents that it met. The interval holds 95 % of the most
    likely ratings of randomly weighted blocks (the Bayesian bootstrap of Rubin 1981).

    Args:
        tables: The games; each has agent 0 on one side.
        ratings: The ratings of the opponents, numbers 1 and up.
    """
    won = (tables.shares * (tables.lineups == 0)).sum(2)
    strengths = np.exp(np.array([-np.inf, *ratings]) / _SCALE)
    against = _SCALE * np.log(strengths[tables.lineups].sum(2))
    levels, level_of = np.unique(against.round(6), return_inverse=True)
    is_level = level_of.reshape(*won.shape, 1) == np.arange(len(levels))
    counts = is_level.sum(1)
    blocks, games = won.shape
    generator = np.random.Generator(np.random.PCG64(0))
    resampled = blocks * generator.dirichlet(np.ones(blocks), _RESAMPLES)
    weights = np.vstack([np.ones(blocks), resampled])
    wins = weights @ won.sum(1) + games / tables.shares.shape[2]
    games_by_level = weights @ counts + counts.mean(0)
    fitted = _most_likely(wins, games_by_level, levels)
    low, high = np.percentile(fitted[1:], [2.5, 97.5]).tolist()
    return Estimate(float(fitted[0]), low, high)


def _most_likely(
    wins: NDArray[np.float64], counts: NDArray[np.float64], levels: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Returns the ratings [R] that are expected to win this often.

    Args:
        wins: Won games, float64[R].
        counts: Games against each level, float64[R, L].
        levels: The ratings of the opponents of a game together, float64[L].
    """
    low = np.full(len(wins), levels.min() - _WIDEST * _SCALE)
    high = np.full(len(wins), levels.max() + _WIDEST * _SCALE)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        expected = counts / (1 + np.exp((levels - middle[:, None]) / _SCALE))
        too_low = expected.sum(1) < wins
        low = np.where(too_low, middle, low)
        high = np.where(too_low, high, middle)
    return np.asarray((low + high) / 2)


def plackett_luce(
    lineups: NDArray[np.int64], shares: NDArray[np.float64], agents: int
) -> NDArray[np.float64]:
    """Returns the most likely ratings of all agents [agents], of mean 0.

    The prior is a game between all agents that each wins equally often. The fit is the MM
    algorithm of Hunter (2004).

    Args:
        lineups: int64[N, sides], the agent on each side.
        shares: float64[N, sides], each side's share of the win.
        agents: The number of agents.
    """
    wins = np.bincount(lineups.ravel(), shares.ravel(), agents) + 1 / agents
    strengths = np.ones(agents)
    for _ in range(10_000):
        rates = 1 / strengths[lineups].sum(1)
        played = np.bincount(lineups.ravel(), np.repeat(rates, lineups.shape[1]), agents)
        new = wins / (played + 1 / strengths.sum())
        new /= np.exp(np.log(new).mean())
        change = abs(np.log(new / strengths)).max()
        strengths = new
        if change < 1e-9:
            break
    return np.asarray(_SCALE * np.log(strengths))
