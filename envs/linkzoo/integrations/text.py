"""One seat of a game as a conversation, as frameworks for language models train on it."""

from collections.abc import Callable
from dataclasses import dataclass
from secrets import randbelow
from typing import Any

import numpy as np

from linkzoo.core.agent import Agent, RandomAgent, check_agent
from linkzoo.core.arguments import integer, one_of, real, string
from linkzoo.engine.rng import SEED_LIMIT, game_seed
from linkzoo.envs.aec import REWARDS
from linkzoo.policy import load_policy
from linkzoo.text import MoveError, TextGame

RULES = ("none", "short", "full")


@dataclass(frozen=True)
class TextStep:
    """The result of an answer.

    Attributes:
        message: What to tell the model next: the position, what was wrong, or how the game ended.
        reward: 0 while the game goes on, but for what an illegal answer costs.
        done: Whether the game is over.
        legal: Whether the answer was a legal move.
    """

    message: str
    reward: float
    done: bool
    legal: bool


class TextSeatEnv:
    """A game from one seat as text: messages to a model, free-text answers from it.

        env = TextSeatEnv("linkage", opponent="greedy")
        message, done = env.reset(seed=1), False
        while not done:
            step = env.step(model(message))
            message, done = step.message, step.done

    The reward is the seat's payoff at the end, else 0; whoever gives more illegal answers than
    `max_illegal` loses with -1.

    Args:
        game: The game's name, or `module:name`.
        num_players: The number of players; None for the game's smallest.
        seat: The seat; None for another one each game, drawn at random.
        opponent: Plays the other seats: an `Agent`, or a name such as `greedy` or `linkage` (with
            the extra `train`: `linkzoo.load_policy`); None for uniformly random play.
        reward: `"win"` for payoffs, `"score"` for score margins.
        max_illegal: How many illegal answers in a game are only told to be so, 0..1000.
        illegal_cost: What each illegal answer takes from the reward, 0..1000.
        rules: The rules in the first message: `"none"`, `"short"` or `"full"`.
        prompt: Writes what the seat to act is told.
        options: Options of the game.

    Attributes:
        text_game: The game that is played, from `reset` on.
        seat: The seat in it.

    Raises:
        ValueError: An argument or option is wrong; the message names what is allowed.
    """

    text_game: TextGame
    seat: int

    def __init__(  # noqa: PLR0913  # by name, and most have a default that will do
        self,
        game: str,
        num_players: int | None = None,
        *,
        seat: int | None = None,
        opponent: Agent | str | None = None,
        reward: str = "win",
        max_illegal: int = 3,
        illegal_cost: float = 0.0,
        rules: str = "short",
        prompt: Callable[[TextGame], str] = TextGame.prompt,
        **options: Any,
    ) -> None:
        self._kind = game, num_players, options
        first = TextGame(game, num_players, **options)
        self._players = len(first.payoffs)
        self._fixed_seat = None if seat is None else integer("seat", seat, 0, self._players - 1)
        one_of("reward", reward, REWARDS)
        one_of("rules", rules, RULES)
        self._reward, self._prompt = reward, prompt
        self._rules = "" if rules == "none" else first.rules(full=rules == "full") + "\n"
        self._max_illegal = integer("max_illegal", max_illegal, 0, 1000)
        self._cost = real("illegal_cost", illegal_cost, 0, 1000)
        if isinstance(opponent, str):
            opponent = load_policy(opponent, first.game.name, options)
        self._opponent = check_agent(RandomAgent() if opponent is None else opponent, "opponent")
        self._seed, self._episode, self._done = randbelow(SEED_LIMIT), 0, True

    def reset(self, seed: int | None = None) -> str:
        """Starts a game and plays until the seat is to act; games that end before are skipped.

        Args:
            seed: Fixes all chance of the game and of the opponent, 0..2**64-1. None continues from
                the last one.

        Returns:
            The first message: the rules, and the prompt.

        Raises:
            ValueError: The seed is wrong.
        """
        if seed is not None:
            self._seed, self._episode = integer("seed", seed, 0, 2**64 - 1), 0
        game, players, options = self._kind
        while True:
            run, episode = np.uint64(self._seed), np.uint64(self._episode)
            own = int(game_seed(run, 0, episode)) if self._episode else self._seed
            drawn = int(game_seed(run, 1, episode)) % self._players
            self.seat = drawn if self._fixed_seat is None else self._fixed_seat
            self.text_game = TextGame(game, players, seed=own, **options)
            self._episode += 1
            self._play_others()
            if not self.text_game.over:
                break
        self._illegal, self._done = 0, False
        return self._rules + self._prompt(self.text_game)

    def step(self, answer: str) -> TextStep:
        """Plays the move that an answer states, and the other seats' up to the seat's next one.

        Args:
            answer: A free text (`linkzoo.text.read_move`).

        Raises:
            RuntimeError: `reset` wasn't called, or the game is over.
            ValueError: The answer is no text.
        """
        if self._done:
            raise RuntimeError("step before reset or after the end of the game: call reset() first")
        try:
            self.text_game.play(string("answer", answer))
        except MoveError as error:
            return self._refused(str(error))
        self._play_others()
        if not self.text_game.over:
            return TextStep(self._prompt(self.text_game), 0.0, done=False, legal=True)
        self._done, game = True, self.text_game
        rewards = game.payoffs if self._reward == "win" else game.score_margins
        return TextStep(game.view(self.seat), rewards[self.seat], done=True, legal=True)

    def _refused(self, message: str) -> TextStep:
        self._illegal += 1
        self._done = self._illegal > self._max_illegal
        reward, told = (-1.0, "You lose.") if self._done else (0.0, "Answer again.")
        message = f"That is no legal move: {message.rstrip('.')}. {told}"
        return TextStep(message, reward - self._cost, self._done, legal=False)

    def _play_others(self) -> None:
        while self.text_game.seat not in {self.seat, None}:
            self.text_game.play(int(self._opponent.act(self.text_game.positions)[0]))
