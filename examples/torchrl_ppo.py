"""Trains PPO of TorchRL by self-play, with masked actions and advantages per seat.

    pip install ".[torchrl]"
    python examples/torchrl_ppo.py love_links --steps 400000

Takes any game by name. One network plays all seats of many games in lock-step. The environment
raises at the first illegal move, so a finished run had none.
"""

import argparse
import time
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector, MultiCollector
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss

import linkzoo
from linkzoo.integrations import FeatureMap, FunctionAgent, seat_advantages
from linkzoo.integrations.torchrl import SelfPlayEnv
from linkzoo_training import against_baselines


def actor(policy: nn.Module) -> ProbabilisticActor:
    """Wraps the policy as a TorchRL actor with masked actions."""
    return ProbabilisticActor(
        TensorDictModule(policy, in_keys=["observation"], out_keys=["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key="log_prob",
    )


def network(inputs: int, outputs: int) -> nn.Sequential:
    """Returns a fully connected network."""
    return nn.Sequential(
        nn.Linear(inputs, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, outputs)
    )


def decisions(batch: Any, critic: nn.Module) -> tuple[TensorDict, NDArray[np.float32]]:
    """Returns a batch's decisions with advantages, and the rewards of finished games."""
    with torch.no_grad():
        value = critic(batch["observation"]).squeeze(-1)
    reward = batch["next", "reward"]  # [N, T, P]
    done = batch["next", "done"].squeeze(-1)
    by_time = (x.transpose(0, 1).numpy() for x in (batch["seat"], value, reward, done))
    advantage = torch.from_numpy(seat_advantages(*by_time)).T
    rows = batch.select("observation", "action_mask", "action", "log_prob").reshape(-1)
    rows["advantage"] = advantage.reshape(-1, 1)
    rows["value_target"] = (advantage + value).reshape(-1, 1)
    return rows, reward[done].numpy()


def learn(loss: ClipPPOLoss, optimizer: torch.optim.Optimizer, rows: TensorDict) -> float:
    """Runs four epochs of PPO on a batch; returns the entropy of the policy."""
    for _ in range(4):
        for part in torch.randperm(len(rows)).split(512):
            losses = loss(rows[part])
            total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
            optimizer.zero_grad()
            total.backward()
            nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
            optimizer.step()
    return float(losses["entropy"].mean())


def collect(args: argparse.Namespace, policy: ProbabilisticActor) -> Any:
    """Returns a collector, in this process or in others; its batches are [N, T]."""
    make = partial(SelfPlayEnv, args.game, args.envs, args.players, skip_forced=True)
    frames: dict[str, int] = {
        "frames_per_batch": args.envs * args.rollout * max(1, args.runners),
        "total_frames": args.steps,
    }
    collector = (
        MultiCollector([make] * args.runners, policy, sync=True, cat_results=0, **frames)
        if args.runners
        else Collector(make(), policy, **frames)
    )
    collector.set_seed(args.seed)
    return collector


def arguments() -> argparse.Namespace:
    """Returns the command-line arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", help=f"{linkzoo.game_names()} or module:name")
    parser.add_argument("--players", type=int, default=None)
    parser.add_argument("--steps", type=int, default=400_000, help="decisions of all seats")
    parser.add_argument("--envs", type=int, default=64, help="games in lock-step per runner")
    parser.add_argument("--rollout", type=int, default=128, help="decisions of each game")
    parser.add_argument("--runners", type=int, default=0, help="processes that play; 0: this one")
    parser.add_argument("--blocks", type=int, default=50, help="blocks of each match")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    """Trains, with matches against random and greedy before and after."""
    args = arguments()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    game = linkzoo.get_game(args.game)
    inputs = len(FeatureMap(game.observation.spec))
    policy = network(inputs, game.num_actions)
    critic = network(inputs, 1)
    loss = ClipPPOLoss(actor(policy), ValueOperator(critic), entropy_coeff=0.01)
    loss.set_keys(sample_log_prob="log_prob")
    optimizer = torch.optim.Adam(loss.parameters(), 1e-3)

    def choose(features: NDArray[np.float32], mask: NDArray[np.int8]) -> Any:
        with torch.no_grad():
            logits = policy(torch.from_numpy(features))
        return MaskedCategorical(logits=logits, mask=torch.from_numpy(mask).bool()).sample().numpy()

    def strength(when: str) -> None:
        agent = FunctionAgent("torchrl", choose)
        print(f"{when}:", against_baselines(args.game, agent, args.players, args.blocks))

    strength("untrained")
    collector = collect(args, actor(policy))
    played = 0
    games = 0
    began = time.perf_counter()
    for frames in collector:
        rows, rewards = decisions(frames, critic)
        assert np.allclose(rewards.sum(-1), 0, atol=1e-5), "payoffs are zero-sum"
        games = games + len(rewards)
        played = played + len(rows)
        entropy = learn(loss, optimizer, rows)
        collector.update_policy_weights_()
        speed = played / (time.perf_counter() - began)
        print(f"{played:>9,} decisions, {speed:,.0f}/s, {games:,} games, entropy {entropy:.2f}")
    collector.shutdown()
    strength(f"after {played} decisions")


if __name__ == "__main__":
    main()
