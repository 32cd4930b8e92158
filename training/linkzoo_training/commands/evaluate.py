"""`linkzoo evaluate`."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from linkzoo import Agent, GameRecord, get_game
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.commands import common
from linkzoo_training.evaluation.ladder import read_ladder, run_ladder, with_strength
from linkzoo_training.evaluation.match import Match, blocks_of
from linkzoo_training.evaluation.result import variants_of
from linkzoo_training.evaluation.solved_positions import (
    measure_blunders,
    read_solved_positions,
    with_blunder_rate,
)
from linkzoo_training.evaluation.statistics import Sprt
from linkzoo_training.resources import find_checkpoint

HELP = "measure an agent: in matches or on solved positions"

_GAMES = 1000
_MAX_ELO = 4000


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the command's options."""
    add = parser.add_argument
    add("a", metavar="A", help=f"agent to measure: {common.AGENTS}")
    text = "its opponent (default: none; needed without --ladder and --solved-positions)"
    add("b", metavar="B", nargs="?", help=text)
    text = "play against every agent of the game's ladder"
    add("--ladder", action="store_true", help=text)
    text = "report A's blunder rate on the game's solved positions"
    add("--solved-positions", action="store_true", help=text)
    text = "write the results of --ladder and --solved-positions to the checkpoint's card"
    add("--card", action="store_true", help=text)
    common.add_game(parser)
    text = f"games per match, rounded up to whole blocks (default: {_GAMES}, or the ladder's)"
    add("--games", type=common.whole(1, 10**8), metavar="N", help=text)
    text = "seed of the games and agents (default: 0, or the ladder's)"
    add("--seed", type=common.SEED, help=text)
    common.add_openings(parser, "2-4, or the ladder's")
    elo = common.number(-_MAX_ELO, _MAX_ELO)
    text = "stop once it is clear whether A is stronger than B by HIGH Elo rather than LOW"
    text += " (default: play all games)"
    add("--sprt", type=elo, nargs=2, metavar=("LOW", "HIGH"), help=text)
    common.add_simulations(parser)
    text = "blocks, or positions, that are played side by side (default: %(default)s)"
    add("--batch", type=common.whole(1, 2**20), default=64, metavar="N", help=text)
    common.add_json(parser)
    text = "new or empty folder for the games against B; A has side 0 in BLOCK-A0.json"
    text += " (default: games aren't saved)"
    add("--record", type=common.output_folder, dest="records", metavar="FOLDER", help=text)
    common.add_players(parser, "the game's minimum; --ladder: each number that the game allows")
    common.add_settings(parser)


class _Part(NamedTuple):
    """One measurement: JSON data, a table, and False if Ctrl-C interrupted it."""

    data: dict[str, Any]
    table: Any
    complete: bool = True


def run(args: Namespace) -> None:
    """Runs each measurement, writes its result to the files and prints its table.

    Raises:
        KeyboardInterrupt: After Ctrl-C, once the finished games are written and printed.
    """
    from rich.console import Console

    _check(args)
    args.game = common.game_of(args.game, args.a)
    card = _card(args) if args.card else None
    common.share_rows()
    a = make_agent(AgentSpec.parse(args.a).with_simulations(args.simulations), args.game)
    data: dict[str, Any] = {}
    for part in _parts(args, a, card):
        data |= part.data
        common.write_json(args.json, data)
        Console().print(part.table)
        if not part.complete:
            Console().print("interrupted: only the finished games are counted")
            raise KeyboardInterrupt


def _check(args: Namespace) -> None:
    """Raises ValueError for conflicting options."""
    if args.b is None and not (args.ladder or args.solved_positions):
        raise ValueError("evaluate: name an opponent B, or --ladder or --solved-positions")
    if args.ladder and (args.b is not None or args.sprt is not None):
        raise ValueError("--ladder: the ladder sets the opponents and the games")
    if args.records is not None and args.b is None:
        raise ValueError("--record: needs an opponent B, whose games are saved")
    if args.solved_positions and (args.settings or args.players is not None):
        raise ValueError("--solved-positions: only for the game's standard options")
    if args.card and not (args.ladder or args.solved_positions):
        raise ValueError("--card: needs --ladder or --solved-positions")


