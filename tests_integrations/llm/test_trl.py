"""TRL gets what was played: the model's tokens marked, the rewards of the game, whole games."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, LlamaConfig

from linkzoo.integrations.trl import GameRollouts, game_rewards
from linkzoo.text import TextEnv
from tests_integrations.running import load_example, run_example

SMALL: dict[str, Any] = {"board_size": 3, "threshold": 4}
BRIEFLY = "--steps 1 --seeds 1 --generations 4 --batches 1 --match 4".split()


class Scripted:
    """A model that always gives the same tokens, and notes what it was shown."""

    device, training = "cpu", True

    def __init__(self, answer: list[int]) -> None:
        self.answer, self.shown = answer, list[list[int]]()

    def eval(self) -> None:
        self.training = False

    def train(self, on: bool) -> None:
        self.training = on

    def generate(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, **_: Any
    ) -> torch.Tensor:
        self.shown += [
            row[mask == 1].tolist() for row, mask in zip(input_ids, attention_mask, strict=True)
        ]
        answer = torch.tensor(self.answer).expand(len(input_ids), -1)
        return torch.cat([input_ids, answer], dim=1)


@pytest.mark.parametrize("said", ["1", "no"])
def test_tokens_are_the_conversation(said: str) -> None:
    tokenizer = load_example("trl_grpo").character_tokenizer()
    after = tokenizer("junk").input_ids  # beyond the end of the answer
    model = Scripted(tokenizer(f"{said}<end>").input_ids + after)
    kind: dict[str, Any] = {"rules": "none", "max_illegal": 1, "illegal_cost": 0.5, **SMALL}
    found = GameRollouts(lambda: TextEnv("linkage", **kind), tokenizer, 9).play(model, [1, 2, 3])
    assert model.training
    for game, seed in enumerate([1, 2, 3]):
        env = TextEnv("linkage", **kind)
        text, mask, rewards, legal, done = f"{env.reset(seed)}:", list[int](), [], [], False
        first = tokenizer(text).input_ids
        shown = [first]
        while not done:
            step = env.step(said)
            more = "" if step.done else f"{step.message}:"
            text += f"{said}<end>{more}"
            mask += [1] * (len(said) + 1) + [0] * len(tokenizer(more).input_ids)
            shown.append(tokenizer(text).input_ids)
            rewards.append(step.reward)
            legal.append(step.legal)
            done = step.done
        assert found["prompt_ids"][game] == first
        assert first + found["completion_ids"][game] == shown.pop()
        assert all(context in model.shown for context in shown)
        assert found["env_mask"][game] == mask
        assert found["returns"][game] == sum(rewards)
        assert (found["answers"][game], found["legal"][game]) == (len(legal), sum(legal))


def test_self_play_is_a_conversation_of_each_seat() -> None:
    """Rows of different seats share a game; each has its seat's messages, tokens and return."""
    tokenizer = load_example("trl_grpo").character_tokenizer()
    model = Scripted(tokenizer("1<end>").input_ids)
    kind: dict[str, Any] = {"rules": "short", "seat": "all", "illegal_cost": 0.5}
    rollouts = GameRollouts(lambda: TextEnv("love_links", 3, **kind), tokenizer, 9)
    names = [prompt[0]["content"] for prompt in rollouts.seeds(2)["prompt"]]
    assert names == ["0 0", "0 1", "0 2", "1 0", "1 1", "1 2"]
    rows = [(5, 0), (5, 0), (5, 1), (5, 2), (5, 1), (6, 2)]
    played = rollouts.play(model, *zip(*rows, strict=True))
    assert played["seats"] == [index for _, index in rows]
    decisions: dict[int, int] = {}
    for row, (seed, seat) in enumerate(rows):
        decisions[seed] = 0
        env = TextEnv("love_links", 3, **kind)
        text = env.reset(seed)
        total = 0.0
        talk: list[str] = []
        done = False
        while not done:
            if env.seat == seat:
                talk += [f"{text}:", "1<end>"]
            step = env.step("1")
            decisions[seed] += 1
            text = step.message
            done = step.done
            total += step.rewards[seat]
        first, *rest = [tokenizer(part).input_ids for part in talk]
        assert played["prompt_ids"][row] == first
        assert played["completion_ids"][row] == [token for part in rest for token in part]
        assert sum(played["env_mask"][row]) == 2 * played["answers"][row] == len(talk)
        assert played["returns"][row] == total
    assert len(model.shown) == 2 * decisions[5] + decisions[6]  # three games, not six


