"""Self-play PPO with a recurrent network and action masks, in one file in the style of CleanRL.

    pip install ".[train]"
    python examples/recurrent_ppo.py              # learns to remember
    python examples/recurrent_ppo.py --forget     # the same network, whose memory is erased

Takes any game, by default `recall.py` beside this file, where memory decides. Each seat of each
game has a memory, which the network reads and writes when the seat acts. An iteration is learned as
sequences, from the memories at its beginning (truncated backpropagation through time).
"""

import argparse
import time
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.distributions import Categorical

import linkzoo
from linkzoo.integrations import FeatureMap, seat_advantages


class Net(nn.Module):
    """Maps features and the memory of the seat to act to a policy, a value and its new memory."""

    def __init__(self, inputs: int, actions: int, forget: bool, width: int = 64) -> None:
        super().__init__()
        self.forget = forget
        self.width = width
        self.inputs = nn.Sequential(nn.Linear(inputs, width), nn.ReLU())
        self.memory = nn.GRUCell(width, width)
        self.policy = nn.Linear(width, actions)
        self.value = nn.Linear(width, 1)
        nn.init.zeros_(self.policy.weight)  # the first policy is uniform

    def forward(
        self, features: Tensor, mask: Tensor, seat: Tensor, memories: Tensor
    ) -> tuple[Categorical, Tensor, Tensor]:
        """Returns the policy over legal actions, the value, and the memories of all seats.

        Args:
            features: float [N, F].
            mask: [N, A], 1 for legal actions.
            seat: int [N], the seat to act.
            memories: float [N, P, H].
        """
        mine = (torch.arange(memories.shape[1]) == seat[:, None])[:, :, None]
        before = (memories * mine).sum(1)
        if self.forget:
            before = torch.zeros_like(before)
        after = self.memory(self.inputs(features), before)
        logits = self.policy(after).masked_fill(mask == 0, -1e9)
        memories = torch.where(mine, after[:, None], memories)
        return Categorical(logits=logits), self.value(after)[:, 0], memories


def learn(
    net: Net,
    optimizer: torch.optim.Optimizer,
    batch: list[Tensor],
    target: Tensor,
    memories: Tensor,
) -> None:
    """Runs four epochs of PPO on sequences [T, N], in minibatches of games."""
    for _ in range(4):
        for games in torch.randperm(target.shape[1]).split(64):
            seen, legal, seat, done, taken, old, gain = (part[:, games] for part in batch)
            memory = memories[games]
            logprobs = []
            values = []
            entropies = []
            for t in range(len(seen)):
                policy, value, memory = net(seen[t], legal[t], seat[t], memory)
                memory = memory * ~done[t][:, None, None]
                logprobs.append(policy.log_prob(taken[t]))
                values.append(value)
                entropies.append(policy.entropy())
            ratio = (torch.stack(logprobs) - old).exp()
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
            loss = loss + 0.5 * (torch.stack(values) - target[:, games]).square().mean()
            loss = loss - 0.01 * torch.stack(entropies).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()


@torch.no_grad()
def win_share(net: Net, game: str, players: int | None, games: int = 2048) -> float:
    """Returns the share of wins of one seat against random moves of the others; ties count half."""
    vec = linkzoo.make_vec(game, games, players)
    features = FeatureMap(vec.game.observation.spec)
    rows = torch.arange(games)
    own = rows % vec.num_players
    memories = torch.zeros(games, vec.num_players, net.width)
    payoff = torch.zeros(games)
    playing = torch.ones(games, dtype=torch.bool)
    now = vec.reset(12345)
    while playing.any():
        seen = torch.from_numpy(features.scaled(now.observation.reshape(games, -1)))
        seat = torch.from_numpy(now.seat).long()
        policy, _, memories = net(seen, torch.from_numpy(now.action_mask), seat, memories)
        random = Categorical(torch.from_numpy(now.action_mask).float()).sample()
        now = vec.step(torch.where(seat == own, policy.sample(), random).numpy())
        ended = torch.from_numpy(now.done) & playing
        payoff[ended] = torch.from_numpy(now.reward)[rows, own][ended]
        playing &= ~ended
    return float((payoff.mean() + 1) / 2)


def main() -> None:
    """Trains, with the share of wins against random moves before and after."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default=f"{Path(__file__).with_name('recall.py')}:GAME")
    parser.add_argument("--players", type=int, default=None)
    parser.add_argument("--forget", action="store_true", help="erase the memory at every turn")
    parser.add_argument("--steps", type=int, default=400_000, help="decisions of all seats")
    parser.add_argument("--envs", type=int, default=256)
    parser.add_argument("--rollout", type=int, default=20, help="decisions of each game")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)

    vec = linkzoo.make_vec(args.game, args.envs, args.players)
    features = FeatureMap(vec.game.observation.spec)
    net = Net(len(features), vec.game.num_actions, args.forget)
    optimizer = torch.optim.Adam(net.parameters(), 2e-3, eps=1e-5)
    shape = (args.rollout, args.envs)
    seen = torch.zeros(*shape, len(features))
    mask = torch.zeros(*shape, vec.game.num_actions, dtype=torch.int8)
    seat, action = torch.zeros(2, *shape, dtype=torch.int64)
    value, logprob = torch.zeros(2, *shape)
    reward = torch.zeros(*shape, vec.num_players)
    done = torch.zeros(*shape, dtype=torch.bool)
    memories = torch.zeros(args.envs, vec.num_players, net.width)
    print(f"untrained: {win_share(net, args.game, args.players):.3f} against random moves")
    now = vec.reset(args.seed)
    began = time.perf_counter()
    for _ in range(max(1, args.steps // (args.rollout * args.envs))):
        first_memories = memories
        for t in range(args.rollout):  # the next step overwrites the arrays of `now`
            seen[t] = torch.from_numpy(features.scaled(now.observation.reshape(args.envs, -1)))
            mask[t] = torch.from_numpy(now.action_mask)
            seat[t] = torch.from_numpy(now.seat)
            with torch.no_grad():
                policy, value[t], memories = net(seen[t], mask[t], seat[t], memories)
            action[t] = policy.sample()
            logprob[t] = policy.log_prob(action[t])
            now = vec.step(action[t].numpy())
            reward[t] = torch.from_numpy(now.reward)
            done[t] = torch.from_numpy(now.done)
            memories = memories * ~done[t][:, None, None]  # a new game begins with none
        gain = torch.from_numpy(
            seat_advantages(seat.numpy(), value.numpy(), reward.numpy(), done.numpy())
        )
        batch = [seen, mask, seat, done, action, logprob, gain]
        learn(net, optimizer, batch, gain + value, first_memories)
    seconds = time.perf_counter() - began
    share = win_share(net, args.game, args.players)
    print(f"after {seconds:.0f} s: {share:.3f} against random moves")


if __name__ == "__main__":
    main()
