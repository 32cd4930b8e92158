"""Trains a language model by GRPO (TRL) in whole games: text in, text out.

    pip install ".[trl,train]"
    python examples/trl_grpo.py linkage \
        --option board_size=3 --option threshold=4 --option seat=1
    python examples/trl_grpo.py love_links --model MODEL --tokens 1000 --learning-rate 1e-6 \
        --self-play

The model plays against an agent, or all seats with `--self-play`: a group of GRPO is then one seat
in the same game several times. Takes any game by name. Without `--model` it makes a model on the
spot, without network: two layers over characters that have read random games for some seconds. It
is told the latest moves, so take it for games without hidden information. The first illegal answer
loses, and costs a little more.
"""

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

from linkzoo import RandomAgent
from linkzoo.integrations.trl import GameRollouts, game_rewards
from linkzoo.text import TextEnv

TEMPLATE = """\
{% for m in messages %}{{ m.content }}{{ "<end>" if m.role == "assistant" else ":" }}{% endfor %}"""


def character_tokenizer() -> Any:
    """Returns a tokenizer with a token for each printable character."""
    tokens = ["<pad>", "<end>", "<unk>", *map(chr, range(32, 127))]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    special = {"pad_token": "<pad>", "eos_token": "<end>", "unk_token": "<unk>"}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token=special["unk_token"]))
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    backend.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, **special)
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def tiny_model(make_env: Callable[[], TextEnv], tokenizer: Any, batches: int) -> Any:
    """Returns a model of two layers that has read random games, 32 in a batch."""
    sizes = {"hidden_size": 64, "intermediate_size": 128, "num_attention_heads": 4}
    tokens = {"vocab_size": len(tokenizer), "pad_token_id": 0, "eos_token_id": 1}
    model = AutoModelForCausalLM.from_config(LlamaConfig(num_hidden_layers=2, **sizes, **tokens))
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, batches)
    env = make_env()
    games: list[tuple[list[int], list[int]]] = []
    while len(games) < 32 * batches:
        ids: list[int] = []
        labels: list[int] = []  # of the answers alone
        message = env.reset(seed=len(games))
        done = False
        while not done:
            game = env.text_game
            action = int(RandomAgent().act(game.positions)[0])
            move = game.game.notation.action_to_text(game.state, action)
            question, answer = tokenizer([f"{message}:", f"{move}<end>"]).input_ids
            ids += question + answer
            labels += [-100] * len(question) + answer
            step = env.step(move)
            message = step.message
            done = step.done
        games.append((ids, labels))
    for start in range(0, 32 * batches, 32):
        batch = games[start : start + 32]
        x, y = [
            pad_sequence([torch.tensor(game[i]) for game in batch], True, padding)
            for i, padding in enumerate([0, -100])
        ]
        optimizer.zero_grad()
        model(input_ids=x, labels=y).loss.backward()
        optimizer.step()
        schedule.step()
    return model


def arguments() -> argparse.Namespace:
    """Returns the command's arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game")
    parser.add_argument("--players", type=int, default=None)
    parser.add_argument("--option", action="append", default=[], help="of TextEnv, name=JSON")
    parser.add_argument("--model", help="a name or folder; none makes a tiny one")
    parser.add_argument("--opponent", help="a name such as greedy; none plays at random")
    parser.add_argument("--self-play", action="store_true", help="train in all seats at once")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--seeds", type=int, default=4, help="different games in a step")
    parser.add_argument("--generations", type=int, default=16, help="of each of them")
    parser.add_argument("--tokens", type=int, default=10, help="of an answer, at most")
    parser.add_argument("--batches", type=int, default=100, help="that the tiny model reads")
    parser.add_argument("--learning-rate", type=float, default=1.5e-3)
    parser.add_argument("--match", type=int, default=400, help="games, before and after")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", default="runs/trl")
    return parser.parse_args()


def main() -> None:
    """Makes or loads a model, plays a match, trains, and plays the match again."""
    args = arguments()
    torch.manual_seed(args.seed)
    kind: dict[str, Any] = {"max_illegal": 0, "illegal_cost": 0.5, "opponent": args.opponent}
    kind |= {name: json.loads(value) for name, value in (o.split("=", 1) for o in args.option)}
    if args.model is None:
        kind["prompt"] = lambda game: "; ".join(game.record.to_dict()["moves"][-8:])
        kind["rules"] = "none"

    def make_env(**changes: Any) -> TextEnv:
        return TextEnv(args.game, args.players, **kind | changes)

    begun = time.process_time()
    if args.model is None:
        tokenizer = character_tokenizer()
        model = tiny_model(make_env, tokenizer, args.batches)
    else:
        tokenizer = AutoTokenizer.from_pretrained(args.model)
        model = AutoModelForCausalLM.from_pretrained(args.model)
    rollouts = GameRollouts(make_env, tokenizer, args.tokens)
    learned = rollouts
    if args.self_play:
        learned = GameRollouts(lambda: make_env(seat="all"), tokenizer, args.tokens)

    def match() -> str:
        played = rollouts.play(model, range(10**6, 10**6 + args.match))
        legal = 100 * sum(played["legal"]) / sum(played["answers"])
        won = 100 * sum(value > 0 for value in played["returns"]) / args.match
        minutes = (time.process_time() - begun) / 60
        return f"{minutes:.1f} minutes, {legal:.1f}% legal, {won:.1f}% of {args.match} games won"

    print("before:", match(), flush=True)
    seeds = learned.seeds(args.steps * args.seeds)
    config = GRPOConfig(
        args.out,
        per_device_train_batch_size=len(seeds) // args.steps * args.generations,
        num_generations=args.generations,
        shuffle_dataset=False,  # the seats of a game follow each other
        max_steps=args.steps,
        learning_rate=args.learning_rate,
        save_strategy="no",
        report_to="none",
        seed=args.seed,
        bf16=torch.cuda.is_available(),
        use_cpu=not torch.cuda.is_available(),
    )
    trainer = GRPOTrainer(
        model, game_rewards, config, seeds, processing_class=tokenizer, rollout_func=learned
    )
    trainer.train()
    print("after:", match(), flush=True)
    trainer.save_model(args.out)


if __name__ == "__main__":
    main()
