"""Tutorials: each step's move is legal, and each sentence follows from the game."""

import re
from typing import Any

import pytest

from linkzoo import Game, game_names
from linkzoo.core.state import Record, winners_of
from linkzoo_training.web.tutorials import head, load_tutorial, step_view, tutorial_names
from tests.driving import first_quick
from tests.web.server import Client

_PLAYER = re.compile(r"\bplayer (\d+)", re.IGNORECASE)


def test_every_shipped_game_has_a_tutorial() -> None:
    assert tutorial_names(list(game_names())) == list(game_names())


@pytest.mark.parametrize("name", first_quick(game_names(), slow=3))
def test_each_step_follows_from_the_game(name: str) -> None:
    tutorial = load_tutorial(name)
    game = tutorial.game
    assert 5 <= len(tutorial.steps) <= 8
    rules = game.guide.rules_text(full=True) or ""
    for step, state, action in zip(tutorial.steps, tutorial.before, tutorial.actions, strict=True):
        assert f"**{step['rule']} " in rules or f"**{step['rule']}**" in rules, step
        assert action in game.guide.legal(state), step
        after = game.guide.after(state, action)
        numbers = _check(game, state, action, after, step["facts"])
        told = re.sub(r"[A-Za-z@]+\d+|\d+-\d+", "", step["then"])  # without cells and pieces
        assert set(re.findall(r"\d+", told)) <= numbers, step


def _check(
    game: Game, state: Record, action: int, after: Record, facts: dict[str, Any]
) -> set[str]:
    """Checks the facts of a step; returns the numbers that its sentence may name."""
    assert facts
    event = game.guide.event(state, action, int(state.seat))
    said = [event, game.guide.prompt(after)]
    for kind, fact in facts.items():
        if kind == "next":
            assert int(after.seat) == fact
            said.append(f"player {fact}")
        elif kind == "event":
            assert fact in event
        elif kind == "winners":
            assert winners_of(after) == fact
        elif kind == "illegal":
            for move in fact:
                assert game.notation.text_to_action(state, move) not in game.guide.legal(state)
        else:
            assert kind == "score"
            points = [_points(game, position, fact) for position in (state, after)]
            assert points[1] == fact["points"]
            assert points[1] - points[0] == fact.get("gain", points[1] - points[0])
            said.append(f"{points[1]} {points[1] - points[0]} player {fact['seat']}")
    return set(re.findall(r"\d+", " ".join(said)))


def _points(game: Game, state: Record, fact: dict[str, Any]) -> int:
    rows = game.guide.score_rows(state)
    (row,) = [row for row in rows if row.label.startswith(fact["label"])]
    return int(row.values[fact["seat"]])


def test_a_false_sentence_is_found() -> None:
    """Another gain, seat or winner, and a move that is legal."""
    tutorial = load_tutorial("linkage")
    state, action = tutorial.before[0], tutorial.actions[0]
    after = tutorial.game.guide.after(state, action)
    score = tutorial.steps[0]["facts"]["score"]
    for wrong in (
        {"next": 0},
        {"score": score | {"gain": 2}},
        {"score": score | {"points": 3}},
        {"winners": [1]},
        {"illegal": ["W a1-b1"]},
        {"event": "two groups"},
    ):
        with pytest.raises(AssertionError):
            _check(tutorial.game, state, action, after, wrong)


def test_the_page_gets_each_step(client: Client) -> None:
    words = client.ask("games/linkage/tutorial")[1]
    assert words == head("linkage")
    assert {game["name"] for game in client.ask("tutorials")[1]["games"]} == set(game_names())
    for number in range(len(words["steps"])):
        status, view = client.ask(f"games/linkage/tutorial/{number}?tall=true")
        assert status == 200
        assert view["move"] in [move["text"] for move in view["moves"]]
        assert view["after"]["svg"] != view["svg"]
    assert client.ask(f"games/linkage/tutorial/{len(words['steps'])}")[0] == 400
    assert client.ask("games/chess/tutorial")[0] == 400
    assert step_view("linkage", 0)["svg"] != client.ask("games/linkage/tutorial/1")[1]["svg"]


def test_a_game_without_a_tutorial_says_so() -> None:
    assert tutorial_names(["connect_four:GAME"]) == []
    with pytest.raises(ValueError, match="no tutorial"):
        head("connect_four:GAME")
