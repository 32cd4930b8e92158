"""`linkzoo evaluate`."""

import json
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from linkzoo import Agent, GameRecord, get_game
from linkzoo.core.files import write_atomically
from linkzoo_training.agents.named import NamedAgent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.commands import common
from linkzoo_training.evaluation import solved_positions
from linkzoo_training.evaluation.labelled_positions import read_labelled_positions, regret
from linkzoo_training.evaluation.ladder import Ladder, read_ladder, run_ladder, with_strength
from linkzoo_training.evaluation.match import Match, blocks_of
from linkzoo_training.evaluation.result import variants_of
from linkzoo_training.evaluation.statistics import Sprt
from linkzoo_training.resources import find_checkpoint
from linkzoo_training.selfplay.dispatch import TaskWorker
from linkzoo_training.selfplay.executors import Executor

HELP = "measure an agent: in matches, on solved or on labelled positions"

_GAMES = 1000
_MAX_ELO = 4000

_Part = tuple[dict[str, Any], Any, bool]  # JSON data, a table, False if Ctrl-C interrupted it


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("a", metavar="A", help=f"agent to measure: {common.AGENTS}")
    text = "its opponent (default: none; needed without --ladder, --solved-positions and "
    text += "--labelled-positions)"
    add("b", metavar="B", nargs="?", help=text)
    add("--ladder", action="store_true", help="play against every agent of the game's ladder")
    text = "report A's blunder rate on the game's solved positions"
    add("--solved-positions", action="store_true", help=text)
    text = "report A's regret on the game's labelled positions"
    add("--labelled-positions", action="store_true", help=text)
    text = "write the results of --ladder and --solved-positions to the checkpoint's card"
    add("--card", action="store_true", help=text)
    common.add_game(parser)
    text = f"games per match, rounded up to whole blocks (default: {_GAMES}, or the ladder's)"
    add("--games", type=common.whole(1, 10**8), metavar="N", help=text)
    text = "seed of the games and agents (default: 0, or the ladder's)"
    add("--seed", type=common.SEED, help=text)
    common.add_openings(parser, f"the ladder's with --ladder; {common.OPENINGS}")
    elo = common.number(-_MAX_ELO, _MAX_ELO, float)
    text = "stop once it is clear whether A is stronger than B by HIGH Elo rather than LOW"
    text += " (default: play all games)"
    add("--sprt", type=elo, nargs=2, metavar=("LOW", "HIGH"), help=text)
    common.add_simulations(parser)
    text = "blocks, or positions, that are played side by side (default: %(default)s)"
    add("--batch", type=common.whole(1, 2**20), default=64, metavar="N", help=text)
    common.add_executor(parser, "matches")
    common.add_json(parser)
    text = "new or empty folder for the games against B; A has side 0 in BLOCK-A0.json"
    text += " (default: games aren't saved)"
    add("--record", type=common.new_folder, dest="records", metavar="FOLDER", help=text)
    common.add_players(parser, "the game's minimum; --ladder: each number that the game allows")
    common.add_settings(parser)


def run(args: Namespace) -> None:
    """Writes and prints each result; after Ctrl-C the results of the finished games."""
    from rich.console import Console

    if args.b is not None and common.is_setting(args.b):
        args.settings = [args.b, *args.settings]
        args.b = None
    _check(args)
    args.a = AgentSpec.parse(args.a)
    agents = [args.a]
    if args.b is not None:
        args.b = AgentSpec.parse(args.b)
        agents.append(args.b)
    args.game = common.game_of(args.game, args.a)
    args.options = common.options_of(args.settings, args.game, *agents)
    card = _card(args) if args.card else None
    common.share_rows()
    a = _agent(args, args.a)
    data: dict[str, Any] = {}
    with common.make_executor(args) as executor:
        if executor is not None:
            executor.start(TaskWorker)
        for part, table, complete in _parts(args, a, card, executor):
            data |= part
            if args.json is not None:
                write_atomically(args.json, (json.dumps(data, indent=1) + "\n").encode())
            Console().print(table)
            if not complete:
                Console().print("interrupted: only the finished games are counted")
                raise KeyboardInterrupt


def _agent(args: Namespace, spec: AgentSpec) -> Agent:
    spec = spec.with_simulations(args.simulations)
    return NamedAgent(spec, args.game, variants_of(args.options)[0])


def _check(args: Namespace) -> None:
    fixed = args.solved_positions or args.labelled_positions
    if args.b is None and not (args.ladder or fixed):
        raise ValueError(
            "evaluate: name an opponent B, or --ladder, --solved-positions or --labelled-positions"
        )
    if args.ladder and (args.b is not None or args.sprt is not None):
        raise ValueError("--ladder: the ladder sets the opponents and the games")
    if args.records is not None and args.b is None:
        raise ValueError("--record: needs an opponent B, whose games are saved")
    if fixed and (args.settings or args.players is not None):
        name = "--solved-positions" if args.solved_positions else "--labelled-positions"
        raise ValueError(f"{name}: the file sets the options and the players")
    if args.card and not (args.ladder or args.solved_positions):
        raise ValueError("--card: needs --ladder or --solved-positions")


