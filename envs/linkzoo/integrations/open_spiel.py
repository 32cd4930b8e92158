"""OpenSpiel: every game as a Python game of pyspiel, and agents of linkzoo as its bots.

    import linkzoo.integrations.open_spiel  # registers linkzoo_linkage, linkzoo_love_links, …
    game = pyspiel.load_game("linkzoo_linkage(board_size=3,threshold=3)")
    game = linkzoo.integrations.open_spiel.load_game("package.module:GAME", players=3)

Parameters are `players`, the options of the game (-1 stands for None) and `rng_seed` (-1: another
one each time). Needs the extra `openspiel`.

In a game with chance the first node is a chance node with one outcome, the seed of the game (one of
2**20, drawn anew for every initial state: sampled stochastic); it fixes all luck to come. To
OpenSpiel that luck is hidden information, so such games count as imperfect-information games even
where the players hide nothing: `resample_from_infostate` deals it anew, and information-set MCTS
plays fair, while plain MCTS would look into the deck.
"""

import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import fields
from fractions import Fraction
from hashlib import blake2b
from typing import Any

import numpy as np
import pyspiel
from numpy.typing import NDArray

from linkzoo.core.agent import Agent, Positions
from linkzoo.core.arguments import shown
from linkzoo.core.game import Game
from linkzoo.core.kernels import kernels
from linkzoo.core.state import Records
from linkzoo.registry import game_names, get_game, id_of

_LARGEST_DENOMINATOR = 1000  # of payoffs
_SEEDS = 2**20  # deals; the mask of a chance node holds a number for each


def short_name(game: str) -> str:
    """Returns the name of a game in pyspiel."""
    return f"linkzoo_{game}"


def register_game(name: str) -> str:
    """Registers a game in pyspiel, unless it is registered.

    Importing this module registers the games of `linkzoo.game_names()`; games that are registered
    with linkzoo later, and games from elsewhere, are registered by this function.

    Args:
        name: A name of `linkzoo.game_names()`, or `module:name` or `FILE.py:name` of another.

    Returns:
        The game's name in pyspiel.

    Raises:
        ValueError: There is no such game, or pyspiel's parameters can't hold one of its options.
    """
    rules = get_game(name)
    registered = short_name(rules.name)
    if registered not in pyspiel.registered_names():
        kind = game_type(rules)
        attributes = {"name": rules.name, "game_type": kind, "__module__": __name__}
        # A class, since pyspiel keeps it beyond Python's end, where a function would be freed
        # without an interpreter.
        spiel_class = type(pyspiel.Game)(f"{rules.name}_game", (SpielGame,), attributes)
        globals()[spiel_class.__name__] = spiel_class  # where pickle looks for it
        pyspiel.register_game(kind, spiel_class)
    return registered


def load_game(name: str, **parameters: Any) -> "SpielGame":
    """Returns a game as pyspiel's `load_game` does; registers it first.

    Args:
        name: A name as for `register_game`.
        parameters: `players`, `rng_seed` and options of the game.

    Raises:
        ValueError: As in `register_game`, or an option is out of range.
        pyspiel.SpielError: There is no such parameter, or its value has another type.
    """
    chosen = {key: -1 if value is None else value for key, value in parameters.items()}
    game: SpielGame = pyspiel.load_game(register_game(name), chosen)
    return game


def _defaults(rules: Game) -> dict[str, Any]:
    """Returns the parameters of a game with their default values."""
    parameters: dict[str, Any] = {"players": rules.min_players, "rng_seed": -1}
    for option in fields(rules.options):
        default = -1 if option.default is None else option.default
        if option.name in parameters or not isinstance(default, bool | int | float | str):
            raise ValueError(
                f"{rules.name}: pyspiel can't hold the option {option.name} = {shown(default)}: "
                "parameters are numbers, texts or flags, and not called players or rng_seed"
            )
        parameters[option.name] = default
    return parameters


def game_type(rules: Game) -> pyspiel.GameType:
    """Returns the facts of a game for pyspiel."""
    chance_mode = pyspiel.GameType.ChanceMode.DETERMINISTIC
    information = pyspiel.GameType.Information.PERFECT_INFORMATION
    if rules.facts.chance:
        chance_mode = pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
    if rules.facts.chance or rules.hides:
        information = pyspiel.GameType.Information.IMPERFECT_INFORMATION
    return pyspiel.GameType(
        short_name=short_name(rules.name),
        long_name=rules.title,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=chance_mode,
        information=information,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=rules.max_players,
        min_num_players=rules.min_players,
        provides_information_state_string=True,
        provides_information_state_tensor=False,  # of a fixed size, it could not recall all
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=_defaults(rules),
    )


