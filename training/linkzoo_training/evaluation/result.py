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
from linkzoo_training.agents.reports import AgentReport
from linkzoo_training.evaluation.openings import describe_openings
from linkzoo_training.evaluation.statistics import Counts, Estimate, Sprt, elo, from_blocks

__all__ = ["MatchResult"]

FORMAT = "linkzoo-match/3"


def variants_of(options: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Returns the options of each variant in a block: all combinations of listed values.

    `{"threshold": [13, 14]}` gives `[{"threshold": 13}, {"threshold": 14}]`.

    Args:
        options: Options of a game; a value can be a list of values. None: no options.

    Returns:
        The options of each variant, without lists.

    Raises:
        ValueError: A list is empty, or `options` is not a mapping.
    """
    if options is None:
        return [{}]
    choices = {}
    for name, value in mapping("options", options).items():
        values = value if isinstance(value, list) else [value]
        if not values:
            raise ValueError(f"{name}: a list of no values")
        choices[name] = values
    return [dict(zip(choices, chosen, strict=True)) for chosen in product(*choices.values())]


def by_block(
    scores: NDArray[np.float64], side: int | None = None, variant: int | None = None
) -> NDArray[np.float64]:
    """Returns block means [B] of scores [B, V, n]: of all games, or of one side or variant."""
    if side is not None:
        scores = scores[..., side, None]
    if variant is not None:
        scores = scores[:, variant, None]
    return np.asarray(scores.mean((1, 2)))


def win_shares(winners: NDArray[np.uint32], seats: Sequence[int]) -> NDArray[np.float64]:
    """Returns each seat's share of the win: 1/k if k of the seats won, else 0.

    Args:
        winners: uint32[...], the field `winners` of final records: a bit per seat.
        seats: The seats. For shares of sides, pass a seat of each side.

    Returns:
        float64[..., len(seats)].
    """
    won = winners[..., None] >> np.array(seats, np.uint32) & np.uint32(1)
    return np.asarray(won / won.sum(-1, keepdims=True))


def settings_of(game: Game, options: Mapping[str, Any]) -> list[str]:
    """Returns the non-standard options as on the command line, such as `threshold=[13,14]`."""
    standard = game.chosen_options(game.blank())
    return [
        f"{name}={json.dumps(value, separators=(',', ':'))}"
        for name, value in options.items()
        if value != standard[name]
    ]


def side_label(game: Game, num_players: int, side: int, roles: Sequence[str]) -> str:
    """Returns a side's name, such as `More (seat 0)`, or `seats 0, 2` for a team.

    Args:
        game: The game.
        num_players: The number of players.
        side: The side.
        roles: The roles of the sides, from `Game.roles`; empty if sides have none.
    """
    sides = game.facts.sides(num_players)
    seats = [str(seat) for seat in range(num_players) if sides[seat] == side]
    label = f"seats {', '.join(seats)}"
    if len(seats) == 1:
        label = f"seat {seats[0]}"
    if roles:
        label = f"{roles[side]} ({label})"
    return label


@dataclass(frozen=True)
class MatchResult:
    """The result of a match between agents A and B, of at least one block.

    Arrays are [B, V, n]: blocks, variants of the options (see `variants_of`; usually one), and the
    side that A plays. All actions were legal.

    Attributes:
        game: The game's name.
        version: The version of the game's rules.
        num_players: The number of players.
        options: Options of the game; a list if the games of a block differ.
        agents: The names of A and B.
        seed: The seed of the match.
        openings: The openings, as in `Match`.
        requested: The requested blocks; fewer are played if `sprt` decides or an agent ends the
            match.
        share: A's share of each win: 1, 0, or 1/k if k sides win.
        payoff: A's payoffs.
        length: Decisions of each game, including the opening.
        moves: Moves of A and of B.
        seconds_per_move: The mean time per move of A and of B, in batches; None: not measured.
        sprt: The test that may end the match early.
        reports: The reports of A and of B; None for agents without one.
        stopped: The reason why an agent ended the match, else "".
    """

    game: str
    version: int
    num_players: int
    options: dict[str, Any]
    agents: tuple[str, str]
    seed: int
    openings: str
    requested: int
    share: NDArray[np.float64]
    payoff: NDArray[np.float64]
    length: NDArray[np.int64]
    moves: tuple[int, int]
    seconds_per_move: tuple[float | None, float | None]
    sprt: Sprt | None = None
    reports: tuple[AgentReport | None, AgentReport | None] = (None, None)
    stopped: str = ""

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
        share = self.share
        if side is not None:
            share = share[..., side]
        wins = int((share == 1).sum())
        losses = int((share == 0).sum())
        return Counts(wins, share.size - wins - losses, losses)

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
        first, *others = [tuple(rules.roles(variant)) for variant in variants_of(self.options)]
        roles = first if all(other == first for other in others) else ()
        return side_label(rules, self.num_players, side, roles)

    @property
    def title(self) -> str:
        """`A against B: game, 2 players, 400 games from the start`."""
        a, b = self.agents
        openings = describe_openings(self.openings)
        table = f"{self.game}, {self.num_players} players"
        return f"{a} against {b}: {table}, {self.games:,} games {openings}"

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
        """Returns the lines below the table: test, interruption, length, Elo, time per move.

        With more than two sides, the share of equal agents stands in place of Elo.
        """
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
            shares_and_ratings = zip(self.win_share(), self.elo(), strict=True)
            mean, low, high = [_elo_text(share, rating) for share, rating in shares_and_ratings]
            lines.append(f"Elo difference {mean} ({low} … {high})")
        else:
            lines.append(f"equal agents: {100 / self.num_sides:.1f} % of the wins")
        for name, seconds in zip(self.agents, self.seconds_per_move, strict=True):
            if seconds is not None:
                lines.append(f"{name}: {1000 * seconds:.3g} ms a move, in batches")
        for name, report in zip(self.agents, self.reports, strict=True):
            if report is not None:
                lines.append(f"{name}: {report.summary}")
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
        return {
            **self.counts(side)._asdict(),
            "win_share": self.win_share(side)._asdict(),
            "mean_payoff": self.mean_payoff(side)._asdict(),
        }

    def _reports(self) -> dict[str, Any]:
        """Returns the agents' reports as JSON data, nothing if neither has one."""
        if self.reports == (None, None):
            return {}
        return {"reports": [report and report.data for report in self.reports]}

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON data: the settings, the estimates, and A's results by block."""
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
            **self._reports(),
            **self._estimates(),
            "sides": [
                {"label": self.side_label(side), **self._estimates(side)}
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
        """Returns JSON data for a card: without blocks, with the command that repeats the match.

        Raises:
            ValueError: The match was interrupted.
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


def _elo_text(share: float, rating: float | None) -> str:
    """Formats the rating difference of a win share; None is infinite."""
    if rating is not None:
        return f"{rating:+.0f}"
    return "-∞" if share < 0.5 else "+∞"
