"""Kaggle's environments: games for its runner, and a harness for language models.

    register()
    env = kaggle_environments.make("linkzoo_love_links", {"options": {"short": True}})
    env.run([create_agent_fn(TextHarness()), agent])  # of kaggle_environments.core_harness

Needs the extra `kaggle`.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any
from weakref import WeakKeyDictionary

from kaggle_environments import register as register_environment
from kaggle_environments.core_harness import ParseResult
from kaggle_environments.utils import resolve_episode_seed

from linkzoo.core.game import Game
from linkzoo.core.history import seat_to_act
from linkzoo.registry import game_names, get_game, id_of
from linkzoo.text import PromptSettings, TextGame
from linkzoo.text.env import TextEnv
from linkzoo.text.moves import legal_moves
from linkzoo.text.prompts import MOVES

_FAILED = ("ERROR", "INVALID", "TIMEOUT")  # statuses of agents that lose at once


class TextHarness:
    """A harness for Kaggle's `create_agent_fn`: the environment's messages, free-text answers.

    The environment reads the answers (`freeForm` in its configuration). An illegal answer gets a
    message and another turn, up to `maxIllegal`.
    """

    def get_legal_moves(self, observation: Mapping[str, Any]) -> None:
        """Returns None: answers are free text."""

    def make_prompt(
        self,
        observation: Mapping[str, Any],
        move_history: list[str],  # noqa: ARG002  # Kaggle's signature
        previous_response: str | None = None,  # noqa: ARG002
        previous_action: str | None = None,  # noqa: ARG002
    ) -> str:
        """Returns the rules and the message to the player."""
        return f"{observation['rules']}\n{observation['message']}"

    def parse_response(
        self,
        response: str,
        legal_action_strings: Sequence[str] | None,  # noqa: ARG002  # Kaggle's signature
        *,
        observation: Mapping[str, Any],  # noqa: ARG002
    ) -> ParseResult:
        """Returns the response as the submission."""
        return ParseResult(raw_action=response, submission=response)


class _Interpreter:
    """Plays a game in Kaggle's environments; each environment has a game of its own.

    Args:
        game: The game's name, `module:name` or `FILE.py:name`.
    """

    def __init__(self, game: str) -> None:
        self._game = game
        self._envs: WeakKeyDictionary[Any, TextEnv] = WeakKeyDictionary()

    def play(self, state: list[Any], env: Any) -> list[Any]:
        """Starts a game in a reset environment, else plays the action of the player to act."""
        if env.done:
            self._envs[env] = self._start(env, len(state))
            message = self._envs[env].reset(resolve_episode_seed(env))
            self._show(state, env, message)
            return state
        text_env = self._env_of(env)
        seat = text_env.seat
        if state[seat].status in _FAILED:
            self._end(state, {seat: state[seat].status}, [0.0] * len(state))
            return state
        answer = _answer(state[seat].action, text_env.text_game)
        if answer is None:
            self._end(state, {seat: "INVALID"}, [0.0] * len(state))
            return state
        step = text_env.step(answer)
        message = step.message
        if not step.legal:  # a harness remembers no earlier message
            message += f"\n\n{text_env.text_game.prompt()}"
        self._show(state, env, message)
        if step.done and step.legal:
            self._end(state, {}, step.rewards)
        elif step.done:
            self._end(state, {seat: "INVALID"}, step.rewards)
        return state

    def text(self, _: list[Any], env: Any) -> str:
        """Returns the position as text, for the referee."""
        text_game = self._env_of(env).text_game
        return text_game.game.drawing.text(text_game.state, None)

    def page(self, env: Any) -> str:
        """Returns a page with the drawing of the position."""
        text_game = self._env_of(env).text_game
        draw = text_game.game.drawing.svg
        drawing = f"<pre>{escape(self.text([], env))}</pre>"
        if draw is not None:
            drawing = draw(text_game.state, None)
        return f"<!doctype html><html><head></head><body>{drawing}</body></html>"

    def _start(self, env: Any, players: int) -> TextEnv:
        settings = env.configuration
        prompts = PromptSettings(moves=settings.moves, history_tokens=settings.historyTokens)
        return TextEnv(
            self._game,
            players,
            seat=range(players),
            max_illegal=settings.maxIllegal,
            rules="none",
            prompts=prompts,
            **settings.options,
        )

    def _env_of(self, env: Any) -> TextEnv:
        if env not in self._envs:
            raise RuntimeError("a clone of an environment has no game: reset it first")
        return self._envs[env]

    def _show(self, state: list[Any], env: Any, message: str) -> None:
        """Shows each player its own view; the player to act gets the message and its moves."""
        text_env = self._envs[env]
        text_game = text_env.text_game
        game = text_game.game
        position = text_game.state
        for player, agent in enumerate(state):
            seen = agent.observation
            seen.playerId = player
            seen.currentPlayer = seat_to_act(game, position, player)
            seen.isTerminal = text_game.over
            seen.legalActions = []
            seen.legalActionStrings = []
            if text_game.over or player != text_env.seat:
                agent.status = "INACTIVE"
                seen.rules = ""
                seen.message = text_game.view(player)
            else:
                agent.status = "ACTIVE"
                seen.rules = text_game.rules()
                seen.message = message
                if env.configuration.moves == "listed":
                    moves = legal_moves(game, position)
                    seen.legalActions = [*moves.values()]
                    seen.legalActionStrings = [*moves]

    def _end(self, state: list[Any], failed: Mapping[int, str], rewards: Sequence[float]) -> None:
        """Ends the game with the status of players that failed; Kaggle pays these nothing."""
        for player, agent in enumerate(state):
            agent.status = failed.get(player, "DONE")
            agent.reward = rewards[player]


def _answer(action: Any, text_game: TextGame) -> str | None:
    """Returns the text of an action, which may be a harness's submission; None: no legal number."""
    if isinstance(action, Mapping):
        action = action.get("submission")
    if not isinstance(action, int):
        return str(action)
    moves = legal_moves(text_game.game, text_game.state)
    return next((move for move, number in moves.items() if number == action), None)


