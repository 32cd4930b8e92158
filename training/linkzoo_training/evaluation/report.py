"""Reports of measurements: tables for the terminal, and the files of a tournament."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from linkzoo import get_game
from linkzoo.core.arguments import mapping, parse_json
from linkzoo.core.files import write_atomically
from linkzoo_training.evaluation.labelled_positions import Labels
from linkzoo_training.evaluation.ladder import Ladder
from linkzoo_training.evaluation.openings import describe_openings
from linkzoo_training.evaluation.ratings import Pairing, bradley_terry, share_table
from linkzoo_training.evaluation.result import MatchResult, by_block, settings_of, variants_of
from linkzoo_training.evaluation.solved_positions import BlunderRate
from linkzoo_training.evaluation.statistics import Estimate, from_blocks
from linkzoo_training.evaluation.tournament import Tournament

FORMAT = "linkzoo-tournament/2"


def match_table(result: MatchResult) -> Table:
    """Returns the result by side as a table for the terminal."""
    columns, *rows = result.rows()
    table = make_table(result.title, columns, rows)
    table.caption = "\n".join(result.notes())
    return table


def make_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, total: bool = True
) -> Table:
    """Returns a table for the terminal, with text in the first column and numbers in the others.

    Args:
        title: The table's title.
        columns: The names of the columns.
        rows: The rows.
        total: Whether the last row is a total, set off by a line.
    """
    table = Table(title=title)
    table.add_column(columns[0], overflow="fold")
    for column in columns[1:]:
        table.add_column(column, justify="right")
    for number, row in enumerate(rows, 2):
        table.add_row(*row, end_section=total and number == len(rows))
    return table


def ladder_table(ladder: Ladder, name: str, matches: Sequence[MatchResult]) -> Table:
    """Returns an agent's matches by opponent, options, players and role, for the terminal."""
    title = f"{name} on the ladder of {ladder.game}, version {ladder.version}, games "
    title += describe_openings(ladder.openings)
    rules = get_game(ladder.game)
    rows = []
    for match in matches:
        opponent = " ".join([match.agents[1], *settings_of(rules, match.options)])
        if rules.max_players > rules.min_players:
            opponent += f", {match.num_players} players"
        times = " / ".join(map(_milliseconds, match.seconds_per_move))
        rows.append((opponent, str(match.counts()), match.win_share().percent(), times))
        roles = rules.roles(variants_of(match.options)[0])
        for side in range(len(roles)):
            label = f"  as {match.side_label(side)}"
            rows.append((label, str(match.counts(side)), match.win_share(side).percent(), ""))
    columns = ("against", "won / drawn / lost", "share in %", "ms")
    table = make_table(title, columns, rows, total=False)
    table.caption = "ms: time per move of each side, in batches"
    return table


def _milliseconds(seconds: float | None) -> str:
    """Formats a time in milliseconds; `?` if it wasn't measured."""
    return "?" if seconds is None else f"{1000 * seconds:.2g}"


def blunder_table(result: BlunderRate) -> Table:
    """Returns the blunder rate by seat as a table for the terminal."""
    name = result.agent
    game = result.solved.game.name
    title = f"Blunder rate of {name}: {game}, {result.rates().positions:,} solved positions"
    columns = (f"{name} plays", "positions", "blunders", "95 % interval", "random play")
    rows = []
    for seat in [*result.seats(), None]:
        count, (mean, low, high), random_rate = result.rates(seat)
        interval = f"{low:.1%} … {high:.1%}"
        label = result.seat_label(seat)
        rows.append((label, f"{count:,}", f"{mean:.1%}", interval, f"{random_rate:.1%}"))
    return make_table(title, columns, rows)


def regret_table(agent: str, regret: Estimate, labels: Labels) -> Table:
    """Returns an agent's regret in labelled positions as a table for the terminal."""
    title = f"Regret of {agent}: {labels.settings.game}, {len(labels.states):,} labelled positions"
    columns = ("agent", "lost by its actions, of payoffs -1..1", "95 % interval")
    interval = f"{regret.low:.4f} … {regret.high:.4f}"
    rows = [
        (agent, f"{regret.mean:.4f}", interval),
        ("random play", f"{labels.random_regret():.4f}", ""),
    ]
    return make_table(title, columns, rows)


