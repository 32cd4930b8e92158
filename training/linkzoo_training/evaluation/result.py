"""Results of matches: every game's outcome, estimates with intervals, summaries, and JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, get_game
from linkzoo.core.arguments import mapping
from linkzoo_training.agents.usage import Usage
from linkzoo_training.evaluation.statistics import Counts, Estimate, Sprt, elo, from_blocks

FORMAT = "linkzoo-match/3"


def variants_of(options: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Returns the options of each variant in a block: all combinations of listed values.

    `{"threshold": [13, 14]}` gives `[{"threshold": 13}, {"threshold": 14}]`. Raises ValueError for
    an empty list.
    """
    options = {} if options is None else mapping("options", options)
    choices = {name: v if isinstance(v, list) else [v] for name, v in options.items()}
    for name, values in choices.items():
        if not values:
            raise ValueError(f"{name}: a list of no values")
    return [dict(zip(choices, chosen, strict=True)) for chosen in product(*choices.values())]


def by_block(
    scores: NDArray[np.float64], side: int | None = None, variant: int | None = None
) -> NDArray[np.float64]:
    """Returns block means [B] of scores [B, V, n]: of all games, or of one side or variant."""
    scores = scores if side is None else scores[..., side, None]
    scores = scores if variant is None else scores[:, variant, None]
    return np.asarray(scores.mean((1, 2)))


def win_shares(winners: NDArray[np.uint32], seats: Sequence[int]) -> NDArray[np.float64]:
    """Returns the share of the win of each of these seats, [..., seats]: 1/k if k of them won.

    `winners` [...] is the field of final records. For shares of sides, pass one seat of each.
    """
    won = winners[..., None] >> np.array(seats, np.uint32) & np.uint32(1)
    return np.asarray(won / won.sum(-1, keepdims=True))


def settings_of(game: Game, options: Mapping[str, Any]) -> list[str]:
    """Returns the non-standard options as on the command line: `threshold=[13,14]`."""
    standard = game.chosen_options(game.blank())
    chosen = {name: value for name, value in options.items() if value != standard[name]}
    return [f"{name}={json.dumps(value, separators=(',', ':'))}" for name, value in chosen.items()]


def side_label(game: Game, num_players: int, side: int, roles: Sequence[str]) -> str:
    """Returns `More (seat 0)`, or `seats 0, 2` for a team; `roles` come from `Game.roles`."""
    seats = [seat for seat, own in enumerate(game.facts.sides(num_players)) if own == side]
    label = f"seat{'s' * (len(seats) > 1)} {', '.join(map(str, seats))}"
    return f"{roles[side]} ({label})" if roles else label


