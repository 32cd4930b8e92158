"""Trains a tiny language model by GRPO in self-play, from nothing, on a CPU: text in, text out.

    pip install ".[train]"
    python examples/llm_self_play.py linkage
    python examples/llm_self_play.py link_o

One model plays both seats, each from what its seat knows. Legal moves are neither listed nor
masked: an illegal answer loses. The model is a transformer of two layers over words. It first reads
random games, and then plays groups of games from the same deal. The advantage of a seat's answers
is its reward against those of the same seat in the group. In Linkage one seat always wins between
good players. There one group in five is self-play; in the others the model as it was after reading
has one of the seats, so that both seats have something to gain.

Linkage on 3x3, where one seat places the hole and the other then takes a role, is measured against
random play, beside the best possible share of wins (expectimax over all positions); an edition of
LINK-O by its exact NashConv.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

from linkzoo import Game, Positions, RandomAgent, exact, get_game
from linkzoo.text import TextEnv, TextGame
from linkzoo.text.moves import legal_moves

PAD = "<pad>"
ASK = "<move>"  # ends a prompt


@dataclass(frozen=True)
class Task:
    """A game as short texts, and how long it is learned."""

    options: dict[str, Any]
    describe: Callable[[dict[str, Any], int], list[str]]  # a position as JSON data, for a seat
    answer: int  # words of a move
    reading: int  # random games
    passes: int  # over them
    deals: int  # in an iteration
    games: int  # from each of them
    iterations: int
    past: bool  # four of five groups have the model after reading in one seat


def describe_linkage(position: dict[str, Any], seat: int) -> list[str]:
    """Returns the phase, the seat's role, the hole, all pieces, and whether the counter is off."""
    role = "none"
    if position["phase"] == "play":
        role = "More" if position["more"] == seat else "Fewer"
    hole = [
        f"hole {'abcdefg'[column]}{row + 1}"
        for row, cells in enumerate(position["board"])
        for column, cell in enumerate(cells)
        if cell == "X"
    ]
    pieces = [f"{colour} {first}-{last}" for colour, first, last in position["pieces"]]
    counter = ["off"] if position["counter"] is None else []
    return [position["phase"], role, *hole, *pieces, *counter]


def describe_link_o(position: dict[str, Any], seat: int) -> list[str]:
    """Returns the seat's tiles, the board, and what is known of the other hand."""
    other = 1 - seat
    board = [
        f"@{space} {placed['tile']} by {placed['by']}"
        for space, placed in position["board"].items()
    ]
    lacks = " ".join(position["lacks"][other])
    other_hand = f"other {len(position['hands'][other])} lacks {lacks}"
    return [f"seat {seat}", *position["hands"][seat], *board, other_hand]


TASKS = {
    "linkage": Task(
        options={"board_size": 3, "threshold": 4, "free_hole": True},
        describe=describe_linkage,
        answer=2,
        reading=12_000,
        passes=3,
        deals=5,
        games=52,
        iterations=600,
        past=True,
    ),
    "link_o": Task(
        options={"board": "mini2x4a-h2", "skip_forced": True},
        describe=describe_link_o,
        answer=3,
        reading=8_000,
        passes=4,
        deals=16,
        games=16,
        iterations=80,
        past=False,
    ),
}


