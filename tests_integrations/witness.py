"""Environments that note what happens in them, to compare with what a framework made of it."""

from typing import Any, ClassVar

from linkzoo.integrations import FeatureEnv, FeatureSeatEnv


class Witness(FeatureEnv):
    """Notes every move and the rewards of every finished game, of all its instances."""

    moves: ClassVar[list[bool]] = []  # whether each was legal
    results: ClassVar[list[dict[str, float]]] = []  # by agent, in the order of the ends

    def step(self, action: int | None) -> None:
        """As always, and noted."""
        if action is not None:
            self.moves.append(bool(self.infos[self.agent_selection]["action_mask"][action]))
        playing = not any(self.terminations.values())
        super().step(action)
        if playing and all(self.terminations.values()):
            self.results.append(dict(self.rewards))


class WitnessSeat(FeatureSeatEnv):
    """One seat of a Witness; notes the rewards of its seat too."""

    aec = Witness
    returns: ClassVar[list[float]] = []

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """As always, and noted."""
        found = super().step(action)
        if found[2]:
            self.returns.append(self.env.rewards[self.agent])
        return found


def forget() -> None:
    """Starts the notes anew."""
    for notes in (Witness.moves, Witness.results, WitnessSeat.returns):
        notes.clear()