@dataclass(frozen=True)
class MatchResult:
    """The result of a match between agents A and B, of one block or more.

    Arrays are [B, V, n]: blocks, variants of the options (see `variants_of`; usually one), and the
    side that A plays. All actions were checked to be legal.
    """

    game: str
    version: int
    num_players: int
    options: dict[str, Any]  # a list if the games of a block differ
    agents: tuple[str, str]  # names of A and B
    seed: int
    openings: str  # see openings.py
    requested: int  # blocks; fewer are played if `sprt` decides or after an interruption
    share: NDArray[np.float64]  # A's share of the win: 1, 0, or 1/k if k sides win
    payoff: NDArray[np.float64]  # A's payoff
    length: NDArray[np.int64]  # decisions, the opening included
    moves: tuple[int, int]  # by A and B
    seconds_per_move: tuple[float | None, float | None]  # for A and B, in batches
    sprt: Sprt | None = None  # the test that may end the match early
    usage: tuple[Usage | None, Usage | None] = (None, None)  # of A and B, if they count it
    stopped: str = ""  # why an agent gave up

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
        """The number of sides: teams, or players in games without teams."""
        return int(self.share.shape[2])

    @property
    def block_shares(self) -> NDArray[np.float64]:
        """A's mean share of the wins in each block, [B]."""
        return by_block(self.share)

    @property
    def interrupted(self) -> bool:
        """Whether blocks are missing; such a result is not published."""
        decided = self.sprt is not None and self.sprt.verdict(self.block_shares) is not None
        return self.blocks < self.requested and not decided

    @property
    def side_scores(self) -> list[float]:
        """A's share of the wins on each side."""
        return [self.win_share(side).mean for side in range(self.num_sides)]

    def counts(self, side: int | None = None) -> Counts:
        """Returns A's wins, draws (shared wins) and losses, on all sides or on one."""
        share = self.share if side is None else self.share[..., side]
        won, lost = int((share == 1).sum()), int((share == 0).sum())
        return Counts(won, share.size - won - lost, lost)

    def win_share(self, side: int | None = None, variant: int | None = None) -> Estimate:
        """Returns A's share of the wins: of all games, or of one side or variant."""
        return from_blocks(by_block(self.share, side, variant), 0, 1)

    def mean_payoff(self, side: int | None = None) -> Estimate:
        """Returns A's mean payoff, on all sides or on one."""
        return from_blocks(by_block(self.payoff, side), -1, 1)

    def elo(self) -> tuple[float | None, float | None, float | None]:
        """Returns A's Elo above B's and its interval, for two sides; None where infinite."""
        share = self.win_share()
        return elo(share.mean), elo(share.low), elo(share.high)

    def side_label(self, side: int | None) -> str:
        """Returns `More (seat 0)`, `seats 0, 2` for a team, `seat 0` where options move roles."""
        if side is None:
            return "all sides"
        rules = get_game(self.game)
        roles = {rules.roles(variant) for variant in variants_of(self.options)}
        return side_label(rules, self.num_players, side, roles.pop() if len(roles) == 1 else ())

    @property
    def title(self) -> str:
        """`A against B: game, 400 games`."""
        a, b = self.agents
        return f"{a} against {b}: {self.game}, {self.games:,} games"

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Returns the result as text: column names, a row per side, and a row for all sides."""
        rows = [(f"{self.agents[0]} plays", "won / drawn / lost", "share in %", "mean payoff")]
        for side in [*range(self.num_sides), None]:
            mean, low, high = self.mean_payoff(side)
            payoff = f"{mean:+.3f} [{low:+.3f}, {high:+.3f}]"
            share = self.win_share(side).percent()
            rows.append((self.side_label(side), str(self.counts(side)), share, payoff))
        return rows

    def notes(self) -> list[str]:
        """Returns the lines below the table: test, interruption, length, Elo, time per move."""
        lines = []
        if self.sprt is not None:
            test = self.sprt.to_dict(self.block_shares)
            verdict = {"high": "accepted", "low": "rejected", None: "undecided"}[test["accepted"]]
            lines.append(
                f"{self.agents[0]} is stronger by {self.sprt.high:g} Elo rather than "
                f"{self.sprt.low:g}: {verdict} (log ratio {test['log_ratio']:+.2f}, "
                f"bounds ±{test['bounds'][1]:.2f})"
            )
        if self.interrupted:
            lines.append(f"interrupted: {self.blocks:,} of {self.requested:,} blocks")
        if self.stopped:
            lines.append(self.stopped)
        lines.append(f"{self.length.mean():.1f} decisions a game")
        if self.num_sides == 2:
            mean, low, high = (
                f"{'-' if share < 0.5 else '+'}∞" if rating is None else f"{rating:+.0f}"
                for share, rating in zip(self.win_share(), self.elo(), strict=True)
            )
            lines.append(f"Elo difference {mean} ({low} … {high})")
        for name, seconds in zip(self.agents, self.seconds_per_move, strict=True):
            if seconds is not None:
                lines.append(f"{name}: {1000 * seconds:.3g} ms a move, in batches")
        for name, usage in zip(self.agents, self.usage, strict=True):
            if usage is not None:
                lines.append(f"{name}: {usage}")
        return lines

    def __str__(self) -> str:
        columns, *rows = self.rows()
        total = zip(columns[1:], rows[-1][1:], strict=True)
        return "\n".join([self.title, *(": ".join(row) for row in total), "; ".join(self.notes())])

    def _repr_html_(self) -> str:
        """Returns the table and its notes, for notebooks."""
        columns, *rows = (map(escape, row) for row in self.rows())
        head = f"<tr><th>{'</th><th>'.join(columns)}</th></tr>"
        body = "".join(f"<tr><td>{'</td><td>'.join(row)}</td></tr>" for row in rows)
        notes = "<br>".join(map(escape, self.notes()))
        return f"<table><caption>{escape(self.title)}</caption>{head}{body}</table><p>{notes}</p>"

    def _estimates(self, side: int | None = None) -> dict[str, Any]:
        share, payoff = self.win_share(side)._asdict(), self.mean_payoff(side)._asdict()
        return {**self.counts(side)._asdict(), "win_share": share, "mean_payoff": payoff}

    def _usage(self) -> dict[str, Any]:
        """Returns the agents' usage as JSON data, nothing if neither counts it."""
        if self.usage == (None, None):
            return {}
        return {"usage": [usage and usage.to_dict() for usage in self.usage]}

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON data: the settings, the estimates, and A's results by block."""
        sides = range(self.num_sides)
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
            "illegal_moves": 0,  # an illegal move ends a match with an error
            "seconds_per_move": list(self.seconds_per_move),
            **self._usage(),
            **self._estimates(),
            "sides": [{"label": self.side_label(s), **self._estimates(s)} for s in sides],
            "mean_length": float(self.length.mean()),
            "block_shares": self.share.tolist(),
        }
        variants = variants_of(self.options)
        if len(variants) > 1:
            shares = [self.win_share(variant=index)._asdict() for index in range(len(variants))]
            pairs = zip(variants, shares, strict=True)
            data["variants"] = [{"options": own, "win_share": share} for own, share in pairs]
        if self.num_sides == 2:
            data["elo"] = dict(zip(Estimate._fields, self.elo(), strict=True))
        if self.sprt is not None:
            data["sprt"] = self.sprt.to_dict(self.block_shares)
        return data

    def for_card(self) -> dict[str, Any]:
        """Returns JSON data for a card: no single blocks, but the command that repeats the match.

        Raises ValueError if the match was interrupted.
        """
        if self.interrupted:
            raise ValueError(
                f"{self.agents[0]} against {self.agents[1]}: interrupted after {self.blocks:,} of "
                f"{self.requested:,} blocks, no result for a card"
            )
        data = self.to_dict()
        del data["block_shares"]
        command = f"linkzoo evaluate {' '.join(self.agents)} --game {self.game} "
        command += f"--games {self.games} --seed {self.seed} --openings {self.openings} "
        command += f"--players {self.num_players}"
        settings = settings_of(get_game(self.game), self.options)
        return {**data, "command": " ".join([command, *settings])}
