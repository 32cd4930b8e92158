"""Matches between two agents: blocks of games that share their luck, every side played in each."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, Game, Positions, RandomAgent, get_game
from linkzoo.batch import kernels
from linkzoo.chance import STREAM_ACTION, words
from linkzoo.compiled import Record
from linkzoo_training.agents.playing import NOBODY, play_games
from linkzoo_training.evaluation.openings import Openings, read_openings
from linkzoo_training.evaluation.statistics import Counts, Estimate, Sprt, elo, from_blocks
from linkzoo_training.outcomes import win_shares

FORMAT = "linkzoo-match/3"


def variants_of(options: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The options of each game of a block: every combination, where a value is a list of them.

    `{"threshold": [13, 14]}` is `[{"threshold": 13}, {"threshold": 14}]`.
    """
    choices = {
        name: value if isinstance(value, list) else [value]
        for name, value in (options or {}).items()
    }
    for name, values in choices.items():
        if not values:
            raise ValueError(f"{name}: a list of no values")
    return [dict(zip(choices, chosen, strict=True)) for chosen in product(*choices.values())]


def by_block(
    scores: NDArray[np.float64], side: int | None = None, variant: int | None = None
) -> NDArray[np.float64]:
    """The mean of each block [B] of scores [B, V, n], over all sides and variants or of one."""
    scores = scores if side is None else scores[..., side, None]
    scores = scores if variant is None else scores[:, variant, None]
    return np.asarray(scores.mean((1, 2)))


def settings_of(game: Game, options: Mapping[str, Any]) -> list[str]:
    """The options that aren't the standard ones, as on the command line: `threshold=[13,14]`."""
    standard = game.chosen_options(game.blank())
    return [
        f"{name}={json.dumps(value, separators=(',', ':'))}"
        for name, value in options.items()
        if value != standard[name]
    ]


def side_label(game: Game, num_players: int, side: int, roles: Sequence[str]) -> str:
    """`More (seat 0)`, or `seats 0, 2` for a team; `roles` are the game's (`Game.roles`)."""
    seats = [seat for seat, own in enumerate(game.sides(num_players)) if own == side]
    label = f"seat{'s' * (len(seats) > 1)} {', '.join(map(str, seats))}"
    return f"{roles[side]} ({label})" if roles else label


