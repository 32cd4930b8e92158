"""Matches between two agents: blocks of games that share their luck, every side played in each."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import log10, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, Game, Positions, RandomAgent, get_game
from linkzoo.batch import kernels
from linkzoo.chance import STREAM_ACTION, word
from linkzoo_training.openings import Openings, read_openings
from linkzoo_training.sprt import Sprt

if TYPE_CHECKING:
    from rich.table import Table

FORMAT = "linkzoo-match/1"
_Z = 1.959964  # a normal variable is within ±_Z with probability 0.95


class Estimate(NamedTuple):
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float


def wilson(mean: float, count: int) -> Estimate:
    """The 95 % score interval of a share from `count` independent games (Wilson 1927)."""
    spread = _Z**2 / count
    middle = (mean + spread / 2) / (1 + spread)
    half = _Z * sqrt(mean * (1 - mean) / count + spread / (4 * count)) / (1 + spread)
    return Estimate(mean, max(0.0, min(mean, middle - half)), min(1.0, max(mean, middle + half)))


def from_blocks(scores: NDArray[np.float64], low: float, high: float) -> Estimate:
    """The mean of independent block scores in low..high, its interval from their variance.

    Where there is none to be seen, in a single block or if all are at one end of the scale, the
    interval is Wilson's, each block counted as one game.
    """
    mean, count = float(scores.mean()), len(scores)
    if count == 1 or (scores == low).all() or (scores == high).all():
        share = wilson((mean - low) / (high - low), count)
        return Estimate(mean, *(low + (high - low) * end for end in share[1:]))
    half = _Z * float(scores.std(ddof=1)) / sqrt(count)
    return Estimate(mean, max(low, mean - half), min(high, mean + half))


def elo(share: float) -> float | None:
    """The rating difference that gives a win share; None if it is infinite."""
    return 400 * log10(share / (1 - share)) if 0 < share < 1 else None


def side_label(game: Game, num_players: int, side: int, roles: bool = True) -> str:
    """`More (seat 0)`, or `seats 0, 2` for a team; `roles` says whether roles belong to seats."""
    seats = [seat for seat, own in enumerate(game.sides(num_players)) if own == side]
    label = f"seat{'s' * (len(seats) > 1)} {', '.join(map(str, seats))}"
    return f"{game.seat_names[side]} ({label})" if roles and game.seat_names else label


@dataclass(frozen=True)
class MatchResult:
    """What a match gave. In each of B blocks, the n games differ in the side of agent A.

    Arrays [B, n], by block and by the side of A: its seat or, where the game has teams, its team.
    Every action was checked: none was illegal.
    """

    game: str
    version: int
    num_players: int
    options: dict[str, Any]
    agents: tuple[str, str]  # the names of A and B
    seed: int
    openings: str  # how its blocks began (openings.py)
    requested: int  # blocks; fewer were finished if the match was interrupted
    share: NDArray[np.float64]  # of the win that goes to A: 1, 0, or 1/k if k sides share it
    payoff: NDArray[np.float64]  # of A
    tie: NDArray[np.bool_]  # all sides share the win
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
        return int(self.share.shape[1])

    @property
    def side_scores(self) -> list[float]:
        """A's share of the wins on each side."""
        return [self.win_share(side).mean for side in range(self.num_sides)]

    def win_share(self, side: int | None = None) -> Estimate:
        """A's share of the wins: over all sides (interval by blocks), or on one (Wilson's)."""
        if side is None:
            return from_blocks(self.share.mean(1), 0, 1)
        return wilson(float(self.share[:, side].mean()), self.blocks)

    def mean_payoff(self, side: int | None = None) -> Estimate:
        """A's mean payoff, over all sides or on one; intervals by blocks."""
        scores = self.payoff.mean(1) if side is None else self.payoff[:, side]
        return from_blocks(scores, -1, 1)

    def elo(self) -> tuple[float | None, float | None, float | None]:
        """A's rating above B's in a game of two, with its interval; None where infinite."""
        share = self.win_share()
        return elo(share.mean), elo(share.low), elo(share.high)

    def side_label(self, side: int) -> str:
        """`More (seat 0)`: with the role, where the options can't have moved it elsewhere.

        A team is called by its seats: `seats 0, 2`.
        """
        moved = any(on is True and name != "skip_forced" for name, on in self.options.items())
        return side_label(get_game(self.game), self.num_players, side, roles=not moved)

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
            "win_share": self.win_share()._asdict(),
            "mean_payoff": self.mean_payoff()._asdict(),
            "sides": [
                {
                    "label": self.side_label(side),
                    "win_share": self.win_share(side)._asdict(),
                    "mean_payoff": self.mean_payoff(side)._asdict(),
                }
                for side in range(self.num_sides)
            ],
            "ties": int(self.tie.sum()),
            "mean_length": float(self.length.mean()),
            "block_shares": self.share.tolist(),
        }
        if self.num_sides == 2:
            data["elo"] = dict(zip(Estimate._fields, self.elo(), strict=True))
        if self.sprt is not None:
            data["sprt"] = self.sprt.to_dict(self.share.mean(1))
        return data

    def for_card(self) -> dict[str, Any]:
        """The result for a card: without the single blocks, with the command that repeats it."""
        data = self.to_dict()
        data.pop("block_shares", None)
        rules = get_game(self.game)
        standard = rules.chosen_options(rules.blank())
        chosen = [
            f"{name}={json.dumps(value)}"
            for name, value in self.options.items()
            if value != standard[name]
        ]
        data["command"] = " ".join(
            [
                f"linkzoo evaluate {' '.join(self.agents)} --game {self.game}",
                f"--games {self.games} --seed {self.seed} --openings {self.openings}",
                f"--players {self.num_players}",
                *chosen,
            ]
        )
        return data


