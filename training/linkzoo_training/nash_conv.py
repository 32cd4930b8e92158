"""A callback that measures a run's exact distance from an equilibrium, in a small game."""

import json
from collections.abc import Mapping

from linkzoo import exact
from linkzoo.core.arguments import integer
from linkzoo_training.callbacks import Callback, Run

FILE = "nash_conv.jsonl"


class NashConv(Callback):
    """Appends the NashConv of the policy to `nash_conv.jsonl` in the run's folder.

    `linkzoo train ... --callback linkzoo_training.nash_conv:NashConv`. A line has `iteration`,
    `steps`, `seconds`, `num_players`, `nash_conv`, and `values` and `gains` by seat.

    Args:
        times: How often to measure in a run, at equal shares of its budget.

    Raises:
        ValueError: `times` is out of range.
    """

    def __init__(self, times: int = 20) -> None:
        self._times = integer("times", times, 1, 10**6)
        self._done = 0
        self._trees: dict[int, exact.GameTree] = {}

    def on_start(self, run: Run) -> None:
        """Builds the tree of each number of players.

        Raises:
            ValueError: A tree can't be built, or is too large.
        """
        config = run.config
        for players in config.players:
            self._trees[players] = exact.tree(config.game, players, config.options)
        self._done = int(run.progress * self._times)

    def on_iteration(self, run: Run, metrics: Mapping[str, float]) -> None:  # noqa: ARG002 - as Callback
        """Measures the policy whenever a further share of the budget is spent."""
        done = int(run.progress * self._times)
        if done == self._done:
            return
        self._done = done
        agent = run.agent()
        with (run.folder / FILE).open("a", encoding="utf-8") as file:
            for players, tree in self._trees.items():
                result = exact.exploitability(agent, tree)
                line = {
                    "iteration": run.iteration,
                    "steps": run.steps,
                    "seconds": run.seconds,
                    "num_players": players,
                    "nash_conv": result.nash_conv,
                    "values": result.values.tolist(),
                    "gains": result.gains.tolist(),
                }
                file.write(json.dumps(line) + "\n")
