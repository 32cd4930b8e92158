"""The light search: the same four trials for every algorithm that has a rate and a batch."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple


class Trial(NamedTuple):
    """The factors of a trial: published settings are multiplied by them.

    Attributes:
        rate: Factor of all learning rates.
        batch: Factor of the games, decisions or traversals of an iteration, or of a minibatch.
    """

    rate: float
    batch: int

    def applied(
        self, settings: Mapping[str, Any], rates: Collection[str], batches: Collection[str]
    ) -> dict[str, Any]:
        """Returns settings, those with the names of rates and batches multiplied."""
        scaled = dict(settings)
        for name in rates:
            scaled[name] *= self.rate
        for name in batches:
            scaled[name] *= self.batch
        return scaled


TRIALS = (Trial(1, 1), Trial(3, 1), Trial(1 / 3, 1), Trial(1, 2))
COLUMN = "link_o mini2x4a-h3"  # the edition of the search
SECONDS = 60
SEED = 0
# The trial with the lowest NashConv in `search.jsonl`; other algorithms have no settings.
CHOSEN = {
    "ppo": 3,
    "ppo_kl": 3,
    "ppo_average": 2,
    "alphazero": 2,
    "linear": 2,
    "nfsp": 1,
    "deep_cfr": 3,
    "escher": 3,
    "maskable_ppo": 3,
    "rllib_ppo": 1,
}
