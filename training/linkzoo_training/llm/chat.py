"""Requests to servers that speak OpenAI's chat protocol, through the client `openai`."""

import re
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import openai

from linkzoo.core.arguments import parse_json, shown
from linkzoo_training.llm.reply import Reply
from linkzoo_training.llm.usage import GivesUpError

_MAX_BYTES = 2**21  # of a reply
_BAD_GATEWAY = 502  # the status of an error without a status
_SHORTEST_SECRET = 8  # characters of a key

Message = dict[str, str]  # role and content


class BadReplyError(Exception):
    """A reply breaks the protocol: it is too long, too slow, compressed, or not text."""


class _BoundedClient(openai.DefaultHttpxClient):
    """An HTTP client that reads at most 2 MiB, within a time limit for the whole reply.

    A success that is no chat completion, such as `{"error": {"code": 429}}`, becomes the error that
    it reports, so that the request is tried again and never counts as an answer of the model.
    """

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
                    raise BadReplyError("the client was closed")
                if time.monotonic() > end:
                    raise BadReplyError(f"it takes more than {self._seconds:g} s")
        finally:
            response.close()
        dropped = {"content-length", "transfer-encoding"}
        headers = [
            (name, value)
            for name, value in response.headers.multi_items()
            if name.lower() not in dropped
        ]
        status = response.status_code
        if response.is_success:
            status = _reported_error(bytes(content)) or status
        return type(response)(status, headers=headers, content=bytes(content), request=request)


class ChatClient:
    """Asks one server; it may be used by several threads.

    Args:
        base_url: The server's address; None for OPENAI_BASE_URL, else OpenAI's own.
        key: The API key; None for a server that needs none.
        timeout: Time limit of a reply in seconds.
        retries: Further tries of a request that fails; a server's Retry-After is respected.
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
            BadReplyError: The reply breaks the protocol.
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

    def _gives_up(self, reason: str) -> GivesUpError:
        return GivesUpError(f"{self._client.base_url}: {shown(self.without_key(reason))}")

    def without_key(self, text: str) -> str:
        """Hides the key in a text for people: a server may repeat it.

        A key of few characters is no secret but a word for a server that needs none, such as "1".
        """
        if not self._key or len(self._key) < _SHORTEST_SECRET:
            return text
        return text.replace(self._key, "***")

    def close(self) -> None:
        """Ends the connections; requests under way fail."""
        self._client.close()

    def _reply(self, content: bytes) -> Reply:
        """Parses a chat completion; BadReplyError if its content is not text."""
        data = parse_json(content)
        message = data["choices"][0]["message"]
        text = _text_of(message.get("content"), ("text", "output_text"))
        reasoning = message.get("reasoning_content") or message.get("reasoning")
        reasoning = reasoning or _thoughts_of(message.get("content"))
        if not isinstance(text, str) or not isinstance(reasoning, str):
            raise BadReplyError("its content is not text")
        usage = data.get("usage")
        return Reply(
            text=text,
            reasoning=reasoning,
            prompt_tokens=_tokens(usage, "prompt_tokens"),
            completion_tokens=_tokens(usage, "completion_tokens"),
        )


def _reported_error(content: bytes) -> int | None:
    """Returns the HTTP status of an error in a reply; None for a chat completion."""
    try:
        data = parse_json(content)
    except ValueError:
        return _BAD_GATEWAY
    if not isinstance(data, dict):
        return _BAD_GATEWAY
    choices = data.get("choices")
    choice: Any = None
    if isinstance(choices, list) and choices:
        choice = choices[0]
    if not isinstance(choice, dict):
        choice = {}
    error = data.get("error") or choice.get("error")
    if error or choice.get("finish_reason") == "error":
        return _status_of(error)
    if isinstance(choice.get("message"), dict):
        return None
    return _status_of(data)


def _status_of(error: object) -> int:
    """Returns the HTTP status that an error names, else 502."""
    if isinstance(error, dict):
        for name in ("code", "status"):
            status = str(error.get(name))
            if re.fullmatch("[45][0-9][0-9]", status):
                return int(status)
    return _BAD_GATEWAY


def _text_of(content: object, kinds: Collection[str]) -> object:
    """Returns the text of a message's content, which may be a list of parts, of these kinds."""
    if not isinstance(content, list):
        return content or ""
    texts = []
    for part in content:
        if isinstance(part, dict) and part.get("type") in kinds:
            text = part.get("text") or part.get("thinking") or part.get("reasoning") or ""
            if not isinstance(text, str):
                raise BadReplyError("its content is not text")
            texts.append(text)
    return "".join(texts)


def _thoughts_of(content: object) -> object:
    """Returns the reasoning among the parts of a message's content; "" if there is none."""
    if not isinstance(content, list):
        return ""
    return _text_of(content, ("reasoning", "thinking"))


def _tokens(usage: object, name: str) -> int | None:
    """Returns a number of tokens as the server counts them; None if it is missing or absurd."""
    if not isinstance(usage, Mapping):
        return None
    count = usage.get(name)
    if type(count) is not int or not 0 <= count <= _MAX_BYTES:
        return None
    return count
