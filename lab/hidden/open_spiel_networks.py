"""OpenSpiel's algorithms with networks in the benchmark: `nfsp`, `deep_cfr` and `escher`.

NFSP (Heinrich and Silver 2016) and Deep CFR (Brown et al. 2019) have the settings of OpenSpiel's
examples, NFSP those for Leduc hold'em; ESCHER (McAleer et al. 2023) has those of OpenSpiel's code.
Their inputs are observations, which forget what a seat has seen before.
"""

import numpy as np
import torch
from lab.hidden.judge import Runner
from lab.hidden.network_agent import NetworkAgent
from lab.hidden.open_spiel_games import load
from open_spiel.python import rl_environment
from open_spiel.python.pytorch import deep_cfr, escher, nfsp

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
_DEEP_CFR = {
    "policy_network_layers": (64,),
    "advantage_network_layers": (64,),
    "num_traversals": 375,
    "learning_rate": 1e-3,
    "batch_size_advantage": 256,
    "batch_size_strategy": 256,
    "memory_capacity": 100_000,
    "policy_network_train_steps": 2500,
    "advantage_network_train_steps": 375,
}


def run_nfsp(runner: Runner) -> None:
    """Steps are plies."""
    environment = rl_environment.Environment(load(runner.column))
    environment.seed(runner.seed)
    size = environment.observation_spec()["info_state"][0]
    actions = environment.action_spec()["num_actions"]
    rates = ("rl_learning_rate", "sl_learning_rate")
    settings = runner.trial.applied(_NFSP, rates, ["batch_size"])
    agents = [
        nfsp.NFSP(seat, size, actions, seed=runner.seed * 10 + seat, **settings)
        for seat in range(runner.column.num_players)
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
    settings = runner.trial.applied(_DEEP_CFR, ["learning_rate"], ["num_traversals"])
    solver = deep_cfr.DeepCFRSolver(load(runner.column), seed=runner.seed, **settings)
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
    config = escher.Config()
    rates = ("value_learning_rate", "regret_learning_rate", "avg_policy_learning_rate")
    batches = ("value_traversals", "regret_traversals")
    vars(config).update(runner.trial.applied(vars(config), rates, batches))
    learner = escher.Agent(settings.game, config)

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