class SpielGame(pyspiel.Game):
    """A game of linkzoo with one number of players and one set of options.

    There is a subclass for each game, which sets `name` and `game_type`.
    """

    name: str
    game_type: pyspiel.GameType

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        standard = get_game(self.name)
        options = {**_defaults(standard), **(params or {})}
        players = options.pop("players")
        seed = options.pop("rng_seed")
        for field in fields(standard.options):
            if field.default is None and options[field.name] == -1:
                options[field.name] = None
        self.rules = get_game(self.name, options)
        self.blank: bytes = self.rules.blank(players, options).tobytes()
        self.rng = np.random.default_rng()
        if seed >= 0:
            self.rng = np.random.default_rng(seed)
        max_chance_outcomes = 0
        if self.rules.facts.chance:
            max_chance_outcomes = _SEEDS
        info = pyspiel.GameInfo(
            num_distinct_actions=self.rules.num_actions,
            max_chance_outcomes=max_chance_outcomes,
            num_players=players,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=self.rules.facts.max_length,
        )
        super().__init__(self.game_type, info, params or {})
        self._params = params or {}

    def __reduce__(self) -> tuple[Any, ...]:  # pyspiel's own way doesn't call __init__
        return _load_game, (id_of(get_game(self.name)), self._params, self.rng)

    def new_initial_state(self) -> "SpielState":
        """Returns the chance node before the game; without chance, its first position."""
        return SpielState(self)

    def make_py_observer(
        self,
        iig_obs_type: pyspiel.IIGObservationType | None = None,
        params: dict[str, Any] | None = None,
    ) -> "SpielObserver":
        """Returns an observer of a seat's view or, with perfect recall, of all its views so far."""
        if params:
            raise ValueError(f"observers have no parameters, but got {params}")
        recall = iig_obs_type is not None and iig_obs_type.perfect_recall
        return SpielObserver(self.rules, recall)


class SpielState(pyspiel.State):
    """A position. Its attributes are bytes, text and numbers: pyspiel copies and pickles them."""

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self._rules = game.rules  # a Game is copied and pickled by its name
        self._seed = -1  # drawn when it is asked for
        self._dealt = False
        self._position = game.blank
        self._mask = b""
        self._seen: tuple[str, ...] = ("",) * game.num_players()
        if not game.rules.facts.chance:
            self._deal(0)

    def __reduce__(self) -> tuple[Any, ...]:  # pyspiel's own wants a state of C++'s random numbers
        return _load_state, (self.get_game(), self.serialize())

    @property
    def states(self) -> Records:
        """Returns the position as an array of one record, the caller's own."""
        return np.frombuffer(bytearray(self._position), self._rules.state)

    def current_player(self) -> int:
        """Returns the seat to act, or pyspiel's numbers for chance and for the end."""
        if not self._dealt:
            return int(pyspiel.PlayerId.CHANCE)
        seat = int(self.states["seat"][0])
        if seat < 0:
            return int(pyspiel.PlayerId.TERMINAL)
        return seat

    def is_terminal(self) -> bool:
        """Returns whether the game is over."""
        return self._dealt and bool(self.states["seat"][0] < 0)

    def returns(self) -> list[float]:
        """Returns the payoffs of the seats; zeros before the end."""
        payoff = np.zeros((1, self.num_players()), np.float32)
        margin = np.zeros((1, self.num_players()), np.float32)
        if self._dealt:
            kernels(self._rules).outcome.serial(self.states, payoff, margin)
        return [_exact(value) for value in payoff[0]]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Returns the game's seed as the only outcome; it is drawn at the first call."""
        if self._seed < 0:
            self._seed = int(self.get_game().rng.integers(_SEEDS))
        return [(self._seed, 1.0)]

    def information_state_key(self, player: int) -> str:
        """Returns a digest of everything that a seat has seen and done."""
        return self._seen[player]

    def resample_from_infostate(
        self, player: int, sampler: Callable[[], float] | None = None
    ) -> "SpielState":
        """Returns a state that `player` can't tell from this one: the rest is drawn anew.

        `sampler()` gives a number in 0..1; without it the world is drawn by NumPy's own entropy.
        The others' past views are replaced by their present views.
        """
        if sampler is None:
            sampler = np.random.default_rng().random
        chance = sampler()
        copy: SpielState = self.clone()
        states = self.states
        self._rules.determinize(states[0], player, np.uint64(int(chance * 2**53)))
        mask = np.empty((1, self._rules.num_actions), np.int8)
        kernels(self._rules).fill_masks.serial(states, mask)
        copy._position = states.tobytes()
        copy._mask = mask.tobytes()
        digests = list(self._seen)
        for seat in range(len(digests)):
            if seat != player:
                digests[seat] = _digest("", _observation(self._rules, states, seat), -1)
        copy._seen = tuple(digests)
        return copy

    def _legal_actions(self, _player: int) -> list[int]:
        legal: list[int] = np.flatnonzero(np.frombuffer(self._mask, np.int8)).tolist()
        return legal

    def _apply_action(self, action: int) -> None:
        if not self._dealt:
            self._deal(action)
            return
        states = self.states
        player = self.current_player()
        mask = np.empty(self._rules.num_actions, np.int8)
        payoff = np.zeros(self.num_players(), np.float32)
        margin = np.zeros(self.num_players(), np.float32)
        kernels(self._rules).play_one(states, int(action), mask, payoff, margin)
        self._keep(states, mask, player, action)

    def _deal(self, seed: int) -> None:
        states = self.states
        mask = np.empty((1, self._rules.num_actions), np.int8)
        kernels(self._rules).begin(states, np.array([seed], np.uint64), mask)
        self._dealt = True
        self._keep(states, mask, -1, -1)

    def _keep(self, states: Records, mask: NDArray[np.int8], player: int, action: int) -> None:
        self._position = states.tobytes()
        self._mask = mask.tobytes()
        actions = [-1] * len(self._seen)
        if player >= 0:
            actions[player] = action
        self._seen = tuple(
            _digest(self._seen[seat], _observation(self._rules, states, seat), actions[seat])
            for seat in range(len(self._seen))
        )

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"seed {action}"
        return self._rules.notation.action_to_text(self.states[0], int(action))

    def __str__(self) -> str:
        if not self._dealt:
            return "before the deal"
        return json.dumps(self._rules.to_dict(self.states[0]))


