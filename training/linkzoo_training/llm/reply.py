"""Answers of models."""

from typing import NamedTuple


class Reply(NamedTuple):
    """A model's answer.

    Attributes:
        text: The answer.
        reasoning: The reasoning, if the server shows it.
        prompt_tokens: Tokens of the prompt; None if unknown.
        completion_tokens: Tokens of the answer and the reasoning; None if unknown.
    """

    text: str
    reasoning: str
    prompt_tokens: int | None
    completion_tokens: int | None
