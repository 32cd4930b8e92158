"""OpenSpiel's algorithms with networks in the benchmark: `nfsp`, `deep_cfr` and `escher`.

NFSP (Heinrich and Silver 2016) has the settings of OpenSpiel's example for Leduc hold'em, Deep CFR
(Brown et al. 2019) and ESCHER (McAleer et al. 2023) those of OpenSpiel's code. Their inputs are
observations, which forget what a seat has seen before.
"""

from collections.abc import Callable

import numpy as np
import torch
from lab.hidden.judge import Runner
from lab.hidden.open_spiel_games import load
from numpy.typing import NDArray
from open_spiel.python import rl_environment
from open_spiel.python.pytorch import deep_cfr, escher, nfsp

from linkzoo import Positions

_NFSP = {
    "hidden_layers_sizes": [128],
    "reservoir_buffer_capacity": int(2e6),
    "anticipatory_param": 0.1,
    "replay_buffer_capacity": int(2e5),
    "min_buffer_size_to_learn": 1000,
    "batch_size": 128,
    "learn_every": 64,
    "rl_learning_rate": 0.01,
    "sl_learning_rate": 0.01,
    "optimizer_str": "sgd",
    "epsilon_decay_duration": int(20e6),
    "epsilon_start": 0.06,
    "epsilon_end": 0.001,
}
_NFSP_EPISODES = 50  # between looks at the clock

Forward = Callable[[int, torch.Tensor], torch.Tensor]  # seat and observations to logits


class NetworkAgent:
    """An agent that plays the softmax of a network's logits.

    Args:
        forward: Returns the logits [N, num_actions] of a seat's observations [N, size].
        shares: Whether these are shares of actions instead of logits.
    """

    name = "network"

    def __init__(self, forward: Forward, *, shares: bool = False) -> None:
        self._forward = forward
        self._shares = shares

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns the likeliest actions; the benchmark asks for probabilities."""
        actions: NDArray[np.int64] = self.probabilities(positions).argmax(1)
        return actions

    def probabilities(self, positions: Positions) -> NDArray[np.float64]:
        """Returns the probabilities at N positions, [N, num_actions]."""
        observations = positions.observation.reshape(len(positions), -1)
        features = torch.from_numpy(observations.astype(np.float32))
        legal = torch.from_numpy(positions.action_mask.astype(bool))
        result = torch.zeros(legal.shape, dtype=torch.float64)
        seats = positions.states["seat"]
        for seat in np.unique(seats).tolist():
            rows = torch.from_numpy(np.flatnonzero(seats == seat))
            with torch.inference_mode():
                output = self._forward(seat, features[rows]).double()
            if self._shares:
                shares = output.clamp(min=1e-9) * legal[rows]
                result[rows] = shares / shares.sum(1, keepdim=True)
            else:
                result[rows] = output.masked_fill(~legal[rows], -torch.inf).softmax(1)
        return result.numpy()


def run_nfsp(runner: Runner) -> None:
    """Steps are plies."""
    environment = rl_environment.Environment(load(runner.column))
    environment.seed(runner.seed)
    size = environment.observation_spec()["info_state"][0]
    actions = environment.action_spec()["num_actions"]
    agents = [
        nfsp.NFSP(seat, size, actions, seed=runner.seed * 10 + seat, **_NFSP) for seat in range(2)
    ]
    agent = NetworkAgent(lambda seat, features: agents[seat]._avg_network(features))
    steps = 0
    going = True
    while going:
        for _ in range(_NFSP_EPISODES):
            time_step = environment.reset()
            while not time_step.last():
                output = agents[time_step.observations["current_player"]].step(time_step)
                time_step = environment.step([output.action])
                steps += 1
            for learner in agents:
                learner.step(time_step)
        going = runner.goes_on(lambda: agent, steps)
    runner.finish(steps, losses=[str(learner.loss) for learner in agents])


def run_deep_cfr(runner: Runner) -> None:
    """Steps are decisions in memories.

    The solver trains its policy network at the end; here that is done whenever it is measured,
    off the clock but the last time.
    """
    torch.manual_seed(runner.seed)
    np.random.seed(runner.seed)  # noqa: NPY002 - the solver draws from it
    solver = deep_cfr.DeepCFRSolver(load(runner.column), seed=runner.seed)
    losses: list[float | None] = []

    def policy() -> NetworkAgent:
        solver._reinitialize_policy_network()
        losses.append(solver._learn_strategy_network())
        return NetworkAgent(lambda _, features: solver._policy_network(features), shares=True)

    steps = 0
    going = True
    while going:
        for seat in range(2):
            for _ in range(solver._num_traversals):
                solver._traverse_game_tree(solver._root_node, seat)
            solver._reinitialize_advantage_network(seat)
            solver._learn_advantage_network(seat)
        solver._iteration += 1
        steps = sum(len(memory) for memory in solver.advantage_buffers)
        going = runner.goes_on(policy, steps)
    runner.finish(steps, losses=losses[-1:])


def run_escher(runner: Runner) -> None:
    """Steps are states that it touched."""
    torch.manual_seed(runner.seed)
    np.random.seed(runner.seed)  # noqa: NPY002 - the algorithm draws from it
    settings = escher.TrainConfig(load(runner.column))
    learner = escher.Agent(settings.game, escher.Config())

    def policy() -> NetworkAgent:
        escher._train_avg_policy(learner)
        return NetworkAgent(lambda _, features: learner.avg_policy_net(features))

    going = True
    while going:
        escher._train_regret(settings, learner)
        learner.t += 1
        going = runner.goes_on(policy, learner.num_touched)
    runner.finish(learner.num_touched)


_RUNS = {"nfsp": run_nfsp, "deep_cfr": run_deep_cfr, "escher": run_escher}


def main() -> None:
    runner = Runner()
    torch.set_num_threads(1)
    _RUNS[runner.algorithm](runner)


if __name__ == "__main__":
    main()