def _card(args: Namespace) -> Path:
    """Returns the checkpoint folder whose card is written; ValueError if it can't be."""
    checkpoint = AgentSpec.parse(args.a).checkpoint(args.game)
    if checkpoint is None:
        raise ValueError(f"--card: {args.a} is not a checkpoint")
    try:
        return common.output_folder(str(find_checkpoint(checkpoint)))
    except ArgumentTypeError as error:
        raise ValueError(f"--card: {error}") from error


def _parts(args: Namespace, a: Agent, card: Path | None) -> Iterator[_Part]:
    """Runs the requested measurements one by one."""
    if args.solved_positions:
        read_solved_positions(get_game(args.game))  # raises before any game is played
    if args.b is not None:
        yield _match(args, a)
    if args.ladder:
        yield _ladder(args, a, card)
    if args.solved_positions:
        yield _blunders(args, a, card)


def _match(args: Namespace, a: Agent) -> _Part:
    """Plays the match against B."""
    from linkzoo_training.config.config import read_options
    from linkzoo_training.evaluation.report import match_table

    options = read_options(args.settings)
    rules = get_game(args.game)
    b = make_agent(AgentSpec.parse(args.b).with_simulations(args.simulations), args.game)
    players = int(rules.blank(args.players, variants_of(options)[0]).num_players)
    blocks = blocks_of(rules, players, _GAMES if args.games is None else args.games, options)
    match = Match(args.game, a, b, blocks, args.seed or 0, args.openings, players, options)
    keep = None if args.records is None else _recorder(args.records)
    with common.progress_bar() as show:
        result = match.play(
            batch=args.batch,
            sprt=None if args.sprt is None else Sprt(*args.sprt),
            partial=True,
            progress=lambda finished, total: show("blocks", finished, total),
            keep=keep,
        )
    return _Part(result.to_dict(), match_table(result), not result.interrupted)


def _recorder(folder: Path) -> Callable[[str, GameRecord], None]:
    """Returns a function that saves a game in the folder; ValueError unless it is new or empty."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ValueError(f"--record: {folder} isn't empty")
    return lambda name, record: record.save(folder / f"{name}.json")


def _ladder(args: Namespace, a: Agent, card: Path | None) -> _Part:
    """Plays the ladder; each match is written to the card as soon as it is finished."""
    from linkzoo_training.checkpoints.checkpoint import load_card, save_card
    from linkzoo_training.config.config import read_options
    from linkzoo_training.evaluation.report import ladder_table

    ladder, options = read_ladder(args.game), read_options(args.settings)
    rules = get_game(args.game)
    every = range(rules.min_players, rules.max_players + 1)
    players = list(every) if args.players is None else [args.players]
    for count, variant in product(players, variants_of(options)):
        rules.blank(count, variant)  # raises for unsupported settings
    matches = []
    with common.progress_bar() as show:
        for match in run_ladder(
            ladder,
            a,
            players,
            games=args.games,
            seed=args.seed,
            openings=args.openings,
            options=options,
            batch=args.batch,
            progress=show,
        ):
            matches.append(match)
            if card is not None:
                save_card(card, with_strength(load_card(card), ladder, [match]))
    expected = len(players) * len(ladder.opponents) * len([options] if options else ladder.options)
    return _Part(
        {"ladder": [match.to_dict() for match in matches]},
        ladder_table(ladder, a.name, matches),
        len(matches) == expected,
    )


def _blunders(args: Namespace, a: Agent, card: Path | None) -> _Part:
    """Measures the blunder rate on solved positions; may write it to the card."""
    from linkzoo_training.checkpoints.checkpoint import load_card, save_card
    from linkzoo_training.evaluation.report import blunder_table

    with common.progress_bar() as show:
        blunders = measure_blunders(
            args.game,
            a,
            seed=args.seed or 0,
            batch=args.batch,
            progress=lambda finished, total: show("positions", finished, total),
        )
    if card is not None:
        save_card(card, with_blunder_rate(load_card(card), blunders))
    return _Part({"blunder_rate": blunders.to_dict()}, blunder_table(blunders))
