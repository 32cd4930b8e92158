"""OpenSpiel: every game as a Python game of pyspiel, and agents of linkzoo as its bots.

    import linkzoo.integrations.open_spiel  # registers linkzoo_linkage, linkzoo_love_links, …
    game = pyspiel.load_game("linkzoo_linkage(board_size=3,threshold=3)")
    game = linkzoo.integrations.open_spiel.load_game("package.module:GAME", players=3)

Parameters are `players`, the options of the game (-1 stands for None), and for games with chance:

- `chance=explicit`: chance nodes list all outcomes of the deal and of actions with their
  probabilities, as algorithms need that walk the whole tree (CFR, exploitability). It is for small
  games that declare their chance (`Game.chance`).
- `chance=sampled`: the first node is a chance node with one outcome, the seed of the game (one of
  2**20, drawn anew for every initial state); it fixes all chance to come. To OpenSpiel that chance
  is hidden information, so such games count as imperfect-information games even where the players
  hide nothing: `resample_from_infostate` draws it anew, and information-set MCTS plays fair, while
  plain MCTS would look into the deck. Algorithms that walk the whole tree see a single deal.
- `chance=auto`, the default: explicit if the deal can be enumerated, otherwise sampled.
- `rng_seed`: fixes the seeds of sampled chance; -1 for others each time.

Information states have perfect recall, as in `linkzoo.exact`: their strings are hashes of all that
a seat has seen, at every ply, and done. Their tensors are the observation's, without perfect
recall: a fixed size can't hold a whole history. Needs the extra `openspiel`.
"""

import json
import warnings
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import pyspiel
from numpy.typing import NDArray

from linkzoo.core.agent import Agent, Positions
from linkzoo.core.arguments import shown
from linkzoo.core.game import Game
from linkzoo.core.kernels import kernels
from linkzoo.core.state import Records
from linkzoo.exact.chance import Expander
from linkzoo.exact.hashing import hash_words, mix
from linkzoo.exact.tree import padded_words, see
from linkzoo.registry import game_names, get_game, id_of