def check_ratings(settings: Tournament, folder: Path) -> None:
    """Raises ValueError if a folder has ratings that `write_ratings` wouldn't extend.

    Agents may be added to a tournament; its other settings stay.
    """
    path = folder / "ratings.json"
    if not path.exists():
        return
    try:
        data = mapping(str(path), parse_json(path.read_bytes()))
        earlier = set(data["agents"])
    except (ValueError, TypeError, LookupError) as error:
        raise ValueError(f"{path} has no ratings of a tournament: {error}") from error
    now = json.loads(json.dumps(_settings(settings)))
    names = [name for name in now if data.get(name) != now[name] and name != "agents"]
    missing = sorted(earlier - set(settings.names))
    if missing:
        names.append(f"agents, without {', '.join(missing)}")
    if names:
        raise ValueError(
            f"{path} has ratings of another tournament: choose another folder "
            f"(differences: {'; '.join(names)})"
        )


def _settings(settings: Tournament) -> dict[str, Any]:
    """Returns the settings of a tournament as JSON data."""
    return {
        "format": FORMAT,
        **{name: getattr(settings, name) for name in settings.__dataclass_fields__},
        "agents": settings.names,
        "openings": settings.played_openings,
    }


def write_ratings(settings: Tournament, pairings: Sequence[Pairing], folder: Path) -> str:
    """Writes ratings.json, ratings.md and ratings.png to a folder; returns the Markdown."""
    count = len(settings.agents)
    names = settings.names
    estimates = bradley_terry(pairings, count)
    order = sorted(range(count), key=lambda agent: -estimates[agent].mean)
    ratings = {names[agent]: estimates[agent] for agent in order}
    shares = share_table(pairings, count)[np.ix_(order, order)]
    rows = [[None if np.isnan(share) else share for share in row] for row in shares.tolist()]
    data = {
        **_settings(settings),
        "ratings": [
            {"agent": agent, "bradley_terry": rating._asdict()} for agent, rating in ratings.items()
        ],
        "crosstable": rows,
    }
    write_atomically(folder / "ratings.json", (json.dumps(data, indent=1) + "\n").encode())
    page = _ratings_page(settings, ratings, rows, pairings)
    write_atomically(folder / "ratings.md", page.encode())
    _plot_ratings(ratings, get_game(settings.game).title, folder / "ratings.png")
    return page


def _ratings_page(
    settings: Tournament,
    ratings: Mapping[str, Estimate],
    rows: Sequence[Sequence[float | None]],
    pairings: Sequence[Pairing],
) -> str:
    games = sum(pairing.share.size for pairing in pairings)
    openings = describe_openings(settings.played_openings)
    title = f"{get_game(settings.game).title}, {settings.players} players"
    lines = [f"# {title}: {games:,} games {openings}", ""]
    lines += ["| agent | Bradley-Terry | 95 % interval |", "|---|---:|---:|"]
    for name, (mean, low, high) in ratings.items():
        lines.append(f"| {name} | {mean:+.0f} | {low:+.0f} … {high:+.0f} |")
    equal = f"equal agents: {1 / settings.sides:.1%}"
    lines += ["", f"Win share of the row, alone against the column ({equal}):", ""]
    lines += [f"| | {' | '.join(ratings)} |", f"|---|{'---:|' * len(ratings)}"]
    for name, shares in zip(ratings, rows, strict=True):
        cells = ["" if share is None else f"{share:.1%}" for share in shares]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", "| match | games | win share | 95 % interval |", "|---|---:|---:|---:|"]
    for pairing in pairings:
        share = from_blocks(by_block(pairing.share), 0, 1)
        lines.append(
            f"| {settings.agents[pairing.a]} against {settings.agents[pairing.b]} "
            f"| {pairing.share.size:,} | {share.mean:.1%} | {share.low:.1%} … {share.high:.1%} |"
        )
    return "\n".join([*lines, ""])


def _plot_ratings(ratings: Mapping[str, Estimate], title: str, path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 1.4 + 0.45 * len(ratings)), layout="constrained")
    axes: Any = figure.subplots()
    means, lows, highs = np.array(list(ratings.values())).T
    errors = [means - lows, highs - means]
    axes.errorbar(means, range(len(ratings)), xerr=errors, fmt="o", capsize=4)
    axes.set_yticks(range(len(ratings)), list(ratings))
    axes.invert_yaxis()
    axes.set_title(title)
    axes.set_xlabel("rating (Elo scale, mean 0), 95 % interval")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)
