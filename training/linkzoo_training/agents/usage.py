"""An agent's usage in a match: requests, tokens, money, and illegal answers."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass
class Usage:
    """Counts of one match.

    Attributes:
        decisions: Moves that were asked for.
        legal: Decisions whose first answer was a legal move.
        refused: Answers that stated no legal move.
        drawn: Decisions that were drawn at random, after as many refused answers as are allowed.
        requests: Answered requests.
        prompt_tokens: Tokens of the prompts.
        completion_tokens: Tokens of the answers, the reasoning included.
        estimated: Requests whose tokens the server didn't count: one per three characters.
        cost: The price of the tokens, in the currency of the prices; None without prices.
    """

    decisions: int = 0
    legal: int = 0
    refused: int = 0
    drawn: int = 0
    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: int = 0
    cost: float | None = None

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.prompt_tokens + self.completion_tokens

    def __str__(self) -> str:
        share = self.legal / self.decisions if self.decisions else 0.0
        tokens = f"{self.prompt_tokens:,} + {self.completion_tokens:,} tokens"
        parts = [
            f"{share:.1%} of {self.decisions:,} moves legal at once",
            f"{self.drawn:,} drawn at random",
            f"{'about ' * (self.estimated > 0)}{tokens} in {self.requests:,} requests",
        ]
        return ", ".join([*parts, *([] if self.cost is None else [f"cost {self.cost:.4g}"])])

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON data."""
        return asdict(self)
