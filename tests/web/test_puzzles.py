"""Puzzles: the exact solver reaches each, and few of many moves win."""

import pytest

from linkzoo import game_names
from linkzoo_training.web.puzzles import load_puzzle, puzzle_numbers
from tests.driving import first_quick
from tests.web.server import Client

PUZZLES = [
    (name, number)
    for name, numbers in puzzle_numbers(list(game_names())).items()
    for number in range(numbers)
]


@pytest.mark.parametrize(("name", "number"), first_quick(PUZZLES, slow=len(PUZZLES)))
def test_few_moves_win(name: str, number: int) -> None:
    game, state, winning = load_puzzle(name, number)
    legal = game.guide.legal(state)
    assert set(winning) <= set(legal)
    assert 1 <= len(winning) <= 2
    assert len(legal) >= 8


def test_the_page_gets_a_puzzle(client: Client) -> None:
    name, number = PUZZLES[0]
    status, view = client.ask(f"games/{name}/puzzles/{number}?tall=true")
    assert status == 200
    assert set(view["winning"]) <= {move["text"] for move in view["moves"]}
    assert client.ask(f"games/{name}/puzzles/{view['number']}")[0] == 400
    assert client.ask("games/love_formula/puzzles/0")[0] == 400
    games = {game["name"]: game["puzzles"] for game in client.ask("tutorials")[1]["games"]}
    assert games[name] == view["number"]