class SpielObserver:
    """The observation of a seat as named tensors (the parts of its spec) and as text.

    With perfect recall there is text alone: no tensor of a fixed size holds all views of a seat.
    """

    tensor: NDArray[np.float32] | None = None
    dict: Mapping[str, NDArray[np.float32]]

    def __init__(self, rules: Game, perfect_recall: bool) -> None:
        self._rules = rules
        self._recall = perfect_recall
        self.dict = {}
        if perfect_recall:
            return
        spec = rules.observation.spec
        self.tensor = np.zeros(spec.size, np.float32)
        # Views of `tensor`, which is filled in place.
        self.dict = {
            part.name: self.tensor[elements].reshape(part.shape)
            for part, elements in zip(spec.parts, spec.slices().values(), strict=True)
        }

    def set_from(self, state: SpielState, player: int) -> None:
        """Fills `tensor` with the observation of `player`; zeros before the deal.

        Raises:
            ValueError: The observer is one with perfect recall.
        """
        if self.tensor is None:
            raise ValueError(
                f"{self._rules.name} has no information state tensor: a fixed size can't hold all "
                "that a seat has seen; use observation tensors, or an algorithm with "
                "information_state_string"
            )
        self.tensor[:] = 0
        if state._dealt:
            self.tensor[:] = _observation(self._rules, state.states, player)

    def string_from(self, state: SpielState, player: int) -> str:
        """Returns the view of `player` as JSON; with perfect recall, a digest of all its views."""
        if not state._dealt:
            return ""
        if self._recall:
            return state.information_state_key(player)
        return json.dumps(self._rules.to_dict(state.states[0], player))


class AgentBot(pyspiel.Bot):
    """An agent of linkzoo, a trained policy say, as a bot of pyspiel; `seed` fixes its play."""

    def __init__(self, agent: Agent, seed: int = 0) -> None:
        super().__init__()
        self._agent = agent
        self._seed = seed
        self._rng = np.random.default_rng(seed)

    def restart_at(self, _state: SpielState) -> None:
        """Does nothing: a bot keeps nothing from move to move."""

    def restart(self) -> None:
        """Resets the bot's random draws."""
        self._rng = np.random.default_rng(self._seed)

    def step(self, state: SpielState) -> int:
        """Returns the agent's action."""
        seeds = self._rng.integers(2**63, size=1, dtype=np.uint64)
        return int(self._agent.act(Positions(state._rules, state.states, seeds))[0])

    def step_with_policy(self, state: SpielState) -> tuple[list[tuple[int, float]], int]:
        """Returns the agent's action as a policy, and the action."""
        action = self.step(state)
        return [(action, 1.0)], action


def _observation(rules: Game, states: Records, seat: int) -> NDArray[Any]:
    """Returns the flat observation of a seat."""
    out = np.empty(rules.observation.spec.shape, rules.observation.spec.dtype)
    kernels(rules).observe_one(states, seat, out)
    return out.reshape(-1)


def _digest(before: str, observation: NDArray[Any], action: int) -> str:
    """Returns the next digest of a seat's history.

    Args:
        before: The digest so far.
        observation: The seat's observation now.
        action: The seat's action before it; -1 for none.
    """
    hashed = blake2b(f"{before} {action} ".encode(), digest_size=16)
    hashed.update(observation.tobytes())
    return hashed.hexdigest()


def _exact(payoff: np.float32) -> float:
    """Returns a payoff as a fraction of small numbers if it is one.

    pyspiel wants payoffs whose sum is exactly 0; in float32 the sum of three thirds isn't.
    """
    fraction = Fraction(float(payoff)).limit_denominator(_LARGEST_DENOMINATOR)
    if np.float32(float(fraction)) == payoff:
        return float(fraction)
    return float(payoff)


def _load_game(name: str, params: dict[str, Any], rng: np.random.Generator) -> SpielGame:
    game = load_game(name, **params)
    game.rng = rng
    return game


def _load_state(game: SpielGame, text: str) -> Any:
    return game.deserialize_state(text)


def _register_known_games() -> None:
    """Registers all games that linkzoo knows by name; warns of an installed one that fails."""
    for name in game_names():
        try:
            register_game(name)
        except ValueError as error:
            warnings.warn(str(error), stacklevel=2)


_register_known_games()