_LARGEST_DENOMINATOR = 1000  # of payoffs
_SEEDS = 2**20  # deals; the mask of a chance node holds a number for each
_MOST_OUTCOMES = 1 << 16  # of explicit chance, equal ones counted each time
_CACHED = 1 << 16  # actions whose outcomes, and positions whose views are kept
# Instead of an action that waits for its outcome.
_NONE = -2
_DEAL = -1
# Instead of a seat.
_CHANCE = int(pyspiel.PlayerId.CHANCE)
_OVER = int(pyspiel.PlayerId.TERMINAL)


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
        attributes = {"name": rules.name, "__module__": __name__}
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
        parameters: `players`, `chance`, `rng_seed` and options of the game.

    Raises:
        ValueError: As in `register_game`, an option is out of range, or chance can't be explicit.
        pyspiel.SpielError: There is no such parameter, or its value has another type.
    """
    chosen = {key: -1 if value is None else value for key, value in parameters.items()}
    game: SpielGame = pyspiel.load_game(register_game(name), chosen)
    return game


def _defaults(rules: Game) -> dict[str, Any]:
    """Returns the parameters of a game with their default values."""
    parameters: dict[str, Any] = {"players": rules.min_players, "chance": "auto", "rng_seed": -1}
    for option in fields(rules.options):
        default = -1 if option.default is None else option.default
        if option.name in parameters or not isinstance(default, bool | int | float | str):
            raise ValueError(
                f"{rules.name}: pyspiel can't hold the option {option.name} = {shown(default)}: "
                "parameters are numbers, texts or flags, not called players, chance or rng_seed"
            )
        parameters[option.name] = default
    return parameters


def game_type(rules: Game, *, explicit: bool = False) -> pyspiel.GameType:
    """Returns the facts of a game for pyspiel.

    Args:
        rules: The game.
        explicit: Whether chance nodes list all outcomes.
    """
    chance_mode = pyspiel.GameType.ChanceMode.DETERMINISTIC
    hides = rules.hides
    if explicit:
        chance_mode = pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
    elif rules.facts.chance:
        chance_mode = pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
        hides = True
    information = pyspiel.GameType.Information.PERFECT_INFORMATION
    if hides:
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
        provides_information_state_tensor=True,  # the observation's
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=_defaults(rules),
    )


class Outcomes(NamedTuple):
    """The outcomes of chance after an action.

    Attributes:
        positions: The position after each.
        probabilities: The probability of each.
    """

    positions: tuple[bytes, ...]
    probabilities: tuple[float, ...]


class View(NamedTuple):
    """A position as seats see it.

    Attributes:
        seat: The seat to act, or pyspiel's number for the end.
        mask: The legal actions, int8[num_actions].
        hashes: Of the observation of each seat, uint64[P].
    """

    seat: int
    mask: bytes
    hashes: bytes


def view_of(rules: Game, position: bytes) -> View:
    """Returns a position as seats see it."""
    states = np.frombuffer(bytearray(position), rules.state)
    mask = np.empty((1, rules.num_actions), np.int8)
    kernels(rules).fill_masks.serial(states, mask)
    views = [_observation(rules, states, seat) for seat in range(int(states["num_players"][0]))]
    hashes = np.empty(len(views), np.uint64)
    hash_words(padded_words(np.stack(views)), hashes)
    seat = int(states["seat"][0])
    if seat < 0:
        seat = _OVER
    return View(seat, mask.tobytes(), hashes.tobytes())


class ExplicitChance:
    """Enumerates the outcomes of the deal and of actions; keeps the last ones, and views.

    Args:
        rules: The game.
        blank: The position before the deal.

    Raises:
        ValueError: The deal can't be enumerated.
    """

    def __init__(self, rules: Game, blank: bytes) -> None:
        self._rules = rules
        try:
            self._expander = Expander(rules, _MOST_OUTCOMES)
        except ValueError as error:
            raise _not_explicit(error) from error
        self._outcomes = lru_cache(_CACHED)(self._enumerate)
        self._view = lru_cache(_CACHED)(partial(view_of, rules))
        self.outcomes(blank, _DEAL)

    def outcomes(self, position: bytes, action: int) -> Outcomes:
        """Returns the outcomes of an action, or of the deal (-1).

        Raises:
            ValueError: They can't be enumerated.
        """
        return self._outcomes(position, action)

    def view(self, position: bytes) -> View:
        """Returns a position as seats see it."""
        return self._view(position)

    def forget(self, states: Records) -> None:
        """Removes the seed and the order of the piles, as outcomes have none."""
        self._expander.forget(states)

    def _enumerate(self, position: bytes, action: int) -> Outcomes:
        states = np.frombuffer(bytearray(position), self._rules.state)
        try:
            if action == _DEAL:
                expanded = self._expander.begin(states[0])
            else:
                mask = np.zeros((1, self._rules.num_actions), np.int8)
                mask[0, action] = 1
                expanded = self._expander.expand(states, mask)
        except ValueError as error:
            raise _not_explicit(error) from error
        positions = tuple(row.tobytes() for row in expanded.words)
        return Outcomes(positions, tuple(expanded.probabilities.tolist()))


def _not_explicit(error: ValueError) -> ValueError:
    """Returns the error of a game whose chance can't be explicit."""
    return ValueError(
        f"chance=explicit: {error}; play such a game with chance=sampled, but algorithms that walk "
        "the whole tree (CFR, exploitability) can't run on it"
    )


def _explicit_chance(rules: Game, blank: bytes, chance: str) -> ExplicitChance | None:
    """Returns the enumeration of a game's chance; None if chance is sampled, or there is none."""
    if chance not in ("auto", "explicit", "sampled"):
        raise ValueError(f"chance={shown(chance)} is none of auto, explicit, sampled")
    if not rules.facts.chance or chance == "sampled":
        return None
    try:
        return ExplicitChance(rules, blank)
    except ValueError:
        if chance == "explicit":
            raise
        return None


