"""`linkzoo llm benchmark`: an agent on fixed positions and in short matches."""

import hashlib
import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from linkzoo_training.agents.named import NamedAgent
from linkzoo_training.agents.specs import AgentSpec, digests_of
from linkzoo_training.commands import common
from linkzoo_training.evaluation.ladder import read_ladder
from linkzoo_training.evaluation.openings import describe_openings
from linkzoo_training.evaluation.result import variants_of
from linkzoo_training.evaluation.statistics import Estimate
from linkzoo_training.llm.benchmark import (
    OPPONENTS,
    ask_positions,
    frozen_digests,
    moves_digest,
)
from linkzoo_training.llm.benchmark_positions import (
    BenchmarkPositions,
    benchmark_games,
    read_benchmark_positions,
    read_edition_positions,
)
from linkzoo_training.llm.benchmark_results import BenchmarkResults
from linkzoo_training.llm.usage import LlmUsage

HELP = "measure an agent, such as a language model, on fixed positions and in short matches"

_Part = tuple[str, Callable[[], dict[str, Any]]]  # its name, and a function that measures


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("agent", metavar="AGENT", help=f"agent to measure: {common.AGENTS}")
    text = "game to measure it on; may be repeated (default: all with benchmark positions that the "
    text += "agent plays)"
    add("--game", action="append", choices=benchmark_games(), help=text)
    text = "positions of each game, the first ones (default: all)"
    add("--positions", type=common.whole(2, 10**6), default=10**6, metavar="N", help=text)
    text = f"games against each of the first {OPPONENTS} opponents of a game's ladder, rounded up "
    text += "to whole blocks; 0: none (default: %(default)s)"
    add("--games", type=common.whole(0, 10**6), default=10, metavar="N", help=text)
    text = "blocks that are played side by side (default: %(default)s)"
    add("--batch", type=common.whole(1, 2**20), default=16, metavar="N", help=text)
    add("--seed", type=common.SEED, default=0, help="seed of the agents (default: %(default)s)")
    text = "JSON file of the results, written after every part; an existing one of the same "
    text += "settings is continued (default: none)"
    add("--json", type=common.continued_file, metavar="FILE", help=text)


def run(args: Namespace) -> None:
    """Measures the parts that are missing in the file, and prints one table."""
    from rich.console import Console

    from linkzoo_training.evaluation.report import make_table

    spec = AgentSpec.parse(args.agent)
    games = args.game or [game for game in benchmark_games() if _plays(spec, game)]
    if not games:
        spec.check(benchmark_games()[0], human=False)  # says what is wrong
    for game in games:
        spec.check(game, human=False)
    settings = {"agent": str(spec), "seed": args.seed, "games": args.games}
    settings["positions"] = args.positions
    results = _results(args.json, settings)
    for game in dict.fromkeys([*results.tests, *games]):
        agent_digest = _agent_digest(spec, game)
        tests_digest = _tests_digest(game)
        if (
            results.agents.setdefault(game, agent_digest) != agent_digest
            or results.tests.setdefault(game, tests_digest) != tests_digest
        ):
            raise ValueError(
                f"{args.json}: {spec}, its opponents or the positions of {game} have changed "
                "since: name another file"
            )
    common.share_rows()
    with common.progress_bar() as show:
        for game in games:
            for name, measure in _parts(args, spec, game, show):
                if name not in results.parts:
                    results.parts[name] = measure()
                    if args.json is not None:
                        results.write(args.json)
    rows = [_row(name, part) for name, part in results.parts.items()]
    title = f"{spec} on the benchmark"
    columns = ("test", "blunders, or wins", "random", "regret", "legal", "tokens", "cost")
    table = make_table(title, columns, rows, total=False)
    matches = [part for part in results.parts.values() if "openings" in part]
    openings = {part["game"]: part["openings"] for part in matches}
    table.caption = "\n".join(
        f"matches of {game}: {describe_openings(text)}" for game, text in openings.items()
    )
    Console().print(table)


def _plays(spec: AgentSpec, game: str, options: Mapping[str, Any] | None = None) -> bool:
    """Returns whether an agent plays a game: a checkpoint plays one, the solver few."""
    try:
        spec.check(game, human=False)
        NamedAgent(spec, game, options)
    except ValueError:
        return False
    return True


