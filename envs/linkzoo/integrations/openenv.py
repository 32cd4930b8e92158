"""OpenEnv: seats of a game as its server and client.

    app = make_app("linkage", opponent="greedy")  # uvicorn.run(app), or `openenv serve`

    with TextClient(base_url="http://localhost:8000").sync() as client:
        result = client.reset(seed=1)
        result = client.step(TextAction(answer="Move: 1"))

Needs the extra `openenv`.
"""

import math
from contextlib import suppress
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import (
    Action,
    ConcurrencyConfig,
    EnvironmentMetadata,
    Observation,
    State,
)
from pydantic import Field
from websockets.exceptions import ConnectionClosed

from linkzoo.core.arguments import integer, shown
from linkzoo.registry import get_game
from linkzoo.text.env import TextEnv


class TextAction(Action):
    """An answer of a model."""

    answer: str = Field(description="Free text with one move, in notation or by its number")


class TextObservation(Observation):
    """The next message to the model; `reward` and `done` belong to the answer."""

    message: str = Field(description="The position, the error, or the outcome")
    legal: bool = Field(default=True, description="Whether the answer was a legal move")
    seat: int = Field(default=0, description="The seat that answers next; the message is for it")
    rewards: list[float] = Field(default_factory=list, description="Rewards of all seats")


class TextState(State):
    """The progress of a game."""

    game: str = Field(default="", description="The game's name")
    seat: int = Field(default=0, description="The model's seat")


class NoGameError(RuntimeError):
    """A step without a game: before a reset, or after the session was given up."""


class TextEnvironment(Environment[TextAction, TextObservation, TextState]):
    """A TextEnv as an environment of OpenEnv's server.

    Args:
        game: The game's name, `module:name` or `FILE.py:name`.
        kwargs: Keyword arguments of `TextEnv`, the game's options included.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, game: str, **kwargs: Any) -> None:
        super().__init__()
        self._env = TextEnv(game, **kwargs)
        self._state = TextState(game=game)
        self._begun = False
        self._closed = False

    def close(self) -> None:
        """Ends the session; the server calls it for clients that are idle or gone."""
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise NoGameError("the session was idle for too long: connect again")

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **_: Any
    ) -> TextObservation:
        """Starts a game; `seed` fixes all chance of it."""
        self._check_open()
        message = self._env.reset(seed)
        self._begun = True
        self._state = TextState(episode_id=episode_id, game=self._state.game, seat=self._env.seat)
        return TextObservation(message=message, seat=self._env.seat)

    def step(
        self,
        action: TextAction,
        timeout_s: float | None = None,  # noqa: ARG002  # OpenEnv's signature
        **_: Any,
    ) -> TextObservation:
        """Plays the move of an answer, and the opponent's.

        Raises:
            NoGameError: There is no game.
        """
        self._check_open()
        if not self._begun:
            raise NoGameError(
                "step before reset: a game belongs to a connection of the WebSocket /ws "
                "(TextClient); each POST /reset and POST /step has an environment of its own"
            )
        step = self._env.step(action.answer)
        self._state.step_count += 1
        return TextObservation(
            message=step.message,
            reward=step.reward,
            done=step.done,
            legal=step.legal,
            seat=step.seat,
            rewards=[*step.rewards],
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
    """The client of `make_app`'s server; `.sync()` is without `await`.

    Its calls raise ConnectionError if the server has closed the connection, and RuntimeError with
    the server's message if it is full.
    """

    async def _send(self, message: dict[str, Any]) -> None:
        with suppress(ConnectionClosed):  # the server's reason waits to be received
            await super()._send(message)

    async def _receive(self) -> dict[str, Any]:
        try:
            received: dict[str, Any] = await super()._receive()
        except ConnectionClosed as error:
            raise ConnectionError(f"the server closed the connection ({error})") from error
        return received

    def _step_payload(self, action: TextAction) -> dict[str, Any]:
        return {"answer": action.answer}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[TextObservation]:
        result = {"reward": payload.get("reward"), "done": payload.get("done", False)}
        return StepResult(TextObservation(**payload["observation"] | result), **result)

    def _parse_state(self, payload: dict[str, Any]) -> TextState:
        return TextState(**payload)


def make_app(
    game: str, *, sessions: int = 64, idle_seconds: float = 600.0, **kwargs: Any
) -> FastAPI:
    """Makes the server: a game for each client that is connected.

    Args:
        game: The game's name, `module:name` or `FILE.py:name`.
        sessions: The largest number of clients at once, 1..100,000.
        idle_seconds: The time without a request after which a client loses its place.
        kwargs: Keyword arguments of `TextEnv`, the game's options included.

    Returns:
        The application for `uvicorn.run`.

    Raises:
        ValueError: An argument or option is wrong.
    """
    TextEnv(game, **kwargs)  # wrong arguments are refused at once
    if not 0 < idle_seconds < math.inf:
        raise ValueError(f"idle_seconds: {shown(idle_seconds)} is not above 0")
    limits = ConcurrencyConfig(
        max_concurrent_envs=integer("sessions", sessions, 1, 100_000),
        session_timeout=idle_seconds,
    )
    app: FastAPI = create_app(
        lambda: TextEnvironment(game, **kwargs),
        TextAction,
        TextObservation,
        env_name="linkzoo",
        concurrency_config=limits,
    )
    app.add_exception_handler(NoGameError, _report_no_game)
    return app


def _report_no_game(_: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, 409)
