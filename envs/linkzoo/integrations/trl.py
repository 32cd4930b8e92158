"""TRL: whole games as the rollouts of its GRPO trainer, against an agent or in self-play.

    rollouts = GameRollouts(lambda: TextEnv("linkage", seat="all"), tokenizer, max_tokens=400)
    trainer = GRPOTrainer(
        model, game_rewards, args, rollouts.seeds(1000), processing_class=tokenizer,
        rollout_func=rollouts,
    )

Needs the extra `trl`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from datasets import Dataset

from linkzoo.core.arguments import integer
from linkzoo.text.env import TextEnv

Message = dict[str, str]


@dataclass
class _Conversation:
    """The tokens of a seat's conversation, and the rewards."""

    seat: int
    prompt: list[int] = field(default_factory=list)
    completion: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    total: float = 0.0
    answers: int = 0
    legal: int = 0

    @property
    def tokens(self) -> list[int]:
        """All tokens so far."""
        return self.prompt + self.completion

    def add(self, ids: list[int], own: int) -> None:
        """Appends tokens: the model's own (1) or the environment's (0)."""
        self.completion += ids
        self.mask += [own] * len(ids)


@dataclass
class _Game:
    """A game, and the conversations of the models' seats."""

    env: TextEnv
    talks: dict[int, _Conversation]
    taken: set[int] = field(default_factory=set)  # the numbers of seats that are returned
    done: bool = False

    @property
    def asked(self) -> _Conversation:
        """The conversation of the seat that answers next."""
        return self.talks[self.env.seat]


class GameRollouts:
    """Plays games for prompts that name them, as conversations: `rollout_func`.

    A prompt is a game's seed and the number of a seat among the environment's, so that a group of
    GRPO is one seat in the same game several times. In self-play (`TextEnv(seat="all")`) a game has
    a conversation for each seat, from its own view and with its own return, and the advantages
    compare it with conversations of the same seat: set `shuffle_dataset=False`, and the batch to a
    multiple of seats and generations, so that no conversation is left over.

    The model's tokens are trained on, and the environment's aren't. A conversation's return is the
    sum of its seat's rewards.

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
        """Returns the games 0..count-1 as a data set of prompts, one for each of the models' seats.

        The prompts of a game follow each other.
        """
        env = self._make_env()
        env.reset(0)
        names = [f"{seed} {index}" for seed in range(count) for index in range(len(env.seats))]
        return Dataset.from_dict({"prompt": [[_user(name)] for name in names]})

    def __call__(self, prompts: Sequence[Sequence[Message]], trainer: Any) -> dict[str, Any]:
        """Returns the results of a `rollout_func`, and the arguments of `game_rewards`."""
        model = trainer.accelerator.unwrap_model(trainer.model)
        names = [prompt[-1]["content"].split() for prompt in prompts]
        seeds = [int(seed) for seed, _ in names]
        return self.play(model, seeds, [int(index) for _, index in names])

    def play(
        self, model: Any, seeds: Sequence[int], indices: Sequence[int] | None = None
    ) -> dict[str, Any]:
        """Plays games, all at once, and returns N conversations.

        Conversations of different seats with the same seed are of the same game where possible.

        Args:
            model: A causal language model of transformers; its answers are sampled.
            seeds: The seeds of the games, N of them.
            indices: The numbers of the conversations' seats among the environment's, N of them;
                None for the first one.

        Returns:
            Lists of N: the tokens of the first message (`prompt_ids`) and of all that follows
            (`completion_ids`), 1 for the model's own tokens among the latter (`env_mask`),
            the `seats`, the `returns`, and the numbers of `answers` and of legal answers (`legal`).
            A seat that never had to answer has the return None, which TRL leaves out of its group.
            `logprobs` is None: TRL computes them.
        """
        games: dict[int, list[_Game]] = {}
        chosen = [
            self._conversation(games.setdefault(seed, []), seed, index)
            for seed, index in zip(seeds, indices or [0] * len(seeds), strict=True)
        ]
        going = [game for same_seed in games.values() for game in same_seed]
        while going:
            contexts = [game.asked.tokens for game in going]
            for game, ids in zip(going, self._answers(model, contexts), strict=True):
                self._step(game, ids)
            going = [game for game in going if not game.done]
        return {
            "prompt_ids": [talk.prompt or self._tokens([_user("")], more=True) for talk in chosen],
            "completion_ids": [talk.completion or [self._turn_end] for talk in chosen],
            "env_mask": [talk.mask or [0] for talk in chosen],
            "logprobs": None,
            "seats": [talk.seat for talk in chosen],
            "returns": [talk.total if talk.answers else None for talk in chosen],
            "answers": [talk.answers for talk in chosen],
            "legal": [talk.legal for talk in chosen],
        }

    def _conversation(self, games: "list[_Game]", seed: int, index: int) -> "_Conversation":
        """Returns a seat's conversation of the first game where it isn't taken."""
        for game in games:
            if index not in game.taken:
                break
        else:
            game = self._begin(seed)
            games.append(game)
        game.taken.add(index)
        return game.talks[game.env.seats[index]]

    def _begin(self, seed: int) -> "_Game":
        env = self._make_env()
        message = env.reset(seed)
        game = _Game(env, {seat: _Conversation(seat) for seat in env.seats})
        game.asked.prompt = self._tokens([_user(message)], more=True)
        return game

    def _step(self, game: "_Game", ids: list[int]) -> None:
        """Gives an answer to a game, and the next message to its seat."""
        asked = game.asked
        step = game.env.step(self._tokenizer.decode(ids, skip_special_tokens=True))
        game.done = step.done
        asked.answers += 1
        asked.legal += step.legal
        asked.add(ids, 1)
        for talk in game.talks.values():
            talk.total += step.rewards[talk.seat]
        if step.done:
            return
        talk = game.asked
        if not talk.answers:
            talk.prompt = self._tokens([_user(step.message)], more=True)
            return
        message = self._next(step.message)
        if talk.completion[-1] == self._turn_end:
            message = message[1:]
        talk.add(message, 0)

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
    returns: list[float | None],
    seats: list[int],
    answers: list[int],
    legal: list[int],
    log_metric: Callable[[str, float], None],
    **_: Any,
) -> list[float | None]:
    """Returns the seats' returns, as a reward function of TRL.

    It logs the share of legal answers, and each seat's mean return in self-play.
    """
    log_metric("legal", sum(legal) / sum(answers))
    for seat in sorted({*seats}):
        known = [
            value
            for value, owner in zip(returns, seats, strict=True)
            if owner == seat and value is not None
        ]
        if known:
            log_metric(f"return/seat_{seat}", sum(known) / len(known))
    return returns


def _user(content: str) -> Message:
    return {"role": "user", "content": content}