@dataclass(frozen=True)
class MatchResult:
    """What a match gave. In each of B blocks, V x n games differ in options and the side of A.

    Arrays [B, V, n], by block, by the variant (see `variants_of`; mostly there is one) and by the
    side of A: its seat or, where the game has teams, its team. Every action was checked: none was
    illegal.
    """

    game: str
    version: int
    num_players: int
    options: dict[str, Any]  # a list where the games of a block differ
    agents: tuple[str, str]  # the names of A and B
    seed: int
    openings: str  # how its blocks began (openings.py)
    requested: int  # blocks; fewer were played if `sprt` ended it or it was interrupted
    share: NDArray[np.float64]  # of the win that goes to A: 1, 0, or 1/k if k sides share it
    payoff: NDArray[np.float64]  # of A
    length: NDArray[np.int64]  # decisions, the opening's included
    moves: tuple[int, int]  # made by A and by B
    seconds_per_move: tuple[float | None, float | None]  # a batch's time counts once
    sprt: Sprt | None = None  # the test that could end the match before its last block

    @property
    def blocks(self) -> int:
        """Finished blocks."""
        return len(self.share)

    @property
    def games(self) -> int:
        """Finished games."""
        return self.share.size

    @property
    def num_sides(self) -> int:
        """Sides of the game: as many as players, but for teams."""
        return int(self.share.shape[2])

    @property
    def block_shares(self) -> NDArray[np.float64]:
        """A's mean share of the wins in each block, [B]."""
        return by_block(self.share)

    @property
    def interrupted(self) -> bool:
        """Whether it is a part of a match only: no result to publish."""
        decided = self.sprt is not None and self.sprt.verdict(self.block_shares) is not None
        return self.blocks < self.requested and not decided

    @property
    def side_scores(self) -> list[float]:
        """A's share of the wins on each side."""
        return [self.win_share(side).mean for side in range(self.num_sides)]

    def _repr_html_(self) -> str:
        """The table of the result, for notebooks."""
        from linkzoo_training.evaluation.tables import as_html, match_table

        return as_html(match_table(self))

    def counts(self, side: int | None = None) -> Counts:
        """A's wins, draws (wins shared with other sides) and losses, on all sides or on one."""
        share = self.share if side is None else self.share[..., side]
        won, lost = int((share == 1).sum()), int((share == 0).sum())
        return Counts(won, share.size - won - lost, lost)

    def win_share(self, side: int | None = None, variant: int | None = None) -> Estimate:
        """A's share of the wins, over all sides and variants or of one; intervals by blocks."""
        return from_blocks(by_block(self.share, side, variant), 0, 1)

    def mean_payoff(self, side: int | None = None) -> Estimate:
        """A's mean payoff, over all sides or on one; intervals by blocks."""
        return from_blocks(by_block(self.payoff, side), -1, 1)

    def elo(self) -> tuple[float | None, float | None, float | None]:
        """A's rating above B's in a game of two, with its interval; None where infinite."""
        share = self.win_share()
        return elo(share.mean), elo(share.low), elo(share.high)

    def side_label(self, side: int) -> str:
        """`More (seat 0)`: with the role, where the options can't have moved it elsewhere.

        A team is called by its seats: `seats 0, 2`.
        """
        rules = get_game(self.game)
        roles = {rules.roles(variant) for variant in variants_of(self.options)}
        return side_label(rules, self.num_players, side, roles.pop() if len(roles) == 1 else ())

    def to_dict(self) -> dict[str, Any]:
        """JSON data: the settings, the estimates, and A's results block by block."""
        data: dict[str, Any] = {
            "format": FORMAT,
            "game": self.game,
            "version": self.version,
            "num_players": self.num_players,
            "options": self.options,
            "agents": list(self.agents),
            "seed": self.seed,
            "openings": self.openings,
            "blocks": self.blocks,
            "blocks_requested": self.requested,
            "games": self.games,
            "moves": list(self.moves),
            "illegal_moves": 0,  # the first would have ended the match with an error
            "seconds_per_move": list(self.seconds_per_move),
        }
        if not self.blocks:
            return data
        data |= {
            **self.counts()._asdict(),
            "win_share": self.win_share()._asdict(),
            "mean_payoff": self.mean_payoff()._asdict(),
            "sides": [
                {
                    "label": self.side_label(side),
                    **self.counts(side)._asdict(),
                    "win_share": self.win_share(side)._asdict(),
                    "mean_payoff": self.mean_payoff(side)._asdict(),
                }
                for side in range(self.num_sides)
            ],
            "mean_length": float(self.length.mean()),
            "block_shares": self.share.tolist(),
        }
        variants = variants_of(self.options)
        if len(variants) > 1:
            data["variants"] = [
                {"options": options, "win_share": self.win_share(variant=index)._asdict()}
                for index, options in enumerate(variants)
            ]
        if self.num_sides == 2:
            data["elo"] = dict(zip(Estimate._fields, self.elo(), strict=True))
        if self.sprt is not None:
            data["sprt"] = self.sprt.to_dict(self.block_shares)
        return data

    def for_card(self) -> dict[str, Any]:
        """The result for a card: without the single blocks, with the command that repeats it.

        ValueError for a match that was interrupted.
        """
        if self.interrupted:
            raise ValueError(
                f"{self.agents[0]} against {self.agents[1]}: interrupted after {self.blocks:,} of "
                f"{self.requested:,} blocks, no result for a card"
            )
        data = self.to_dict()
        data.pop("block_shares", None)
        data["command"] = " ".join(
            [
                f"linkzoo evaluate {' '.join(self.agents)} --game {self.game}",
                f"--games {self.games} --seed {self.seed} --openings {self.openings}",
                f"--players {self.num_players}",
                *settings_of(get_game(self.game), self.options),
            ]
        )
        return data


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
    ) -> MatchResult:
        """Plays the match; the result doesn't depend on `batch`, the blocks played in lock-step.

        `progress(finished, blocks)` is called after each batch. The match ends with the block at
        which `sprt` (for two sides) has accepted one of its strengths. With `partial`, an
        interruption (Ctrl-C) gives the result of the batches finished before it. ValueError for
        settings that the game doesn't have, and if an agent plays an illegal action.
        """
        if batch < 1:
            raise ValueError(f"batch={batch} is out of range")
        shape = 0, len(self._blanks), len(self._seats)
        if sprt is not None and shape[2] != 2:
            raise ValueError(
                f"sprt: Elo is for two sides, and {self._players} players are {shape[2]}"
            )
        agents, openings = (_Timed(self.a, "A"), _Timed(self.b, "B")), self._begin.name
        played = [(np.empty(shape, self._rules.state), np.empty((*shape, 2), np.int64))]
        try:
            for first in range(0, self.blocks, batch):
                last = min(first + batch, self.blocks)
                played.append(self._play_blocks(range(first, last), agents))
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
        self, blocks: range, agents: Sequence[Agent]
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

        def acting(states: NDArray[Any]) -> NDArray[Any]:
            return np.asarray(sides[states["seat"]] != focal).astype(np.int64)

        def seeds(rows: NDArray[np.int64]) -> NDArray[np.uint64]:
            return words(drawn[rows], STREAM_ACTION, states["ply"][rows], states["seat"][rows])

        for actions in play_games(self._rules, states, agents, acting, seeds):
            rows = np.flatnonzero(actions != NOBODY)
            moves[rows, acting(states)[rows]] += 1
        return states.reshape(shape), moves.reshape(*shape, 2)

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


def against_random(
    game: str, agent: Agent, num_players: int | None = None, blocks: int = 50
) -> str:
    """How often an agent wins against random play from the start, as a line of text."""
    match = play_match(game, agent, RandomAgent(), blocks, openings="0", num_players=num_players)
    share = match.win_share()
    return f"wins {share.mean:.1%} [{share.low:.1%}, {share.high:.1%}] of {match.games} games"
