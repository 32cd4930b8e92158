"""Results of measurements as tables for the terminal."""

from collections.abc import Sequence
from io import StringIO

from rich.console import Console
from rich.table import Table

from linkzoo import get_game
from linkzoo_training.evaluation.ladder import Ladder
from linkzoo_training.evaluation.result import MatchResult, settings_of, variants_of
from linkzoo_training.evaluation.solved_positions import BlunderRate
from linkzoo_training.evaluation.statistics import Estimate


def match_table(result: MatchResult) -> Table:
    """The result as a table for the terminal."""
    a, b = result.agents
    table = Table(title=f"{a} against {b}: {result.game}, {result.games:,} games")
    table.add_column(f"{a} plays", no_wrap=True)
    for heading in ("won / drawn / lost", "share in %", "mean payoff"):
        table.add_column(heading, justify="right")
    if result.blocks:
        for side in [*range(result.num_sides), None]:
            share, payoff = result.win_share(side), result.mean_payoff(side)
            if side is None:
                table.add_section()
            table.add_row(
                "all sides" if side is None else result.side_label(side),
                str(result.counts(side)),
                _percent(share),
                f"{payoff.mean:+.3f} [{payoff.low:+.3f}, {payoff.high:+.3f}]",
            )
    table.caption = _caption(result)
    return table


def _percent(share: Estimate) -> str:
    return f"{100 * share.mean:.1f} [{100 * share.low:.1f}, {100 * share.high:.1f}]"


def as_html(table: Table) -> str:
    """A table as HTML: the terminal's letters."""
    console = Console(record=True, file=StringIO(), width=110)
    console.print(table)
    return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")


def _caption(result: MatchResult) -> str:
    lines = []
    if result.sprt is not None:
        test = result.sprt.to_dict(result.block_shares)
        verdict = {"high": "accepted", "low": "rejected", None: "undecided"}[test["accepted"]]
        lines.append(
            f"{result.agents[0]} is stronger by {result.sprt.high:g} Elo rather than "
            f"{result.sprt.low:g}: {verdict} (log ratio {test['log_ratio']:+.2f}, "
            f"bounds ±{test['bounds'][1]:.2f})"
        )
    if result.interrupted:
        lines.append(f"interrupted: {result.blocks:,} of {result.requested:,} blocks")
    if result.blocks:
        lines.append(f"{result.length.mean():.1f} decisions a game")
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


def ladder_table(ladder: Ladder, name: str, matches: Sequence[MatchResult]) -> Table:
    """The matches of an agent, by opponent, options, players and role, for the terminal."""
    title = f"{name} on the ladder of {ladder.game}, version {ladder.version}"
    table = Table(title=title, caption="ms: of each side for a move, in batches")
    table.add_column("against", no_wrap=True)
    for heading in ("won / drawn / lost", "share in %", "ms"):
        table.add_column(heading, justify="right")
    rules = get_game(ladder.game)
    for match in matches:
        opponent = " ".join([match.agents[1], *settings_of(rules, match.options)])
        if rules.max_players > rules.min_players:
            opponent += f", {match.num_players} players"
        for side in [None, *range(len(rules.roles(variants_of(match.options)[0])))]:
            times = (
                "?" if seconds is None else f"{1000 * seconds:.2g}"
                for seconds in match.seconds_per_move
            )
            table.add_row(
                opponent if side is None else f"  as {match.side_label(side)}",
                str(match.counts(side)),
                _percent(match.win_share(side)),
                " / ".join(times) if side is None else "",
            )
    return table


def blunder_table(result: BlunderRate) -> Table:
    """The result as a table for the terminal."""
    name, game = result.agent, result.solved.game.name
    table = Table(title=f"Blunder rate of {name}: {game}, {result.count():,} solved positions")
    for heading in (f"{name} plays", "positions", "blunders", "95 % interval", "random play"):
        table.add_column(heading, justify="left" if heading.endswith("plays") else "right")
    for seat in [*result.seats(), None]:
        share = result.share(seat)
        if seat is None:
            table.add_section()
        table.add_row(
            "all seats" if seat is None else result.seat_label(seat),
            f"{result.count(seat):,}",
            f"{share.mean:.1%}",
            f"{share.low:.1%} … {share.high:.1%}",
            f"{result.random_share(seat):.1%}",
        )
    return table