def test_a_seat_that_never_answered_has_no_return() -> None:
    tokenizer = load_example("trl_grpo").character_tokenizer()
    model = Scripted(tokenizer("no<end>").input_ids)
    kind: dict[str, Any] = {"rules": "none", "seat": "all", "max_illegal": 0, **SMALL}
    rollouts = GameRollouts(lambda: TextEnv("linkage", **kind), tokenizer, 9)
    played = rollouts.play(model, [1, 1], [0, 1])
    assert played["returns"] == [-1.0, None]
    assert played["answers"] == [1, 0]
    assert [sum(mask) for mask in played["env_mask"]] == [3, 0]
    assert all(played["prompt_ids"])
    assert all(played["completion_ids"])
    logged: dict[str, float] = {}
    assert game_rewards(**played, log_metric=logged.__setitem__) == [-1.0, None]
    assert logged == {"legal": 0.0, "return/seat_0": -1.0}


TEMPLATES = {
    # As of ChatML with another eos, Gemma, GLM (the next turn's token ends one) and Llama 2.
    "<turn>{role}:{content}<stop>\n": "<stop>",
    "<turn>{role}\n{content}<stop>\n\n": "<stop>",
    "<turn>{content}": "<turn>",
    "{content}<end>": "<end>",
}


def chat_tokenizer(turn: str) -> Any:
    """A tokenizer by characters, with more special tokens and turns of this form."""
    tokenizer = load_example("trl_grpo").character_tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": ["<turn>", "<stop>"]})
    role = "{{ message['role'] }}"
    content = "{{ message['content'] }}"
    body = turn.replace("{role}", role).replace("{content}", content)
    first = turn.partition("{content}")[0].replace("{role}", "assistant")
    tokenizer.chat_template = (
        "{% for message in messages %}" + body + "{% endfor %}"
        "{% if add_generation_prompt %}" + first + "{% endif %}"
    )
    return tokenizer


@pytest.mark.parametrize("turn", TEMPLATES)
@pytest.mark.parametrize("cut_off", [False, True])
def test_turns_end_as_the_template_says(turn: str, cut_off: bool) -> None:
    """What the model is shown is the template's own text of the whole conversation."""
    tokenizer = chat_tokenizer(turn)
    end = TEMPLATES[turn]
    said = "1" if cut_off else f"1{end}"
    model = Scripted(tokenizer(said, add_special_tokens=False).input_ids)
    kind: dict[str, Any] = {"rules": "none", **SMALL}
    rollouts = GameRollouts(lambda: TextEnv("linkage", **kind), tokenizer, 9)
    found = rollouts.play(model, [1])
    env = TextEnv("linkage", **kind)
    talk = [{"role": "user", "content": env.reset(1)}]
    step = env.step("1")
    while not step.done:
        talk += [{"role": "assistant", "content": "1"}, {"role": "user", "content": step.message}]
        whole = tokenizer.apply_chat_template(talk, add_generation_prompt=True, return_dict=False)
        assert whole in model.shown
        step = env.step("1")
    assert len(talk) >= 3
    tokens = zip(found["completion_ids"][0], found["env_mask"][0], strict=True)
    own = [token for token, mask in tokens if mask]
    assert own == model.answer * found["answers"][0]


def test_a_template_without_ends_is_refused() -> None:
    tokenizer = chat_tokenizer("{role}: {content}\n")
    with pytest.raises(ValueError, match="no special token ends an answer in its chat template"):
        GameRollouts(lambda: TextEnv("linkage"), tokenizer, 9)


def test_the_example_learns(tmp_path: Path) -> None:
    """Fewer on a board of 3x3: a player at random wins 2/3 of the games against another one."""
    options = ["board_size=3", "threshold=4", "seat=1"]
    arguments = [part for option in options for part in ("--option", option)]
    printed = run_example("trl_grpo", "linkage", *arguments, "--out", str(tmp_path))
    found = re.findall(r"([0-9.]+)% legal, ([0-9.]+)% of 400 games won", printed)
    (legal, won), (legal_after, won_after) = [(float(a), float(b)) for a, b in found]
    assert legal < 60
    assert won < 50
    assert legal_after > 95
    assert won_after > 90


@pytest.mark.parametrize("game", ["linkage", "love_links", "linkage --self-play"])
def test_the_example_runs(game: str, tmp_path: Path) -> None:
    printed = run_example("trl_grpo", *game.split(), *BRIEFLY, "--out", str(tmp_path))
    assert "'legal'" in printed
    assert "'return/seat_0'" in printed or "--self-play" not in game
    assert "after:" in printed


def test_the_example_takes_a_model(tmp_path: Path) -> None:
    load_example("trl_grpo").character_tokenizer().save_pretrained(tmp_path)
    sizes = {"hidden_size": 32, "intermediate_size": 32, "num_attention_heads": 2}
    config = LlamaConfig(
        num_hidden_layers=1, vocab_size=98, pad_token_id=0, eos_token_id=1, **sizes
    )
    AutoModelForCausalLM.from_config(config).save_pretrained(tmp_path)
    out = tmp_path / "out"
    printed = run_example(
        "trl_grpo", "love_links", *BRIEFLY, "--model", str(tmp_path), "--out", str(out)
    )
    assert "after:" in printed
    assert (out / "model.safetensors").is_file()