def specification(game: Game) -> dict[str, Any]:
    """Returns the specification of a game for Kaggle's environments."""
    view = {"description": "What the player sees", "type": "string", "default": ""}
    return {
        "name": f"linkzoo_{game.name}",
        "title": game.title,
        "description": f"{game.title}, in text or by the numbers of actions.",
        "version": str(game.version),
        "agents": [*range(game.min_players, game.max_players + 1)],
        "configuration": {
            "episodeSteps": 100_000,
            "actTimeout": 3600,
            "runTimeout": 172_800,
            "seed": {
                "description": "Seed of the game; hidden from the agents",
                "type": ["integer", "null"],
                "minimum": 0,
                "default": None,
            },
            "options": {"description": "Options of the game", "type": "object", "default": {}},
            "moves": {"description": "The legal moves", "enum": [*MOVES], "default": "listed"},
            "historyTokens": {
                "description": "Limit of the history in messages, in tokens",
                "type": "integer",
                "minimum": 0,
                "default": PromptSettings().history_tokens,
            },
            "maxIllegal": {
                "description": "Illegal answers of a player that get a warning",
                "type": "integer",
                "minimum": 0,
                "default": 3,
            },
            "freeForm": {
                "description": "Whether harnesses may submit text",
                "type": "boolean",
                "default": True,
            },
        },
        "reward": {"description": "Payoff, -1 to 1", "type": "number", "default": 0},
        "observation": {
            "playerId": {"description": "The player", "type": "integer", "default": 0},
            "currentPlayer": {
                "description": "The player to act; null where that is secret, and at the end",
                "type": ["integer", "null"],
                "default": None,
            },
            "isTerminal": {
                "description": "Whether it is over",
                "type": "boolean",
                "default": False,
            },
            "rules": {
                "description": "The rules, for the player to act",
                "type": "string",
                "default": "",
            },
            "message": view,
            "legalActions": {
                "description": "Numbers of the legal actions, if they are listed",
                "type": "array",
                "default": [],
            },
            "legalActionStrings": {
                "description": "The legal moves in notation, if they are listed",
                "type": "array",
                "default": [],
            },
        },
        "action": {
            "description": "A text with a move, an action, or an object with one as `submission`",
            "type": ["string", "integer", "object", "null"],
            "default": None,
        },
    }


def environment(name: str) -> dict[str, Any]:
    """Returns a game as an argument of Kaggle's `register` and `make`.

    Args:
        name: The game's name, `module:name` or `FILE.py:name`.

    Raises:
        ValueError: There is no such game.
    """
    interpreter = _Interpreter(name)

    # Kaggle counts the arguments of functions, so methods won't do.
    def interpret(state: list[Any], env: Any) -> list[Any]:
        return interpreter.play(state, env)

    def render(state: list[Any], env: Any) -> str:
        return interpreter.text(state, env)

    def render_html(env: Any) -> str:
        return interpreter.page(env)

    def first(observation: Any) -> str:
        moves: list[str] = observation.legalActionStrings
        return moves[0]

    return {
        "specification": specification(get_game(name)),
        "interpreter": interpret,
        "renderer": render,
        "html_renderer": render_html,
        "agents": {"first": first},
    }


def register() -> None:
    """Makes all games known to `kaggle_environments.make`, as `linkzoo_linkage` and so on."""
    for name in game_names():
        game = get_game(name)
        register_environment(f"linkzoo_{game.name}", environment(id_of(game)))
