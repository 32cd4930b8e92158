"""Trained policies as agents, with and without a search."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from linkzoo import Game, Positions, get_game
from linkzoo.core.arguments import integer, real, shown
from linkzoo.engine.rng import STREAM_ACTION, random_u64s
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.agents.trained_on import TrainedOn, UntrainedWarning
from linkzoo_training.arrays import relative
from linkzoo_training.checkpoints.checkpoint import (
    CARD,
    check_network_source,
    load_card,
    read_weights,
)
from linkzoo_training.checkpoints.fingerprints import fingerprints
from linkzoo_training.imports import is_import_path
from linkzoo_training.networks.action import ActionNet
from linkzoo_training.networks.categorical import draw
from linkzoo_training.networks.flat import make_network, masked
from linkzoo_training.networks.policy_value import PolicyValueNet
from linkzoo_training.networks.settings import torch_defaults
from linkzoo_training.networks.shards import sharded_forward
from linkzoo_training.networks.symmetries import symmetries
from linkzoo_training.networks.transfers import to_device
from linkzoo_training.resources import find_checkpoint, shipped
from linkzoo_training.schema import MAX_TEMPERATURE
from linkzoo_training.search.action import ActionWeights, action_weights, forward
from linkzoo_training.search.duel import Player
from linkzoo_training.search.gumbel import GumbelSearch, PolicyOutput

__all__ = ["PolicyAgent", "PolicySearch", "SearchAgent", "load_agent"]

SOLVER_LIMIT = 300_000  # positions of a game's own solver per decision, see GumbelSearch
PROOF_LIMIT = 2_000  # positions of proof-number search per decision
_MAX_BYTES = 2**28  # memory limit of one batched search
_LOADING = Lock()  # one thread at a time changes torch's settings
_MAX_LOGIT = 1e8  # of a plausible network, far below the mask's ILLEGAL_LOGIT


def _default_temperature(game: Game) -> float:
    """Returns 1 with hidden information, where optimal play is often mixed, else 0."""
    return 1.0 if game.hides else 0.0


class PolicyAgent:
    """A trained policy: one forward pass per decision, without search.

    Args:
        name: The agent's name in results.
        game: The agent's game.
        network: The network; it is moved to `device`.
        card: The checkpoint's card; may be empty.
        temperature: 0 plays the most probable action, 1 samples from the policy; None: 1 in games
            with hidden information, else 0.
        views: Number of symmetric views whose probabilities and values are averaged. Above 1 the
            game must declare symmetries.
        device: The network's device.

    Attributes:
        warns: Whether it warns about games that it wasn't trained for; off where a program shows
            `untrained`.

    Raises:
        ValueError: The temperature or the views are out of range.
    """

    def __init__(
        self,
        name: str,
        game: Game,
        network: PolicyValueNet,
        card: Mapping[str, Any],
        *,
        temperature: float | None = None,
        views: int = 1,
        device: str | torch.device = "cpu",
    ) -> None:
        self.name = name
        self.game = game
        self.card = dict(card)
        if temperature is None:
            temperature = _default_temperature(game)
        self.temperature = real("temperature", temperature, 0, MAX_TEMPERATURE)
        self.views = np.zeros(1, np.int64)  # the identity alone
        if views != 1:
            count = len(symmetries(game))
            if not 1 <= views <= count:
                raise ValueError(f"views: {views} is not in 1..{count}")
            self.views = np.arange(views) * count // views
        self._weights: ActionWeights | None = None  # of an action network on the CPU
        try:
            self.device = torch.device(device)
            self.network = network.to(self.device).eval()
        except (RuntimeError, AssertionError, TypeError) as error:
            raise ValueError(f"device: {shown(device)} can't be used ({error})") from error
        if isinstance(network, ActionNet) and self.device.type == "cpu":
            tensors = network.state_dict()
            arrays = {name: tensor.float().numpy() for name, tensor in tensors.items()}
            self._weights = action_weights(arrays, network.linear.context.numpy())
        self._trained_on = TrainedOn.of(game, self.card)
        self._warned: set[str] = set()
        self.warns = True

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns the most probable or a sampled action of each position, int64[N].

        Raises:
            ValueError: The positions are of another game, or the network's output isn't finite.
        """
        logits, _ = self._outputs(positions)
        return self.sample(logits, positions.seeds)

    def sample(self, logits: Tensor, seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Samples actions int64[N] from logits [N, A] at the agent's temperature."""
        if self.temperature == 0:
            return logits.argmax(-1).numpy()
        random_bits = random_u64s(seeds, STREAM_ACTION, 0) >> np.uint64(11)
        uniform = torch.from_numpy(random_bits / 2.0**53)  # below 1 as a double
        lower = logits.double() - logits.amax(-1, keepdim=True)
        actions, _ = draw(torch.softmax(lower / self.temperature, -1), uniform)
        return actions.numpy()

    def evaluate(self, positions: Positions) -> tuple[Tensor, Tensor]:
        """Computes the policy and the values of N positions, without search.

        Args:
            positions: The positions.

        Returns:
            Logits float32[N, A], very low for illegal actions, and values float32[N, P], about -1
            to 1. Value i belongs to the i-th seat from the seat to act; absent seats have 0. Both
            are on the CPU.

        Raises:
            ValueError: As `act`.
        """
        logits, values = self._outputs(positions)
        absent = np.arange(values.shape[1]) >= positions.num_players[:, None]
        return logits, values.masked_fill(torch.from_numpy(absent), 0)

    def compiled_player(self, game: Game) -> Player | None:
        """Returns the agent as a player of compiled duels; None if it can't play them."""
        if self._weights is None or len(self.views) > 1 or game.key != self.game.key:
            return None
        return Player(self._weights, float(self.temperature))

    def distribution(self, positions: Positions) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Returns probabilities float32[N, A] at temperature 1, and values as `evaluate` does."""
        logits, values = self.evaluate(positions)
        return logits.softmax(-1).numpy(), values.numpy()

    def probabilities(self, positions: Positions) -> NDArray[np.float64]:
        """Returns the probabilities by which `act` draws, float64[N, num_actions]."""
        logits, _ = self._outputs(positions)
        if self.temperature == 0:
            shares = torch.zeros_like(logits, dtype=torch.float64)
            return shares.scatter_(1, logits.argmax(-1, keepdim=True), 1).numpy()
        return torch.softmax(logits.double() / self.temperature, -1).numpy()

    def _outputs(self, positions: Positions) -> tuple[Tensor, Tensor]:
        """Returns masked logits [N, A] and values [N, P], without masking absent seats."""
        self.check_positions(positions)
        flat = positions.observation.reshape(len(positions), -1)
        encoding = self.network.encoding
        # Without rows of actions, observations are enough: they may come without states.
        states = positions.states if encoding.row else None
        features = encoding.encode(states, positions.action_mask, flat)
        mask = torch.from_numpy(positions.action_mask)
        count = len(self.views)
        if count == 1:
            logits, values = self.forward(features)
            return masked(logits, mask), values
        symmetry = symmetries(self.game)
        views = symmetry.views(features, self.views)
        logits, values = self.forward(views.reshape(-1, features.shape[1]))
        logits = symmetry.from_views(logits.reshape(count, len(mask), -1), self.views)
        logits = torch.softmax(masked(logits, mask), -1).mean(0).clamp(min=1e-30).log()
        return masked(logits, mask), values.reshape(count, len(mask), -1).mean(0)

    def forward(self, features: NDArray[Any]) -> tuple[Tensor, Tensor]:
        """Returns the network's logits [N, A] and values [N, P] of features [N, F], on the CPU.

        Action networks on the CPU run as compiled code, with the weights that they had at first.

        Raises:
            ValueError: An output is implausibly large or not finite.
        """
        if self._weights is None:
            logits, values = sharded_forward(self.network, to_device(features, self.device))
            logits = logits.float().cpu()
            values = values.float().cpu()
        else:
            logits, values = map(torch.from_numpy, forward(self._weights, features))
        if not all((numbers.abs() < _MAX_LOGIT).all() for numbers in (logits, values)):
            raise ValueError(f"{self.name}: the network's outputs exceed {_MAX_LOGIT:g}")
        return logits, values

    def check_positions(self, positions: Positions) -> None:
        """Raises ValueError for another game; warns once about untrained options and players."""
        if positions.game.key != self.game.key:
            raise ValueError(f"{self.name} plays {self.game}, not {positions.game}")
        given: Any = positions
        if isinstance(given, Positions):
            self.note_untrained(positions.states)
        else:  # observations alone, which don't name the options
            self._warn(self._trained_on.player_notes(positions.num_players))

    def note_untrained(self, states: NDArray[Any], *, options_only: bool = False) -> None:
        """Warns once about options and numbers of players of N records that weren't trained.

        Args:
            states: The records.
            options_only: Whether the numbers of players don't count.
        """
        if states.dtype != self.game.state:  # of another game, which `act` refuses
            return
        if options_only:
            self._warn(self._trained_on.option_notes(self.game, states))
        else:
            self._warn(self._trained_on.notes(self.game, states))

    def untrained(self, states: NDArray[Any]) -> list[str]:
        """Returns the same warnings as sentences, each time."""
        return [f"{self.name} was {note}" for note in self._trained_on.notes(self.game, states)]

    def _warn(self, notes: list[str]) -> None:
        for note in notes:
            if self.warns and note not in self._warned:
                self._warned.add(note)
                warnings.warn(f"{self.name} was {note}", UntrainedWarning, stacklevel=4)


class PolicySearch(ABC):
    """A trained policy with a search before each decision.

    Attributes:
        policy: The policy.
    """

    policy: PolicyAgent

    def note_untrained(self, states: NDArray[Any], *, options_only: bool = False) -> None:
        """Warns as the policy does."""
        self.policy.note_untrained(states, options_only=options_only)

    def untrained(self, states: NDArray[Any]) -> list[str]:
        """Returns the same warnings as sentences, each time."""
        return self.policy.untrained(states)

    @abstractmethod
    def analyse(
        self, positions: Positions, check: Callable[[], None] = lambda: None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
        """Searches the first position.

        Args:
            positions: The positions.
            check: Called now and then; its exceptions end the search.

        Returns:
            The improved policy float32[A], the expected payoffs float32[P] by seat, -1 to 1, and
            the visits int64[A] of the actions.

        Raises:
            ValueError: As `PolicyAgent.act`.
        """


class SearchAgent(PolicySearch):
    """A trained policy with a Gumbel search (`search.gumbel`) before each decision.

    The search uses only the seat's information: with hidden information or chance, each simulation
    samples a determinization, and with hidden information the other seats follow the policy. If the
    policy averages symmetric views, each position of the search uses one of them. At a temperature
    above 0 the action is sampled from the improved policy. Positions that the exact solver solves
    within SOLVER_LIMIT or PROOF_LIMIT positions are played perfectly. Several threads may search at
    the same time: each has trees of its own.

    Args:
        policy: The policy.
        simulations: Simulations per decision.

    Raises:
        ValueError: The simulations per decision are out of range.
    """

    def __init__(self, policy: PolicyAgent, simulations: int) -> None:
        limit = PROOF_LIMIT if policy.game.solver is None else SOLVER_LIMIT
        make = partial(
            GumbelSearch,
            policy.network.encoding,
            views=policy.views,
            min_value_range=policy.card.get("min_value_range"),
            score_margin_weight=policy.card.get("score_margin_weight", 0.0),
            solver_limit=limit,
        )
        base_bytes = make(1, 1).nbytes  # of a position's search with one simulation
        node_bytes = make(1, 2).nbytes - base_bytes  # of each further simulation
        most = (_MAX_BYTES - base_bytes) // node_bytes + 1
        simulations = integer("simulations", simulations, 1, most)
        self.name = f"{policy.name}:{simulations}"
        self.policy = policy
        self.simulations = simulations
        self._count = _MAX_BYTES // (base_bytes + (simulations - 1) * node_bytes)
        self._make_search = partial(make, self._count, simulations)
        self._idle = [self._make_search()]

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns an action for each position, int64[N]; searches if there are several legal ones.

        Raises as `PolicyAgent.act`.
        """
        policy = self.policy
        policy.check_positions(positions)
        actions: NDArray[np.int64] = positions.action_mask.argmax(1)
        choices = np.flatnonzero(positions.action_mask.sum(1) > 1)
        for first in range(0, len(choices), self._count):
            part = choices[first : first + self._count]
            result = self._search(positions.states[part], positions.seeds[part])
            actions[part] = result.actions
            if policy.temperature > 0:
                logits = torch.from_numpy(result.policy).clamp(min=1e-30).log()
                actions[part] = policy.sample(logits, positions.seeds[part])
        return actions

    def distribution(self, positions: Positions) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Returns improved policies float32[N, A], and values as PolicyAgent's; raises as `act`."""
        self.policy.check_positions(positions)
        states = positions.states.copy()
        starts = range(0, max(1, len(states)), self._count)
        parts = [slice(start, start + self._count) for start in starts]
        results = [self._search(states[part], positions.seeds[part]) for part in parts]
        values = np.concatenate([result.values for result in results])
        values = relative(values, states["seat"], positions.num_players)
        return np.concatenate([result.policy for result in results]), values

    def analyse(
        self, positions: Positions, check: Callable[[], None] = lambda: None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
        """Searches the first position.

        Args:
            positions: The positions.
            check: Called before every forward pass; its exceptions end the search.

        Returns:
            The improved policy float32[A], the expected payoffs float32[P] by seat, -1 to 1, and
            the visits int64[A] of the actions, all 0 if the exact solver solves the position.

        Raises:
            ValueError: As `PolicyAgent.act`.
        """
        self.policy.check_positions(positions)
        states = positions.states[:1].copy()
        with self._borrowed() as search:
            result = self._run(search, states, positions.seeds[:1], check)
            values = result.values[0].clip(-1, 1)  # with score margins they go beyond
            return result.policy[0], values, search.visits(0)

    @contextmanager
    def _borrowed(self) -> Iterator[GumbelSearch]:
        """Lends a search to one thread: the search holds the trees."""
        try:
            search = self._idle.pop()
        except IndexError:  # other threads have all of them
            search = self._make_search()
        try:
            yield search
        finally:
            self._idle.append(search)

    def _search(self, states: NDArray[Any], seeds: NDArray[np.uint64]) -> PolicyOutput:
        with self._borrowed() as search:
            return self._run(search, states, seeds)

    def _run(
        self,
        search: GumbelSearch,
        states: NDArray[Any],
        seeds: NDArray[np.uint64],
        check: Callable[[], None] = lambda: None,
    ) -> PolicyOutput:
        def evaluate(features: NDArray[Any]) -> tuple[Tensor, Tensor]:
            check()
            return self.policy.forward(features)

        temperature = self.policy.temperature or 1.0  # the search needs a positive temperature
        return search.run(states, seeds, evaluate, temperature=temperature)


def load_agent(
    path_or_name: str | Path,
    *,
    temperature: float | None = None,
    views: int | None = None,
    device: str = "cpu",
) -> PolicyAgent:
    """Loads the policy of a checkpoint as an agent.

    Args:
        path_or_name: The name of a shipped checkpoint, or a folder; write `./NAME` for a folder
            with the name of a shipped one.
        temperature: 0 plays the most probable action, 1 samples from the policy; None for the
            card's value, else PolicyAgent's default.
        views: Number of symmetric views to average; None for the card's value.
        device: The network's device, such as "cpu" or "cuda".

    Returns:
        The agent.

    Raises:
        ValueError: The checkpoint doesn't exist, is damaged, or was trained for other rules or
            observations.
    """
    folder = find_checkpoint(path_or_name)
    card = load_card(folder)
    with _LOADING, torch_defaults():
        game, network = _load_network(folder, card)
    default_temperature = card.get("temperature")
    if default_temperature is None:
        default_temperature = _default_temperature(game)
    if temperature is None:
        temperature = default_temperature
    temperature = real("temperature", temperature, 0, MAX_TEMPERATURE)
    if views is None:
        views = card["views"]
    views = integer("views", views, 1, 2**31 - 1)
    source = str(path_or_name)
    if folder.parent == shipped("checkpoints"):
        source = Path(path_or_name).name
    label = AgentSpec(
        "checkpoint",
        source,
        views=None if views == card["views"] else views,
        temperature=None if temperature == default_temperature else temperature,
    )
    try:
        return PolicyAgent(
            str(label), game, network, card, temperature=temperature, views=views, device=device
        )
    except ValueError as error:
        raise ValueError(f"{folder}: {error}") from error


def _load_network(folder: Path, card: Mapping[str, Any]) -> tuple[Game, PolicyValueNet]:
    """Returns the game and the network of a checkpoint; raises as `load_agent`."""
    try:
        game = get_game(card["game"], card["fixed"])
        game.check_version(card["version"])
        check_network_source(card)
        # "meta" allocates no memory, even for huge networks in a card; user code may not know it.
        with torch.device("cpu" if is_import_path(card["network"]["kind"]) else "meta"):
            outline = make_network(game, **card["network"])
    except ValueError as error:
        raise ValueError(f"{folder / CARD}: {error}") from error
    for part, fingerprint in fingerprints(game).items():
        trained = card["fingerprints"].get(part)
        if trained != fingerprint:
            raise ValueError(
                f"{folder} was trained for other {part}: its fingerprint is {shown(trained)}, "
                f"{fingerprint!r} for this package's {game.name}"
            )
    weights = read_weights(folder, card, outline)
    network = make_network(game, **card["network"])
    network.load_state_dict(weights)
    return game, network
