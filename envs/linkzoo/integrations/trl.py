"""TRL: whole games as the rollouts of its GRPO trainer.

    rollouts = GameRollouts(lambda: TextEnv("linkage"), tokenizer, max_tokens=400)
    trainer = GRPOTrainer(
        model, game_rewards, args, rollouts.seeds(1000), processing_class=tokenizer,
        rollout_func=rollouts,
    )

Needs the extra `trl`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from datasets import Dataset

from linkzoo.core.arguments import integer
from linkzoo.text.env import TextEnv

Message = dict[str, str]


class GameRollouts:
    """Plays a game for each prompt, which is the game's seed, as one conversation: `rollout_func`.

    The model's tokens are trained on, and the environment's aren't. A game's return is the sum of
    its rewards.

    Args:
        make_env: Makes an environment.
        tokenizer: The model's tokenizer, with a chat template whose turns end with a special token:
            `eos_token`, or another such as `<end_of_turn>`.
        max_tokens: The length of an answer, in tokens; longer answers are cut off.

    Raises:
        ValueError: `max_tokens` is out of range, or the turns of the template end with no special
            token: nothing would end an answer.
    """

    def __init__(self, make_env: Callable[[], TextEnv], tokenizer: Any, max_tokens: int) -> None:
        self._make_env = make_env
        self._tokenizer = tokenizer
        self._max_tokens = integer("max_tokens", max_tokens, 1, 2**31 - 1)
        self._turn_end = self._find_turn_end()
        self._stops = {self._turn_end, tokenizer.eos_token_id}  # either may end an answer

    def seeds(self, count: int) -> Dataset:
        """Returns the games 0..count-1 as a data set of prompts."""
        prompts = [[{"role": "user", "content": str(seed)}] for seed in range(count)]
        return Dataset.from_dict({"prompt": prompts})

    def __call__(self, prompts: Sequence[Sequence[Message]], trainer: Any) -> dict[str, Any]:
        """Returns the results of a `rollout_func`, and the arguments of `game_rewards`."""
        model = trainer.accelerator.unwrap_model(trainer.model)
        return self.play(model, [int(prompt[-1]["content"]) for prompt in prompts])

    def play(self, model: Any, seeds: Sequence[int]) -> dict[str, Any]:
        """Plays a game for each seed, all at once.

        Args:
            model: A causal language model of transformers; its answers are sampled.
            seeds: The seeds of the games, N of them.

        Returns:
            Lists of N: the tokens of the first message (`prompt_ids`) and of all that follows
            (`completion_ids`), 1 for the model's own tokens among the latter (`env_mask`),
            `returns`, and the numbers of `answers` and of legal answers (`legal`). `logprobs` is
            None: TRL computes them.
        """
        envs = [self._make_env() for _ in seeds]
        firsts = [env.reset(seed) for env, seed in zip(envs, seeds, strict=True)]
        prompts = [self._tokens([_user(first)], more=True) for first in firsts]
        completions: list[list[int]] = [[] for _ in seeds]
        masks: list[list[int]] = [[] for _ in seeds]
        returns = [0.0] * len(seeds)
        answers = [0] * len(seeds)
        legal = [0] * len(seeds)
        going = list(range(len(seeds)))
        while going:
            asked = going
            going = []
            sampled = self._answers(model, [prompts[game] + completions[game] for game in asked])
            for game, ids in zip(asked, sampled, strict=True):
                step = envs[game].step(self._tokenizer.decode(ids, skip_special_tokens=True))
                answers[game] += 1
                legal[game] += step.legal
                returns[game] += step.reward
                completions[game] += ids
                masks[game] += [1] * len(ids)
                if not step.done:
                    going.append(game)
                    message = self._next(step.message)
                    if ids[-1] == self._turn_end:
                        message = message[1:]
                    completions[game] += message
                    masks[game] += [0] * len(message)
        return {
            "prompt_ids": prompts,
            "completion_ids": completions,
            "env_mask": masks,
            "logprobs": None,
            "returns": returns,
            "answers": answers,
            "legal": legal,
        }

    def _answers(self, model: Any, contexts: list[list[int]]) -> list[list[int]]:
        """Returns a sampled answer for each context, with the token that ends it.

        An answer that was cut off has no such token.
        """
        batch = self._tokenizer.pad(
            {"input_ids": contexts}, padding_side="left", return_tensors="pt"
        ).to(model.device)
        training = model.training
        model.eval()
        with torch.no_grad():
            ids = model.generate(
                **batch,
                do_sample=True,
                max_new_tokens=self._max_tokens,
                eos_token_id=sorted(self._stops),
            )
        model.train(training)
        answers: list[list[int]] = ids[:, batch["input_ids"].shape[1] :].tolist()
        for answer in answers:
            ends = [answer.index(stop) for stop in self._stops if stop in answer]
            if ends:
                del answer[min(ends) + 1 :]
        return answers

    def _find_turn_end(self) -> int:
        """Returns the special token that ends an answer: the first one after its text.

        Without a token of its own, it is the one that begins the next turn.
        """
        tokenizer = self._tokenizer
        added = tokenizer.added_tokens_decoder.items()
        special = {number for number, token in added if token.special}
        special |= {*tokenizer.all_special_ids}
        special -= {tokenizer.unk_token_id, tokenizer.pad_token_id} - {tokenizer.eos_token_id}
        for token in self._after_answer("?"):
            if token in special:
                return token
        raise ValueError(
            "tokenizer: no special token ends an answer in its chat template, such as "
            f"{tokenizer.eos_token!r}: set another chat_template"
        )

    def _next(self, message: str) -> list[int]:
        """Returns the tokens from the end of an answer, inclusive, to the next answer."""
        after = self._after_answer(message)
        return after[after.index(self._turn_end) :]

    def _after_answer(self, message: str) -> list[int]:
        """Returns the tokens between the text of an answer and the next answer.

        These are the last tokens that two conversations with other answers have in common.
        """
        conversations = [
            self._tokens(
                [_user("?"), {"role": "assistant", "content": answer}, _user(message)], more=True
            )
            for answer in ("!", "0")
        ]
        count = 0
        for token, other in zip(*map(reversed, conversations), strict=False):
            if token != other:
                break
            count += 1
        return conversations[0][len(conversations[0]) - count :]

    def _tokens(self, talk: list[Message], *, more: bool) -> list[int]:
        ids: list[int] = self._tokenizer.apply_chat_template(
            talk, add_generation_prompt=more, return_dict=False
        )
        return ids


def game_rewards(
    returns: list[float],
    answers: list[int],
    legal: list[int],
    log_metric: Callable[[str, float], None],
    **_: Any,
) -> list[float]:
    """Returns the games' returns, as a reward function of TRL; logs the share of legal answers."""
    log_metric("legal", sum(legal) / sum(answers))
    return returns


def _user(content: str) -> Message:
    return {"role": "user", "content": content}
