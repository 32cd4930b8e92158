"""Language models as agents: `llm:MODEL`, on any server that speaks OpenAI's chat protocol."""

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, Positions, RandomAgent
from linkzoo.core.state import Record
from linkzoo.text import MoveError, TextTurn, rules_text
from linkzoo_training.agents.reports import AgentReport
from linkzoo_training.llm.journal import Journal, open_journal, request_key
from linkzoo_training.llm.rate_limit import shared_limit
from linkzoo_training.llm.settings import LlmSettings
from linkzoo_training.llm.usage import GivesUpError, LlmUsage
from linkzoo_training.resources import check_installed

if TYPE_CHECKING:
    from linkzoo_training.llm.chat import ChatClient, Message
    from linkzoo_training.llm.reply import Reply

_MAX_COMMENT = 4000  # characters of an answer or a reasoning in records and follow-up requests
_CHARACTERS_PER_TOKEN = 3  # where the server doesn't count tokens


def make_agent(settings: str) -> "LlmAgent":
    """Makes the agent `llm:SETTINGS`; `agents.extensions` calls this.

    Raises:
        ValueError: The settings are wrong, the extra `llm` isn't installed, or there is no API key.
    """
    return LlmAgent(LlmSettings.parse(settings))


class _Decision(NamedTuple):
    action: int | None  # None: all answers were illegal
    refused: int
    comment: str


