"""Matches between two agents: in each block, every side is played with the same luck."""

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, Game, GameRecord, Positions, RandomAgent, get_game
from linkzoo.core.agent import check_agent, decision_seeds
from linkzoo.core.arguments import boolean, integer
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import STREAM_ACTION, random_u64s
from linkzoo_training.agents.baselines import GreedyAgent
from linkzoo_training.agents.playing import NOBODY, compiled_player, play_games
from linkzoo_training.agents.reports import StopMatchError, begin_match, report_of
from linkzoo_training.agents.trained_on import note_untrained
from linkzoo_training.evaluation.openings import (
    START,
    Openings,
    begin_record,
    describe_openings,
    read_openings,
    standard_openings,
)
from linkzoo_training.evaluation.result import MatchResult, by_block, variants_of, win_shares
from linkzoo_training.evaluation.statistics import Sprt
from linkzoo_training.search.duel import play_duels
from linkzoo_training.selfplay.dispatch import TaskWorker
from linkzoo_training.selfplay.executors import Executor, LocalExecutor

__all__ = ["Match", "against_baselines", "play_match"]


_FEW = 4  # blocks of the first batch where parts of a match count: a slow agent soon has a result


class _TimedAgent:
    """Times an agent's calls, except for the first call, which may compile."""

    def __init__(self, agent: Agent, letter: str) -> None:
        self.name = f"{agent.name} (agent {letter})"
        self._agent = agent
        self._called = False
        self.moves = 0  # in timed calls
        self.seconds = 0.0  # of timed calls

    def act(self, positions: Positions) -> NDArray[np.int64]:
        start = time.perf_counter()
        actions = self._agent.act(positions)
        if self._called:
            self.moves += len(positions)
            self.seconds += time.perf_counter() - start
        self._called = True
        return actions


class PlayedBlocks(NamedTuple):
    """b finished blocks of a match, of n games in each of V variants; agents are A and B.

    Attributes:
        finals: Final records [b, V, n].
        moves: int64[b, V, n, 2], the moves of each agent.
        timed_moves: The moves of each agent that were timed.
        seconds: The time of these moves.
        records: The games by their names, if `recorded`.
    """

    finals: NDArray[Any]
    moves: NDArray[np.int64]
    timed_moves: tuple[int, int]
    seconds: tuple[float, float]
    records: list[tuple[str, GameRecord]]


def blocks_of(
    game: str, num_players: int | None, games: int, options: Mapping[str, Any] | None = None
) -> int:
    """Returns the number of blocks of a `Match` that hold at least this many games.

    A block has a game per side and variant of the options.

    Args:
        game: The game's name.
        num_players: The number of players; None for the game's minimum.
        games: The number of games.
        options: Options of the game, see `Match`.

    Raises:
        ValueError: `games` is below 1, the game doesn't support the settings, or they decide every
            game before it begins.
    """
    if games < 1:
        raise ValueError(f"games: {games} is not 1 or more")
    variants = variants_of(options)
    rules = get_game(game, variants[0])
    players = int(rules.blank(num_players, variants[0]).num_players)
    _check_open(rules, variants)
    games_per_block = len(rules.one_of_each_side(players)) * len(variants)
    return ceil(games / games_per_block)


def _check_open(rules: Game, variants: Sequence[Mapping[str, Any]]) -> None:
    """Raises ValueError for options that decide every game before it begins."""
    for variant in variants:
        if decided := rules.options(**variant).decided():
            raise ValueError(decided)


