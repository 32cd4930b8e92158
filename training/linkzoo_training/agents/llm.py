"""Language models as agents: `llm:MODEL`, behind any server that speaks OpenAI's chat protocol."""

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, Positions, RandomAgent
from linkzoo.core.arguments import integer, one_of, real, shown
from linkzoo.core.state import Record
from linkzoo.text import MoveError, ask, read_move, rules_text
from linkzoo_training.agents.playing import GivesUpError
from linkzoo_training.agents.usage import Usage
from linkzoo_training.resources import check_installed

if TYPE_CHECKING:
    from linkzoo_training.agents.chat import ChatClient, Message, Reply

_MAX_COMMENT = 4000  # characters of an answer, and of reasoning, in a record and when asked again
_CHARACTERS = 3  # of a token, where the server doesn't count


@dataclass(frozen=True)
class LlmSettings:
    """A model and how it is asked; `parse` reads `MODEL,name=value,...`.

    Attributes:
        model: The model's name, as the server knows it.
        base_url: The server's address; None: the environment's OPENAI_BASE_URL, else OpenAI's own.
        key_env: The environment variable with the API key. None: OPENAI_API_KEY; with `base_url`
            no key is sent.
        rules: The rules that the model is told before the position: `short`, `full` or `none`.
        temperature: The sampling temperature; None: the server's default.
        max_tokens: Tokens of an answer, the reasoning included.
        tokens_field: What `max_tokens` is called in the request: some servers want
            `max_completion_tokens`.
        tries: Answers per decision. After that many illegal ones the move is drawn at random.
        timeout: Seconds that a reply may take.
        retries: Further tries of a request that fails.
        concurrency: Requests at a time.
        budget_tokens: Tokens per match; the agent gives up when they are spent.
        budget_cost: Money per match, needs prices.
        price_in: Price of a million tokens of prompts.
        price_out: Price of a million tokens of answers.
    """

    model: str
    base_url: str | None = None
    key_env: str | None = None
    rules: Literal["short", "full", "none"] = "short"
    temperature: float | None = None
    max_tokens: int = 4096
    tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    tries: int = 3
    timeout: float = 120.0
    retries: int = 5
    concurrency: int = 8
    budget_tokens: int | None = None
    budget_cost: float | None = None
    price_in: float | None = None
    price_out: float | None = None

    @classmethod
    def parse(cls, text: str) -> "LlmSettings":
        """Parses `MODEL,name=value,...`; ValueError names what is wrong and what is allowed."""
        model, *settings = text.split(",")
        if not model:
            raise ValueError("agent 'llm:': name a model, such as llm:MODEL,temperature=0")
        found: dict[str, Any] = {}
        for setting in settings:
            name, _, value = setting.partition("=")
            if name not in _READERS:
                raise ValueError(
                    f"agent {shown(f'llm:{text}')}: no setting {shown(name)}; there are "
                    f"{', '.join(_READERS)}, such as llm:{model},temperature=0"
                )
            found[name] = _READERS[name](name, value)
        prices = [found.get("price_in"), found.get("price_out")]
        if None in prices and (found.get("budget_cost") is not None or prices != [None, None]):
            raise ValueError(f"agent {shown(f'llm:{text}')}: set both price_in and price_out")
        return cls(model, **found)

    def key(self) -> str | None:
        """Returns the API key; ValueError if the environment has none.

        None with a `base_url` and no `key_env`: a key is sent only where it belongs.
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


def _number(check: Callable[..., Any], low: float, high: float) -> Callable[[str, str], Any]:
    def read(name: str, text: str) -> Any:
        value: Any = text  # which `check` names if it is no number
        with suppress(ValueError):
            value = int(text) if check is integer else float(text)
        return check(name, value, low, high)

    return read


def _text(allowed: tuple[str, ...] = ()) -> Callable[[str, str], str]:
    def read(name: str, text: str) -> str:
        if allowed:
            one_of(name, text, allowed)
        elif not text:
            raise ValueError(f"{name}: no text")
        return text

    return read


_READERS: Mapping[str, Callable[[str, str], Any]] = {
    "base_url": _text(),
    "key_env": _text(),
    "rules": _text(("short", "full", "none")),
    "temperature": _number(real, 0, 10),
    "max_tokens": _number(integer, 1, 10**6),
    "tokens_field": _text(("max_tokens", "max_completion_tokens")),
    "tries": _number(integer, 1, 100),
    "timeout": _number(real, 0.01, 86_400),
    "retries": _number(integer, 0, 100),
    "concurrency": _number(integer, 1, 256),
    "budget_tokens": _number(integer, 1, 10**15),
    "budget_cost": _number(real, 0, 10**9),
    "price_in": _number(real, 0, 10**6),
    "price_out": _number(real, 0, 10**6),
}
assert list(_READERS) == [each.name for each in fields(LlmSettings)][1:]


class _Decision(NamedTuple):
    action: int | None  # None: all answers were illegal
    refused: int
    comment: str


class LlmAgent:
    """A language model that is asked for every move, with the rules and its view as text.

    An answer without a legal move is refused with a message that teaches, and the model is asked
    again, `tries` answers in all; then the move is drawn at random, so that a game always ends by
    its rules. Equal seeds don't give equal games, unless the server answers equally.

    Args:
        settings: The settings; `LlmSettings.parse` reads them.

    Attributes:
        name: `llm:MODEL`.
        usage: What was used since the last `begin_match`.

    Raises:
        ValueError: The extra `llm` isn't installed, or there is no API key.
    """

    def __init__(self, settings: LlmSettings) -> None:
        check_installed("llm", "openai")
        self.name, self.settings = f"llm:{settings.model}", settings
        self._key, self._lock = settings.key(), threading.Lock()
        self._client: ChatClient | None = None
        self.begin_match()

    def begin_match(self) -> None:
        """Sets the counts and the budget back."""
        self.usage = Usage(cost=None if self.settings.price_in is None else 0.0)

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Asks for a move in each position, several at a time; int64[N].

        Raises:
            GivesUpError: The budget is spent, or the server fails.
        """
        from linkzoo_training.agents.chat import ChatClient

        settings, actions = self.settings, RandomAgent().act(positions)
        prompts = [ask(positions.game, state) for state in positions.states]
        client = self._client = self._client or ChatClient(
            settings.base_url, self._key, settings.timeout, settings.retries
        )
        tasks = [
            partial(self._decide, client, positions.game, state, prompt)
            for state, prompt in zip(positions.states, prompts, strict=True)
        ]
        try:
            for row, decision in enumerate(_run_tasks(tasks, settings.concurrency)):
                positions.comments[row] = decision.comment
                self.usage.decisions += 1
                self.usage.legal += decision.refused == 0
                self.usage.refused += decision.refused
                self.usage.drawn += decision.action is None
                if decision.action is not None:
                    actions[row] = decision.action
        except BaseException:
            self._client = None
            client.close()  # ends the requests under way
            raise
        return actions

    def _decide(self, client: "ChatClient", game: Game, state: Record, prompt: str) -> _Decision:
        """Asks until an answer is legal, or no more answers are allowed."""
        from linkzoo_training.agents.chat import BadReplyError

        said: list[str] = []
        messages: list[Message] = [{"role": "user", "content": prompt}]
        if self.settings.rules != "none":
            options = game.chosen_options(state)
            rules = rules_text(game, options, full=self.settings.rules == "full")
            messages.insert(0, {"role": "system", "content": rules})
        for refused in range(self.settings.tries):
            try:
                reply = self._ask(client, messages)
                said += [reply.reasoning[:_MAX_COMMENT], reply.text[-_MAX_COMMENT:]]
                action = read_move(game, state, reply.text)
            except MoveError as error:
                messages.append({"role": "assistant", "content": reply.text[-_MAX_COMMENT:] or "-"})
                messages.append({"role": "user", "content": f"{error}. Answer with a line Move:"})
                said.append(f"(refused: {error})")
            except BadReplyError as error:
                said.append(f"(no reply: {error})")
            else:
                return _Decision(action, refused, "\n\n".join(filter(None, said)))
        said.append("(drawn at random)")
        return _Decision(None, self.settings.tries, "\n\n".join(filter(None, said)))

    def _ask(self, client: "ChatClient", messages: "list[Message]") -> "Reply":
        settings = self.settings
        self._check_budget()
        options: dict[str, Any] = {
            "model": settings.model,
            settings.tokens_field: settings.max_tokens,
        }
        if settings.temperature is not None:
            options["temperature"] = settings.temperature
        reply = client.complete(messages, options)
        sent = sum(len(message["content"]) for message in messages)
        received = len(reply.text) + len(reply.reasoning)
        with self._lock:
            usage, counted = self.usage, (reply.prompt_tokens, reply.completion_tokens)
            usage.requests += 1
            usage.estimated += None in counted
            estimates = (-(-characters // _CHARACTERS) for characters in (sent, received))
            tokens = [own if count is None else count for count, own in zip(counted, estimates)]  # noqa: B905
            usage.prompt_tokens += tokens[0]
            usage.completion_tokens += tokens[1]
            if settings.price_in is not None and settings.price_out is not None:
                cost = tokens[0] * settings.price_in + tokens[1] * settings.price_out
                usage.cost = (usage.cost or 0.0) + cost / 1e6
        return reply

    def _check_budget(self) -> None:
        """Raises GivesUpError if the budget is spent; requests under way aren't counted yet."""
        with self._lock:
            tokens, cost = self.usage.tokens, self.usage.cost
        most, money = self.settings.budget_tokens, self.settings.budget_cost
        if most is not None and tokens >= most:
            raise GivesUpError(f"{self.name}: the budget of {most:,} tokens is spent")
        if money is not None and cost is not None and cost >= money:
            raise GivesUpError(f"{self.name}: the budget of {money:g} is spent")


def _run_tasks(tasks: Sequence[Callable[[], _Decision]], concurrency: int) -> Iterator[_Decision]:
    """Yields the results in order; an exception leaves out what hasn't begun.

    The threads are daemons: Ctrl-C doesn't wait for a server.
    """
    left: SimpleQueue[tuple[Future[_Decision], Callable[[], _Decision]]] = SimpleQueue()
    futures: list[Future[_Decision]] = [Future() for _ in tasks]
    for pair in zip(futures, tasks, strict=True):
        left.put(pair)

    def work() -> None:
        while True:
            try:
                future, task = left.get_nowait()
            except Empty:
                return
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(task())
                except BaseException as error:  # noqa: BLE001 - the one who asked gets it
                    future.set_exception(error)

    for _ in range(min(concurrency, len(tasks))):
        threading.Thread(target=work, daemon=True).start()
    try:
        for future in futures:
            yield future.result()
    finally:
        for future in futures:
            future.cancel()
