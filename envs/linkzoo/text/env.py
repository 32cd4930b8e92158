"""A game as conversations, one for each seat that a model plays."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from secrets import randbelow
from typing import Any, Literal

import numpy as np

from linkzoo.core.agent import Agent, RandomAgent, check_agent
from linkzoo.core.arguments import integer, one_of, real, string
from linkzoo.engine.rng import SEED_LIMIT, game_seed
from linkzoo.envs.aec import REWARDS
from linkzoo.policy import load_policy
from linkzoo.text.answers import MoveError
from linkzoo.text.game import TextGame
from linkzoo.text.prompts import PromptSettings

RULES = ("none", "short", "full")
MOST_ILLEGAL = 10**6  # the largest limit of illegal answers: for doors that have their own


@dataclass(frozen=True)
class TextStep:
    """The result of an answer.

    Attributes:
        message: The message to the seat that answers next: the position, the error, or the outcome.
        reward: The reward of the seat that answered: 0 while the game goes on, less `illegal_cost`
            for an illegal answer.
        done: Whether the game is over.
        legal: Whether the answer was a legal move.
        seat: The seat that answers next; at the end, the seat that answered.
        rewards: The rewards of all seats.
    """

    message: str
    reward: float
    done: bool
    legal: bool
    seat: int
    rewards: tuple[float, ...]


class TextEnv:
    """A game as text: messages to models, free-text answers from them.

        env = TextEnv("linkage", opponent="greedy")
        step = env.step(model(env.reset(seed=1)))
        while not step.done:
            step = env.step(model(step.message))

    A model plays one seat, or models play several, each in a conversation of its own: a message is
    for the seat `env.seat`, which `step.seat` names, too. The first message to a seat begins with
    the rules.

    A seat's reward is its payoff at the end, else 0. Whoever gives more illegal answers than
    `max_illegal` loses with -1, and the other seats get 0. An answer that asks for the legal moves
    (`PromptSettings.moves`) is free.

    Args:
        game: The game's name, `module:name` or `FILE.py:name`.
        num_players: The number of players; None for the game's smallest.
        seat: The models' seat, or a sequence of seats; `"all"` for self-play; None for another seat
            each game, drawn at random.
        opponent: Plays the other seats: an `Agent`, or a name such as `greedy` or `linkage` (with
            the extra `train`: `linkzoo.load_policy`); None for uniformly random play.
        reward: `"win"` for payoffs, `"score"` for score margins.
        max_illegal: The number of illegal answers of a seat that get a warning, 0..1,000,000.
        illegal_cost: The penalty of each illegal answer, taken from the reward, 0..1000.
        rules: The rules in the first message: `"none"`, `"short"` or `"full"`.
        prompts: The contents of prompts; None for the standard ones.
        prompt: Writes the prompt for the seat to act.
        options: Options of the game.

    Attributes:
        text_game: The game that is played, from `reset` on.
        seats: The models' seats in it.
        seat: The seat that answers next.

    Raises:
        ValueError: An argument or option is wrong; the message names the allowed values.
    """

    text_game: TextGame
    seats: tuple[int, ...]
    seat: int

    def __init__(  # noqa: PLR0913  # by name, and most have a default that will do
        self,
        game: str,
        num_players: int | None = None,
        *,
        seat: int | Sequence[int] | Literal["all"] | None = None,
        opponent: Agent | str | None = None,
        reward: str = "win",
        max_illegal: int = 3,
        illegal_cost: float = 0.0,
        rules: str = "short",
        prompts: PromptSettings | None = None,
        prompt: Callable[[TextGame], str] = TextGame.prompt,
        **options: Any,
    ) -> None:
        self._arguments = {"game": game, "num_players": num_players, "prompts": prompts, **options}
        first = TextGame(**self._arguments)
        self._players = len(first.payoffs)
        self._fixed_seats = self._checked_seats(seat)
        one_of("reward", reward, REWARDS)
        one_of("rules", rules, RULES)
        self._reward = reward
        self._prompt = prompt
        self._rules = ""
        if rules != "none":
            self._rules = first.rules(full=rules == "full") + "\n"
        self._max_illegal = integer("max_illegal", max_illegal, 0, MOST_ILLEGAL)
        self._cost = real("illegal_cost", illegal_cost, 0, 1000)
        if isinstance(opponent, str):
            opponent = load_policy(opponent, first.game.name, options)
        if opponent is None:
            opponent = RandomAgent()
        self._opponent = check_agent(opponent, "opponent")
        self._seed = randbelow(SEED_LIMIT)
        self._episode = 0
        self._done = True

    def _checked_seats(
        self, seat: int | Sequence[int] | Literal["all"] | None
    ) -> tuple[int, ...] | None:
        """Returns the models' seats; None if one is drawn each game."""
        if seat is None:
            return None
        if isinstance(seat, str):
            one_of("seat", seat, ("all",))
            return tuple(range(self._players))
        seats = [seat]
        if isinstance(seat, Sequence):
            seats = [*seat]
        checked = [integer("seat", number, 0, self._players - 1) for number in seats]
        if not checked or len({*checked}) < len(checked):
            raise ValueError(f"seat: {seat} are not one or more different seats")
        return tuple(checked)

    def reset(self, seed: int | None = None) -> str:
        """Starts a game and plays until a model is to act; games that end before are skipped.

        Args:
            seed: Fixes all chance of the game and of the opponent, 0..2**64-1. None continues from
                the last one.

        Returns:
            The first message: the rules, and the prompt.

        Raises:
            ValueError: The seed is wrong.
        """
        if seed is not None:
            self._seed = integer("seed", seed, 0, 2**64 - 1)
            self._episode = 0
        run_seed = np.uint64(self._seed)
        while True:
            episode = np.uint64(self._episode)
            seed_of_game = self._seed  # of the first game
            if self._episode:
                seed_of_game = int(game_seed(run_seed, 0, episode))
            seats = self._fixed_seats
            if seats is None:
                seats = (int(game_seed(run_seed, 1, episode)) % self._players,)
            self.seats = seats
            self.text_game = TextGame(**self._arguments, seed=seed_of_game)
            self._episode += 1
            self._play_others()
            if not self.text_game.over:
                break
        self._illegal = [0] * self._players
        self._begun: set[int] = set()
        self._done = False
        return self._next_message()

    def step(self, answer: str) -> TextStep:
        """Plays the move that an answer states, and the other seats' up to a model's next one.

        Args:
            answer: A free text (`linkzoo.text.read_move`).

        Returns:
            The next message, the rewards, and whether the game is over and the answer was legal.

        Raises:
            RuntimeError: `reset` wasn't called, or the game is over.
            ValueError: The answer is no text.
        """
        if self._done:
            raise RuntimeError("step before reset or after the end of the game: call reset() first")
        seat = self.seat
        try:
            self.text_game.play(string("answer", answer))
        except MoveError as error:
            return self._refused(error)
        self._play_others()
        if not self.text_game.over:
            message = self._next_message()
            return self._step(message, [0.0] * self._players, seat, legal=True)
        self._done = True
        rewards = self.text_game.payoffs
        if self._reward == "score":
            rewards = self.text_game.score_margins
        return self._step(self.text_game.view(seat), rewards, seat, legal=True)

    def _step(self, message: str, rewards: Sequence[float], seat: int, *, legal: bool) -> TextStep:
        return TextStep(message, rewards[seat], self._done, legal, self.seat, tuple(rewards))

    def _next_message(self) -> str:
        """Returns the message to the seat to act, with the rules if it is the seat's first one."""
        assert self.text_game.seat is not None
        self.seat = self.text_game.seat
        message = self._prompt(self.text_game)
        if self.seat not in self._begun:
            self._begun.add(self.seat)
            message = self._rules + message
        return message

    def _refused(self, error: MoveError) -> TextStep:
        seat = self.seat
        rewards = [0.0] * self._players
        if error.kind == "request":
            return self._step(str(error), rewards, seat, legal=False)
        self._illegal[seat] += 1
        self._done = self._illegal[seat] > self._max_illegal
        consequence = "Answer again."
        if self._done:
            rewards[seat] = -1.0
            consequence = "You lose."
        rewards[seat] -= self._cost
        message = f"That is no legal move: {str(error).rstrip('.')}. {consequence}"
        return self._step(message, rewards, seat, legal=False)

    def _play_others(self) -> None:
        while self.text_game.seat not in {*self.seats, None}:
            self.text_game.play(int(self._opponent.act(self.text_game.positions)[0]))