@dataclass
class Match:
    """The settings of a match between agents A and B.

    A block is an opening, played once per side: A has the seats of that side (one seat, or all of
    a team), B all others.

    Args:
        game: The game's name.
        a: Agent A.
        b: Agent B.
        blocks: The number of blocks.
        seed: Determines openings, chance and the agents' seeds.
        openings: Random plies before each game, such as `0` or `2-4` (uniform, ends included;
            fewer where the game would end), or a file of positions (`linkzoo.load_positions`), each
            of which begins at most one block. None: `0` in games with chance or of fewer than 20
            decisions, else `2-4`.
        num_players: The game's minimum by default.
        options: Options of the game. A list plays each of its values in every block:
            `{"threshold": [13, 14]}` makes four games a block.

    Raises:
        ValueError: A or B isn't an agent, `blocks` or `seed` is out of range, the game doesn't
            support the settings, or they decide every game before it begins.
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
        check_agent(self.a, "agent A")
        check_agent(self.b, "agent B")
        self.blocks = integer("blocks", self.blocks, 1, 2**53)
        self.seed = integer("seed", self.seed, 0, 2**64 - 1)
        variants = variants_of(self.options)
        games = [get_game(self.game, variant) for variant in variants]
        self._rules = games[0]
        if any(game is not self._rules for game in games):
            raise ValueError(f"options: {self.options} are several games, which need a match each")
        self._blanks = [self._rules.blank(self.num_players, variant) for variant in variants]
        _check_open(self._rules, variants)
        self._players = int(self._blanks[0].num_players)
        self._seats = np.array(self._rules.one_of_each_side(self._players))  # one per side
        self._sides = np.array(self._rules.facts.sides(self._players))  # by seat

    def __reduce__(self) -> tuple[Any, ...]:
        return Match, tuple(getattr(self, field.name) for field in fields(self))

    def play(
        self,
        *,
        batch: int = 64,
        timed: bool = True,
        sprt: Sprt | None = None,
        partial: bool = False,
        progress: Callable[[int, int], None] = lambda *_: None,
        keep: Callable[[str, GameRecord], None] | None = None,
        executor: Executor | None = None,
    ) -> MatchResult:
        """Plays the match.

        Args:
            batch: Blocks in lock-step; the result doesn't depend on it.
            timed: Whether to time moves. Without times, `linear` and action networks on the CPU
                play their games as compiled code, and all else in the result is the same.
            sprt: Ends the match with the block that decides this test, for two sides.
            partial: Whether Ctrl-C, or an agent that ends the match, returns the result of the
                finished batches, if there are any. The first batches are small then.
            progress: Called as `progress(finished, blocks)` at the start and after each batch.
            keep: Called as `keep(name, record)` with every game. `00012-1-A0` is block 12, the
                second variant of the options (left out if there is only one), A on side 0.
            executor: Plays batches of blocks, after `executor.start`; None for this
                process. The agents must be picklable, such as `NamedAgent`. The result doesn't
                depend on it.

        Returns:
            The result.

        Raises:
            ValueError: The game has no such openings, an agent plays an illegal action, or an
                agent with a report is given an executor.
            StopMatchError: An agent ends the match, and not `partial` or no batch is finished.
        """
        batch = integer("batch", batch, 1, 2**53)
        partial = boolean("partial", partial)
        timed = boolean("timed", timed)
        if sprt is not None:
            sprt = self._with_block_size(sprt)
        reporting = [agent for agent in (self.a, self.b) if report_of(agent) is not None]
        if executor is None:
            executor = LocalExecutor()
            executor.start(TaskWorker)
        elif reporting:
            raise ValueError(f"{reporting[0].name} reports on the match: play in this process")
        for agent in reporting:
            begin_match(agent)
        for agent in (self.a, self.b):
            note_untrained(agent, np.array(self._blanks))
        openings = read_openings(self.openings, self._rules, self._blanks, self.blocks)
        batch = min(batch, ceil(self.blocks / executor.workers))
        parts = _batches(self.blocks, batch, min(_FEW, batch) if partial else batch)
        recorded = keep is not None
        play = functools.partial(self.play_blocks, openings, recorded=recorded, timed=timed)
        tasks = [functools.partial(play, part) for part in parts]
        played: list[PlayedBlocks] = []
        end: int | None = None  # the number of blocks after which the test decided
        stopped = ""
        names = [
            f"{self.a.name} against {self.b.name}, blocks {part.start + 1} to {part.stop}"
            for part in parts
        ]
        progress(0, self.blocks)
        try:
            with executor.play_in_order(tasks, names) as results:
                for part, blocks in zip(parts, results, strict=True):
                    played.append(blocks)
                    for name, record in blocks.records:
                        assert keep is not None
                        keep(name, record)
                    progress(part.stop, self.blocks)
                    if sprt is not None:
                        shares = by_block(self._shares(_joined(played, "finals")))
                        end = sprt.end(shares, since=part.start)
                    if end is not None:
                        break
        except (KeyboardInterrupt, StopMatchError) as error:
            if not (partial and played):
                raise
            stopped = str(error)
        return self._result(played, end, sprt, stopped)

    def _with_block_size(self, sprt: Sprt) -> Sprt:
        """Returns the test for blocks of this match."""
        sides = len(self._seats)
        if sides != 2:
            raise ValueError(f"sprt: Elo is for two sides, and {self._players} players are {sides}")
        return replace(sprt, games=len(self._blanks) * sides)

    def _result(
        self, played: Sequence[PlayedBlocks], end: int | None, sprt: Sprt | None, stopped: str
    ) -> MatchResult:
        """Returns the result of the first `end` blocks, of all with None."""
        finals = _joined(played, "finals")[:end]
        moves = _joined(played, "moves")[:end].sum((0, 1, 2))
        lists = {
            name: value for name, value in (self.options or {}).items() if isinstance(value, list)
        }
        return MatchResult(
            game=self.game,
            version=self._rules.version,
            num_players=self._players,
            options=self._rules.chosen_options(self._blanks[0]) | lists,
            agents=(self.a.name, self.b.name),
            seed=self.seed,
            openings=self.openings or standard_openings(self._rules),
            requested=self.blocks,
            share=self._shares(finals),
            payoff=self._payoffs(finals),
            length=finals["ply"].astype(np.int64),
            moves=(int(moves[0]), int(moves[1])),
            seconds_per_move=(_seconds_per_move(played, 0), _seconds_per_move(played, 1)),
            sprt=sprt,
            reports=(report_of(self.a), report_of(self.b)),
            stopped=stopped,
        )

    def play_blocks(
        self, openings: Openings, blocks: range, *, recorded: bool, timed: bool
    ) -> PlayedBlocks:
        """Plays the blocks with these numbers.

        Decision seeds depend on match, block, ply and seat, but not on the agent: both agents meet
        the same seeds in mirrored games.

        Args:
            openings: The openings of the match.
            blocks: The numbers of the blocks.
            recorded: Whether to return the games as records.
            timed: Whether to time moves.

        Returns:
            The finished blocks.

        Raises:
            ValueError: An agent plays an illegal action.
            StopMatchError: An agent ends the match.
        """
        game = self._rules
        variants = len(self._blanks)
        sides = len(self._seats)
        shape = (len(blocks), variants, sides)
        starts = [
            openings.begin(game, blank, np.uint64(self.seed), blocks) for blank in self._blanks
        ]
        states = np.repeat(np.stack(starts, 1).ravel(), sides)
        side_of_a = np.tile(np.arange(sides), len(blocks) * variants)
        block_seeds = random_u64s(self.seed, STREAM_ACTION, np.array(blocks))
        game_seeds = np.repeat(block_seeds, variants * sides)
        if not recorded and not timed:
            moves = self._play_duels(states, side_of_a, game_seeds)
            if moves is not None:
                return PlayedBlocks(
                    states.reshape(shape), moves.reshape(*shape, 2), (0, 0), (0.0, 0.0), []
                )
        a = _TimedAgent(self.a, "A")
        b = _TimedAgent(self.b, "B")
        moves = np.zeros((len(states), 2), np.int64)
        records: list[GameRecord] = []
        if recorded:
            records = [begin_record(game, state, openings) for state in states]

        def acting(states: NDArray[Any]) -> NDArray[Any]:
            return np.asarray(self._sides[states["seat"]] != side_of_a).astype(np.int64)

        def seeds(rows: NDArray[np.int64]) -> NDArray[np.uint64]:
            return decision_seeds(game_seeds[rows], states[rows])

        def comment(row: int, text: str) -> None:
            if recorded:
                records[row].comments[len(records[row].actions)] = text

        for actions in play_games(game, states, (a, b), acting, seeds, comment):
            rows = np.flatnonzero(actions != NOBODY)
            moves[rows, acting(states)[rows]] += 1
            if recorded:
                for row in rows:
                    records[row].actions.append(int(actions[row]))
        return PlayedBlocks(
            finals=states.reshape(shape),
            moves=moves.reshape(*shape, 2),
            timed_moves=(a.moves, b.moves),
            seconds=(a.seconds, b.seconds),
            records=list(zip(self._names(blocks), records, strict=True)) if recorded else [],
        )

    def _play_duels(
        self, states: NDArray[Any], side_of_a: NDArray[np.int64], game_seeds: NDArray[np.uint64]
    ) -> NDArray[np.int64] | None:
        """Plays games [N] as compiled code; returns the moves of each agent, int64[N, 2].

        None: the games weren't played, because an agent can't play so.
        """
        a = compiled_player(self.a, self._rules)
        b = compiled_player(self.b, self._rules)
        if a is None or b is None:
            return None
        players_of = (self._sides != side_of_a[:, None]).astype(np.int64)
        return play_duels(self._rules, states, game_seeds, players_of, a, b)

    def _names(self, blocks: range) -> Iterator[str]:
        """Yields the names of the records, in the order of the games."""
        variants = len(self._blanks)
        for block, variant, side in product(blocks, range(variants), range(len(self._seats))):
            if variants > 1:
                yield f"{block:05}-{variant}-A{side}"
            else:
                yield f"{block:05}-A{side}"

    def _shares(self, finals: NDArray[Any]) -> NDArray[np.float64]:
        """Returns A's share of each win, [B, V, n]; in game k of a variant A plays side k."""
        shares = win_shares(finals["winners"], self._seats.tolist())
        return shares.diagonal(0, -2, -1)

    def _payoffs(self, finals: NDArray[Any]) -> NDArray[np.float64]:
        """Returns A's payoff in each game, [B, V, n]."""
        payoff = np.zeros((finals.size, self._players), np.float32)
        kernels(self._rules).outcome(finals.ravel(), payoff, np.empty_like(payoff))
        by_game = payoff.reshape(*finals.shape, self._players)
        return by_game[..., np.arange(len(self._seats)), self._seats].astype(np.float64)


