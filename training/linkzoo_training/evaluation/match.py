"""Matches between two agents: blocks of games that share their luck, every side played in each."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, Game, GameRecord, Positions, RandomAgent, get_game
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import STREAM_ACTION, words
from linkzoo.engine.compiled import Record
from linkzoo_training.agents.baselines import GreedyAgent
from linkzoo_training.agents.playing import NOBODY, play_games
from linkzoo_training.evaluation.openings import Openings, read_openings
from linkzoo_training.evaluation.result import MatchResult, by_block, variants_of
from linkzoo_training.evaluation.statistics import Sprt
from linkzoo_training.outcomes import win_shares


class _Timed:
    """An agent whose moves are timed; the first call may compile and doesn't count."""

    def __init__(self, agent: Agent, letter: str) -> None:
        self._agent, self.name = agent, f"{agent.name} (agent {letter})"
        self._called, self._moves, self._seconds = False, 0, 0.0

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """See Agent."""
        start = time.perf_counter()
        actions = self._agent.act(positions)
        if self._called:
            self._moves += len(positions)
            self._seconds += time.perf_counter() - start
        self._called = True
        return actions

    @property
    def per_move(self) -> float | None:
        """Seconds; a batch's time counts once."""
        return self._seconds / self._moves if self._moves else None


