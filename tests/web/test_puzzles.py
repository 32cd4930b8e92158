"""Puzzles: the exact solver reaches each, and few of many moves win."""

import numpy as np
import pytest

from linkzoo import Game, game_names, get_game
from linkzoo.core.solver import OutOfReachError
from linkzoo.testing.play import clone, mask_of, new, outcome_of
from linkzoo_training.web.puzzles import load_puzzle, puzzle_numbers, puzzle_view
from linkzoo_training.web.settled import sure_wins
from tests.driving import first_quick
from tests.web.server import Client

PUZZLES = [
    (name, number)
    for name, numbers in puzzle_numbers(list(game_names())).items()
    for number in range(numbers)
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "number"), first_quick(PUZZLES, slow=0))
def test_few_moves_win(name: str, number: int) -> None:
    game, state, winning = load_puzzle(name, number)
    legal = game.guide.legal(state)
    assert set(winning) <= set(legal)
    assert 1 <= len(winning) <= 2
    assert len(legal) >= 3 * len(winning)
    assert isinstance(puzzle_view(name, number)["say"], str)


@pytest.mark.nightly
def test_each_game_has_a_puzzle_of_an_edition() -> None:
    for name in puzzle_numbers(list(game_names())):
        games = (load_puzzle(name, number)[0:2] for number in range(puzzle_numbers([name])[name]))
        options = (game.chosen_options(state) for game, state in games)
        editions = [edition.items() for edition in get_game(name).editions.values()]
        assert any(edition <= chosen.items() for chosen in options for edition in editions)


@pytest.mark.slow
@pytest.mark.parametrize("name", first_quick(["link_o", "love_links"], slow=0))
def test_sure_wins_are_those_of_playing_everything_out(name: str) -> None:
    """Without the table of known positions, and by the game's own payoffs."""

    def best(game: Game, state: np.record, seat: int) -> float:
        if state.seat < 0:
            return float(outcome_of(game, state)[0][seat])
        values = []
        for action in np.flatnonzero(mask_of(game, state)):
            after = clone(state)
            game.rules.apply(after, int(action))
            values.append(best(game, after, seat))
        return max(values) if state.seat == seat else min(values)

    game, state, winning = load_puzzle(name, 0)
    for action in game.guide.legal(state):
        after = clone(state)
        game.rules.apply(after, action)
        assert (best(game, after, int(state.seat)) == 1) == (action in winning)


def test_what_is_hidden_or_random_is_out_of_reach() -> None:
    for name in ("link_o", "love_links"):
        game = get_game(name)
        with pytest.raises(OutOfReachError, match="hidden or random"):
            sure_wins(game, new(game, 2, {}, 1))


def test_the_page_gets_a_puzzle(client: Client) -> None:
    name, number = PUZZLES[0]
    status, view = client.ask(f"games/{name}/puzzles/{number}?tall=true")
    assert status == 200
    assert set(view["winning"]) <= {move["text"] for move in view["moves"]}
    assert client.ask(f"games/{name}/puzzles/{view['number']}")[0] == 400
    assert client.ask("games/love_formula/puzzles/0")[0] == 400
    games = {game["name"]: game["puzzles"] for game in client.ask("tutorials")[1]["games"]}
    assert games[name] == view["number"]
