"""Trains DQN of Tianshou by self-play: one seat against a pool of frozen copies of itself.

    pip install "linkzoo[tianshou]"
    python examples/tianshou_dqn.py love_links --steps 20000

Any game by name. DQN reads the mask from the observation, `obs.mask`, for its greedy moves, its
random ones and its targets. Seen from one seat, a transition leads to the same seat's next
decision, whatever the number of players. `illegal="raise"` stops the run at the first illegal move,
so a finished one had none; the match at the end checks every move too.
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
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import linkzoo
from linkzoo.features import FeatureMap
from linkzoo.integrations import FeatureSeatEnv, FunctionAgent, OpponentPool
from linkzoo_training import against_random


def main() -> None:
    """Trains, and plays random before and after."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", help=f"{linkzoo.games} or module:name")
    parser.add_argument("--players", type=int, default=None)
    parser.add_argument("--steps", type=int, default=20_000, help="decisions of the learner")
    parser.add_argument("--envs", type=int, default=8)
    parser.add_argument("--blocks", type=int, default=50, help="of the matches with random")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)  # noqa: NPY002  # Tianshou explores with it

    pool = OpponentPool([linkzoo.RandomAgent()])

    def make() -> FeatureSeatEnv:
        return FeatureSeatEnv(
            args.game,
            args.players,
            keys=("obs", "mask"),
            seat=None,
            opponent=pool,
            illegal="raise",
            skip_forced=True,
        )

    one = make()
    inputs, actions = len(FeatureMap(one.env.game.observation)), one.env.game.num_actions

    def network() -> Net:
        return Net(state_shape=(inputs,), action_shape=(actions,), hidden_sizes=(256, 256))

    policy = DiscreteQLearningPolicy(model=network(), action_space=one.action_space)
    dqn = DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=3e-4),
        gamma=0.99,
        n_step_return_horizon=5,
        target_update_freq=200,
    )

    def frozen(name: str) -> FunctionAgent:
        """The greedy policy as it is now."""
        copy = network()
        copy.load_state_dict(policy.model.state_dict())

        def choose(features: NDArray[np.float32], mask: NDArray[np.int8]) -> Any:
            with torch.no_grad():
                value = copy(features)[0].numpy()
            return np.where(mask == 1, value, -np.inf).argmax(1)

        return FunctionAgent(name, choose)

    def strength(when: str) -> None:
        agent = frozen("dqn")
        print(f"{when}:", against_random(args.game, agent, args.players, args.blocks))

    def explore(epoch: int, step: int) -> None:
        """Before each collection: less chance as time goes on, and now and then a new opponent."""
        policy.set_eps_training(max(0.05, 1 - step / (0.5 * args.steps)))
        if len(pool.agents) < epoch:
            pool.add(frozen(f"dqn-{step}"))

    strength("untrained")
    envs = DummyVectorEnv([make for _ in range(args.envs)])
    envs.seed(args.seed)
    collector = Collector[Any](dqn, envs, VectorReplayBuffer(50_000, args.envs))
    collector.reset()
    collector.collect(n_step=min(1_024, args.steps), random=False)
    epochs = 8
    done = dqn.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            max_epochs=epochs,
            epoch_num_steps=max(args.envs, args.steps // epochs),
            collection_step_num_env_steps=16 * args.envs,
            batch_size=128,
            update_step_num_gradient_steps_per_sample=0.125,
            training_fn=explore,
            test_collector=None,
            show_progress=False,
            verbose=False,
        )
    )
    print(
        f"{done.train_step:,} decisions, {done.train_episode:,} games, {len(pool.agents)} opponents"
    )
    strength(f"after {done.train_step} decisions")
    buffer = collector.buffer
    returns = buffer.rew[: len(buffer)][buffer.done[: len(buffer)]]
    print(f"mean return of the {len(returns)} games in the buffer {returns.mean():+.2f}")


if __name__ == "__main__":
    main()