def _batches(blocks: int, batch: int, first: int) -> list[range]:
    """Returns the numbers of the blocks of each batch; sizes double from `first` to `batch`."""
    parts = []
    start = 0
    size = first
    while start < blocks:
        parts.append(range(start, min(start + size, blocks)))
        start += size
        size = min(2 * size, batch)
    return parts


def _joined(played: Sequence[PlayedBlocks], name: str) -> NDArray[Any]:
    return np.concatenate([getattr(blocks, name) for blocks in played])


def _seconds_per_move(played: Sequence[PlayedBlocks], agent: int) -> float | None:
    """Returns an agent's mean time per move, in batches; None if no move was timed."""
    moves = sum(blocks.timed_moves[agent] for blocks in played)
    if moves == 0:
        return None
    return sum(blocks.seconds[agent] for blocks in played) / moves


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
    """Plays `blocks` blocks of games between agents A and B; `Match` documents the arguments.

    Returns:
        The result; `print` shows a summary, a notebook a table.

    Raises:
        ValueError: The game doesn't support the settings, or an agent plays an illegal action.
    """
    return Match(game, a, b, blocks, seed, openings, num_players, options).play()


def against_baselines(
    game: str, agent: Agent, num_players: int | None = None, blocks: int = 50
) -> str:
    """Plays an agent against `random` and `greedy`, without random opening plies.

    Args:
        game: The game's name.
        agent: The agent to measure.
        num_players: The game's minimum by default.
        blocks: The blocks of each match.

    Returns:
        Both win shares with their intervals, as a line of text.
    """
    shares = []
    for baseline in (RandomAgent(), GreedyAgent()):
        match = play_match(game, agent, baseline, blocks, openings=START, num_players=num_players)
        share = match.win_share()
        shares.append(f"{share.mean:.1%} [{share.low:.1%}, {share.high:.1%}] {baseline.name}")
    return (
        f"wins against {', '.join(shares)}, of {match.games} games each {describe_openings(START)}"
    )
