"""`linkzoo evaluate`."""

import argparse
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from linkzoo import Agent, GameRecord, get_game
from linkzoo_training.agents.specs import make_agent, searching, source_of
from linkzoo_training.checkpoint import load_card, save_card
from linkzoo_training.commands.cli import check_folder
from linkzoo_training.commands.common import game_of, share_rows, with_progress, write_json
from linkzoo_training.config import read_options
from linkzoo_training.evaluation.ladder import climb, read_ladder, with_strength
from linkzoo_training.evaluation.match import Match, blocks_of
from linkzoo_training.evaluation.result import MatchResult, variants_of
from linkzoo_training.evaluation.solved_positions import measure_blunders, with_blunder_rate
from linkzoo_training.evaluation.statistics import Sprt
from linkzoo_training.evaluation.tables import blunder_table, ladder_table, match_table
from linkzoo_training.resources import find_checkpoint


def run(parsed: argparse.Namespace) -> None:
    """Plays the match, the ladder or the solved positions, and shows what came out.

    What is finished when an interruption (Ctrl-C) comes is shown and written too.
    """
    if parsed.b is None and not (parsed.ladder or parsed.solved_positions):
        raise ValueError("evaluate: name an opponent B, or --ladder or --solved-positions")
    if parsed.ladder and (parsed.b is not None or parsed.sprt is not None):
        raise ValueError("--ladder: the opponents and their games are the ladder's")
    if parsed.records is not None and parsed.b is None:
        raise ValueError("--record: saves the games against an opponent B")
    if parsed.solved_positions and (parsed.settings or parsed.players is not None):
        raise ValueError(
            "--solved-positions: the solved positions are of the game's standard options"
        )
    card = _card(parsed) if parsed.card else None
    game = parsed.game = game_of(parsed.game, parsed.a)
    share_rows()
    a = make_agent(searching(parsed.a, parsed.simulations), game)
    data: dict[str, Any] = {}
    try:
        _measure(parsed, a, card, data)
    except KeyboardInterrupt:
        if data:
            write_json(parsed.json, data)
        raise
    write_json(parsed.json, data)


def _measure(parsed: argparse.Namespace, a: Agent, card: Path | None, data: dict[str, Any]) -> None:
    """See run; `data` gets what is finished, also if KeyboardInterrupt is raised then."""
    if parsed.b is not None:
        b = make_agent(searching(parsed.b, parsed.simulations), parsed.game)
        match = _match(parsed, a, b)
        Console().print(match_table(match))
        data |= match.to_dict()
        if match.interrupted:
            raise KeyboardInterrupt
    if parsed.ladder:
        data["ladder"], whole = _climb(parsed, a, card)
        if not whole:
            raise KeyboardInterrupt
    if parsed.solved_positions:
        blunders = with_progress(
            "positions",
            lambda progress: measure_blunders(
                parsed.game, a, seed=parsed.seed or 0, batch=parsed.batch, progress=progress
            ),
        )
        Console().print(blunder_table(blunders))
        data["blunder_rate"] = blunders.to_dict()
        if card is not None:
            save_card(card, with_blunder_rate(load_card(card), blunders))


def _card(parsed: argparse.Namespace) -> Path:
    """The folder of the checkpoint whose card is to hold what is found."""
    source = source_of(parsed.a)
    if source is None or not (parsed.ladder or parsed.solved_positions):
        raise ValueError("--card: goes with --ladder or --solved-positions, for a checkpoint")
    folder = find_checkpoint(game_of(parsed.game, parsed.a) if source == "checkpoint" else source)
    check_folder(folder)
    return folder


def _climb(
    parsed: argparse.Namespace, a: Agent, card: Path | None
) -> tuple[list[dict[str, Any]], bool]:
    """Plays against the ladder's agents; each match goes to the card as soon as it is finished.

    The matches, and whether they are all.
    """
    ladder, options = read_ladder(parsed.game), read_options(parsed.settings)
    rules = get_game(parsed.game)
    every = range(rules.min_players, rules.max_players + 1)
    players = list(every) if parsed.players is None else [parsed.players]
    for count, variant in product(players, variants_of(options)):
        rules.blank(count, variant)  # raises for what the game doesn't have
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
    every_option = [options] if options else ladder.options
    whole = len(matches) == len(players) * len(ladder.rungs) * len(every_option)
    if not whole:
        Console().print("interrupted: these are the matches that were finished")
    return [match.to_dict() for match in matches], whole


def _match(parsed: argparse.Namespace, a: Agent, b: Agent) -> MatchResult:
    options = read_options(parsed.settings)
    rules = get_game(parsed.game)
    players = int(rules.blank(parsed.players, variants_of(options)[0]).num_players)
    blocks = blocks_of(rules, players, 1000 if parsed.games is None else parsed.games, options)
    match = Match(parsed.game, a, b, blocks, parsed.seed or 0, parsed.openings, players, options)
    sprt = None if parsed.sprt is None else Sprt(*parsed.sprt)
    keep = None if parsed.records is None else _keep_in(parsed.records)
    return with_progress(
        "blocks",
        lambda progress: match.play(
            batch=parsed.batch, sprt=sprt, partial=True, progress=progress, keep=keep
        ),
    )


def _keep_in(folder: Path) -> Callable[[str, GameRecord], None]:
    """Saves the games of a match in a folder; ValueError unless it is new or empty."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ValueError(f"--record: {folder} isn't empty")
    return lambda name, record: record.save(folder / f"{name}.json")