def blocks_of(
    game: Game, num_players: int, games: int, options: Mapping[str, Any] | None = None
) -> int:
    """The blocks that hold so many games, one for each side and variant of the options.

    ValueError if it is none.
    """
    if games < 1:
        raise ValueError(f"games: {games} is not 1 or more")
    return -(-games // (len(game.one_of_each_side(num_players)) * len(variants_of(options))))


@dataclass(frozen=True)
class Match:
    """The settings of a match: `blocks` blocks of games between agents A and B.

    A block is an opening, played once for each side that A can take (a seat or, where the game has
    teams, all seats of a team); B has all others. A list as an option's value plays each of them in
    every block: `{"threshold": [13, 14]}` is four games a block. `openings` is a new game after
    some random plies: `0`, or `2-4` (the default; uniform, ends included; fewer if the game would
    end). `seed` fixes openings, chance and the agents' seeds, so a match can be repeated.
    """

    game: str
    a: Agent
    b: Agent
    blocks: int
    seed: int = 0
    openings: str | None = None
    num_players: int | None = None
    options: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.blocks < 1:
            raise ValueError(f"blocks={self.blocks} is out of range")
        if not 0 <= self.seed < 2**64:
            raise ValueError(f"seed={self.seed} is out of range")

    @cached_property
    def _rules(self) -> Game:
        games = [get_game(self.game, variant) for variant in variants_of(self.options)]
        if any(game is not games[0] for game in games):
            raise ValueError(f"options: {self.options} are several games, which need a match each")
        return games[0]

    @cached_property
    def _blanks(self) -> list[Record]:
        """One of each variant of the options."""
        variants = variants_of(self.options)
        return [self._rules.blank(self.num_players, variant) for variant in variants]

    @cached_property
    def _players(self) -> int:
        return int(self._blanks[0].num_players)

    @cached_property
    def _seats(self) -> NDArray[np.int64]:
        """One of each side."""
        return np.array(self._rules.one_of_each_side(self._players))

    @cached_property
    def _begin(self) -> Openings:
        return read_openings(self.openings, self._rules, self.seed)

    def play(
        self,
        *,
        batch: int = 64,
        sprt: Sprt | None = None,
        partial: bool = False,
        progress: Callable[[int, int], None] | None = None,
        keep: Callable[[str, GameRecord], None] | None = None,
    ) -> MatchResult:
        """Plays the match; the result doesn't depend on `batch`, the blocks played in lock-step.

        `progress(finished, blocks)` is called after each batch, and `keep(name, record)` with every
        game of it: `00012-1-A0` is of block 12 and the second variant of the options (without the
        1, if there is one variant), with A on side 0. The match ends with the block at
        which `sprt` (for two sides) has accepted one of its strengths. With `partial`, an
        interruption (Ctrl-C) gives the result of the batches finished before it. ValueError for
        settings that the game doesn't have, and if an agent plays an illegal action.
        """
        if batch < 1:
            raise ValueError(f"batch={batch} is out of range")
        shape = 0, len(self._blanks), len(self._seats)
        if sprt is not None:
            if shape[2] != 2:
                raise ValueError(
                    f"sprt: Elo is for two sides, and {self._players} players are {shape[2]}"
                )
            sprt = replace(sprt, games=shape[1] * shape[2])
        agents, openings = (_Timed(self.a, "A"), _Timed(self.b, "B")), self._begin.name
        played = [(np.empty(shape, self._rules.state), np.empty((*shape, 2), np.int64))]
        try:
            for first in range(0, self.blocks, batch):
                last = min(first + batch, self.blocks)
                played.append(self._play_blocks(range(first, last), agents, keep))
                if progress is not None:
                    progress(last, self.blocks)
                shares = by_block(self._shares(np.concatenate([finals for finals, _ in played])))
                if sprt is not None and sprt.end(shares, since=first) is not None:
                    break
        except KeyboardInterrupt:
            if not partial:
                raise
        finals, moves = (np.concatenate(parts) for parts in zip(*played, strict=True))
        end = None if sprt is None else sprt.end(by_block(self._shares(finals)))
        made = moves[:end].sum((0, 1, 2)).tolist()
        lists = {name: v for name, v in (self.options or {}).items() if isinstance(v, list)}
        return MatchResult(
            game=self.game,
            version=self._rules.version,
            num_players=self._players,
            options=self._rules.chosen_options(self._blanks[0]) | lists,
            agents=(self.a.name, self.b.name),
            seed=self.seed,
            openings=openings,
            requested=self.blocks,
            share=self._shares(finals[:end]),
            payoff=self._payoffs(finals[:end]),
            length=finals[:end]["ply"].astype(np.int64),
            moves=(made[0], made[1]),
            seconds_per_move=(agents[0].per_move, agents[1].per_move),
            sprt=sprt,
        )

    def _play_blocks(
        self,
        blocks: range,
        agents: Sequence[Agent],
        keep: Callable[[str, GameRecord], None] | None = None,
    ) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Plays some blocks, A on every side: the final records, and the moves of A and of B.

        [len(blocks), V, n], [len(blocks), V, n, 2]. Decision seeds depend on match, block, ply and
        seat, but not on the agent: in the mirrored game the other agent meets the same.
        """
        sides = np.array(self._rules.sides(self._players))
        shape = len(blocks), len(self._blanks), len(self._seats)
        begin = [self._begin.positions(self._rules, blank, blocks) for blank in self._blanks]
        states = np.repeat(np.stack(begin, 1).ravel(), shape[2])
        focal = np.tile(np.arange(shape[2]), shape[0] * shape[1])  # the side of A
        seeds_of_blocks = words(self.seed, STREAM_ACTION, np.array(blocks))
        drawn = np.repeat(seeds_of_blocks, shape[1] * shape[2])
        moves = np.zeros((len(states), 2), np.int64)
        records = [] if keep is None else [self._begun(state) for state in states]

        def acting(states: NDArray[Any]) -> NDArray[Any]:
            return np.asarray(sides[states["seat"]] != focal).astype(np.int64)

        def seeds(rows: NDArray[np.int64]) -> NDArray[np.uint64]:
            return words(drawn[rows], STREAM_ACTION, states["ply"][rows], states["seat"][rows])

        for actions in play_games(self._rules, states, agents, acting, seeds):
            rows = np.flatnonzero(actions != NOBODY)
            moves[rows, acting(states)[rows]] += 1
            for row in rows if records else ():
                records[row].actions.append(int(actions[row]))
        if keep is not None:
            names = product(blocks, range(shape[1]), range(shape[2]))
            for (block, variant, side), record in zip(names, records, strict=True):
                which = f"{block:05}-{variant}" if shape[1] > 1 else f"{block:05}"
                keep(f"{which}-A{side}", record)
        return states.reshape(shape), moves.reshape(*shape, 2)

    def _begun(self, state: Record) -> GameRecord:
        """The record of a game that is at its opening."""
        game = self._rules
        options, seed = game.chosen_options(state), int(state.seed)
        start = game.to_dict(state) if state.ply else None
        return GameRecord(game.id, game.version, self._players, options, seed, start)

    def _shares(self, finals: NDArray[Any]) -> NDArray[np.float64]:
        """A's share of the win in each game, [B, V, n]: in game k of a variant A plays side k."""
        shares = win_shares(finals["winners"], self._seats.tolist())
        return np.asarray(shares.diagonal(0, -2, -1))

    def _payoffs(self, finals: NDArray[Any]) -> NDArray[np.float64]:
        """A's payoff in each game, [B, V, n]."""
        payoff = np.zeros((finals.size, self._players), np.float32)
        kernels(self._rules).outcome(finals.ravel(), payoff, np.empty_like(payoff))
        every = np.arange(len(self._seats))
        by_game = payoff.reshape(*finals.shape, self._players)
        return by_game[..., every, self._seats].astype(np.float64)


def play_match(
    game: str,
    a: Agent,
    b: Agent,
    blocks: int,
    *,
    seed: int = 0,
    openings: str | None = None,
    num_players: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> MatchResult:
    """Plays `blocks` blocks of games between A and B; `Match` says what the settings are."""
    return Match(game, a, b, blocks, seed, openings, num_players, options).play()


def against_baselines(
    game: str, agent: Agent, num_players: int | None = None, blocks: int = 50
) -> str:
    """How often an agent wins from the start against random and greedy play, as a line of text."""
    shares = []
    for baseline in (RandomAgent(), GreedyAgent()):
        match = play_match(game, agent, baseline, blocks, openings="0", num_players=num_players)
        share = match.win_share()
        shares.append(f"{share.mean:.1%} [{share.low:.1%}, {share.high:.1%}] {baseline.name}")
    return f"wins against {', '.join(shares)}, of {match.games} games each"
