"""Requests to servers that speak OpenAI's chat protocol, through the client `openai`."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import openai

from linkzoo.core.arguments import parse_json, shown
from linkzoo_training.agents.playing import GivesUpError

_MAX_BYTES = 2**21  # of a reply

Message = dict[str, str]  # role and content


class BadReplyError(Exception):
    """A reply that isn't of the protocol: too long, too slow, compressed, or other JSON."""


class Reply(NamedTuple):
    """A model's answer, its reasoning if the server shows it, and the tokens used, if known."""

    text: str
    reasoning: str
    prompt_tokens: int | None
    completion_tokens: int | None


class _BoundedClient(openai.DefaultHttpxClient):
    """An HTTP client that reads at most 2 MiB, within a time limit for the whole reply."""

    def __init__(self, seconds: float) -> None:
        super().__init__(timeout=seconds, follow_redirects=False)
        self._seconds = seconds

    def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:  # noqa: ARG002
        """Returns the whole response; BadReplyError if it is too long, too slow or compressed."""
        request.headers["Accept-Encoding"] = "identity"
        end = time.monotonic() + self._seconds
        response = super().send(request, stream=True, **options)
        try:
            if response.headers.get("content-encoding", "identity") != "identity":
                raise BadReplyError("it is compressed")
            content = bytearray()
            for chunk in response.iter_bytes():
                content += chunk
                if len(content) > _MAX_BYTES:
                    raise BadReplyError(f"it has more than {_MAX_BYTES:,} bytes")
                if self.is_closed:
                    raise BadReplyError("nobody waits for it any more")
                if time.monotonic() > end:
                    raise BadReplyError(f"it takes more than {self._seconds:g} s")
        finally:
            response.close()
        left = {"content-length", "transfer-encoding"}
        headers = [pair for pair in response.headers.multi_items() if pair[0].lower() not in left]
        return type(response)(
            response.status_code, headers=headers, content=bytes(content), request=request
        )


class ChatClient:
    """Asks one server; it may be used by several threads.

    Args:
        base_url: The server's address; None for OPENAI_BASE_URL, else OpenAI's own.
        key: The API key; None for a server that needs none.
        timeout: Seconds that a reply may take.
        retries: Further tries of a request that fails; a server's Retry-After is kept.
    """

    def __init__(self, base_url: str | None, key: str | None, timeout: float, retries: int) -> None:
        self._key = key
        self._client = openai.OpenAI(
            api_key=key or "none",
            base_url=base_url,
            max_retries=retries,
            timeout=timeout,
            http_client=_BoundedClient(timeout),
        )

    def complete(self, messages: Sequence[Message], options: Mapping[str, Any]) -> Reply:
        """Returns the reply to a conversation.

        Args:
            messages: The conversation.
            options: Fields of the request, such as `model` and `max_tokens`.

        Raises:
            BadReplyError: The reply isn't of the protocol.
            GivesUpError: The server refuses, or fails in all tries.
        """
        create = self._client.chat.completions.with_raw_response.create
        try:
            raw = create(messages=list(messages), **options)
            return self._reply(raw.http_response.content)
        except openai.APIConnectionError as error:
            cause: BaseException = error
            while cause.__cause__ is not None:
                cause = cause.__cause__
                if isinstance(cause, BadReplyError):
                    raise cause from error
            raise self._gives_up(f"{type(error).__name__}: {cause}") from error
        except (openai.OpenAIError, RuntimeError) as error:  # RuntimeError: it was closed
            raise self._gives_up(f"{type(error).__name__}: {error}") from error

    def _gives_up(self, what: str) -> GivesUpError:
        return GivesUpError(f"{self._client.base_url}: {shown(self._without_key(what))}")

    def _without_key(self, text: str) -> str:
        """Returns a text of the server, which may repeat the key that it was sent."""
        return text.replace(self._key, "***") if self._key else text

    def close(self) -> None:
        """Ends the connections; requests under way fail."""
        self._client.close()

    def _reply(self, content: bytes) -> Reply:
        """Returns the parts of a reply; BadReplyError if they aren't there."""
        try:
            data = parse_json(content)
            message = data["choices"][0]["message"]
            text = message.get("content") or ""
            reasoning = message.get("reasoning_content") or message.get("reasoning") or ""
            if not isinstance(text, str) or not isinstance(reasoning, str):
                raise BadReplyError("its content is not text")
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise BadReplyError(f"it is no chat completion ({type(error).__name__})") from error
        usage = data.get("usage")
        counts = (_tokens(usage, name) for name in ("prompt_tokens", "completion_tokens"))
        return Reply(self._without_key(text), self._without_key(reasoning), *counts)


def _tokens(usage: object, name: str) -> int | None:
    """Returns a number of tokens as the server counts them; None if it is missing or absurd."""
    count = usage.get(name) if isinstance(usage, Mapping) else None
    return count if type(count) is int and 0 <= count <= _MAX_BYTES else None
