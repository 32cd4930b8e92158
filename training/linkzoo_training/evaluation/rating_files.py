"""Ratings against a reference as files, and a page that shows a folder of them as a ladder."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any

from linkzoo import __version__, get_game
from linkzoo.core.arguments import mapping
from linkzoo.core.files import write_atomically
from linkzoo_training.agents.named import NamedAgent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.evaluation.json_files import read_result
from linkzoo_training.evaluation.reference import Reference, play_tables, rating, read_reference
from linkzoo_training.evaluation.statistics import Estimate
from linkzoo_training.selfplay.executors import Executor

FORMAT = "linkzoo-rating/1"
PAGE = "index.html"
_PACKAGES = ("numpy", "numba", "torch")
_FIRST_LINE = "<!doctype html><!-- linkzoo ratings -->"

_STYLE = """
:root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.4; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin-bottom: 2rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #8884; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.reference { opacity: .75; }
.track { position: relative; width: 16rem; max-width: 30vw; height: 1rem; }
.track i { position: absolute; top: .4rem; height: .2rem; min-width: 2px; background: #5b8def; }
.track b { position: absolute; top: .2rem; width: .6rem; height: .6rem; margin-left: -.3rem;
  border-radius: 50%; background: #2f5fc4; }
td:first-child { overflow-wrap: anywhere; }
@media (max-width: 44rem) {
  body { margin: 1rem auto; padding: 0 .5rem; }
  td.number { white-space: normal; }
  th:nth-child(4), td:nth-child(4) { display: none; }
}
"""


@dataclass(frozen=True)
class RatingResult:
    """An agent's rating in a game with a number of players.

    Attributes:
        agent: The agent's name.
        digest: A hash of its weights or code; None for baselines.
        game: The game's name.
        game_version: The version of its rules.
        players: The number of players.
        reference: The version of the reference.
        blocks: The number of blocks, the first ones of the reference.
        games: The number of games.
        rating: The rating with a 95 % interval; greedy has 1000.
        results: A hash of all results: equal for the same games.
        changed_opponents: The opponents that played otherwise than the frozen ones.
        made_with: The versions of Python and packages, and the processor.
    """

    agent: str
    digest: str | None
    game: str
    game_version: int
    players: int
    reference: int
    blocks: int
    games: int
    rating: Estimate
    results: str
    changed_opponents: Sequence[str]
    made_with: Mapping[str, str]

    @staticmethod
    def name_of(game: str, players: int, agent: str) -> str:
        """Returns the name of a rating's file."""
        return f"{game}-{players}p-{re.sub(r'[^A-Za-z0-9.~@-]+', '_', agent)}.json"

    def answers(self, asked: Mapping[str, Any]) -> bool:
        """Returns whether it is the rating of a `question`."""
        return all(getattr(self, name) == value for name, value in asked.items())

    def write(self, folder: Path) -> None:
        """Writes its file in a folder."""
        data = {"format": FORMAT, **asdict(self), "rating": self.rating._asdict()}
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / self.name_of(self.game, self.players, self.agent)
        write_atomically(path, (json.dumps(data, indent=1) + "\n").encode())

    @classmethod
    def read(cls, path: Path) -> "RatingResult":
        """Reads a file.

        Raises:
            OSError: The file can't be read.
            ValueError: It is no rating.
        """
        return read_result(path, FORMAT, "linkzoo experiment rate", cls._of)

    @classmethod
    def _of(cls, *, rating: Mapping[str, float], **fields: Any) -> "RatingResult":
        """Returns the rating with these fields of a file."""
        return cls(rating=Estimate(**mapping("rating", rating)), **fields)


def question(reference: Reference, players: int, agent: NamedAgent, blocks: int) -> dict[str, Any]:
    """Returns the fields of a rating that name the agent and the games, without results."""
    return {
        "agent": agent.name,
        "digest": agent.spec.digest(reference.game),
        "game": reference.game,
        "game_version": reference.rules.version,
        "players": players,
        "reference": reference.version,
        "blocks": blocks,
    }


def rate(
    reference: Reference,
    players: int,
    agent: str | AgentSpec,
    *,
    blocks: int | None = None,
    processor: str = "",
    progress: Callable[[int, int], None] = lambda *_: None,
    executor: Executor | None = None,
) -> RatingResult:
    """Rates an agent.

    Args:
        reference: The reference.
        players: The number of players, one of the reference's.
        agent: The agent's name.
        blocks: The number of blocks; None for the reference's, which give most agents an interval
            of about 20 points to each side.
        processor: The name of this machine's processor, for the file.
        progress: Called as `progress(finished, blocks)`.
        executor: As in `play_tables`.

    Raises:
        ValueError: The reference has no such number of players, or as `play_tables`.
    """
    if players not in reference.ratings:
        allowed = sorted(reference.ratings)
        raise ValueError(f"players: the reference of {reference.game} has {allowed}, not {players}")
    blocks = blocks or reference.blocks[players]
    named = reference.agent(agent)
    tables = play_tables(reference, players, named, blocks, progress, executor)
    return RatingResult(
        **question(reference, players, named, blocks),
        games=tables.shares.shape[0] * tables.shares.shape[1],
        rating=rating(tables, list(reference.ratings[players].values())),
        results=tables.digest(),
        changed_opponents=reference.changed_opponents(),
        made_with=_made_with(processor),
    )


def _made_with(processor: str) -> dict[str, str]:
    """Returns the versions of Python and packages, and the processor."""
    packages = {name: version(name) for name in _PACKAGES}
    return {"linkzoo": __version__, "python": python_version(), **packages, "processor": processor}


def read_folder(folder: Path) -> list[RatingResult]:
    """Returns the ratings in a folder.

    Raises:
        ValueError: A JSON file there is no rating.
    """
    return [RatingResult.read(path) for path in sorted(folder.glob("*.json"))]


def check_folder(folder: Path) -> None:
    """Raises ValueError if a folder has a page or a JSON file that isn't of ratings."""
    path = folder / PAGE
    if path.exists() and not path.read_bytes().startswith(_FIRST_LINE.encode()):
        raise ValueError(f"{path} is no page of ratings: name another folder")
    read_folder(folder)


def write_page(results: Iterable[RatingResult], folder: Path) -> Path:
    """Writes a page with a ladder for each game and number of players; returns its path."""
    by_table: dict[tuple[str, int], list[RatingResult]] = {}
    for result in results:
        by_table.setdefault((result.game, result.players), []).append(result)
    sections = [_section(*table, by_table[table]) for table in sorted(by_table)]
    text = (
        f'{_FIRST_LINE}\n<html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Ratings</title><style>{_STYLE}</style><h1>Ratings</h1>"
        "<p>greedy has 1000 points in every table, and 400 points are odds of 10 to 1. The bars "
        "are 95 % intervals. Reference rows are the frozen opponents.</p>"
        f"{''.join(sections)}</html>\n"
    )
    path = folder / PAGE
    write_atomically(path, text.encode())
    return path


def _section(game: str, players: int, results: Sequence[RatingResult]) -> str:
    """Returns the ladder of a game with a number of players as HTML."""
    reference = read_reference(game)
    rows: list[tuple[str, Estimate, str, str]] = []
    for name, points in reference.ratings[players].items():
        rows.append((name, Estimate(points, points, points), "reference", "reference"))
    for result in results:
        note = f"{result.games:,} games"
        if result.reference != reference.version:
            note += f", reference {result.reference} instead of {reference.version}"
        if result.changed_opponents:
            note += f"; changed: {', '.join(result.changed_opponents)}"
        rows.append((result.agent, result.rating, note, "agent"))
    rows.sort(key=lambda row: -row[1].mean)
    low = min(estimate.low for _, estimate, _, _ in rows)
    high = max(estimate.high for _, estimate, _, _ in rows)
    body = "".join(_row(*row, low, high) for row in rows)
    return (
        f"<h2>{escape(get_game(game).title)}, {players} players</h2><table><tr><th>agent</th>"
        '<th class="number">rating</th><th class="number">95 %</th><th>interval</th><th></th></tr>'
        f"{body}</table>"
    )


def _row(name: str, estimate: Estimate, note: str, kind: str, low: float, high: float) -> str:
    """Returns a row of a ladder as HTML; the track goes from `low` to `high` points."""
    scale = 100 / max(high - low, 1)
    left = scale * (estimate.low - low)
    width = scale * (estimate.high - estimate.low)
    middle = scale * (estimate.mean - low)
    interval = "" if kind == "reference" else f"{estimate.low:.0f} to {estimate.high:.0f}"
    return (
        f'<tr class="{kind}"><td>{escape(name)}</td><td class="number">{estimate.mean:.0f}</td>'
        f'<td class="number">{interval}</td><td><div class="track">'
        f'<i style="left:{left:.1f}%;width:{width:.1f}%"></i><b style="left:{middle:.1f}%"></b>'
        f"</div></td><td>{escape(note)}</td></tr>"
    )