class LlmAgent:
    """A language model that chooses every move from the rules and its view as text.

    After an answer without a legal move, the model gets a message with the reason and is asked
    again, up to `tries` answers; then the move is drawn at random, so that every game ends by its
    rules. Equal seeds give equal games only if the server repeats its answers.

    Args:
        settings: The settings; `LlmSettings.parse` reads them.

    Attributes:
        name: `llm:MODEL`.
        usage: The usage since the last `begin_match`.

    Raises:
        ValueError: The extra `llm` isn't installed, or there is no API key.
    """

    def __init__(self, settings: LlmSettings) -> None:
        check_installed("llm", "openai")
        self.name = f"llm:{settings.model}"
        self.settings = settings
        self._key = settings.key()
        self._journal: Journal | None = None
        if settings.journal is not None:
            self._journal = open_journal(settings.journal)
        self._lock = threading.Lock()
        self._client: ChatClient | None = None
        self.begin_match()

    def begin_match(self) -> None:
        """Resets the usage, and with it the budget."""
        self.usage = LlmUsage()
        if self.settings.price_in is not None:
            self.usage.cost = 0.0

    def report(self) -> AgentReport:
        """Returns the usage since the last `begin_match`."""
        return AgentReport(str(self.usage), self.usage.to_dict())

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Asks for a move in each position, several at a time.

        Returns:
            int64[N], the actions.

        Raises:
            GivesUpError: The budget is spent, or the server fails.
        """
        from linkzoo_training.llm.chat import ChatClient

        settings = self.settings
        turns = self._turns(positions)
        if self._client is None:
            self._client = ChatClient(
                settings.base_url, self._key, settings.timeout, settings.retries
            )
        client = self._client
        tasks = [
            partial(self._decide, client, turn, self._rules(positions.game, state), int(seed))
            for turn, state, seed in zip(turns, positions.states, positions.seeds, strict=True)
        ]
        actions = RandomAgent().act(positions)
        try:
            for row, decision in enumerate(_run_tasks(tasks, settings.concurrency)):
                self._count(decision)
                positions.comments[row] = decision.comment
                if decision.action is not None:
                    actions[row] = decision.action
        except BaseException:
            self._client = None
            client.close()  # ends the requests under way
            raise
        return actions

    def _count(self, decision: _Decision) -> None:
        usage = self.usage
        usage.decisions += 1
        usage.refused += decision.refused
        if decision.refused == 0:
            usage.legal += 1
        if decision.action is None:
            usage.drawn += 1

    def _turns(self, positions: Positions) -> list[TextTurn]:
        """Returns the decisions as text, with their history if the positions come with it."""
        game = positions.game
        settings = self.settings.prompts
        past_of = positions.past_of
        if past_of is None:
            return [TextTurn(game, state, (), settings) for state in positions.states]
        return [
            TextTurn(game, state, past_of(index).lines(int(state.seat)), settings)
            for index, state in enumerate(positions.states)
        ]

    def _rules(self, game: Game, state: Record) -> "list[Message]":
        """Returns the message with the rules; none if the settings leave them out."""
        rules = self.settings.rules
        if rules == "none":
            return []
        text = rules_text(
            game,
            game.chosen_options(state),
            full=rules == "full",
            notation=self.settings.moves != "listed",
        )
        return [{"role": "system", "content": text}]

    def _decide(
        self, client: "ChatClient", turn: TextTurn, rules: "list[Message]", seed: int
    ) -> _Decision:
        """Asks until an answer is legal, or no tries or no time remain.

        A request of the legal moves is no try.
        """
        from linkzoo_training.llm.chat import BadReplyError

        comments: list[str] = []
        messages: list[Message] = [*rules, {"role": "user", "content": turn.prompt()}]
        refused = 0
        end = time.monotonic() + (self.settings.move_seconds or math.inf)
        while refused < self.settings.tries and time.monotonic() < end:
            try:
                reply = self._ask(client, messages, seed)
                comments.append(client.without_key(reply.reasoning)[:_MAX_COMMENT])
                comments.append(client.without_key(reply.text)[-_MAX_COMMENT:])
                action = turn.read(reply.text)
            except MoveError as error:
                messages.append({"role": "assistant", "content": reply.text[-_MAX_COMMENT:] or "-"})
                messages.append({"role": "user", "content": f"{error}. Answer with a line Move:"})
                if error.kind != "request":
                    refused += 1
                    comments.append(f"(refused: {client.without_key(str(error))})")
            except BadReplyError as error:
                refused += 1
                comments.append(f"(no reply: {error})")
            else:
                return _Decision(action, refused, _joined(comments))
        comments.append("(drawn at random)")
        return _Decision(None, refused, _joined(comments))

    def _ask(self, client: "ChatClient", messages: "list[Message]", seed: int) -> "Reply":
        settings = self.settings
        self._check_budget()
        options: dict[str, Any] = {
            "model": settings.model,
            settings.tokens_field: settings.max_tokens,
        }
        if settings.reasoning_effort is not None:
            options["reasoning_effort"] = settings.reasoning_effort
        if settings.temperature is not None:
            options["temperature"] = settings.temperature
        key = request_key([messages, options], seed)
        known = None
        if self._journal is not None:
            known = self._journal.find(key)
        reply = known or self._complete(client, messages, options)
        if self._journal is not None and known is None:
            self._journal.add(key, reply)
        with self._lock:
            self._add_tokens(messages, reply)
            if known is not None:
                self.usage.replayed += 1
        return reply

    def _complete(
        self, client: "ChatClient", messages: "list[Message]", options: Mapping[str, Any]
    ) -> "Reply":
        """Sends a request when the rate limit allows it."""
        settings = self.settings
        if settings.requests_per_minute is not None:
            limit = shared_limit(settings.base_url, settings.model, settings.requests_per_minute)
            limit.wait()
        return client.complete(messages, options)

    def _add_tokens(self, messages: "list[Message]", reply: "Reply") -> None:
        """Adds a request with its tokens and their cost to the usage."""
        usage = self.usage
        prompt_tokens = reply.prompt_tokens
        if prompt_tokens is None:
            prompt_tokens = _estimated_tokens(*(message["content"] for message in messages))
        completion_tokens = reply.completion_tokens
        if completion_tokens is None:
            completion_tokens = _estimated_tokens(reply.text, reply.reasoning)
        usage.requests += 1
        if reply.prompt_tokens is None or reply.completion_tokens is None:
            usage.estimated += 1
        usage.prompt_tokens += prompt_tokens
        usage.completion_tokens += completion_tokens
        price_in = self.settings.price_in
        price_out = self.settings.price_out
        if price_in is not None and price_out is not None:
            cost = prompt_tokens * price_in + completion_tokens * price_out
            usage.cost = (usage.cost or 0.0) + cost / 1e6

    def _check_budget(self) -> None:
        """Raises GivesUpError if the budget is spent; requests under way aren't counted yet."""
        with self._lock:
            tokens = self.usage.tokens
            cost = self.usage.cost
        max_tokens = self.settings.budget_tokens
        if max_tokens is not None and tokens >= max_tokens:
            raise GivesUpError(f"{self.name}: the budget of {max_tokens:,} tokens is spent")
        max_cost = self.settings.budget_cost
        if max_cost is not None and cost is not None and cost >= max_cost:
            raise GivesUpError(f"{self.name}: the budget of {max_cost:g} is spent")


def _joined(comments: Sequence[str]) -> str:
    return "\n\n".join(filter(None, comments))


def _estimated_tokens(*texts: str) -> int:
    return -(-sum(map(len, texts)) // _CHARACTERS_PER_TOKEN)


def _run_tasks(tasks: Sequence[Callable[[], _Decision]], concurrency: int) -> Iterator[_Decision]:
    """Yields the results in order; an exception cancels the tasks that haven't begun.

    The threads are daemons: Ctrl-C doesn't wait for a server.
    """
    waiting: SimpleQueue[tuple[Future[_Decision], Callable[[], _Decision]]] = SimpleQueue()
    futures: list[Future[_Decision]] = [Future() for _ in tasks]
    for pair in zip(futures, tasks, strict=True):
        waiting.put(pair)

    def work() -> None:
        while True:
            try:
                future, task = waiting.get_nowait()
            except Empty:
                return
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(task())
                except BaseException as error:  # noqa: BLE001 - raised again by `result`
                    future.set_exception(error)

    for _ in range(min(concurrency, len(tasks))):
        threading.Thread(target=work, daemon=True).start()
    try:
        for future in futures:
            yield future.result()
    finally:
        for future in futures:
            future.cancel()