def _card(args: Namespace) -> Path:
    """Returns the checkpoint folder whose card is written; ValueError if it can't be."""
    checkpoint = args.a.checkpoint(args.game)
    if checkpoint is None:
        raise ValueError(f"--card: {args.a} is not a checkpoint")
    try:
        return common.continued_folder(str(find_checkpoint(checkpoint)))
    except ArgumentTypeError as error:
        raise ValueError(f"--card: {error}") from error


def _parts(
    args: Namespace, a: Agent, card: Path | None, executor: Executor | None
) -> Iterator[_Part]:
    if args.solved_positions:
        solved_positions.read_solved_positions(get_game(args.game))  # raises before any game
    labels = read_labelled_positions(args.game) if args.labelled_positions else None
    if args.b is not None:
        yield _match(args, a, executor)
    if args.ladder:
        yield _ladder(args, a, card, executor)
    if args.solved_positions:
        yield _blunders(args, a, card)
    if labels is not None:
        from linkzoo_training.evaluation.report import regret_table

        mean_regret = regret(a, labels, args.seed or 0)
        table = regret_table(a.name, mean_regret, labels)
        yield {"regret": mean_regret._asdict()}, table, True


def _match(args: Namespace, a: Agent, executor: Executor | None) -> _Part:
    from linkzoo_training.evaluation.report import match_table

    options = args.options
    blocks = blocks_of(args.game, args.players, args.games or _GAMES, options)
    b = _agent(args, args.b)
    match = Match(args.game, a, b, blocks, args.seed or 0, args.openings, args.players, options)
    keep = None if args.records is None else _recorder(args.records)
    sprt = None if args.sprt is None else Sprt(*args.sprt)
    with common.progress_bar() as show:
        result = match.play(
            batch=args.batch,
            sprt=sprt,
            partial=True,
            progress=partial(show, "blocks"),
            keep=keep,
            executor=executor,
        )
    return result.to_dict(), match_table(result), not result.interrupted


def _recorder(folder: Path) -> Callable[[str, GameRecord], None]:
    """Returns a function that saves a game in the folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    return lambda name, record: record.save(folder / f"{name}.json")


def _changed_ladder(args: Namespace) -> Ladder:
    """Returns the game's ladder with the seed, openings, games and options of the arguments."""
    ladder = read_ladder(args.game)
    if args.settings:
        ladder = replace(ladder, options=[args.options])
    else:
        options = [{**args.options, **variant} for variant in ladder.options]
        ladder = replace(ladder, options=options)
    if args.seed is not None:
        ladder = replace(ladder, seed=args.seed)
    if args.openings is not None:
        ladder = replace(ladder, openings=args.openings)
    if args.games is not None:
        ladder = replace(ladder, opponents=dict.fromkeys(ladder.opponents, args.games))
    return ladder


def _ladder(args: Namespace, a: Agent, card: Path | None, executor: Executor | None) -> _Part:
    """Plays the ladder; each match is written to the card as soon as it is finished."""
    from linkzoo_training.checkpoints.checkpoint import load_card, save_card
    from linkzoo_training.evaluation.report import ladder_table

    ladder = _changed_ladder(args)
    rules = get_game(args.game, variants_of(args.options)[0])
    players = common.player_counts(args.players, rules)
    for count, variant in product(players, variants_of(args.options)):
        rules.blank(count, variant)  # raises for unsupported settings
    matches = []
    with common.progress_bar() as show:
        for match in run_ladder(ladder, a, players, args.batch, show, executor):
            matches.append(match)
            if card is not None:
                save_card(card, with_strength(load_card(card), ladder, match))
    data = {"ladder": [match.to_dict() for match in matches]}
    expected = len(players) * len(ladder.opponents) * len(ladder.options)
    return data, ladder_table(ladder, a.name, matches), len(matches) == expected


def _blunders(args: Namespace, a: Agent, card: Path | None) -> _Part:
    from linkzoo_training.checkpoints.checkpoint import load_card, save_card
    from linkzoo_training.evaluation.report import blunder_table

    with common.progress_bar() as show:
        blunders = solved_positions.measure_blunders(
            args.game, a, seed=args.seed or 0, batch=args.batch, progress=partial(show, "positions")
        )
    if card is not None:
        save_card(card, solved_positions.with_blunder_rate(load_card(card), blunders))
    return {"blunder_rate": blunders.to_dict()}, blunder_table(blunders), True