@dataclass
class _Clock:
    """One agent's moves and the time they took; the first call may compile and isn't timed."""

    moves: int = 0
    timed: int = 0
    seconds: float = 0.0

    def count(self, moves: int, seconds: float) -> None:
        if self.moves:
            self.timed += moves
            self.seconds += seconds
        self.moves += moves

    def per_move(self) -> float | None:
        return self.seconds / self.timed if self.timed else None


@dataclass
class _Match:
    """The settings of a match, and how to play some of its blocks in lock-step."""

    game: Game
    agents: tuple[Agent, Agent]
    seed: np.uint64
    openings: Openings
    blank: Any
    clocks: tuple[_Clock, _Clock] = field(default_factory=lambda: (_Clock(), _Clock()))

    def play(self, blocks: range) -> NDArray[Any]:
        """Plays some blocks, A on every side; the final records [len(blocks), n]."""
        sides = np.array(self.game.sides(int(self.blank.num_players)))
        count = int(sides.max()) + 1
        states = np.repeat(self.openings.positions(self.game, self.blank, blocks), count)
        masks = np.zeros((len(states), self.game.num_actions), np.int8)
        kernels(self.game).legal(states, masks)
        focal = np.tile(np.arange(count), len(blocks))  # the side of A
        seeds = np.array([word(self.seed, STREAM_ACTION, block) for block in blocks], np.uint64)
        seeds = np.repeat(seeds, count)
        actions = np.empty(len(states), np.int64)
        while (playing := states["seat"] >= 0).any():
            actions[:] = -1
            mine = sides[states["seat"]] == focal
            for which, turns in enumerate((mine, ~mine)):
                rows = np.flatnonzero(playing & turns)
                if len(rows):
                    actions[rows] = self._ask(which, states[rows], seeds[rows], masks[rows])
            kernels(self.game).play(states, actions, masks)
        return states.reshape(len(blocks), count)

    def _ask(
        self, which: int, states: NDArray[Any], seeds: NDArray[np.uint64], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """Actions of A (`which` is 0) or B (1), all of them legal.

        Decision seeds depend on match, block, ply and seat, but not on the agent: in the mirrored
        game the other agent meets the same.
        """
        turns = zip(seeds, states["ply"].tolist(), states["seat"].tolist(), strict=True)
        drawn = [word(seed, STREAM_ACTION, ply, seat) for seed, ply, seat in turns]
        positions = Positions(self.game, states.copy(), np.array(drawn, np.uint64))
        agent = self.agents[which]
        start = time.perf_counter()
        actions = np.asarray(agent.act(positions))
        self.clocks[which].count(len(states), time.perf_counter() - start)
        return checked(f"{agent.name} (agent {'AB'[which]})", actions, states, masks)


def checked(
    who: str, actions: NDArray[Any], states: NDArray[Any], masks: NDArray[np.int8]
) -> NDArray[np.int64]:
    """The answers of an agent, int64[N]; ValueError unless they are N legal actions."""
    if actions.shape != (len(states),) or actions.dtype.kind not in "iu":
        raise ValueError(
            f"{who} gave {actions.dtype}{list(actions.shape)} for {len(states)} positions, not "
            "that many integers"
        )
    for state, action, mask in zip(states, actions, masks, strict=True):
        if not 0 <= action < len(mask) or not mask[action]:
            raise ValueError(
                f"{who} played the illegal action {action} as seat {state['seat']} at ply "
                f"{state['ply']}"
            )
    return actions.astype(np.int64)


def blocks_of(game: Game, num_players: int, games: int) -> int:
    """The blocks, of a game for each side, that hold so many games; ValueError if it is none."""
    if games < 1:
        raise ValueError(f"games: {games} is not 1 or more")
    return -(-games // len(game.one_of_each_side(num_players)))


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
    batch: int = 64,
    sprt: Sprt | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> MatchResult:
    """Plays `blocks` blocks of games between A and B.

    A block is an opening, played once for each side that A can take (a seat or, where the game has
    teams, all seats of a team); B has all others. `openings` is `book`, positions from which every
    side can win, or a new game after some random plies: `0`, or `2-4` (uniform, ends included;
    fewer if the game would end). None is the book where the game has one for these options, with
    enough openings, else `2-4`. `seed` fixes openings, chance and the agents' seeds, so a match can
    be repeated, in batches of any size. `batch` blocks are played in lock-step; after each batch,
    `progress(finished, blocks)` is called, and the match ends if `sprt` (for two sides) has
    accepted one of its strengths. An interruption (Ctrl-C) gives the result of the batches
    finished before it. ValueError for settings the game doesn't have, and if an agent plays an
    illegal action.
    """
    for text, allowed in (
        (f"blocks={blocks}", blocks >= 1),
        (f"batch={batch}", batch >= 1),
        (f"seed={seed}", 0 <= seed < 2**64),
    ):
        if not allowed:
            raise ValueError(f"{text} is out of range")
    rules = get_game(game, options)
    blank = rules.blank(num_players, options)
    begin = read_openings(openings, rules, blank, seed, blocks)
    match = _Match(rules, (a, b), np.uint64(seed), begin, blank)
    players = int(blank.num_players)
    seats = np.array(rules.one_of_each_side(players))
    if sprt is not None and len(seats) != 2:
        raise ValueError(f"sprt: Elo is for two sides, and {players} players are {len(seats)}")
    finals = [np.empty((0, len(seats)), rules.state)]
    try:
        for first in range(0, blocks, batch):
            finals.append(match.play(range(first, min(first + batch, blocks))))
            if progress is not None:
                progress(min(first + batch, blocks), blocks)
            if sprt is not None and sprt.verdict(_shares(np.concatenate(finals), seats).mean(1)):
                break
    except KeyboardInterrupt:
        pass
    states = np.concatenate(finals)
    payoff = np.zeros((states.size, players), np.float32)
    kernels(rules).outcome(states.ravel(), payoff, np.empty_like(payoff))
    won = _won(states, seats)
    every = np.arange(len(seats))
    return MatchResult(
        game=game,
        version=rules.version,
        num_players=players,
        options=rules.chosen_options(blank),
        agents=(a.name, b.name),
        seed=seed,
        openings=begin.name,
        requested=blocks,
        share=_shares(states, seats),
        payoff=payoff.reshape(-1, len(seats), players)[:, every, seats].astype(np.float64),
        tie=(won == 1).all(-1),
        length=states["ply"].astype(np.int64),
        moves=(match.clocks[0].moves, match.clocks[1].moves),
        seconds_per_move=(match.clocks[0].per_move(), match.clocks[1].per_move()),
        sprt=sprt,
    )


def against_random(
    game: str, agent: Agent, num_players: int | None = None, blocks: int = 50
) -> str:
    """How often an agent wins against random play from the start, as a line of text."""
    match = play_match(game, agent, RandomAgent(), blocks, openings="0", num_players=num_players)
    share = match.win_share()
    return f"wins {share.mean:.1%} [{share.low:.1%}, {share.high:.1%}] of {match.games} games"


def _won(states: NDArray[Any], seats: NDArray[np.int64]) -> NDArray[Any]:
    """Which sides won, of final records [B, n] and a seat of each side: 0 or 1, [B, n, side]."""
    return np.asarray((states["winners"][..., None] >> seats.astype(np.uint32)) & 1)


def _shares(states: NDArray[Any], seats: NDArray[np.int64]) -> NDArray[np.float64]:
    """A's share of the win in each game, [B, n]: in game k of a block A plays side k."""
    won, every = _won(states, seats), np.arange(len(seats))
    shares: NDArray[np.float64] = won[:, every, every] / won.sum(-1)
    return shares


def match_table(result: MatchResult) -> "Table":
    """The result as a table for the terminal."""
    from rich.table import Table

    a, b = result.agents
    table = Table(title=f"{a} against {b}: {result.game}, {result.games:,} games")
    for heading in (f"{a} plays", "wins", "95 % interval", "mean payoff", "95 % interval"):
        table.add_column(heading, justify="left" if heading.startswith(a) else "right")
    if result.blocks:
        for side in [*range(result.num_sides), None]:
            share, payoff = result.win_share(side), result.mean_payoff(side)
            if side is None:
                table.add_section()
            table.add_row(
                "all sides" if side is None else result.side_label(side),
                f"{share.mean:.1%}",
                f"{share.low:.1%} … {share.high:.1%}",
                f"{payoff.mean:+.3f}",
                f"{payoff.low:+.3f} … {payoff.high:+.3f}",
            )
    table.caption = _caption(result)
    return table


def _caption(result: MatchResult) -> str:
    lines = []
    if result.sprt is not None:
        test = result.sprt.to_dict(result.share.mean(1))
        verdict = {"high": "accepted", "low": "rejected", None: "undecided"}[test["accepted"]]
        lines.append(
            f"{result.agents[0]} is stronger by {result.sprt.high:g} Elo rather than "
            f"{result.sprt.low:g}: {verdict} (log ratio {test['log_ratio']:+.2f}, "
            f"bounds ±{test['bounds'][1]:.2f})"
        )
    elif result.blocks < result.requested:
        lines.append(f"interrupted: {result.blocks:,} of {result.requested:,} blocks")
    if result.blocks:
        lines.append(f"{result.tie.sum():,} ties, {result.length.mean():.1f} decisions a game")
    if result.blocks and result.num_sides == 2:
        mean, low, high = (
            f"{'-' if share < 0.5 else '+'}∞" if rating is None else f"{rating:+.0f}"
            for share, rating in zip(result.win_share(), result.elo(), strict=True)
        )
        lines.append(f"Elo difference {mean} ({low} … {high})")
    for name, seconds in zip(result.agents, result.seconds_per_move, strict=True):
        if seconds is not None:
            lines.append(f"{name}: {1000 * seconds:.3g} ms a move, in batches")
    return "\n".join(lines)
