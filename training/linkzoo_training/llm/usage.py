"""Counts of a language model's requests, tokens, cost and illegal answers."""

from dataclasses import asdict, dataclass
from typing import Any

from linkzoo_training.agents.reports import StopMatchError

__all__ = ["LlmUsage"]


class GivesUpError(StopMatchError):
    """A model can't go on: its budget is spent, or its server doesn't answer."""


@dataclass
class LlmUsage:
    """The usage of a language model in one match.

    Attributes:
        decisions: Moves that the model was asked for.
        legal: Decisions with a legal first answer.
        refused: Answers without a legal move.
        drawn: Decisions drawn at random, after the allowed number of refused answers.
        requests: Answered requests.
        replayed: Requests among them that a journal answered.
        prompt_tokens: Tokens of the prompts.
        completion_tokens: Tokens of the answers, including the reasoning.
        estimated: Requests without token counts from the server; they count one token for every
            three characters.
        cost: The price of the tokens, in the currency of the prices; None without prices.
    """

    decisions: int = 0
    legal: int = 0
    refused: int = 0
    drawn: int = 0
    requests: int = 0
    replayed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: int = 0
    cost: float | None = None

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.prompt_tokens + self.completion_tokens

    def __str__(self) -> str:
        legal_share = self.legal / max(1, self.decisions)
        tokens = f"{self.prompt_tokens:,} + {self.completion_tokens:,} tokens"
        if self.estimated:
            tokens = f"about {tokens}"
        parts = [
            f"{legal_share:.1%} of {self.decisions:,} moves legal at once",
            f"{self.drawn:,} drawn at random",
            f"{tokens} in {self.requests:,} requests",
        ]
        if self.replayed:
            parts.append(f"{self.replayed:,} of them from the journal")
        if self.cost is not None:
            parts.append(f"cost {self.cost:.4g}")
        return ", ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON data."""
        return asdict(self)