def _agent_digest(spec: AgentSpec, game: str) -> str:
    """Returns a hash of the agent in a game."""
    return _hash([str(spec), digests_of(game, [spec])])


def _tests_digest(game: str) -> str:
    """Returns a hash of the positions and opponents of a game."""
    sets = _position_sets(game)
    ladder = read_ladder(game)
    opponents = list(ladder.opponents)[:OPPONENTS]
    arrays = [array.tobytes() for known in sets for array in (known.states, known.lost)]
    return _hash(
        [
            sets[0].game.version,
            ladder.version,
            digests_of(game, opponents),
            *(hashlib.sha256(data).hexdigest() for data in arrays),
        ]
    )


def _hash(data: list[Any]) -> str:
    """Returns the SHA-256 of JSON data."""
    return hashlib.sha256(json.dumps(data).encode()).hexdigest()


def _results(path: Path | None, settings: dict[str, Any]) -> BenchmarkResults:
    """Returns the results in a file, or none yet; ValueError if it has other settings."""
    if path is None or not path.exists():
        return BenchmarkResults(settings)
    results = BenchmarkResults.read(path)
    if results.settings != settings:
        raise ValueError(f"{path} has other settings than {settings}: name another file")
    return results


def _parts(args: Namespace, spec: AgentSpec, game: str, show: common.Progress) -> Iterator[_Part]:
    """Yields the measurements of a game."""
    for positions in _position_sets(game):
        if positions.options and not _plays(spec, game, positions.options):
            continue  # a checkpoint plays other boards than an edition's
        name = f"{game}: {positions.title}"
        yield name, partial(_ask, args, spec, positions.first(args.positions), partial(show, name))
    ladder = read_ladder(game)
    if not args.games:
        return
    for opponent in list(ladder.opponents)[:OPPONENTS]:
        name = f"{game}: against {opponent}"
        yield name, partial(_match, args, spec, game, opponent, partial(show, name))


def _position_sets(game: str) -> list[BenchmarkPositions]:
    """Returns the benchmark positions of a game and of its editions."""
    return [read_benchmark_positions(game), *read_edition_positions(game)]


def _ask(
    args: Namespace,
    spec: AgentSpec,
    positions: BenchmarkPositions,
    show: Callable[[int, int], None],
) -> dict[str, Any]:
    """Returns the result of an agent on positions."""
    agent = NamedAgent(spec, positions.game.name, positions.options)
    return ask_positions(positions, agent, args.seed, show).to_dict()


def _match(
    args: Namespace,
    spec: AgentSpec,
    game: str,
    opponent: AgentSpec,
    show: Callable[[int, int], None],
) -> dict[str, Any]:
    """Returns the result of a short match, under the ladder's first options.

    `frozen` says whether the opponent plays as when the benchmark was made.
    """
    ladder = read_ladder(game)
    options = ladder.options[0]
    agent = NamedAgent(spec, game, variants_of(options)[0])
    match = ladder.match(agent, opponent, args.games, None, options)
    digest = moves_digest(read_benchmark_positions(game), NamedAgent(opponent, game))
    frozen = digest == frozen_digests(game)[str(opponent)]
    return {**match.play(batch=args.batch, progress=show).to_dict(), "frozen": frozen}


def _row(name: str, part: dict[str, Any]) -> tuple[str, ...]:
    """Returns a row of the table."""
    if "win_share" in part:  # a match
        usage_data = (part.get("reports") or [None])[0]
        if not part["frozen"]:
            name += ", which has changed"
        results = (f"{name} ({part['games']:,})", Estimate(**part["win_share"]).percent(), "", "")
    else:
        usage_data = part["report"]
        results = (
            f"{name} ({part['positions']:,})",
            Estimate(**part["blunders"]).percent(),
            f"{100 * part['random_blunders']:.1f}",
            f"{part['regret']['mean']:.3f}",
        )
    return *results, *_usage_cells(usage_data)


def _usage_cells(usage_data: dict[str, Any] | None) -> tuple[str, str, str]:
    """Returns the share of legal answers, the tokens and the cost."""
    if not usage_data:
        return "100%", "", ""
    usage = LlmUsage(**usage_data)
    legal = f"{usage.legal / max(usage.decisions, 1):.1%}"
    cost = "" if usage.cost is None else f"{usage.cost:.3g}"
    return legal, f"{usage.tokens:,}", cost
