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
        message: The next message to the model: the position, the error, or the outcome.
        reward: 0 while the game goes on, less `illegal_cost` for an illegal answer.
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
        step = env.step(model(env.reset(seed=1)))
        while not step.done:
            step = env.step(model(step.message))

    The reward is the seat's payoff at the end, else 0; whoever gives more illegal answers than
    `max_illegal` loses with -1.

    Args:
        game: The game's name, `module:name` or `FILE.py:name`.
        num_players: The number of players; None for the game's smallest.
        seat: The seat; None for another one each game, drawn at random.
        opponent: Plays the other seats: an `Agent`, or a name such as `greedy` or `linkage` (with
            the extra `train`: `linkzoo.load_policy`); None for uniformly random play.
        reward: `"win"` for payoffs, `"score"` for score margins.
        max_illegal: The number of illegal answers in a game that get a warning, 0..1000.
        illegal_cost: The penalty of each illegal answer, taken from the reward, 0..1000.
        rules: The rules in the first message: `"none"`, `"short"` or `"full"`.
        prompt: Writes the prompt for the seat to act.
        options: Options of the game.

    Attributes:
        text_game: The game that is played, from `reset` on.
        seat: The seat in it.

    Raises:
        ValueError: An argument or option is wrong; the message names the allowed values.
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
        self._arguments = {"game": game, "num_players": num_players, **options}
        first = TextGame(game, num_players, **options)
        self._players = len(first.payoffs)
        if seat is not None:
            seat = integer("seat", seat, 0, self._players - 1)
        self._fixed_seat = seat
        one_of("reward", reward, REWARDS)
        one_of("rules", rules, RULES)
        self._reward = reward
        self._prompt = prompt
        self._rules = ""
        if rules != "none":
            self._rules = first.rules(full=rules == "full") + "\n"
        self._max_illegal = integer("max_illegal", max_illegal, 0, 1000)
        self._cost = real("illegal_cost", illegal_cost, 0, 1000)
        if isinstance(opponent, str):
            opponent = load_policy(opponent, first.game.name, options)
        if opponent is None:
            opponent = RandomAgent()
        self._opponent = check_agent(opponent, "opponent")
        self._seed = randbelow(SEED_LIMIT)
        self._episode = 0
        self._done = True

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
            self._seed = integer("seed", seed, 0, 2**64 - 1)
            self._episode = 0
        run_seed = np.uint64(self._seed)
        while True:
            episode = np.uint64(self._episode)
            seed_of_game = self._seed  # of the first game
            if self._episode:
                seed_of_game = int(game_seed(run_seed, 0, episode))
            seat = self._fixed_seat
            if seat is None:
                seat = int(game_seed(run_seed, 1, episode)) % self._players
            self.seat = seat
            self.text_game = TextGame(**self._arguments, seed=seed_of_game)
            self._episode += 1
            self._play_others()
            if not self.text_game.over:
                break
        self._illegal = 0
        self._done = False
        return self._rules + self._prompt(self.text_game)

    def step(self, answer: str) -> TextStep:
        """Plays the move that an answer states, and the other seats' up to the seat's next one.

        Args:
            answer: A free text (`linkzoo.text.read_move`).

        Returns:
            The next message, the reward, and whether the game is over and the answer was legal.

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
        self._done = True
        rewards = self.text_game.payoffs
        if self._reward == "score":
            rewards = self.text_game.score_margins
        message = self.text_game.view(self.seat)
        return TextStep(message, rewards[self.seat], done=True, legal=True)

    def _refused(self, message: str) -> TextStep:
        self._illegal += 1
        self._done = self._illegal > self._max_illegal
        reward = 0.0
        consequence = "Answer again."
        if self._done:
            reward = -1.0
            consequence = "You lose."
        message = f"That is no legal move: {message.rstrip('.')}. {consequence}"
        return TextStep(message, reward - self._cost, self._done, legal=False)

    def _play_others(self) -> None:
        while self.text_game.seat not in {self.seat, None}:
            self.text_game.play(int(self._opponent.act(self.text_game.positions)[0]))
