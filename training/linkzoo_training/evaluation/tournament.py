"""Every agent against every other, and what it says of their strengths.

Each match is written to the tournament's folder when it is finished, so an interrupted tournament
resumes where it was.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, get_game
from linkzoo.core.files import write_atomically
from linkzoo_training.agents.specs import content_of
from linkzoo_training.evaluation.match import play_match
from linkzoo_training.evaluation.ratings import Pairing, bradley_terry, openskill
from linkzoo_training.evaluation.result import variants_of
from linkzoo_training.evaluation.statistics import Estimate, from_blocks
from linkzoo_training.search import uct
from linkzoo_training.selfplay.executors import Executor, LocalExecutor


@dataclass(frozen=True)
class Tournament:
    """The settings of a tournament: `blocks` blocks for every ordered pair of agents."""

    game: str
    agents: tuple[str, ...]
    blocks: int
    seed: int
    num_players: int | None
    openings: str | None
    options: Mapping[str, Any] = field(default_factory=dict)  # see play_match

    def __post_init__(self) -> None:
        if len(self.agents) < 2 or len(set(self.agents)) < len(self.agents):
            raise ValueError(f"agents: {list(self.agents)} are not two or more different ones")

    def pairs(self) -> list[tuple[int, int]]:
        """Who meets whom: with two sides a match has both roles, so each pair meets once."""
        game = get_game(self.game)
        players = int(game.blank(self.num_players).num_players)
        both = len(game.one_of_each_side(players)) == 2
        return [(a, b) for a, b in permutations(range(len(self.agents)), 2) if a < b or not both]


class Matches:
    """Plays any match of a tournament, wherever it runs; `make` gives an agent by its name."""

    def __init__(self, settings: Tournament, make: Callable[[str], Agent]) -> None:
        self.settings, self.agent = settings, cache(make)

    def play(
        self,
        weights: None,  # noqa: ARG002 - see Worker
        task: tuple[str, str],
        kept: Mapping[str, Any],  # noqa: ARG002
    ) -> dict[str, Any]:
        """The match of two agents as JSON data; `weights` are for workers that learn."""
        settings, (a, b) = self.settings, task
        return play_match(
            settings.game,
            self.agent(a),
            self.agent(b),
            settings.blocks,
            seed=settings.seed,
            openings=settings.openings,
            num_players=settings.num_players,
            options=settings.options,
        ).to_dict()


def run(
    settings: Tournament,
    make: Callable[[str], Agent],
    folder: Path,
    progress: Callable[[str, int, int], None] | None = None,
    executor: Executor | None = None,
) -> list[Pairing]:
    """Plays what isn't played yet and returns all pairings; Ctrl-C keeps the finished matches.

    The workers of `executor` play a match each, or this process one after the other.
    `progress(match, finished, all)` is called when a match is finished. ValueError names the file
    of a match that is damaged, before any is played.
    """
    executor = LocalExecutor() if executor is None else executor
    pairs = settings.pairs()
    names = [(settings.agents[a], settings.agents[b]) for a, b in pairs]
    paths = [folder / "matches" / f"{_digest(settings, pair)}.json" for pair in names]
    shares = {number: _read(path, settings) for number, path in enumerate(paths) if path.is_file()}
    left = [number for number in range(len(pairs)) if number not in shares]
    executor.start(partial(Matches, settings, make))
    results = executor.play(None, [names[number] for number in left])
    for finished, (index, result) in enumerate(results, 1 + len(shares)):
        number = left[index]
        write_atomically(paths[number], (json.dumps(result) + "\n").encode())
        shares[number] = np.array(result["block_shares"])
        if progress is not None:
            progress(" against ".join(names[number]), finished, len(pairs))
    # the mean over variants of the options
    return [Pairing(a, b, shares[number].mean(1)) for number, (a, b) in enumerate(pairs)]


def _digest(settings: Tournament, names: tuple[str, str]) -> str:
    """A match's file name: a hash of all that decides what is played."""
    versions = [get_game(settings.game).version, uct.VERSION]
    what = [settings.game, versions, settings.blocks, settings.seed, settings.num_players]
    agents = [*names, *(content_of(name, settings.game) for name in names)]
    text = json.dumps([*what, settings.openings, dict(settings.options), *agents])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _read(path: Path, settings: Tournament) -> NDArray[np.float64]:
    """The win shares [B, V, n] of a match's file; ValueError names it if it holds no such."""
    game = get_game(settings.game)
    sides = len(game.one_of_each_side(int(game.blank(settings.num_players).num_players)))
    shape = settings.blocks, len(variants_of(settings.options)), sides
    try:
        shares = np.array(json.loads(path.read_bytes())["block_shares"], np.float64)
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}; without it the match is repeated") from error
    if shares.shape != shape or not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError(
            f"{path} is damaged: its block_shares aren't {list(shape)} numbers in 0..1; without it "
            "the match is repeated"
        )
    return shares


