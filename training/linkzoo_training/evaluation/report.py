"""Reports of measurements: tables for the terminal, and the files of a tournament."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from linkzoo import get_game
from linkzoo.core.files import write_atomically
from linkzoo_training.evaluation.ladder import Ladder
from linkzoo_training.evaluation.ratings import Pairing, bradley_terry
from linkzoo_training.evaluation.result import MatchResult, settings_of, variants_of
from linkzoo_training.evaluation.solved_positions import BlunderRate
from linkzoo_training.evaluation.statistics import Estimate, from_blocks
from linkzoo_training.evaluation.tournament import Tournament

FORMAT = "linkzoo-tournament/2"


def match_table(result: MatchResult) -> Table:
    """Returns the result by side as a table for the terminal."""
    columns, *rows = result.rows()
    table = _table(result.title, columns)
    for row in rows:
        table.add_row(*row, end_section=row == rows[-2])
    table.caption = "\n".join(result.notes())
    return table


def _table(title: str, columns: Sequence[str]) -> Table:
    """Returns an empty table; the first column is text, the others numbers."""
    table = Table(title=title)
    table.add_column(columns[0], no_wrap=True)
    for column in columns[1:]:
        table.add_column(column, justify="right")
    return table


def ladder_table(ladder: Ladder, name: str, matches: Sequence[MatchResult]) -> Table:
    """Returns an agent's matches by opponent, options, players and role, for the terminal."""
    title = f"{name} on the ladder of {ladder.game}, version {ladder.version}"
    table = _table(title, ("against", "won / drawn / lost", "share in %", "ms"))
    table.caption = "ms: time per move of each side, in batches"
    rules = get_game(ladder.game)
    for match in matches:
        opponent = " ".join([match.agents[1], *settings_of(rules, match.options)])
        if rules.max_players > rules.min_players:
            opponent += f", {match.num_players} players"
        times = " / ".join(
            "?" if seconds is None else f"{1000 * seconds:.2g}"
            for seconds in match.seconds_per_move
        )
        for side in [None, *range(len(rules.roles(variants_of(match.options)[0])))]:
            table.add_row(
                opponent if side is None else f"  as {match.side_label(side)}",
                str(match.counts(side)),
                match.win_share(side).percent(),
                times if side is None else "",
            )
    return table


def blunder_table(result: BlunderRate) -> Table:
    """Returns the blunder rate by seat as a table for the terminal."""
    name, game = result.agent, result.solved.game.name
    title = f"Blunder rate of {name}: {game}, {result.count():,} solved positions"
    columns = (f"{name} plays", "positions", "blunders", "95 % interval", "random play")
    table = _table(title, columns)
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


def write_ratings(settings: Tournament, pairings: Sequence[Pairing], folder: Path) -> str:
    """Writes ratings.json, ratings.md and ratings.png to a folder; returns the Markdown."""
    count = len(settings.agents)
    ratings = bradley_terry(pairings, count)
    order = sorted(range(count), key=lambda agent: -ratings[agent].mean)
    table = _crosstable(pairings, count)
    data = {
        "format": FORMAT,
        **{name: getattr(settings, name) for name in settings.__dataclass_fields__},
        "ratings": [
            {"agent": settings.agents[agent], "bradley_terry": ratings[agent]._asdict()}
            for agent in order
        ],
        "crosstable": [
            [None if np.isnan(table[a, b]) else float(table[a, b]) for b in order] for a in order
        ],
    }
    write_atomically(folder / "ratings.json", (json.dumps(data, indent=1) + "\n").encode())
    page = _ratings_page(settings, order, ratings, table, pairings)
    write_atomically(folder / "ratings.md", page.encode())
    _plot_ratings(settings, order, ratings, folder / "ratings.png")
    return page


def _crosstable(pairings: Sequence[Pairing], count: int) -> NDArray[np.float64]:
    """Returns the win shares [row, column] of one agent against copies of another; NaN if none."""
    table = np.full((count, count), np.nan)
    for pairing in pairings:
        table[pairing.a, pairing.b] = pairing.share.mean()
        if pairing.sides == 2:
            table[pairing.b, pairing.a] = 1 - pairing.share.mean()
    return table


def _ratings_page(
    settings: Tournament,
    order: Sequence[int],
    ratings: Sequence[Estimate],
    table: NDArray[np.float64],
    pairings: Sequence[Pairing],
) -> str:
    """Returns ratings, crosstable and matches as Markdown."""
    names = [settings.agents[agent] for agent in order]
    lines = [
        f"# {get_game(settings.game).title}: {sum(p.share.size for p in pairings):,} games",
        "",
        "| agent | Bradley-Terry | 95 % interval |",
        "|---|---:|---:|",
    ]
    for agent, name in zip(order, names, strict=True):
        mean, low, high = ratings[agent]
        lines.append(f"| {name} | {mean:+.0f} | {low:+.0f} … {high:+.0f} |")
    lines += ["", "Win share of the row, alone against the column:", ""]
    lines += [f"| | {' | '.join(names)} |", f"|---|{'---:|' * len(names)}"]
    for a, name in zip(order, names, strict=True):
        cells = ["" if np.isnan(table[a, b]) else f"{table[a, b]:.1%}" for b in order]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", "| match | games | win share | 95 % interval |", "|---|---:|---:|---:|"]
    for pairing in pairings:
        share = from_blocks(pairing.block_shares, 0, 1)
        lines.append(
            f"| {settings.agents[pairing.a]} against {settings.agents[pairing.b]} "
            f"| {pairing.share.size:,} | {share.mean:.1%} | {share.low:.1%} … {share.high:.1%} |"
        )
    return "\n".join([*lines, ""])


def _plot_ratings(
    settings: Tournament, order: Sequence[int], ratings: Sequence[Estimate], path: Path
) -> None:
    """Writes a PNG of the ratings with their intervals."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 1.4 + 0.45 * len(order)), layout="constrained")
    axes: Any = figure.subplots()
    means, lows, highs = np.array([ratings[agent] for agent in order]).T
    errors = [means - lows, highs - means]
    axes.errorbar(means, range(len(order)), xerr=errors, fmt="o", capsize=4)
    axes.set_yticks(range(len(order)), [settings.agents[agent] for agent in order])
    axes.invert_yaxis()
    axes.set(
        xlabel="rating (Elo scale, mean 0), 95 % interval", title=get_game(settings.game).title
    )
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)