class SpielGame(pyspiel.Game):
    """A game of linkzoo with one number of players and one set of options.

    There is a subclass for each game, which sets `name`.

    Attributes:
        rules: The game.
        blank: The position before the deal.
        rng: Draws the seeds of sampled chance.
        chance: The enumeration of chance; None if chance is sampled, or there is none.
    """

    name: str

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given = dict(params or {})
        players = given.pop("players", None)
        seed = given.pop("rng_seed", -1)
        chance = given.pop("chance", "auto")
        # pyspiel fills in the standard game's defaults; a board's own may differ.
        standard = _defaults(get_game(self.name))
        options = {name: value for name, value in given.items() if value != standard[name]}
        self.rules = get_game(self.name, options)
        blank = self.rules.blank(players, options)
        self.blank: bytes = blank.tobytes()
        self.rng = np.random.default_rng()
        if seed >= 0:
            self.rng = np.random.default_rng(seed)
        self.chance = _explicit_chance(self.rules, self.blank, chance)
        max_chance_outcomes = 0
        if self.chance is not None:
            max_chance_outcomes = _MOST_OUTCOMES
        elif self.rules.facts.chance:
            max_chance_outcomes = _SEEDS
        info = pyspiel.GameInfo(
            num_distinct_actions=self.rules.num_actions,
            max_chance_outcomes=max_chance_outcomes,
            num_players=int(blank.num_players),
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=self.rules.facts.max_length,
        )
        kind = game_type(self.rules, explicit=self.chance is not None)
        for name, value in self.rules.chosen_options(blank).items():
            given[name] = -1 if value is None else value
        given.update(players=int(blank.num_players), chance=chance, rng_seed=seed)
        self._params = given
        super().__init__(kind, info, self._params)

    def __reduce__(self) -> tuple[Any, ...]:  # pyspiel's own way doesn't call __init__
        return _load_game, (id_of(get_game(self.name)), self._params, self.rng)

    def new_initial_state(self) -> "SpielState":
        """Returns the chance node before the game; without chance, its first position."""
        return SpielState(self)

    def view(self, position: bytes) -> View:
        """Returns a position as seats see it."""
        if self.chance is not None:
            return self.chance.view(position)
        return view_of(self.rules, position)

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
        self._pending = _DEAL  # the action that waits for its outcome
        self._seat = _CHANCE
        self._position = game.blank
        self._mask = b""
        pasts = np.zeros((game.num_players(), 2), np.uint64)  # as in linkzoo.exact.tree
        pasts[:, 0] = np.arange(1, len(pasts) + 1)
        self._pasts = pasts.tobytes()
        if game.chance is not None:
            self._draw(game.chance, _DEAL)
        elif not game.rules.facts.chance:
            self._deal(0)

    def __reduce__(self) -> tuple[Any, ...]:  # pyspiel's own wants a state of C++'s random numbers
        return _load_state, (self.get_game(), self.serialize())

    @property
    def states(self) -> Records:
        """Returns the position as an array of one record, the caller's own."""
        return np.frombuffer(bytearray(self._position), self._rules.state)

    def current_player(self) -> int:
        """Returns the seat to act, or pyspiel's numbers for chance and for the end."""
        return self._seat

    def is_terminal(self) -> bool:
        """Returns whether the game is over."""
        return self._seat == _OVER

    def returns(self) -> list[float]:
        """Returns the payoffs of the seats; zeros before the end."""
        payoff = np.zeros((1, self.num_players()), np.float32)
        margin = np.zeros((1, self.num_players()), np.float32)
        if self.is_terminal():
            kernels(self._rules).outcome.serial(self.states, payoff, margin)
        return [_exact(value) for value in payoff[0]]

    @property
    def dealt(self) -> bool:
        """Returns whether the game has begun."""
        return self._pending != _DEAL

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Returns the numbers of all outcomes and their probabilities.

        Where chance is sampled, the only outcome is the seed of the game, drawn at the first call.
        """
        game = self.get_game()
        if game.chance is not None:
            outcomes = game.chance.outcomes(self._position, self._pending)
            return list(enumerate(outcomes.probabilities))
        if self._seed < 0:
            self._seed = int(game.rng.integers(_SEEDS))
        return [(self._seed, 1.0)]

    def information_state_key(self, player: int) -> str:
        """Returns a hash of all that a seat has seen and done, the same as in `exact.tree`."""
        return f"{int(self._past_views()[player, 0]):016x}"

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
        explicit = self.get_game().chance
        if explicit is not None:
            explicit.forget(states)
        pasts = self._past_views()
        for seat in range(len(pasts)):
            if seat != player:
                pasts[seat] = seat + 1, 0
        copy._pasts = pasts.tobytes()
        copy._arrive(states.tobytes())
        return copy

    def _legal_actions(self, _player: int) -> list[int]:
        legal: list[int] = np.flatnonzero(np.frombuffer(self._mask, np.int8)).tolist()
        return legal

    def _apply_action(self, action: int) -> None:
        explicit = self.get_game().chance
        if self._pending != _NONE:
            if explicit is None:
                self._deal(action)
            else:
                outcomes = explicit.outcomes(self._position, self._pending)
                self._arrive(outcomes.positions[action])
            return
        pasts = self._past_views()
        pasts[self._seat, 0] = mix(pasts[self._seat, 0], np.uint64(action + 1))
        self._pasts = pasts.tobytes()
        if explicit is not None:
            self._draw(explicit, action)
            return
        states = self.states
        mask = np.empty(self._rules.num_actions, np.int8)
        kernels(self._rules).play_one(states, int(action), mask)
        self._arrive(states.tobytes())

    def _draw(self, chance: ExplicitChance, action: int) -> None:
        """Plays an action, or deals; becomes a chance node if there are several outcomes."""
        outcomes = chance.outcomes(self._position, action)
        self._pending = action
        self._seat = _CHANCE
        if len(outcomes.positions) == 1:
            self._arrive(outcomes.positions[0])

    def _deal(self, seed: int) -> None:
        """Begins the game with a seed."""
        states = self.states
        mask = np.empty((1, self._rules.num_actions), np.int8)
        kernels(self._rules).begin(states, np.array([seed], np.uint64), mask)
        self._arrive(states.tobytes())

    def _arrive(self, position: bytes) -> None:
        """Becomes a position, which all seats look at."""
        view = self.get_game().view(position)
        pasts = self._past_views()
        see(np.frombuffer(view.hashes, np.uint64), pasts)
        self._pasts = pasts.tobytes()
        self._position = position
        self._mask = view.mask
        self._seat = view.seat
        self._pending = _NONE

    def _past_views(self) -> NDArray[np.uint64]:
        """Returns the pasts of all seats [P, 2], the caller's own."""
        return np.frombuffer(bytearray(self._pasts), np.uint64).reshape(-1, 2)

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            if self.get_game().chance is not None:
                return f"outcome {action}"
            return f"seed {action}"
        return self._rules.notation.action_to_text(self.states[0], int(action))

    def __str__(self) -> str:
        if not self.dealt:
            return "before the deal"
        state = self.states[0]
        text = json.dumps(self._rules.to_dict(state))
        if self._pending == _NONE:
            return text
        return f"{text}, chance after {self._rules.notation.action_to_text(state, self._pending)}"


class SpielObserver:
    """The observation of a seat as named tensors (the parts of its spec) and as text.

    With perfect recall, the text is that of the information state; the tensors are the same, since
    no tensor of a fixed size holds all views of a seat.
    """

    def __init__(self, rules: Game, perfect_recall: bool) -> None:
        self._rules = rules
        self._recall = perfect_recall
        spec = rules.observation.spec
        self.tensor = np.zeros(spec.size, np.float32)
        # Views of `tensor`, which is filled in place.
        self.dict = {
            part.name: self.tensor[elements].reshape(part.shape)
            for part, elements in zip(spec.parts, spec.slices().values(), strict=True)
        }

    def set_from(self, state: SpielState, player: int) -> None:
        """Fills `tensor` with the observation of `player`; zeros before the deal."""
        self.tensor[:] = 0
        if state.dealt:
            self.tensor[:] = _observation(self._rules, state.states, player)

    def string_from(self, state: SpielState, player: int) -> str:
        """Returns the view of `player` as JSON; with perfect recall, a hash of all its views."""
        if self._recall:
            return state.information_state_key(player)
        if not state.dealt:
            return ""
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