class Tokenizer:
    """A token for each word of some texts; words are separated by spaces."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.words = [PAD, *sorted({word for text in texts for word in text.split()})]
        self._numbers = {word: number for number, word in enumerate(self.words)}

    def encode(self, text: str) -> list[int]:
        """Returns the tokens of a text; unknown words are left out."""
        return [self._numbers[word] for word in text.split() if word in self._numbers]

    def decode(self, tokens: Sequence[int]) -> str:
        """Returns the text of tokens."""
        return " ".join(self.words[token] for token in tokens)


class Block(nn.Module):
    """Attention to earlier tokens, then two linear layers."""

    def __init__(self, width: int, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.attention = nn.Linear(width, 3 * width)
        self.mixed = nn.Linear(width, width)
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Returns the next hidden states, [N, length, width]."""
        rows, length, width = x.shape
        parts = self.attention(self.norms[0](x)).view(rows, length, 3 * self.heads, -1)
        queries, keys, values = parts.transpose(1, 2).chunk(3, 1)
        seen = scaled_dot_product_attention(queries, keys, values, mask)
        x = x + self.mixed(seen.transpose(1, 2).reshape(rows, length, width))
        added: Tensor = self.narrow(gelu(self.wide(self.norms[1](x))))
        return x + added


class Model(nn.Module):
    """A decoder-only transformer; all prompts end at the same place, with pads before them.

    Args:
        vocabulary: The number of tokens.
        length: The length of the longest prompt.
        answer: The length of an answer.
        width: The size of hidden states.
        layers: The number of blocks.
    """

    def __init__(
        self, vocabulary: int, length: int, answer: int, width: int = 64, layers: int = 2
    ) -> None:
        super().__init__()
        self.length = length
        self.answer = answer
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(length + answer, width)
        self.blocks = nn.ModuleList([Block(width) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens: Tensor, prompt: int) -> Tensor:
        """Returns log-probabilities of the tokens after the first `prompt` ones, and of the next.

        Args:
            tokens: Prompts of equal length, with the beginnings of answers, [N, length].
            prompt: The length of the prompts.
        """
        length = tokens.shape[1]
        first = self.length - prompt
        x = self.tokens(tokens) + self.places.weight[first : first + length]
        earlier = torch.ones(length, length, dtype=torch.bool).tril()
        itself = torch.eye(length, dtype=torch.bool)
        mask = (earlier & (tokens != 0)[:, None, :]) | itself
        for block in self.blocks:
            x = block(x, mask[:, None])
        logits: Tensor = self.head(self.norm(x[:, prompt - 1 :]))
        return logits.log_softmax(-1)


def padded(prompts: Sequence[Sequence[int]]) -> Tensor:
    """Returns prompts of tokens with pads before them, [N, length]."""
    length = max(map(len, prompts))
    return torch.tensor([[0] * (length - len(prompt)) + [*prompt] for prompt in prompts])


@torch.no_grad()
def sample(model: Model, prompts: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Returns sampled answers [N, answer] and the log-probabilities of their tokens."""
    texts = padded(prompts)
    length = texts.shape[1]
    chosen = []
    for _ in range(model.answer):
        logs = model(texts, length)[:, -1]
        tokens = logs.exp().multinomial(1)
        chosen.append(logs.gather(1, tokens))
        texts = torch.cat([texts, tokens], 1)
    return texts[:, length:], torch.cat(chosen, 1)


def score(model: Model, prompts: Sequence[Sequence[int]], answers: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the log-probabilities of the tokens of answers, and the entropies, [N, answer]."""
    contexts = padded(prompts)
    logs = model(torch.cat([contexts, answers], 1)[:, :-1], contexts.shape[1])
    return logs.gather(2, answers[:, :, None])[:, :, 0], -(logs.exp() * logs).sum(-1)


class Reader:
    """A game's prompts, the tokenizer and the model, which has read random games.

    Args:
        name: The game's name.
        task: Its task.
        seed: The seed of the random games.
    """

    def __init__(self, name: str, task: Task, seed: int) -> None:
        self.name = name
        self.task = task
        self.texts = self._random_games(seed)
        self.tokenizer = Tokenizer([f"{prompt} {move}" for prompt, move in self.texts])
        longest = max(len(prompt.split()) for prompt, _ in self.texts)
        self.model = Model(len(self.tokenizer.words), longest + 8, task.answer)

    def prompt(self, game: TextGame) -> str:
        """Returns the prompt for the seat to act."""
        return self.describe(game.game.to_dict(game.state), int(game.state.seat))

    def describe(self, position: dict[str, Any], seat: int) -> str:
        """Returns the prompt of a position for a seat."""
        return " ".join([*self.task.describe(position, seat), ASK])

    def make_env(self, **kwargs: Any) -> TextEnv:
        """Returns an environment with this prompt; the first illegal answer loses."""
        return TextEnv(
            self.name,
            max_illegal=0,
            illegal_cost=0.5,
            rules="none",
            prompt=self.prompt,
            **kwargs,
            **self.task.options,
        )

    def _random_games(self, seed: int) -> list[tuple[str, str]]:
        """Returns the prompts of random games, each with the move that was played."""
        texts = []
        for number in range(self.task.reading):
            first = 10**9 * (seed + 1)
            game = TextGame(self.name, seed=first + number, **self.task.options)
            while not game.over:
                action = int(RandomAgent().act(game.positions)[0])
                move = game.game.notation.action_to_text(game.state, action)
                texts.append((self.prompt(game), move))
                game.play(action)
        return texts

    def read(self, batch: int = 256) -> None:
        """Trains the model to continue the random games."""
        prompts = [self.tokenizer.encode(prompt) for prompt, _ in self.texts]
        moves = torch.tensor([self.tokenizer.encode(move) for _, move in self.texts])
        optimizer = torch.optim.AdamW(self.model.parameters(), 3e-3)
        steps = self.task.passes * -(-len(prompts) // batch)
        schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, steps)
        for _ in range(self.task.passes):
            for rows in batches(prompts, batch):
                logs, _ = score(self.model, [prompts[row] for row in rows.tolist()], moves[rows])
                descend(self.model, optimizer, -logs.sum(1).mean())
                schedule.step()


def batches(prompts: Sequence[Sequence[int]], size: int) -> list[Tensor]:
    """Returns batches of rows in random order; prompts of a batch are about equally long."""
    lengths = torch.tensor([len(prompt) for prompt in prompts])
    order = torch.randperm(len(prompts))
    rows = order[lengths[order].argsort(stable=True)].split(size)
    return [rows[number] for number in torch.randperm(len(rows)).tolist()]


def descend(model: Model, optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
    """Takes a step against the gradient of a loss."""
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


@dataclass
class Games:
    """Played games: the returns of the seats, and every answer with its game and seat."""

    returns: NDArray[np.float64]  # [games, seats]
    games: NDArray[np.int64]  # [answers]
    seats: NDArray[np.int64]  # [answers]
    prompts: list[list[int]]
    answers: Tensor
    logs: Tensor  # log-probabilities of the answers' tokens
    legal: float  # the share of legal answers


def play(
    reader: Reader,
    envs: Sequence[TextEnv],
    seeds: Sequence[int],
    past: Model | None = None,
    past_seats: Sequence[int | None] = (),
) -> Games:
    """Plays a game in each environment, side by side.

    Args:
        reader: The model, which answers for the environments' seats.
        envs: The environments.
        seeds: The seeds of their games.
        past: Another model, which answers for the seats of `past_seats`; its answers are left out.
        past_seats: The other model's seat in each game; None for none.
    """
    messages = [env.reset(seed) for env, seed in zip(envs, seeds, strict=True)]
    returns = np.zeros((len(envs), 2))
    rows: list[tuple[int, int]] = []
    prompts: list[list[int]] = []
    answers = []
    logs = []
    legal = 0
    going = [*range(len(envs))]
    while going:
        others = [game for game in going if past_seats and envs[game].seat == past_seats[game]]
        own = [game for game in going if game not in {*others}]
        for model, asked in ((past, others), (reader.model, own)):
            if not asked or model is None:
                continue
            texts = [reader.tokenizer.encode(messages[game]) for game in asked]
            sampled, sampled_logs = sample(model, texts)
            if model is reader.model:
                rows += [(game, envs[game].seat) for game in asked]
                prompts += texts
                answers.append(sampled)
                logs.append(sampled_logs)
            for game, tokens in zip(asked, sampled.tolist(), strict=True):
                step = envs[game].step(reader.tokenizer.decode(tokens))
                returns[game] += step.rewards
                messages[game] = step.message
                if model is reader.model:
                    legal += step.legal
                if step.done:
                    going.remove(game)
    games, seats = np.array(rows).T
    share = legal / len(rows)
    return Games(returns, games, seats, prompts, torch.cat(answers), torch.cat(logs), share)


def advantages(played: Games, group: int) -> Tensor:
    """Returns the advantage of each answer, [answers].

    A game of a group is compared with the others in which the same seat had to answer.

    Args:
        played: The games; those of a group follow each other.
        group: The number of games of a group.
    """
    answered = np.zeros(played.returns.shape)
    answered[played.games, played.seats] = 1
    weights = answered.reshape(-1, group, 2)
    counts = np.maximum(weights.sum(1, keepdims=True), 1)
    returns = played.returns.reshape(-1, group, 2)
    centred = returns - (weights * returns).sum(1, keepdims=True) / counts
    deviations = np.sqrt((weights * centred**2).sum(1, keepdims=True) / counts)
    of_games = centred / (deviations + 1e-4)
    of_answers = of_games.reshape(-1, 2)[played.games, played.seats]
    return torch.tensor(of_answers, dtype=torch.float32)


def learn(
    model: Model,
    optimizer: torch.optim.Optimizer,
    played: Games,
    advantage: Tensor,
    entropy_cost: float,
) -> None:
    """Takes a step of GRPO for every 512 answers."""
    for rows in batches(played.prompts, 512):
        prompts = [played.prompts[row] for row in rows.tolist()]
        logs, entropy = score(model, prompts, played.answers[rows])
        ratio = (logs - played.logs[rows]).exp()
        gain = advantage[rows, None]
        clipped = torch.minimum(ratio * gain, ratio.clamp(0.8, 1.2) * gain)
        descend(model, optimizer, -(clipped + entropy_cost * entropy).mean())


class LanguageAgent:
    """The model as an agent that says how it draws, as NashConv needs it.

    Attributes:
        legal: The probability of legal answers in the positions asked last.
    """

    name = "language model"
    legal = 1.0

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns the likeliest legal action of each position."""
        actions: NDArray[np.int64] = self.probabilities(positions).argmax(1)
        return actions

    @torch.no_grad()
    def probabilities(self, positions: Positions) -> NDArray[np.float64]:
        """Returns the shares of the legal answers' probabilities, [N, num_actions]."""
        reader = self._reader
        dense = np.zeros((len(positions), positions.game.num_actions))
        prompts = []
        answers = []
        entries = []
        for row, state in enumerate(positions.states):
            text = reader.describe(positions.game.to_dict(state), int(state["seat"]))
            for move, action in legal_moves(positions.game, state).items():
                prompts.append(reader.tokenizer.encode(text))
                answers.append(reader.tokenizer.encode(move))
                entries.append((row, action))
        numbers = np.array(entries)
        for chosen in batches(prompts, 512):
            asked = [prompts[number] for number in chosen.tolist()]
            given = torch.tensor([answers[number] for number in chosen.tolist()])
            logs, _ = score(reader.model, asked, given)
            rows, actions = numbers[chosen.numpy()].T
            dense[rows, actions] = logs.sum(1).exp().numpy() + 1e-12
        totals = dense.sum(1, keepdims=True)
        self.legal = float(totals.mean())
        shares: NDArray[np.float64] = dense / totals
        return shares


def best_shares(options: dict[str, Any]) -> tuple[float, float]:
    """Returns the best possible shares of wins against random play in Linkage, by seat."""
    game = get_game("linkage")
    start = TextGame("linkage", **options).state
    first, second = (_expectimax(game, start, seat, {}) for seat in range(2))
    return first, second


def _expectimax(game: Game, state: Any, seat: int, known: dict[bytes, float]) -> float:
    """Returns the share of wins of a seat that plays best against random play.

    Args:
        game: The game.
        state: A position.
        seat: The seat.
        known: The shares of positions that were met.
    """
    if state["seat"] < 0:
        return float(state["winners"] >> seat & 1)
    key = state.tobytes()
    if key not in known:
        shares = []
        for action in game.guide.legal(state):
            after = game.guide.after(state, action)
            shares.append(_expectimax(game, after, seat, known))
        known[key] = max(shares) if state["seat"] == seat else sum(shares) / len(shares)
    return known[key]


def report(reader: Reader, games: int, tree: exact.GameTree | None) -> str:
    """Returns the NashConv in a tree; without one, the shares of wins against random play."""
    if tree is not None:
        agent = LanguageAgent(reader)
        distance = exact.exploitability(agent, tree).nash_conv
        return f"{100 * agent.legal:.1f}% legal, NashConv {distance:.4f}"
    parts = []
    for seat in range(2):
        envs = [reader.make_env(seat=seat) for _ in range(games)]
        played = play(reader, envs, range(10**6, 10**6 + games))
        won = 100 * (played.returns[:, seat] > 0).mean()
        parts.append(f"seat {seat}: {100 * played.legal:.1f}% legal, {won:.1f}% of games won")
    return "; ".join(parts)


def main() -> None:
    """Reads random games, learns by self-play, and measures before, between and after."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("game", choices=list(TASKS))
    add("--iterations", type=int, help="of self-play (default: the game's)")
    add("--reading", type=int, help="random games to read (default: the game's)")
    add("--match", type=int, default=1000, help="games in each seat against random play")
    add("--reports", type=int, default=6, help="number of measurements while it learns")
    add("--learning-rate", type=float, default=1e-3)
    add("--entropy", type=float, default=0.01, help="weight of the entropy at first; 0 at the end")
    add("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    task = TASKS[args.game]
    iterations = args.iterations or task.iterations
    if args.reading is not None:
        task = replace(task, reading=args.reading)
    tree = None
    if args.game == "linkage":
        first, second = best_shares(task.options)
        print(f"best possible against random play: {100 * first:.1f}%, {100 * second:.1f}%")
    else:
        tree = exact.tree(args.game, options=task.options)
        print(f"NashConv of random play: {exact.exploitability(RandomAgent(), tree).nash_conv:.4f}")
    begun = time.process_time()

    def measure(title: str) -> None:
        spent = time.process_time() - begun
        print(f"{title}, {spent:.0f} CPU s: {report(reader, args.match, tree)}", flush=True)

    reader = Reader(args.game, task, args.seed)
    reader.read()
    measure("after reading")
    optimizer = torch.optim.AdamW(reader.model.parameters(), args.learning_rate, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, iterations)
    envs = [reader.make_env(seat="all") for _ in range(task.deals * task.games)]
    past = deepcopy(reader.model)
    past_seats: list[int | None] = [None] * len(envs)
    if task.past:
        of_groups = [None, 1, 0, 1, 0]
        past_seats = [of_groups[game // task.games % len(of_groups)] for game in range(len(envs))]
    for iteration in range(1, iterations + 1):
        first = iteration * task.deals
        seeds = np.repeat(np.arange(first, first + task.deals), task.games).tolist()
        played = play(reader, envs, seeds, past, past_seats)
        entropy_cost = args.entropy * (1 - iteration / iterations)
        learn(reader.model, optimizer, played, advantages(played, task.games), entropy_cost)
        schedule.step()
        if iteration % -(-iterations // args.reports) == 0 or iteration == iterations:
            measure(f"after {iteration} iterations, {100 * played.legal:.1f}% legal in the last")


if __name__ == "__main__":
    main()
