"""Trains PPO of TorchRL by self-play: masked categorical actions, returns of each seat.

    pip install "linkzoo[torchrl]"
    python examples/torchrl_ppo.py love_links --steps 20000

Any game by name. One network plays all seats. `illegal="raise"` stops the run at the first illegal
move, so a finished one had none; the match at the end checks every move too.
"""

import argparse
import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import PettingZooWrapper, SerialEnv
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss

import linkzoo
from linkzoo.integrations import FeatureEnv, FunctionAgent, seat_advantages
from linkzoo_training import against_random

GROUP = "seats"  # all agents in one group: their tensors are stacked, [..., P, ...]


def actor(policy: nn.Module, features: Any, *prefix: str) -> ProbabilisticActor:
    """The policy as TorchRL plays it: reads the key `features` and others under `prefix`."""
    logits = TensorDictModule(policy, in_keys=[features], out_keys=[(*prefix, "logits")])
    return ProbabilisticActor(
        logits,
        in_keys={"logits": (*prefix, "logits"), "mask": (*prefix, "action_mask")},
        out_keys=[(*prefix, "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=(*prefix, "log_prob"),
    )


def network(inputs: int, outputs: int) -> nn.Sequential:
    """A fully connected network."""
    return nn.Sequential(
        nn.Linear(inputs, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, outputs)
    )


def decisions(batch: Any, critic: nn.Module) -> tuple[TensorDict, NDArray[np.float32]]:
    """The decisions of a batch [N, T] in order of time, and the last rewards of finished games.

    Of the rows of all seats only that of the seat to act is a decision; `mask` tells which.
    """
    seats = batch[GROUP]
    seat = seats["mask"].int().argmax(-1)  # [N, T]
    acting = seats["mask"]
    rows = {
        "features": seats["observation", "observation"][acting],
        "action_mask": seats["action_mask"][acting],
        "action": seats["action"][acting],
        "log_prob": seats["log_prob"][acting],
    }
    with torch.no_grad():
        value = critic(rows["features"]).reshape(seat.shape)
    reward = batch["next", GROUP, "reward"].squeeze(-1)  # [N, T, P]
    done = batch["next", "done"].squeeze(-1)
    by_time = (x.transpose(0, 1).numpy() for x in (seat, value, reward, done))
    advantage = torch.from_numpy(seat_advantages(*by_time)).T
    rows["advantage"] = advantage.reshape(-1, 1)
    rows["value_target"] = (advantage + value).reshape(-1, 1)
    return TensorDict(rows, [seat.numel()]), reward[done].numpy()


def main() -> None:
    """Trains, and plays random before and after."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", help=f"{linkzoo.games} or module:name")
    parser.add_argument("--players", type=int, default=None)
    parser.add_argument("--steps", type=int, default=20_000, help="decisions, of all seats")
    parser.add_argument("--envs", type=int, default=8)
    parser.add_argument("--rollout", type=int, default=256, help="decisions of each game")
    parser.add_argument("--blocks", type=int, default=50, help="of the matches with random")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    for message in (
        "PettingZoo in TorchRL is tested using",
        "The given NumPy array is not writable",
    ):
        warnings.filterwarnings("ignore", message)

    def make() -> PettingZooWrapper:
        env = FeatureEnv(args.game, args.players, illegal="raise", skip_forced=True)
        return PettingZooWrapper(env, use_mask=True, group_map={GROUP: env.possible_agents})

    one = FeatureEnv(args.game, args.players)
    policy = network(len(one.features), one.game.num_actions)
    critic = network(len(one.features), 1)
    values = ValueOperator(critic, in_keys=["features"])
    loss = ClipPPOLoss(actor(policy, "features"), values, entropy_coeff=0.01)
    loss.set_keys(sample_log_prob="log_prob")
    optimizer = torch.optim.Adam(loss.parameters(), 1e-3)

    def choose(features: NDArray[np.float32], mask: NDArray[np.int8]) -> Any:
        with torch.no_grad():
            logits = policy(torch.from_numpy(features))
        return MaskedCategorical(logits=logits, mask=torch.from_numpy(mask).bool()).sample().numpy()

    def strength(when: str) -> None:
        agent = FunctionAgent("torchrl", choose)
        print(f"{when}:", against_random(args.game, agent, args.players, args.blocks))

    strength("untrained")
    envs = SerialEnv(args.envs, make)
    envs.set_seed(args.seed)
    collector = Collector(
        envs,
        actor(policy, (GROUP, "observation", "observation"), GROUP),
        frames_per_batch=args.envs * args.rollout,
        total_frames=args.steps,
        auto_register_policy_transforms=False,
    )
    played, games = 0, 0
    for batch in collector:
        rows, rewards = decisions(batch, critic)
        assert np.allclose(rewards.sum(-1), 0, atol=1e-5), "payoffs are zero-sum"
        games, played = games + len(rewards), played + len(rows)
        for _ in range(4):
            for part in torch.randperm(len(rows)).split(512):
                losses = loss(rows[part])
                total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                optimizer.zero_grad()
                total.backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
        print(f"{played:>9,} decisions, {games:,} games, entropy {losses['entropy'].mean():.2f}")
    collector.shutdown()
    strength(f"after {played} decisions")


if __name__ == "__main__":
    main()
