"""OpenSpiel's Monte Carlo CFR in the benchmark: `es_mccfr` and `os_mccfr`.

External and outcome sampling (Lanctot et al. 2009). Steps are decisions visited.
"""

from typing import Any

import numpy as np
from lab.hidden.judge import Runner
from lab.hidden.open_spiel_games import infoset_names, load
from numpy.typing import NDArray
from open_spiel.python.algorithms import external_sampling_mccfr, mccfr, outcome_sampling_mccfr

_EVERY = 20  # iterations between looks at the clock


class _Counted(mccfr.MCCFRSolverBase):  # type: ignore[misc]  # no types where it isn't installed
    """Counts the decisions that a solver visits."""

    visits = 0

    def _lookup_infostate_info(self, name: str, num_legal_actions: int) -> Any:
        self.visits += 1
        return super()._lookup_infostate_info(name, num_legal_actions)


class ExternalSampling(_Counted, external_sampling_mccfr.ExternalSamplingSolver):  # type: ignore[misc]
    """External sampling."""


class OutcomeSampling(_Counted, outcome_sampling_mccfr.OutcomeSamplingSolver):  # type: ignore[misc]
    """Outcome sampling."""


_SOLVERS = {"es_mccfr": ExternalSampling, "os_mccfr": OutcomeSampling}


def main() -> None:
    runner = Runner()
    tree = runner.tree
    game = load(runner.column)
    numbers = {name: number for number, name in enumerate(infoset_names(game, tree))}
    np.random.seed(runner.seed)  # noqa: NPY002 - the solvers draw from it
    solver = _SOLVERS[runner.algorithm](game)

    def average() -> NDArray[np.float64]:
        entries = tree.uniform()
        for name, (_, sums) in solver._infostates.items():
            first, last = tree.first_entry[numbers[name] :][:2]
            entries[first:last] = sums / sums.sum()
        return entries

    going = True
    while going:
        for _ in range(_EVERY):
            solver.iteration()
        going = runner.goes_on(average, solver.visits)
    runner.finish(solver.visits)


if __name__ == "__main__":
    main()
