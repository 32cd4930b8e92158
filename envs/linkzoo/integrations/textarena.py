"""TextArena: a game as one of its environments, and agents of ours as its players.

    register()
    env = textarena.make("linkzoo/Linkage-v0", board_size=5, threshold=8)
    env.reset(num_players=2, seed=1)
    players = {0: model, 1: AgentPlayer(RandomAgent(), env)}

Needs the extra `textarena`.
"""

from secrets import randbelow
from typing import Any

import textarena as ta
from textarena.envs.registration import ENV_REGISTRY, register_with_versions

from linkzoo.core.agent import Agent, check_agent
from linkzoo.core.arguments import integer
from linkzoo.core.names import gymnasium_id
from linkzoo.engine.rng import SEED_LIMIT
from linkzoo.registry import game_names, get_game, id_of
from linkzoo.text import TextGame
from linkzoo.text.env import MOST_ILLEGAL, TextEnv


class TextArenaEnv(ta.Env):
    """A TextEnv as an environment of TextArena: every seat is a player that answers in text.

    A player that gives more illegal answers in a row than `error_allowance` ends the game: its
    reward is -1, and the others' reward is 0.

    Args:
        game: The game's name, `module:name` or `FILE.py:name`.
        error_allowance: The number of illegal answers in a row that get a warning, 0..1000.
        options: Options of the game.

    Raises:
        ValueError: There is no such game or option.
    """

    def __init__(self, game: str, *, error_allowance: int = 1, **options: Any) -> None:
        self._game = game
        self._options = options
        self._allowed = integer("error_allowance", error_allowance, 0, 1000)
        TextEnv(game, **options)

    @property
    def text_game(self) -> TextGame:
        """The game that is played, from `reset` on."""
        return self._env.text_game

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Starts a game; `seed` fixes all chance of it, and None draws one."""
        game_seed = seed
        if game_seed is None:
            game_seed = randbelow(SEED_LIMIT)
        self._env = TextEnv(
            self._game,
            num_players,
            seat=range(num_players),
            max_illegal=MOST_ILLEGAL,  # TextArena counts them
            rules="none",
            **self._options,
        )
        message = self._env.reset(game_seed)
        self.state = ta.FFAMultiPlayerState(num_players, seed, error_allowance=self._allowed)
        rules = self.text_game.rules()
        self.state.reset(game_state={}, player_prompt_function=lambda **_: rules)
        self._ask(message)

    def step(self, action: str) -> tuple[bool, ta.Info]:
        """Plays the move that an answer states."""
        state = self.state
        seat = state.current_player_id
        kind = ta.ObservationType
        state.add_observation(action, kind.PLAYER_ACTION, from_id=seat, to_id=seat)
        step = self._env.step(action)
        if not step.legal:
            if state.set_invalid_move(step.message):
                rewards = dict.fromkeys(range(state.num_players), 0.0) | {seat: -1.0}
                state.set_game_outcome(rewards, f"Invalid move of player {seat}: {step.message}")
        elif step.done:
            for player in range(state.num_players):
                state.add_observation(self.text_game.view(player), kind.GAME_BOARD, to_id=player)
            state.set_game_outcome(dict(enumerate(step.rewards)), "The game is over.")
        else:
            self._ask(step.message)
        done, info = state.step(rotate_player=False)
        return done, info

    def _ask(self, message: str) -> None:
        seat = self._env.seat
        self.state.manually_set_current_player_id(seat)
        self.state.add_observation(message, ta.ObservationType.GAME_BOARD, to_id=seat)


class AgentPlayer(ta.Agent):
    """An agent of ours as a player in a TextArenaEnv; it sees the position, not the text.

    Args:
        agent: The agent.
        env: The environment that it plays in, wrapped or not.
    """

    def __init__(self, agent: Agent, env: ta.Env) -> None:
        self._agent = check_agent(agent)
        self._env = env

    def __call__(self, observation: str) -> str:  # noqa: ARG002  # it looks at the position
        """Returns the agent's move in notation, in square brackets."""
        game: TextGame = self._env.text_game
        action = int(self._agent.act(game.positions)[0])
        return f"[{game.game.notation.action_to_text(game.state, action)}]"


def register() -> None:
    """Makes all games known to `textarena.make`, as `linkzoo/Linkage-v0` and so on.

    As with TextArena's own games, a player reads all its messages; with `-train` at the end of the
    name, the rules and the latest position; with `-raw`, the messages as a list.
    """
    wrappers = {
        "default": [ta.wrappers.LLMObservationWrapper],
        "-train": [ta.wrappers.GameMessagesAndCurrentBoardObservationWrapper],
    }
    for name in game_names():
        game = get_game(name)
        key = gymnasium_id(game.name, game.version)
        if key not in ENV_REGISTRY:
            register_with_versions(key, TextArenaEnv, wrappers, game=id_of(game))
