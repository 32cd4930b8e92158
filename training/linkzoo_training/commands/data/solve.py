"""`linkzoo data solve`: exact solutions of the positions in a file."""

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from linkzoo import Game
from linkzoo.core.solver import DRAW, LIMIT, OutOfReachError
from linkzoo.core.state import Record
from linkzoo.position_file import PositionFile, read_position_file, write_position_lines
from linkzoo_training.commands import common
from linkzoo_training.search.solver import solve

HELP = "solve the positions of a file exactly (a whole game: experiment solve)"

_EVERY = 20  # positions between saves


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    text = "file of positions (linkzoo data positions)"
    add("file", type=common.input_path, metavar="FILE", help=text)
    text = "file to write: the lines with a field `solution`; an existing one of the same positions"
    text += " is continued (required)"
    add("--out", type=common.continued_file, metavar="FILE", required=True, help=text)
    text = "positions that a search visits at most; beyond, `solution` is null (default: 2**24)"
    add("--limit", type=common.whole(1, 10**12), default=LIMIT, metavar="N", help=text)


def run(args: Namespace) -> None:
    """Solves the positions without a solution; after Ctrl-C, the same command continues."""
    file = read_position_file(args.file)
    solutions = _existing_solutions(args.out)
    keys = [_key(line) for line in file.lines]
    others = len(solutions.keys() - set(keys))
    if others:
        raise ValueError(
            f"{args.out} has {others:,} solutions of positions that aren't in {args.file}: name "
            "another file"
        )
    try:
        with common.progress_bar() as show:
            for number, (key, state) in enumerate(zip(keys, file.states, strict=True), 1):
                if solutions.get(key) is None:
                    solutions[key] = _solution(file.game, state, args.limit)
                    if number % _EVERY == 0:
                        _save(args.out, file, solutions)
                show("positions", number, len(keys))
    finally:
        saved = _save(args.out, file, solutions)
    print(f"{args.out}: {len(saved):,} positions, {len(saved) - saved.count(None):,} solved")


def _key(line: Any) -> str:
    return json.dumps(line["position"])


def _existing_solutions(path: Path) -> dict[str, Any]:
    """Returns the solutions in a file by position; none if there is no file."""
    if not path.is_file():
        return {}
    return {_key(line): line.get("solution") for line in read_position_file(path).lines}


def _save(path: Path, file: PositionFile, solutions: dict[str, Any]) -> list[Any]:
    """Writes the lines whose solution is known, and returns the solutions."""
    lines = [
        {**line, "solution": solutions[_key(line)]}
        for line in file.lines
        if _key(line) in solutions
    ]
    write_position_lines(path, lines, file.about)
    return [line["solution"] for line in lines]


def _solution(game: Game, state: Record, limit: int) -> dict[str, Any] | None:
    """Returns a solution as JSON data; None if it is out of reach."""
    try:
        solution = solve(game.name, state, limit, game.fixed.values)
    except OutOfReachError:
        return None
    winner = None if solution.winner == DRAW else solution.winner
    return {
        "winner": winner,
        "winning": [game.notation.action_to_text(state, action) for action in solution.winning],
        "score": solution.score,
    }
