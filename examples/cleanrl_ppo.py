"""Self-play PPO in one file, in the style of CleanRL, on the vector environment.

    pip install ".[train]"
    python examples/cleanrl_ppo.py love_links --steps 400000

Takes any game by name. One network plays all seats of N games in lock-step. `make_vec` checks every
action and raises at the first illegal one, so a finished run had none.
"""

import argparse
import time

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

import linkzoo
from linkzoo.integrations import FeatureMap, FunctionAgent, seat_advantages
from linkzoo_training import against_baselines


class Net(nn.Module):
    """Maps features [B, F] to logits [B, A] and a value [B] of the seat to act."""

    def __init__(self, inputs: int, actions: int, width: int = 256) -> None:
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
        )
        self.policy = nn.Linear(width, actions)
        self.value = nn.Linear(width, 1)
        nn.init.zeros_(self.policy.weight)  # the first policy is uniform

    def forward(
        self, features: Tensor, mask: Tensor
    ) -> tuple[torch.distributions.Categorical, Tensor]:
        """Returns the policy over legal actions, and the value."""
        x = self.trunk(features)
        logits = self.policy(x).masked_fill(mask == 0, -1e9)
        return torch.distributions.Categorical(logits=logits), self.value(x)[:, 0]


def learn(net: Net, optimizer: torch.optim.Optimizer, batch: list[Tensor], target: Tensor) -> float:
    """Runs three epochs of PPO on a batch; returns the entropy of the policy."""
    for _ in range(3):
        for rows in torch.randperm(len(target)).split(1024):
            x, legal, taken, old, advantage = (part[rows] for part in batch)
            policy, v = net(x, legal)
            ratio = (policy.log_prob(taken) - old).exp()
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            clipped = ratio.clamp(0.8, 1.2) * advantage
            loss = -torch.min(ratio * advantage, clipped).mean()
            loss = loss + 0.5 * (v - target[rows]).square().mean()
            loss = loss - 0.01 * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
    return float(policy.entropy().mean().detach())


def arguments() -> argparse.Namespace:
    """Returns the command-line arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", help=f"{linkzoo.game_names()} or module:name")
    parser.add_argument("--players", type=int, default=None)
    parser.add_argument("--steps", type=int, default=400_000, help="decisions of all seats")
    parser.add_argument("--envs", type=int, default=64)
    parser.add_argument("--rollout", type=int, default=128, help="decisions of each game")
    parser.add_argument("--blocks", type=int, default=50, help="blocks of each match")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    """Trains, with matches against random and greedy before and after."""
    args = arguments()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)

    vec = linkzoo.make_vec(args.game, args.envs, args.players, skip_forced=True)
    features = FeatureMap(vec.game.observation.spec)
    net = Net(len(features), vec.game.num_actions)
    optimizer = torch.optim.Adam(net.parameters(), 1e-3, eps=1e-5)
    steps = args.rollout
    games = args.envs

    def choose(seen: NDArray[np.float32], mask: NDArray[np.int8]) -> NDArray[np.int64]:
        with torch.no_grad():
            policy, _ = net(torch.from_numpy(seen), torch.from_numpy(mask))
        drawn: NDArray[np.int64] = policy.sample().numpy()
        return drawn

    def strength(when: str) -> None:
        agent = FunctionAgent("cleanrl", choose)
        print(f"{when}:", against_baselines(args.game, agent, args.players, args.blocks))

    strength("untrained")
    seen = torch.zeros(steps, games, len(features))
    mask = torch.zeros(steps, games, vec.game.num_actions, dtype=torch.int8)
    seat, action = torch.zeros(2, steps, games, dtype=torch.int64)
    value, logprob = torch.zeros(2, steps, games)
    reward = torch.zeros(steps, games, vec.num_players)
    done = torch.zeros(steps, games, dtype=torch.bool)
    now = vec.reset(args.seed)
    played = 0
    began = time.perf_counter()
    while played < args.steps:
        for t in range(steps):  # the next step overwrites the arrays of `now`
            seen[t] = torch.from_numpy(features.scaled(now.observation.reshape(games, -1)))
            mask[t] = torch.from_numpy(now.action_mask)
            seat[t] = torch.from_numpy(now.seat)
            with torch.no_grad():
                policy, value[t] = net(seen[t], mask[t])
            action[t] = policy.sample()
            logprob[t] = policy.log_prob(action[t])
            now = vec.step(action[t].numpy())
            reward[t] = torch.from_numpy(now.reward)
            done[t] = torch.from_numpy(now.done)
        gain = torch.from_numpy(
            seat_advantages(seat.numpy(), value.numpy(), reward.numpy(), done.numpy())
        )
        target = (gain + value).flatten()
        batch = [x.flatten(0, 1) for x in (seen, mask, action, logprob, gain)]
        played += steps * games
        entropy = learn(net, optimizer, batch, target)
        speed = played / (time.perf_counter() - began)
        print(f"{played:>9,} decisions, {speed:,.0f}/s, entropy {entropy:.2f}")
    strength(f"after {played} decisions")


if __name__ == "__main__":
    main()