def write(settings: Tournament, pairings: Sequence[Pairing], folder: Path) -> str:
    """Writes ratings.json, ratings.md and ratings.png to the folder; returns the Markdown."""
    count = len(settings.agents)
    elo, skill = bradley_terry(pairings, count), openskill(pairings, count)
    order = sorted(range(count), key=lambda agent: -elo[agent].mean)
    table = _crosstable(pairings, count)
    data = {
        "format": "linkzoo-tournament/1",
        **{name: getattr(settings, name) for name in settings.__dataclass_fields__},
        "ratings": [
            {
                "agent": settings.agents[agent],
                "bradley_terry": elo[agent]._asdict(),
                "openskill": skill[agent]._asdict(),
            }
            for agent in order
        ],
        "crosstable": [[_number(table[a, b]) for b in order] for a in order],
    }
    write_atomically(folder / "ratings.json", (json.dumps(data, indent=1) + "\n").encode())
    page = _markdown(settings, order, elo, skill, table, pairings)
    write_atomically(folder / "ratings.md", page.encode())
    _plot(settings, order, elo, folder / "ratings.png")
    return page


def _crosstable(pairings: Sequence[Pairing], count: int) -> NDArray[np.float64]:
    """The win share of the row's agent, alone against copies of the column's; NaN if unplayed."""
    table = np.full((count, count), np.nan)
    for pairing in pairings:
        table[pairing.a, pairing.b] = pairing.share.mean()
        if pairing.sides == 2:
            table[pairing.b, pairing.a] = 1 - pairing.share.mean()
    return table


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _markdown(
    settings: Tournament,
    order: Sequence[int],
    elo: Sequence[Estimate],
    skill: Sequence[Estimate],
    table: NDArray[np.float64],
    pairings: Sequence[Pairing],
) -> str:
    names = [settings.agents[agent] for agent in order]
    lines = [
        f"# {get_game(settings.game).title}: {sum(p.share.size for p in pairings):,} games",
        "",
        "| agent | Bradley-Terry | 95 % interval | OpenSkill | 95 % interval |",
        "|---|---:|---:|---:|---:|",
    ]
    for agent, name in zip(order, names, strict=True):
        one, two = elo[agent], skill[agent]
        lines.append(
            f"| {name} | {one.mean:+.0f} | {one.low:+.0f} … {one.high:+.0f} "
            f"| {two.mean:.1f} | {two.low:.1f} … {two.high:.1f} |"
        )
    lines += ["", "Win share of the row, alone against the column:", ""]
    lines += [f"| | {' | '.join(names)} |", f"|---|{'---:|' * len(names)}"]
    intervals = {(p.a, p.b): from_blocks(p.share.mean(1), 0, 1) for p in pairings}
    for a, name in zip(order, names, strict=True):
        cells = ["" if np.isnan(table[a, b]) else f"{table[a, b]:.1%}" for b in order]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", "| match | games | win share | 95 % interval |", "|---|---:|---:|---:|"]
    for pairing in pairings:
        share = intervals[pairing.a, pairing.b]
        lines.append(
            f"| {settings.agents[pairing.a]} against {settings.agents[pairing.b]} "
            f"| {pairing.share.size:,} | {share.mean:.1%} | {share.low:.1%} … {share.high:.1%} |"
        )
    return "\n".join([*lines, ""])


def _plot(settings: Tournament, order: Sequence[int], elo: Sequence[Estimate], path: Path) -> None:
    """A PNG of the Bradley-Terry ratings with their intervals."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 1.4 + 0.45 * len(order)), layout="constrained")
    FigureCanvasAgg(figure)
    axes: Any = figure.subplots()
    means = np.array([elo[agent].mean for agent in order])
    lows = means - [elo[agent].low for agent in order]
    highs = np.array([elo[agent].high for agent in order]) - means
    axes.errorbar(means, range(len(order)), xerr=[lows, highs], fmt="o", capsize=4)
    axes.set_yticks(range(len(order)), [settings.agents[agent] for agent in order])
    axes.invert_yaxis()
    axes.set(
        xlabel="rating (Elo scale, mean 0), 95 % interval", title=get_game(settings.game).title
    )
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)
