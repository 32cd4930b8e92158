"""Trains DQN of Tianshou by self-play: one seat against a pool of frozen copies of itself.

    pip install ".[tianshou]"
    python examples/tianshou_dqn.py love_links --steps 16000

Takes any game by name. DQN reads the mask, `obs.mask`, for greedy actions, random actions and
targets. A transition leads to the same seat's next decision, for any number of players. The
environment raises at the first illegal move, so a finished run had none.
"""

import argparse
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import linkzoo
from linkzoo.integrations import FunctionAgent, OpponentPool
from linkzoo.integrations.tianshou import TianshouVectorEnv
from linkzoo_training import against_baselines


def network(envs: TianshouVectorEnv) -> Net:
    """Returns a fully connected Q-network."""
    inputs = len(envs.envs.features)
    actions = envs.envs.game.num_actions
    return Net(state_shape=(inputs,), action_shape=(actions,), hidden_sizes=(256, 256))


def learner(envs: TianshouVectorEnv) -> DQN:
    """Returns DQN with 5-step targets."""
    return DQN(
        policy=DiscreteQLearningPolicy(model=network(envs), action_space=envs.action_space[0]),
        optim=AdamOptimizerFactory(lr=3e-4),
        gamma=0.99,
        n_step_return_horizon=5,
        target_update_freq=200,
    )


def frozen(dqn: DQN, envs: TianshouVectorEnv, name: str) -> FunctionAgent:
    """Returns a frozen copy of the greedy policy."""
    copy = network(envs)
    copy.load_state_dict(dqn.policy.model.state_dict())

    def choose(features: NDArray[np.float32], mask: NDArray[np.int8]) -> Any:
        with torch.no_grad():
            value = copy(features)[0].numpy()
        return np.where(mask == 1, value, -np.inf).argmax(1)

    return FunctionAgent(name, choose)


def arguments() -> argparse.Namespace:
    """Returns the command-line arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", help=f"{linkzoo.game_names()} or module:name")
    parser.add_argument("--players", type=int, default=None)
    parser.add_argument("--steps", type=int, default=16_000, help="decisions of the learner")
    parser.add_argument("--envs", type=int, default=32, help="games in lock-step")
    parser.add_argument("--blocks", type=int, default=50, help="blocks of each match")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    """Trains, with matches against random and greedy before and after."""
    args = arguments()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)  # noqa: NPY002  # Tianshou explores with it
    pool = OpponentPool([linkzoo.RandomAgent()])
    envs = TianshouVectorEnv(
        args.game, args.envs, args.players, seat=None, opponent=pool, skip_forced=True
    )
    envs.seed(args.seed)
    dqn = learner(envs)
    collector = Collector[Any](dqn, envs, VectorReplayBuffer(50_000, args.envs))

    def strength(when: str) -> None:
        agent = frozen(dqn, envs, "dqn")
        print(f"{when}:", against_baselines(args.game, agent, args.players, args.blocks))

    def explore(epoch: int, step: int) -> None:
        """Lowers epsilon before each collection, and adds an opponent once per epoch."""
        dqn.policy.set_eps_training(max(0.05, 1 - step / (0.5 * args.steps)))
        if len(pool.agents) < epoch:
            pool.add(frozen(dqn, envs, f"dqn-{step}"))
            print(f"{step:>9,} decisions, {len(pool.agents)} opponents")

    strength("untrained")
    collector.reset()
    collector.collect(n_step=min(1_024, args.steps), random=False)
    epochs = 8
    done = dqn.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            max_epochs=epochs,
            epoch_num_steps=max(args.envs, args.steps // epochs),
            collection_step_num_env_steps=4 * args.envs,
            batch_size=128,
            update_step_num_gradient_steps_per_sample=0.125,
            training_fn=explore,
            test_collector=None,
            show_progress=False,
            verbose=False,
        )
    )
    print(f"{done.train_step:>9,} decisions, {done.train_episode:,} games")
    strength(f"after {done.train_step} decisions")


if __name__ == "__main__":
    main()
