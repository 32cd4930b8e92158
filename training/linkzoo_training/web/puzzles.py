"""Puzzles: positions in which few moves win, by the exact solver or by playing out all lines.

A game's folder holds them as `puzzles.json`, beside its RULES.md: `puzzles`, a list of records. The
position after a record's last move is the puzzle; `say` has a sentence for each, or "". Games
without a solver have positions in which nothing is hidden and no luck is left.
"""

from functools import cache

from linkzoo import Game, GameRecord, get_game
from linkzoo.core.arguments import integer
from linkzoo.core.state import Record
from linkzoo.registry import id_of
from linkzoo_training.agents.values import SOLVER_LIMIT
from linkzoo_training.search.solver import solve
from linkzoo_training.web.settled import sure_wins
from linkzoo_training.web.views import Json, beside_rules, picture, words


def puzzle_numbers(games: list[str]) -> dict[str, int]:
    """Returns the number of puzzles of each game that has some."""
    numbers = {name: len(_records(name)) for name in games}
    return {name: number for name, number in numbers.items() if number}


@cache
def load_puzzle(name: str, number: int) -> tuple[Game, Record, list[int]]:
    """Returns a puzzle's game, its position and the winning actions.

    Raises:
        ValueError: There is no such puzzle.
        OutOfReachError: It can't be solved.
    """
    records = _records(name)
    index = integer("puzzle", number, 0, len(records) - 1)
    record = GameRecord.from_dict(records[index])
    game = get_game(record.game, record.options)
    *_, state = record.replay()
    if game.solver is None:
        return game, state, sure_wins(game, state)
    solution = solve(id_of(game), state, SOLVER_LIMIT, game.fixed.values)
    return game, state, list(solution.winning)


def puzzle_view(name: str, number: int, *, tall: bool = False) -> Json:
    """Returns a puzzle's position with its legal moves, and those that win, with pictures."""
    game, state, winning = load_puzzle(name, number)
    seat = int(state.seat)
    roles = game.roles(game.chosen_options(state))
    return {
        "title": game.title,
        "number": len(_records(name)),
        "say": _data(name)["say"][number],
        "seat": seat,
        "role": roles[seat] if roles else "",
        "svg": picture(game, state, seat, tall=tall),
        "winning": [game.notation.action_to_text(state, action) for action in winning],
        **words(game, state, seat, game.guide.legal(state)),
    }


def _records(name: str) -> list[Json]:
    records: list[Json] = _data(name)["puzzles"]
    return records


@cache
def _data(name: str) -> Json:
    """Returns the data of a game's puzzles; of a game without some, none."""
    return beside_rules(name, "puzzles.json") or {"puzzles": [], "say": []}
