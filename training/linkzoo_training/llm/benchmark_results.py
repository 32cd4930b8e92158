"""The files of `linkzoo llm benchmark`, and several of them side by side."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from linkzoo.core.arguments import mapping
from linkzoo.core.files import write_atomically
from linkzoo_training.evaluation.json_files import read_result
from linkzoo_training.evaluation.statistics import Estimate

FORMAT = "linkzoo-benchmark/5"


@dataclass
class BenchmarkResults:
    """An agent's results, as far as they are measured.

    Attributes:
        settings: The agent, the seed, and the numbers of positions and games that were asked for.
        agents: A hash of the agent, by game.
        tests: A hash of the positions and opponents, by game.
        parts: The measurements, by their names.
    """

    settings: dict[str, Any]
    agents: dict[str, str] = field(default_factory=dict)
    tests: dict[str, str] = field(default_factory=dict)
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "BenchmarkResults":
        """Reads a file.

        Raises:
            OSError: The file can't be read.
            ValueError: It is no result of the benchmark.
        """
        return read_result(path, FORMAT, "linkzoo llm benchmark", cls._of)

    @classmethod
    def _of(cls, *, agents: Any, tests: Any, parts: Any, **settings: Any) -> "BenchmarkResults":
        """Returns the results with these fields of a file."""
        return cls(
            settings=settings,
            agents=dict(mapping("agents", agents)),
            tests=dict(mapping("tests", tests)),
            parts=dict(mapping("parts", parts)),
        )

    def write(self, path: Path) -> None:
        """Writes a file; readers see the old or the new one."""
        fields = asdict(self)
        data = {"format": FORMAT, **fields.pop("settings"), **fields}
        write_atomically(path, (json.dumps(data, indent=1) + "\n").encode())


def side_by_side(files: Mapping[Path, BenchmarkResults]) -> list[tuple[str, ...]]:
    """Returns a table of agents.

    Args:
        files: The results of each file.

    Returns:
        The header, then a row for each test: its name, then for each agent the blunders in percent
        with their interval and the regret, or the share of wins in percent with its interval;
        empty where the agent hasn't been measured.

    Raises:
        ValueError: Results are of other positions, opponents or numbers of games, or an agent
            stands in two files.
    """
    agents: dict[str, Path] = {}
    for path, results in files.items():
        agent = results.settings["agent"]
        if agent in agents:
            raise ValueError(f"{agents[agent]} and {path} are both of {agent}: name one of them")
        agents[agent] = path
    _check_tests(files)
    names = dict.fromkeys(name for results in files.values() for name in results.parts)
    games = list(dict.fromkeys(name.partition(":")[0] for name in names))
    rows = [("test", *agents)]
    for name in sorted(names, key=lambda name: games.index(name.partition(":")[0])):
        parts = [results.parts.get(name) for results in files.values()]
        label = f"{name} ({_size(name, files):,})"
        rows.append((label, *(_cell(part) for part in parts)))
    return rows


def _check_tests(files: Mapping[Path, BenchmarkResults]) -> None:
    """Raises ValueError if two files have other positions or opponents of a game."""
    known: dict[str, tuple[str, Path]] = {}
    for path, results in files.items():
        for game, digest in results.tests.items():
            first_digest, first = known.setdefault(game, (digest, path))
            if digest != first_digest:
                raise ValueError(
                    f"{first} and {path} are of different benchmarks: the positions or opponents "
                    f"of {game} have changed between them"
                )


def _size(name: str, files: Mapping[Path, BenchmarkResults]) -> int:
    """Returns the number of positions or games of a test; ValueError if files differ."""
    sizes: dict[int, Path] = {}
    for path, results in files.items():
        if name in results.parts:
            part = results.parts[name]
            sizes.setdefault(part["games" if "win_share" in part else "positions"], path)
    if len(sizes) > 1:
        numbers = ", ".join(f"{size} in {path}" for size, path in sizes.items())
        raise ValueError(f"{name}: files have different numbers of positions or games: {numbers}")
    return next(iter(sizes))


def _cell(part: Mapping[str, Any] | None) -> str:
    """Returns the result of a test."""
    if part is None:
        return ""
    if "win_share" in part:
        text = Estimate(**part["win_share"]).percent()
        return text if part["frozen"] else f"{text} (opponent changed)"
    return f"{Estimate(**part['blunders']).percent()}; {part['regret']['mean']:.3f}"


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Returns a table as Markdown; the first row is the header."""
    header, *body = rows
    ruler = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (header, ruler, *body))
