"""The `linkzoo` command: train, evaluate, tournament, play, bench."""

import argparse
import json
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from secrets import randbelow
from typing import Any, TypeVar

from linkzoo import Agent, __version__, games, get_game
from linkzoo.chance import SEED_LIMIT
from linkzoo_training.agents import QuitError, make_agent, searching
from linkzoo_training.arena import MatchResult, match_table, play_match
from linkzoo_training.bench import measure
from linkzoo_training.engine import ENGINES, Engine
from linkzoo_training.labels import thrown_table, thrown_wins
from linkzoo_training.play import play
from linkzoo_training.sprt import Sprt

T = TypeVar("T")

_NEEDED = "matplotlib openskill pydantic rich safetensors tensorboard torch yaml".split()
_AGENTS = (
    "random, greedy, uct-N, exact, checkpoint, a checkpoint's name or folder; @N behind it: views, "
    ":N: simulations"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; the exit code is 0, 2 for a user's error, 130 for an interruption."""
    parser = _parser()
    parsed, rest = parser.parse_known_args(arguments)
    # argparse takes positional arguments in one go, but settings may also stand behind options.
    unknown = [text for text in rest if "settings" not in parsed or not re.match(r"[\w.]+=", text)]
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    if rest:
        parsed.settings = [*parsed.settings, *rest]
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        print(
            f"linkzoo: {', '.join(missing)} not installed: pip install 'linkzoo[train]'",
            file=sys.stderr,
        )
        return 2
    try:
        parsed.run(parsed)
    except (ValueError, OSError) as error:
        print(f"linkzoo: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, QuitError):
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="linkzoo", description="tabletop games and self-play")
    parser.add_argument("--version", action="version", version=f"linkzoo {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    train = commands.add_parser("train", help="train a policy by self-play")
    train.add_argument("config", metavar="CONFIG", help="a YAML file, or a shipped one's name")
    train.add_argument("settings", metavar="FIELD=VALUE", nargs="*", help="overrides")
    train.add_argument("--resume", action="store_true", help="go on where the run stopped")
    _add_engine(train, "play the games")
    train.set_defaults(run=_train)

    evaluate = commands.add_parser(
        "evaluate", help="measure an agent, in a match or on solved positions"
    )
    evaluate.add_argument("a", metavar="A", help=_AGENTS)
    evaluate.add_argument("b", metavar="B", nargs="?", help="the same; not needed with --labels")
    evaluate.add_argument(
        "--labels",
        action="store_true",
        help="report how many of the game's solved wins A throws away",
    )
    evaluate.add_argument("--game", choices=games, default=games[0])
    evaluate.add_argument("--games", type=int, default=1000, help="rounded up to whole blocks")
    evaluate.add_argument("--seed", type=int, default=0)
    evaluate.add_argument(
        "--openings", help="book, or random plies such as 0 or 2-4; default: book if there is one"
    )
    evaluate.add_argument(
        "--sprt",
        type=float,
        nargs=2,
        metavar=("LOW", "HIGH"),
        help="stop when it is clear whether A is stronger than B by HIGH Elo rather than LOW",
    )
    _add_simulations(evaluate)
    evaluate.add_argument("--batch", type=int, default=64, help="blocks played side by side")
    evaluate.add_argument("--json", type=Path, metavar="FILE", help="write the result there")
    _add_variant(evaluate)
    evaluate.set_defaults(run=_evaluate)

    every = commands.add_parser("tournament", help="every agent against every other, with ratings")
    every.add_argument("agents", metavar="AGENT", nargs="+", help=_AGENTS)
    every.add_argument("--game", choices=games, default=games[0])
    every.add_argument("--players", type=int, help="default: the game's smallest number")
    every.add_argument("--games", type=int, default=200, help="of a match, rounded up to blocks")
    every.add_argument("--seed", type=int, default=0)
    every.add_argument("--openings", help="as in evaluate")
    _add_simulations(every)
    _add_engine(every, "play a match each")
    every.add_argument(
        "--output", type=Path, default=Path("runs/tournament"), metavar="FOLDER", help="%(default)s"
    )
    every.set_defaults(run=_tournament)

    human = commands.add_parser("play", help="play against an agent in the terminal")
    human.add_argument("game", metavar="GAME", choices=games, help=", ".join(games))
    human.add_argument("--opponent", default="checkpoint", help=_AGENTS)
    _add_simulations(human)
    human.add_argument("--seat", type=int, default=0)
    human.add_argument("--seed", type=int, help="of the game's chance; new each time without it")
    human.add_argument("--record", type=Path, metavar="FILE", help="save the game there")
    _add_variant(human)
    human.set_defaults(run=_play)

    bench = commands.add_parser("bench", help="measure this machine's speed")
    bench.add_argument("--game", choices=games, default=games[0])
    bench.add_argument("--players", type=int, help="default: the game's smallest number")
    bench.set_defaults(run=_bench)
    return parser


def _add_engine(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "--engine",
        choices=list(ENGINES),
        default="local",
        help=f"where workers {what}: this process, processes of this machine, Ray; %(default)s",
    )
    parser.add_argument("--workers", type=int, metavar="N", help="default: 2")


def _engine(parsed: argparse.Namespace) -> Engine | None:
    """The engine of a command; None if the command is to do everything itself."""
    if parsed.engine == "local":
        if parsed.workers is not None:
            raise ValueError(f"--workers {parsed.workers}: name an --engine for them")
        return None
    return ENGINES[parsed.engine](2 if parsed.workers is None else parsed.workers)


def _add_simulations(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--simulations",
        type=int,
        metavar="N",
        help="checkpoints search with so many for each decision; default: none",
    )


def _add_variant(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--players", type=int, help="default: the game's smallest number")
    parser.add_argument(
        "settings", metavar="OPTION=VALUE", nargs="*", help="of the game, such as skip_forced=true"
    )


def _options(settings: list[str]) -> dict[str, Any]:
    """The game's options from `name=value` with YAML values, as in configurations."""
    import yaml

    options = {}
    for setting in settings:
        name, separator, text = setting.partition("=")
        if not separator:
            raise ValueError(f"{setting!r} is no option=value")
        try:
            options[name] = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ValueError(f"{setting!r} has no YAML value") from error
    return options


def _train(parsed: argparse.Namespace) -> None:
    from linkzoo_training.config import load_config
    from linkzoo_training.train import train

    config = load_config(parsed.config, parsed.settings)
    with _engine(parsed) or nullcontext() as engine:
        train(config, resume=parsed.resume, engine=engine)


def _evaluate(parsed: argparse.Namespace) -> None:
    from rich.console import Console

    if parsed.json is not None and not parsed.json.parent.is_dir():
        raise ValueError(f"{parsed.json}: there is no folder {parsed.json.parent}")
    if parsed.b is None and not parsed.labels:
        raise ValueError("evaluate: name an opponent B, or --labels")
    if parsed.labels and (parsed.settings or parsed.players is not None):
        raise ValueError("--labels: the solved positions are of the game's standard options")
    a = make_agent(searching(parsed.a, parsed.simulations), parsed.game)
    data: dict[str, Any] = {}
    if parsed.b is not None:
        b = make_agent(searching(parsed.b, parsed.simulations), parsed.game)
        match = _match(parsed, a, b)
        Console().print(match_table(match))
        data = match.to_dict()
    if parsed.labels:
        thrown = _with_progress(
            "positions",
            lambda progress: thrown_wins(
                parsed.game, a, seed=parsed.seed, batch=parsed.batch, progress=progress
            ),
        )
        Console().print(thrown_table(thrown))
        data["thrown_wins"] = thrown.to_dict()
    if parsed.json is not None:
        parsed.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def _match(parsed: argparse.Namespace, a: Agent, b: Agent) -> MatchResult:
    options = _options(parsed.settings)
    players, blocks = _players_and_blocks(parsed, options)
    return _with_progress(
        "blocks",
        lambda progress: play_match(
            parsed.game,
            a,
            b,
            blocks,
            seed=parsed.seed,
            openings=parsed.openings,
            num_players=players,
            options=options,
            batch=parsed.batch,
            sprt=None if parsed.sprt is None else Sprt(*parsed.sprt),
            progress=progress,
        ),
    )


def _with_progress(what: str, run: Callable[[Callable[[int, int], None]], T]) -> T:
    """Runs `run(progress)` and shows how far it is, on a terminal."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = *Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn()
    console = Console(stderr=True)
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task(what, total=None)
        return run(lambda finished, total: bar.update(task, completed=finished, total=total))


def _players_and_blocks(parsed: argparse.Namespace, options: dict[str, Any]) -> tuple[int, int]:
    """The number of players, and the blocks of a game for each side that hold `--games`."""
    if parsed.games < 1:
        raise ValueError(f"--games {parsed.games} is not 1 or more")
    game = get_game(parsed.game, options)
    players = int(game.blank(parsed.players, options).num_players)
    return players, -(-parsed.games // len(game.one_of_each_side(players)))


def _tournament(parsed: argparse.Namespace) -> None:
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.progress import Progress

    from linkzoo_training.tournament import Tournament, run, write

    players, blocks = _players_and_blocks(parsed, {})
    names = tuple(searching(spec, parsed.simulations) for spec in parsed.agents)
    settings = Tournament(parsed.game, names, blocks, parsed.seed, players, parsed.openings)
    make = partial(make_agent, game=parsed.game)
    for name in names:
        make(name)  # raises before the first match
    console = Console(stderr=True)
    hidden = not console.is_terminal
    with (
        _engine(parsed) or nullcontext() as engine,
        Progress(console=console, transient=True, disable=hidden) as bar,
    ):
        task = bar.add_task("matches", total=len(settings.pairs()))

        def progress(match: str, finished: int, count: int) -> None:
            bar.update(task, description=match, completed=finished, total=count)

        pairings = run(settings, make, parsed.output, progress, engine)
    Console().print(Markdown(write(settings, pairings, parsed.output)))
    for name in ("ratings.md", "ratings.json", "ratings.png"):
        print(parsed.output / name)


def _play(parsed: argparse.Namespace) -> None:
    play(
        parsed.game,
        make_agent(searching(parsed.opponent, parsed.simulations), parsed.game),
        seat=parsed.seat,
        seed=randbelow(SEED_LIMIT) if parsed.seed is None else parsed.seed,
        num_players=parsed.players,
        options=_options(parsed.settings),
        record=parsed.record,
    )


def _bench(parsed: argparse.Namespace) -> None:
    for line in measure(parsed.game, parsed.players):
        print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
