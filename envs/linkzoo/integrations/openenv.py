"""OpenEnv: a seat of a game as its server and client.

    app = make_app("linkage", opponent="greedy")  # uvicorn.run(app), or `openenv serve`

    with TextClient(base_url="http://localhost:8000").sync() as client:
        result = client.reset(seed=1)
        result = client.step(TextAction(answer="Move: 1"))

Needs the extra `openenv`.
"""

from typing import Any

from fastapi import FastAPI
from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, EnvironmentMetadata, Observation, State
from pydantic import Field

from linkzoo.core.arguments import integer
from linkzoo.integrations.text import TextSeatEnv
from linkzoo.registry import get_game


class TextAction(Action):
    """An answer of a model."""

    answer: str = Field(description="Free text with one move, in notation or by its number")


class TextObservation(Observation):
    """The next message to the model; `reward` and `done` belong to the answer."""

    message: str = Field(description="The position, the error, or the outcome")
    legal: bool = Field(default=True, description="Whether the answer was a legal move")


class TextState(State):
    """The progress of a game."""

    game: str = Field(default="", description="The game's name")
    seat: int = Field(default=0, description="The model's seat")


class TextEnvironment(Environment[TextAction, TextObservation, TextState]):
    """A TextSeatEnv as an environment of OpenEnv's server.

    Args:
        game: The game's name, `module:name` or `FILE.py:name`.
        kwargs: Keyword arguments of `TextSeatEnv`, the game's options included.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, game: str, **kwargs: Any) -> None:
        super().__init__()
        self._env = TextSeatEnv(game, **kwargs)
        self._state = TextState(game=game)

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **_: Any
    ) -> TextObservation:
        """Starts a game; `seed` fixes all chance of it."""
        message = self._env.reset(seed)
        self._state = TextState(episode_id=episode_id, game=self._state.game, seat=self._env.seat)
        return TextObservation(message=message)

    def step(
        self,
        action: TextAction,
        timeout_s: float | None = None,  # noqa: ARG002  # OpenEnv's signature
        **_: Any,
    ) -> TextObservation:
        """Plays the move of an answer, and the opponent's."""
        step = self._env.step(action.answer)
        self._state.step_count += 1
        return TextObservation(
            message=step.message, reward=step.reward, done=step.done, legal=step.legal
        )

    @property
    def state(self) -> TextState:
        """Returns the progress of the game."""
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        """Returns the game's name, title and version."""
        game = get_game(self._state.game)
        description = f"{game.title} from one seat, in text, against an opponent of linkzoo."
        version = str(game.version)
        return EnvironmentMetadata(name=game.name, description=description, version=version)


class TextClient(EnvClient[TextAction, TextObservation, TextState]):
    """The client of `make_app`'s server; `.sync()` is without `await`."""

    def _step_payload(self, action: TextAction) -> dict[str, Any]:
        return {"answer": action.answer}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[TextObservation]:
        result = {"reward": payload.get("reward"), "done": payload.get("done", False)}
        return StepResult(TextObservation(**payload["observation"] | result), **result)

    def _parse_state(self, payload: dict[str, Any]) -> TextState:
        return TextState(**payload)


def make_app(game: str, *, sessions: int = 64, **kwargs: Any) -> FastAPI:
    """Makes the server: a game for each client that is connected.

    Args:
        game: The game's name, `module:name` or `FILE.py:name`.
        sessions: The largest number of clients at once, 1..100,000.
        kwargs: Keyword arguments of `TextSeatEnv`, the game's options included.

    Returns:
        The application for `uvicorn.run`.

    Raises:
        ValueError: An argument or option is wrong.
    """
    TextSeatEnv(game, **kwargs)  # wrong arguments are refused at once
    app: FastAPI = create_app(
        lambda: TextEnvironment(game, **kwargs),
        TextAction,
        TextObservation,
        env_name="linkzoo",
        max_concurrent_envs=integer("sessions", sessions, 1, 100_000),
    )
    return app
