"""`linkzoo data solve`: exact solutions of the positions in a file."""

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from linkzoo import Game, load_positions
from linkzoo.core.arguments import mapping, string
from linkzoo.core.solver import DRAW, LIMIT, OutOfReachError
from linkzoo.core.state import Record
from linkzoo.position_file import read_lines, write_lines
from linkzoo.registry import get_same_game
from linkzoo_training.commands import common
from linkzoo_training.search.solver import solve

HELP = "solve the positions of a file exactly"

_EVERY = 20  # positions between saves


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("file", type=Path, metavar="FILE", help="file of positions (linkzoo data positions)")
    text = "file to write: the lines with a field `solution`; an existing one is continued "
    add("--out", type=common.output_file, metavar="FILE", required=True, help=f"{text}(required)")
    text = "positions that a search visits at most; beyond, `solution` is null (default: 2**24)"
    add("--limit", type=common.whole(1, 10**12), default=LIMIT, metavar="N", help=text)


def run(args: Namespace) -> None:
    """Solves what the output doesn't have yet; after Ctrl-C, the same command continues."""
    lines = read_lines(args.file)
    game = _game_of(lines[0]["position"], args.file)
    states = load_positions(args.file, game)
    keys = [json.dumps(line["position"]) for line in lines]
    old = read_lines(args.out) if args.out.is_file() else []
    done = {json.dumps(line["position"]): line.get("solution") for line in old}

    def save() -> list[Any]:
        pairs = [(line, done[key]) for line, key in zip(lines, keys, strict=True) if key in done]
        write_lines(args.out, [{**line, "solution": found} for line, found in pairs])
        return [found for _, found in pairs]

    try:
        with common.progress_bar() as show:
            for number, (key, state) in enumerate(zip(keys, states, strict=True), 1):
                if done.get(key) is None:
                    done[key] = _solution(game, state, args.limit)
                    if number % _EVERY == 0:
                        save()
                show("positions", number, len(lines))
    finally:
        found = save()
    print(f"{args.out}: {len(found):,} positions, {len(found) - found.count(None):,} solved")


def _game_of(position: Any, path: Path) -> Game:
    """Returns the game of a position, with its board or cards."""
    try:
        found = mapping("position", position)
        options = mapping("options", found.get("options"))
        return get_same_game(string("game", found.get("game")), options, found.get("digest"))
    except ValueError as error:
        raise ValueError(f"{path}: line 1: {error}") from error


def _solution(game: Game, state: Record, limit: int) -> dict[str, Any] | None:
    """Returns a solution as JSON data; None if it is out of reach."""
    try:
        found = solve(game.name, state, limit, game.fixed.values)
    except OutOfReachError:
        return None
    return {
        "winner": None if found.winner == DRAW else found.winner,
        "winning": [game.notation.action_to_text(state, action) for action in found.winning],
        "score": found.score,
    }
