"""The `linkzoo` command: train, exploit, evaluate, tournament, play, bench, compile."""

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
from tempfile import TemporaryFile
from typing import Any, TypeVar

from linkzoo import Agent, __version__, games, get_game
from linkzoo.chance import SEED_LIMIT
from linkzoo.compile import compile_ahead
from linkzoo.fields import integer
from linkzoo_training.agents import QuitError, make_agent, searching, source_of
from linkzoo_training.arena import MatchResult, blocks_of, match_table, play_match
from linkzoo_training.bench import measure
from linkzoo_training.engine import ENGINES, Engine
from linkzoo_training.labels import thrown_table, thrown_wins, with_thrown_wins
from linkzoo_training.play import play
from linkzoo_training.sprt import Sprt

T = TypeVar("T")

_GAMES = f"{', '.join(games)}, or module:name of a game elsewhere"

# What numbers may be; of others it depends on the game.
_RANGES = {
    "seed": (0, 2**64 - 1),
    "games": (1, 10**8),
    "batch": (1, 2**20),
    "simulations": (1, 10**6),
    "workers": (1, 1024),
}
_MOST_ELO = 4000

_NEEDED = "filelock matplotlib openskill pydantic rich safetensors tensorboard torch yaml".split()
_AGENTS = (
    "random, greedy, uct-N, cheat-N, exact, checkpoint, a checkpoint's name or folder; @N behind "
    "it: views, ~T: temperature, :N: simulations"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code.

    It is 0, 2 for a user's error, 130 for an interruption (Ctrl-C); a training that saved and
    stopped gives 130 too, or 143 if it was a TERM signal that asked it to.
    """
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
        _check_ranges(parsed)
        return parsed.run(parsed) or 0
    except (ValueError, OSError) as error:
        print(f"linkzoo: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, QuitError):
        return 130


def _check_ranges(parsed: argparse.Namespace) -> None:
    """ValueError naming the option and what is allowed, before anything is made."""
    for name, (low, high) in _RANGES.items():
        value = getattr(parsed, name, None)
        if value is not None:
            integer(f"--{name}", value, low, high)
    for elo in getattr(parsed, "sprt", None) or ():
        if not abs(elo) <= _MOST_ELO:
            raise ValueError(f"--sprt: {elo:g} is not in -{_MOST_ELO}..{_MOST_ELO}")
    for name in ("json", "record"):
        if (path := getattr(parsed, name, None)) is not None:
            _check_writable(path)


def _check_writable(path: Path) -> None:
    """ValueError unless a file can be written there, so that no result is lost in the end."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder")
    if not path.parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.parent}")
    try:
        with TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise ValueError(f"{path} can't be written: {error.strerror}") from error


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

    exploiting = commands.add_parser("exploit", help="train a best response to an agent")
    exploiting.add_argument("agent", metavar="AGENT", help=_AGENTS)
    exploiting.add_argument("settings", metavar="FIELD=VALUE", nargs="*", help="of the training")
    exploiting.add_argument("--game", help=f"{_GAMES}; default: the checkpoint's")
    exploiting.add_argument("--players", type=int, help="default: every number of the game")
    exploiting.add_argument("--steps", type=int, help="the budget; default: the configuration's")
    exploiting.add_argument("--seconds", type=float, help="stop training after these")
    exploiting.add_argument("--config", help="default: the game's quick one for PPO")
    exploiting.add_argument("--games", type=int, default=1000, help="rounded up to whole blocks")
    exploiting.add_argument("--openings", help="as in evaluate")
    exploiting.add_argument("--json", type=Path, metavar="FILE", help="write the result there too")
    exploiting.add_argument("--resume", action="store_true", help="go on where the run stopped")
    exploiting.set_defaults(run=_exploit)

    evaluate = commands.add_parser(
        "evaluate", help="measure an agent: in matches or on solved positions"
    )
    evaluate.add_argument("a", metavar="A", help=_AGENTS)
    evaluate.add_argument(
        "b", metavar="B", nargs="?", help="the same; not needed with --ladder or --labels"
    )
    evaluate.add_argument(
        "--ladder", action="store_true", help="against every agent of the game's ladder instead"
    )
    evaluate.add_argument(
        "--labels",
        action="store_true",
        help="report how many of the game's solved wins A throws away",
    )
    evaluate.add_argument(
        "--card",
        action="store_true",
        help="write what --ladder and --labels find into the card of A, a checkpoint",
    )
    evaluate.add_argument("--game", help=f"{_GAMES}; default: the checkpoint's")
    evaluate.add_argument(
        "--games", type=int, help="rounded up to whole blocks; default: 1000, or the ladder's"
    )
    evaluate.add_argument("--seed", type=int, help="default: 0, or the ladder's")
    evaluate.add_argument(
        "--openings",
        help="book, or random plies such as 0 or 2-4; default: book if there is one, or the "
        "ladder's",
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
    every.add_argument("agents", metavar="AGENT", nargs="*", help=_AGENTS)
    every.add_argument(
        "--ladder", action="store_true", help="with the agents and openings of the game's ladder"
    )
    every.add_argument("--game", default=games[0], help=_GAMES)
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
    human.add_argument("game", metavar="GAME", help=_GAMES)
    human.add_argument("--opponent", default="checkpoint", help=_AGENTS)
    _add_simulations(human)
    human.add_argument("--seat", type=int, default=0)
    human.add_argument("--seed", type=int, help="of the game's chance; new each time without it")
    human.add_argument("--record", type=Path, metavar="FILE", help="save the game there")
    _add_variant(human)
    human.set_defaults(run=_play)

    bench = commands.add_parser("bench", help="measure this machine's speed")
    bench.add_argument("--game", default=games[0], help=_GAMES)
    bench.add_argument("--players", type=int, help="default: the game's smallest number")
    bench.set_defaults(run=_bench)

    ahead = commands.add_parser("compile", help="compile games ahead of their first use")
    ahead.add_argument("names", metavar="GAME", nargs="*", help="default: all")
    ahead.set_defaults(run=_compile)
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
    from linkzoo_training.config import read_setting

    return dict(read_setting(setting, "option") for setting in settings)


def _train(parsed: argparse.Namespace) -> int:
    from linkzoo_training.config import load_config

    config = load_config(parsed.config, parsed.settings)
    from linkzoo_training.runtime import StopSignal
    from linkzoo_training.train import train

    stop = StopSignal()
    with _engine(parsed) or nullcontext() as engine:
        train(config, resume=parsed.resume, engine=engine, stop=stop)
    return stop.exit_code


def _exploit(parsed: argparse.Namespace) -> int:
    from linkzoo_training.exploit import exploit, exploit_config
    from linkzoo_training.runtime import StopSignal

    config = exploit_config(
        parsed.agent,
        _game(parsed.game, parsed.agent),
        config=parsed.config,
        players=parsed.players,
        steps=parsed.steps,
        seconds=parsed.seconds,
        settings=parsed.settings,
    )
    stop, settings = StopSignal(), {"openings": parsed.openings, "resume": parsed.resume}
    report = exploit(config, parsed.games, stop=stop, **settings)
    if report is not None:
        _write_json(parsed.json, report)
    return stop.exit_code


def _game(chosen: str | None, agent: str) -> str:
    """The game that was chosen, else the one of a checkpoint, else the first."""
    from linkzoo_training.checkpoint import load_card
    from linkzoo_training.resources import find_checkpoint

    source = source_of(agent)
    if chosen is not None or source is None or source == "checkpoint":
        return chosen or games[0]
    try:
        return str(load_card(find_checkpoint(source))["game"])
    except ValueError:
        return games[0]  # there is no such agent in any game, which make_agent explains


def _write_json(path: Path | None, data: dict[str, Any]) -> None:
    from linkzoo_training.checkpoint import write_atomically

    if path is not None:
        write_atomically(path, (json.dumps(data, indent=1) + "\n").encode())


def _evaluate(parsed: argparse.Namespace) -> None:
    from rich.console import Console

    if parsed.b is None and not (parsed.ladder or parsed.labels):
        raise ValueError("evaluate: name an opponent B, or --ladder or --labels")
    if parsed.ladder and (parsed.b is not None or parsed.sprt is not None):
        raise ValueError("--ladder: the opponents and their games are the ladder's")
    if parsed.labels and (parsed.settings or parsed.players is not None):
        raise ValueError("--labels: the solved positions are of the game's standard options")
    card = _card(parsed) if parsed.card else None
    game = parsed.game = _game(parsed.game, parsed.a)
    a = make_agent(searching(parsed.a, parsed.simulations), game)
    data: dict[str, Any] = {}
    if parsed.b is not None:
        b = make_agent(searching(parsed.b, parsed.simulations), game)
        match = _match(parsed, a, b)
        Console().print(match_table(match))
        data = match.to_dict()
    if parsed.ladder:
        data["ladder"] = _climb(parsed, a, card)
    if parsed.labels:
        thrown = _with_progress(
            "positions",
            lambda progress: thrown_wins(
                game, a, seed=parsed.seed or 0, batch=parsed.batch, progress=progress
            ),
        )
        Console().print(thrown_table(thrown))
        data["thrown_wins"] = thrown.to_dict()
        if card is not None:
            from linkzoo_training.checkpoint import load_card, save_card

            save_card(card, with_thrown_wins(load_card(card), thrown))
    _write_json(parsed.json, data)


def _card(parsed: argparse.Namespace) -> Path:
    """The folder of the checkpoint whose card is to hold what is found."""
    from linkzoo_training.resources import find_checkpoint

    source = source_of(parsed.a)
    if source is None or not (parsed.ladder or parsed.labels):
        raise ValueError("--card: goes with --ladder or --labels, for a checkpoint")
    return find_checkpoint(_game(parsed.game, parsed.a) if source == "checkpoint" else source)


def _climb(parsed: argparse.Namespace, a: Agent, card: Path | None) -> list[dict[str, Any]]:
    """Plays against the ladder's agents; each match goes to the card as soon as it is finished."""
    from rich.console import Console
    from rich.progress import Progress

    from linkzoo_training.checkpoint import load_card, save_card
    from linkzoo_training.ladder import climb, ladder_table, read_ladder, with_strength

    ladder, options = read_ladder(parsed.game), _options(parsed.settings)
    rules = get_game(parsed.game, options)
    every = range(rules.min_players, rules.max_players + 1)
    players = list(every) if parsed.players is None else [parsed.players]
    for count in players:
        rules.blank(count, options)  # raises for what the game doesn't have
    console, matches = Console(stderr=True), []
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("ladder", total=None)
        for match in climb(
            ladder,
            a,
            players,
            games=parsed.games,
            seed=parsed.seed,
            openings=parsed.openings,
            options=options,
            batch=parsed.batch,
            progress=lambda what, finished, total: bar.update(
                task, description=what, completed=finished, total=total
            ),
        ):
            matches.append(match)
            if card is not None:
                save_card(card, with_strength(load_card(card), ladder, [match]))
    Console().print(ladder_table(ladder, a.name, matches))
    if len(matches) < len(players) * len(ladder.rungs):
        Console().print("interrupted: these are the matches that were finished")
    return [match.to_dict() for match in matches]


def _match(parsed: argparse.Namespace, a: Agent, b: Agent) -> MatchResult:
    options = _options(parsed.settings)
    rules = get_game(parsed.game, options)
    players = int(rules.blank(parsed.players, options).num_players)
    blocks = blocks_of(rules, players, 1000 if parsed.games is None else parsed.games)
    return _with_progress(
        "blocks",
        lambda progress: play_match(
            parsed.game,
            a,
            b,
            blocks,
            seed=parsed.seed or 0,
            openings=parsed.openings,
            num_players=players,
            options=options,
            batch=parsed.batch,
            sprt=None if parsed.sprt is None else Sprt(*parsed.sprt),
            partial=True,
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


def _tournament(parsed: argparse.Namespace) -> None:
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.progress import Progress

    from linkzoo_training.ladder import read_ladder
    from linkzoo_training.tournament import Tournament, run, write

    rules = get_game(parsed.game)
    players = int(rules.blank(parsed.players).num_players)
    blocks = blocks_of(rules, players, parsed.games)
    names = tuple(searching(spec, parsed.simulations) for spec in parsed.agents)
    openings = parsed.openings
    if parsed.ladder:
        ladder = read_ladder(parsed.game)
        names = (*ladder.rungs, *names)
        openings = ladder.openings if openings is None else openings
    settings = Tournament(parsed.game, names, blocks, parsed.seed, players, openings)
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


def _compile(parsed: argparse.Namespace) -> None:
    from linkzoo_training.compiling import USES

    for line in compile_ahead(parsed.names or games, USES):
        print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
