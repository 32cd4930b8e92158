"""A game's rules for the page, with positions of a random game as pictures."""

from functools import cache

from linkzoo import Game, get_game
from linkzoo.core.state import Record
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.evaluation.played_games import GamesPlan, play_part
from linkzoo_training.web.tutorials import tutorial_names
from linkzoo_training.web.views import Json, picture

_SEED = 3  # of an example game; its shown move is public
_SHOWN = 0.4  # share of the example game before the shown move


def rulebook(name: str) -> Json:
    """Returns a game's title, its rules in short and in full as Markdown, and `tutorial`."""
    game = get_game(name)
    return {
        "title": game.title,
        "short": game.guide.rules_text(),
        "full": game.guide.rules_text(full=True),
        "tutorial": bool(tutorial_names([name])),
    }


@cache
def rule_pictures(name: str) -> list[Json]:
    """Returns pictures of a game's rules; the first use compiles the game and plays it once."""
    game = get_game(name)
    plan = GamesPlan(name, (AgentSpec("random"),), 1, game.min_players, openings="0", seed=_SEED)
    (record,) = play_part(plan, range(1), plan.read_openings()).records(game)
    states = list(record.replay())
    start = states[0]
    end = states[-1]
    shown = int(_SHOWN * len(record.actions))
    before = states[shown]
    after = states[shown + 1]
    action = record.actions[shown]
    seat = int(before.seat)
    return [
        _picture(game, start, int(start.seat), game.guide.prompt(start)),
        {
            **_picture(game, after, seat, game.guide.event(before, action, seat)),
            "touched": game.guide.touched(before, action, seat),
        },
        _picture(game, end, None, game.guide.prompt(end)),
    ]


def _picture(game: Game, state: Record, seat: int | None, words: str) -> Json:
    return {"svg": picture(game, state, seat, tall=True), "words": words, "touched": ()}
