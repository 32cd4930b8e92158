"""Tutorials: steps along a recorded game, each with a move to play and its rule.

A game's folder holds them as `tutorial.json`, beside its RULES.md: `line`, a record, and `steps`.
A step has `ply` (the position after so many moves of the line), `move` (which need not be the
line's), `rule`, `say` and `then` (before and after the move), and `facts`, which a test checks
against the game:

| fact | |
|---|---|
| `next` | the seat to act after the move |
| `score` | `points` of a `seat` after the move, in the row that begins with `label`; the `gain` |
| `event` | words of the log's sentence about the move |
| `illegal` | moves that aren't legal before |
| `winners` | the seats that win by the move |
"""

from dataclasses import dataclass
from functools import cache

from linkzoo import Game, GameRecord, get_game
from linkzoo.core.arguments import integer
from linkzoo.core.state import Record
from linkzoo_training.web.views import Json, beside_rules, picture, words


@dataclass(frozen=True)
class Tutorial:
    """A game's tutorial with the positions of its steps.

    Attributes:
        game: The game.
        steps: The steps as they are stored.
        before: The position of each step.
        actions: The action of each step.
    """

    game: Game
    steps: list[Json]
    before: list[Record]
    actions: list[int]


def tutorial_names(games: list[str]) -> list[str]:
    """Returns the games that have a tutorial."""
    return [name for name in games if _data(name) is not None]


def head(name: str) -> Json:
    """Returns the title and the words of all steps; this compiles nothing."""
    data = _existing(name)
    steps = [{key: step[key] for key in ("rule", "say", "then")} for step in data["steps"]]
    return {"title": get_game(name).title, "steps": steps}


@cache
def load_tutorial(name: str) -> Tutorial:
    """Returns a game's tutorial; ValueError if it has none, or a move isn't legal."""
    data = _existing(name)
    game = get_game(name)
    positions = list(GameRecord.from_dict(data["line"]).replay())
    before = [positions[step["ply"]] for step in data["steps"]]
    actions = [
        game.notation.text_to_action(state, step["move"])
        for state, step in zip(before, data["steps"], strict=True)
    ]
    return Tutorial(game, data["steps"], before, actions)


def step_view(name: str, number: int, *, tall: bool = False) -> Json:
    """Returns a step's position, its legal moves, and the position after its move."""
    tutorial = load_tutorial(name)
    game = tutorial.game
    index = integer("step", number, 0, len(tutorial.steps) - 1)
    state = tutorial.before[index]
    action = tutorial.actions[index]
    seat = int(state.seat)
    after = game.guide.after(state, action)
    return {
        "seat": seat,
        "svg": picture(game, state, seat, tall=tall),
        "move": game.notation.action_to_text(state, action),
        **words(game, state, seat, game.guide.legal(state)),
        "after": {
            "svg": picture(game, after, seat, tall=tall),
            "touched": game.guide.touched(state, action, seat),
            "event": game.guide.event(state, action, seat),
        },
    }


def _existing(name: str) -> Json:
    """Returns the data of a game's tutorial; ValueError if it has none."""
    data = _data(name)
    if data is None:
        raise ValueError(f"{name} has no tutorial")
    return data


@cache
def _data(name: str) -> Json | None:
    return beside_rules(name, "tutorial.json")
