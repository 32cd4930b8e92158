"""The settings of a language model, as in `llm:MODEL,temperature=0.6,tries=5`."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from linkzoo.core.arguments import integer, one_of, real, shown
from linkzoo.text.prompts import MOVES, STANDARD, PromptSettings

__all__ = ["LlmSettings"]


@dataclass(frozen=True)
class LlmSettings:
    """A model and how it is asked; `parse` reads `MODEL,name=value,...`.

    Attributes:
        model: The model's name, as the server knows it.
        base_url: The server's address; None: the environment's OPENAI_BASE_URL, else OpenAI's.
        key_env: The environment variable with the API key. None: OPENAI_API_KEY; with `base_url`
            no key is sent.
        rules: The rules in the system message: `short`, `full` or `none`.
        moves: The legal moves in prompts: `listed`, `hidden`, or `on_request` (`PromptSettings`).
        history_tokens: Limit of the history in a prompt, in tokens.
        thinking_tokens: The budget for thinking that prompts ask for, in tokens; None: no budget.
        reasoning_effort: The field of this name in the request, such as `low`; None: without it.
        temperature: The sampling temperature; None: the server's default.
        max_tokens: Limit of an answer in tokens, including the reasoning.
        tokens_field: The name of `max_tokens` in the request: some servers want
            `max_completion_tokens`.
        tries: Answers per decision. After that many illegal answers the move is drawn at random.
        timeout: Time limit of a reply in seconds.
        move_seconds: Time for all answers of a decision; then it is drawn at random. A reply under
            way may take up to `timeout` more. None: no limit.
        retries: Further tries of a request that fails.
        concurrency: Requests at a time.
        requests_per_minute: Limit of all requests of this process to the model; None: no limit.
        journal: A file that keeps the answers. A match that stopped resumes with them, without
            asking twice. None: no file.
        budget_tokens: Tokens per match; the agent gives up when they are spent.
        budget_cost: Money per match; needs prices.
        price_in: Price of a million tokens of prompts.
        price_out: Price of a million tokens of answers.
    """

    model: str
    base_url: str | None = None
    key_env: str | None = None
    rules: Literal["short", "full", "none"] = "short"
    moves: Literal["listed", "hidden", "on_request"] = STANDARD.moves
    history_tokens: int = STANDARD.history_tokens
    thinking_tokens: int | None = STANDARD.thinking_tokens
    reasoning_effort: str | None = None
    temperature: float | None = None
    max_tokens: int = 4096
    tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    tries: int = 3
    timeout: float = 120.0
    move_seconds: float | None = None
    retries: int = 5
    concurrency: int = 8
    requests_per_minute: float | None = None
    journal: str | None = None
    budget_tokens: int | None = None
    budget_cost: float | None = None
    price_in: float | None = None
    price_out: float | None = None

    @classmethod
    def parse(cls, text: str) -> "LlmSettings":
        """Parses `MODEL,name=value,...`.

        Raises:
            ValueError: There is no model, an unknown setting, or a value out of range.
        """
        model, *settings = text.split(",")
        if not model:
            raise ValueError("agent 'llm:': name a model, such as llm:MODEL,temperature=0")
        values: dict[str, Any] = {}
        for setting in settings:
            name, _, value = setting.partition("=")
            if name not in _READERS:
                raise ValueError(
                    f"agent {shown(f'llm:{text}')}: no setting {shown(name)}; there are "
                    f"{', '.join(_READERS)}, such as llm:{model},temperature=0"
                )
            values[name] = _READERS[name](name, value)
        prices = [name in values for name in ("price_in", "price_out")]
        if not all(prices) and (any(prices) or "budget_cost" in values):
            raise ValueError(f"agent {shown(f'llm:{text}')}: set both price_in and price_out")
        return cls(model, **values)

    @property
    def prompts(self) -> PromptSettings:
        """The contents of prompts."""
        return PromptSettings(
            moves=self.moves,
            history_tokens=self.history_tokens,
            thinking_tokens=self.thinking_tokens,
        )

    def key(self) -> str | None:
        """Returns the API key; None with a `base_url` and no `key_env`.

        A key is only sent to the server that it is meant for.

        Raises:
            ValueError: The environment has no key.
        """
        if self.key_env is None and self.base_url is not None:
            return None
        name = self.key_env or "OPENAI_API_KEY"
        key = os.environ.get(name, "")
        if not key:
            raise ValueError(
                f"agent 'llm:{self.model}': set the environment variable {name} to the API key, "
                "or base_url=http://... of a server that needs none"
            )
        return key


_Reader = Callable[[str, str], Any]  # (name of the setting, its text) -> its value


def _integer(low: int, high: int) -> _Reader:
    return lambda name, text: integer(name, _parsed(int, text), low, high)


def _real(low: float, high: float) -> _Reader:
    return lambda name, text: real(name, _parsed(float, text), low, high)


def _parsed(number: type[int] | type[float], text: str) -> int | float | str:
    """Returns the number, else the text, which the range check then names in its error."""
    try:
        return number(text)
    except ValueError:
        return text


def _choice(*allowed: str) -> _Reader:
    def read(name: str, text: str) -> str:
        one_of(name, text, allowed)
        return text

    return read


def _text(name: str, text: str) -> str:
    if not text:
        raise ValueError(f"{name}: no text")
    return text


_READERS: Mapping[str, _Reader] = {
    "base_url": _text,
    "key_env": _text,
    "rules": _choice("short", "full", "none"),
    "moves": _choice(*MOVES),
    "history_tokens": _integer(0, 10**6),
    "thinking_tokens": _integer(1, 10**6),
    "reasoning_effort": _text,
    "temperature": _real(0, 10),
    "max_tokens": _integer(1, 10**6),
    "tokens_field": _choice("max_tokens", "max_completion_tokens"),
    "tries": _integer(1, 100),
    "timeout": _real(0.01, 86_400),
    "move_seconds": _real(0.01, 86_400),
    "retries": _integer(0, 100),
    "concurrency": _integer(1, 256),
    "requests_per_minute": _real(0.01, 10**6),
    "journal": _text,
    "budget_tokens": _integer(1, 10**15),
    "budget_cost": _real(0, 10**9),
    "price_in": _real(0, 10**6),
    "price_out": _real(0, 10**6),
}
assert list(_READERS) == [field.name for field in fields(LlmSettings)][1:]
