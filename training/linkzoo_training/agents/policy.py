"""Trained policies as agents, with and without a search."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from linkzoo import Game, Positions, get_game
from linkzoo.engine.rng import STREAM_ACTION, words
from linkzoo.core.arguments import integer, shown
from linkzoo_training.checkpoint import CARD, load_card, read_weights
from linkzoo_training.fingerprints import fingerprints
from linkzoo_training.networks import make_network, masked
from linkzoo_training.policy_value import PolicyValueNet
from linkzoo_training.resources import find_checkpoint
from linkzoo_training.schema import MOST_TEMPERATURE
from linkzoo_training.search.gumbel import Found, GumbelSearch
from linkzoo_training.search.solver import side_solver
from linkzoo_training.shards import answers
from linkzoo_training.symmetries import symmetries
from linkzoo_training.transfers import to_device

SOLVER_LIMIT = 300_000  # positions to solve one (GumbelSearch), in searches at play time
_MOST_BYTES = 2**28  # of the trees that a search grows side by side
_MOST_LOGIT = 1e8  # of a sane network: far below what marks an illegal action (ILLEGAL_LOGIT)


def usual_temperature(game: Game) -> float:
    """How policies of a game are played: 1 (drawn) if the game has hidden information, else 0.

    With hidden information optimal play is often mixed, and always playing the most probable action
    is a policy that nobody trained.
    """
    return 0.0 if game.hidden is None else 1.0


class PolicyAgent:
    """A trained policy: one forward pass for each decision, and no search.

    It plays its likeliest action at `temperature` 0, and draws from the policy at 1; None is what
    the game's policies are usually played with (`usual_temperature`).

    With `views` above 1 the pass is over that many symmetric views of the position, and their
    probabilities and values are averaged: a network of few parameters is never quite symmetric by
    itself. Needs a game that declares symmetries.
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
        self.name, self.game, self.card = name, game, dict(card)
        self.temperature = usual_temperature(game) if temperature is None else temperature
        if not 0 <= self.temperature <= MOST_TEMPERATURE:
            raise ValueError(f"temperature: {self.temperature:g} is not in 0..{MOST_TEMPERATURE}")
        self.views = np.zeros(1, np.int64)  # the identity
        if views != 1:
            count = len(symmetries(game))
            if not 1 <= views <= count:
                raise ValueError(f"views: {views} is not in 1..{count}")
            self.views = np.arange(views) * count // views
        self.device = torch.device(device)
        self.network = network.to(self.device).eval()

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """The likeliest action of each position, or one drawn at the agent's temperature; [N]."""
        logits, _ = self.evaluate(positions)
        return self.draw(logits, positions.seeds)

    def draw(self, logits: Tensor, seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Actions [N] from logits [N, A]: the likeliest, or drawn at the agent's temperature."""
        if self.temperature > 0:
            drawn = words(seeds, STREAM_ACTION, 0) >> np.uint64(11)
            uniform = torch.from_numpy(drawn / 2.0**53)  # below 1 as a double
            lower = logits.double() - logits.amax(-1, keepdim=True)
            chances = torch.softmax(lower / self.temperature, -1).cumsum(-1)
            return (chances <= uniform[:, None] * chances[:, -1:]).sum(-1).numpy()
        return logits.argmax(-1).numpy()

    def evaluate(self, positions: Positions) -> tuple[Tensor, Tensor]:
        """Masked logits [N, A] and values [N, P] relative to the seat to act, on the CPU.

        ValueError for positions of another game.
        """
        _check_game(self.name, self.game, positions)
        features = self.network.map(positions.observation.reshape(len(positions), -1))
        mask, count = torch.from_numpy(positions.action_mask), len(self.views)
        if count > 1:
            views = symmetries(self.game).views(features, self.views)
            features = views.reshape(-1, features.shape[1])
        logits, values = self.answer(features)
        if count > 1:
            answers = symmetries(self.game).answers(
                logits.reshape(count, len(mask), -1), self.views
            )
            logits = torch.softmax(masked(answers, mask), -1).mean(0).clamp(min=1e-30).log()
            values = values.reshape(count, len(mask), -1).mean(0)
        return masked(logits, mask), values

    def answer(self, features: NDArray[Any]) -> tuple[Tensor, Tensor]:
        """Logits [N, A] and values [N, P] of features [N, F], on the CPU.

        ValueError if they are so large that no weights of a training give them, or no numbers.
        """
        logits, values = answers(self.network, to_device(features, self.device))
        logits, values = logits.float().cpu(), values.float().cpu()
        if not all((numbers.abs() < _MOST_LOGIT).all() for numbers in (logits, values)):
            raise ValueError(f"{self.name}: the network gives numbers beyond {_MOST_LOGIT:g}")
        return logits, values


class SearchAgent:
    """A trained policy that searches before it plays: `simulations` for each decision.

    The search (`search.gumbel`) plays on with what the seat may know: with hidden information
    or chance ahead, every simulation is in another world that the seat can't tell from the real
    one, and with hidden information others are believed to play as the policy would. Of a policy
    that averages symmetric views, every position in the search is seen through one of them. At a
    temperature above 0 the action is drawn from the policy that the search improved. Where the game
    has an exact solver, what that solves within SOLVER_LIMIT positions is played perfectly.
    """

    def __init__(self, policy: PolicyAgent, simulations: int) -> None:
        self.policy, self.simulations = policy, simulations
        self.name = f"{policy.name}:{simulations}"
        memory = side_solver(policy.game).memory(1, SOLVER_LIMIT)
        solving, node = sum(part.nbytes for part in memory), 4 * policy.game.num_actions
        integer("simulations", simulations, 1, (_MOST_BYTES - solving) // node - 1)
        self._count = _MOST_BYTES // (solving + (simulations + 1) * node)
        self._search = GumbelSearch(
            policy.game,
            self._count,
            simulations,
            views=policy.views,
            least_range=policy.card.get("least_range"),
            score_margin_weight=policy.card.get("score_margin_weight", 0.0),
            solver_limit=SOLVER_LIMIT,
        )

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """The action that the search prefers in each position, or the only one; int64[N]."""
        policy = self.policy
        _check_game(self.name, policy.game, positions)
        actions: NDArray[np.int64] = positions.action_mask.argmax(1)
        choices = np.flatnonzero(positions.action_mask.sum(1) > 1)
        for first in range(0, len(choices), self._count):
            part = choices[first : first + self._count]
            seeds = positions.seeds[part]
            found = self._run(positions.states[part], seeds)
            actions[part] = found.actions
            if policy.temperature > 0:
                logits = torch.from_numpy(found.policy).clamp(min=1e-30).log()
                actions[part] = policy.draw(logits, seeds)
        return actions

    def analyse(
        self, positions: Positions
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
        """Of the first position: the improved policy [A], values by seat [P], and visits [A].

        What the exact solver settles isn't searched: no action is visited.
        """
        _check_game(self.name, self.policy.game, positions)
        states, seeds = positions.states[:1].copy(), positions.seeds[:1]
        found = self._run(states, seeds)
        return found.policy[0], found.values[0], self._search.visits(0)

    def _run(self, states: NDArray[Any], seeds: NDArray[np.uint64]) -> Found:
        temperature = self.policy.temperature or 1.0  # of the likeliest action alone it is 0
        return self._search.run(states, seeds, self.policy.answer, temperature=temperature)


def _check_game(name: str, game: Game, positions: Positions) -> None:
    """ValueError for positions of another game than the agent's."""
    if positions.game.key != game.key:
        raise ValueError(f"{name} plays {game.key}, not {positions.game.key}")


def load_agent(
    path_or_name: str | Path,
    *,
    temperature: float | None = None,
    views: int | None = None,
    device: str = "cpu",
) -> PolicyAgent:
    """The agent of a checkpoint: a folder, or the name of one that ships with the package.

    `temperature` 0 plays the likeliest action, 1 draws from the policy, and `views` is the number
    of symmetric views that are averaged (None: what its card says; a card without a temperature
    leaves it to the game, see PolicyAgent). ValueError if there is no such checkpoint, if it is
    damaged, or if it was trained for other rules or observations.
    """
    folder = find_checkpoint(path_or_name)
    card = load_card(folder)
    try:
        game = get_game(card["game"], card["fixed"])
        with torch.device("meta"):  # takes no memory, whatever the card says
            outline = make_network(game, **card["network"])
    except ValueError as error:
        raise ValueError(f"{folder / CARD}: {error}") from error
    for what, value in fingerprints(game).items():
        if card["fingerprints"].get(what) != value:
            raise ValueError(
                f"{folder} was trained for other {what}: its fingerprint is "
                f"{shown(card['fingerprints'].get(what))}, that of this package's {game.name} "
                f"{value!r}"
            )
    weights = read_weights(folder, card, outline)
    network = make_network(game, **card["network"])
    network.load_state_dict(weights)
    name = folder.resolve().name
    if views is None:
        views = card["views"]
    elif views != card["views"]:
        name = f"{name}@{views}"
    usual = card.get("temperature")
    if usual is None:
        usual = usual_temperature(game)
    if temperature is None:
        temperature = usual
    elif temperature != usual:
        name = f"{name}~{temperature:g}"
    try:
        return PolicyAgent(
            name, game, network, card, temperature=temperature, views=views, device=device
        )
    except ValueError as error:
        raise ValueError(f"{folder}: {error}") from error
