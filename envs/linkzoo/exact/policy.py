"""Policies of trees: those of agents, and agents that play a policy."""

import json
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol, runtime_checkable
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.agent import Agent, Positions, check_agent
from linkzoo.core.arguments import agrees, check_keys, integer, parse_json
from linkzoo.core.files import write_atomically
from linkzoo.core.game import Game
from linkzoo.core.kernels import observations
from linkzoo.core.state import Records
from linkzoo.core.user_files import local
from linkzoo.engine.rng import STREAM_ACTION, random_u64, random_u64s
from linkzoo.exact.hashing import Words, hash_words
from linkzoo.exact.tree import GameTree, padded_words, spans
from linkzoo.exact.values import (
    Floats,
    add_action_values,
    fill_both_reaches,
    fill_reaches,
    fill_values,
    structure_of,
)
from linkzoo.registry import get_same_game, id_of

FORMAT = "linkzoo-tabular/1"
MAX_SAMPLES = 10_000
_NOBODY = -9  # no seat: all play the policy
_BATCH = 1 << 12  # positions that an agent gets at once
_TOLERANCE = 1e-3  # of sums of probabilities, some of which agents compute in bfloat16


@runtime_checkable
class StochasticAgent(Protocol):
    """An agent that says how it draws its actions."""

    def probabilities(self, positions: Positions) -> NDArray[Any]:
        """Returns the probabilities by which `act` draws, [N, num_actions]."""


def policy_of(agent: Agent | Floats, tree: GameTree, *, samples: int = 1, seed: int = 0) -> Floats:
    """Returns the policy by which an agent plays in a tree.

    Args:
        agent: An agent; or a policy, which is checked.
        tree: The tree.
        samples: Decisions per information set of an agent without `probabilities`; their shares
            are its policy. One is enough for agents that don't draw.
        seed: The seed of these decisions.

    Returns:
        The probabilities of the tree's entries, float64[K].

    Raises:
        ValueError: The policy isn't one of this tree, or an argument is out of range.
    """
    if isinstance(agent, np.ndarray):
        return _checked(agent, tree)
    check_agent(agent)
    samples = integer("samples", samples, 1, MAX_SAMPLES)
    policy = tree.uniform()
    for first in range(0, len(tree.decisions), _BATCH):
        part = slice(first, first + _BATCH)
        states = tree.states[part]
        seeds = random_u64s(
            random_u64(seed, STREAM_ACTION, first), STREAM_ACTION, np.arange(len(states))
        )
        dense = _probabilities(agent, Positions(tree.game, states.copy(), seeds), samples)
        for row, infoset in enumerate(tree.decisions[part]):
            entries = slice(tree.first_entry[infoset], tree.first_entry[infoset + 1])
            policy[entries] = dense[row, tree.actions[entries]]
    return _checked(policy, tree)


def mixture(policies: Sequence[Floats], tree: GameTree) -> Floats:
    """Returns the policy that plays like a mixture: every seat draws one of several for each game.

    An information set plays each policy as likely as the seat, with it, gets there.

    Args:
        policies: Policies of the tree, float64[K] each, all equally likely.
        tree: A tree with hidden information.

    Raises:
        ValueError: There is none, one isn't of this tree, or nothing is hidden.
    """
    if not policies or tree.merged:
        raise ValueError("a mixture needs policies, and a game with hidden information")
    structure = structure_of(tree)
    counts = np.diff(tree.first_entry)
    sums = np.zeros(len(tree.actions))
    reaches = np.empty((len(tree.seats), 2))
    decided = np.flatnonzero(tree.infosets >= 0)
    own = np.zeros(tree.num_infosets)
    for policy in policies:
        checked = _checked(policy, tree)
        for seat in range(tree.num_players):
            fill_both_reaches(structure, seat, checked, reaches)
            nodes = decided[tree.seats[decided] == seat]
            own[tree.infosets[nodes]] = reaches[nodes, 1]
        # A tiny weight plays on where none of the policies gets to.
        sums += np.repeat(own + 1e-12, counts) * checked
    return _shares(sums, tree)


def _shares(sums: Floats, tree: GameTree) -> Floats:
    """Returns numbers of the entries, over their total in each information set, float64[K]."""
    totals = np.add.reduceat(sums, tree.first_entry[:-1])
    return np.asarray(sums / np.repeat(totals, np.diff(tree.first_entry)), np.float64)


def _probabilities(agent: Agent, positions: Positions, samples: int) -> Floats:
    if isinstance(agent, StochasticAgent):
        return np.asarray(agent.probabilities(positions), np.float64)
    rows = np.arange(len(positions))
    shares = np.zeros((len(positions), positions.game.num_actions))
    for sample in range(samples):
        seeds = positions.seeds
        if sample:
            seeds = random_u64s(positions.seeds, STREAM_ACTION, np.full(len(rows), sample))
        actions = agent.act(Positions(positions.game, positions.states.copy(), seeds))
        shares[rows, actions] += 1 / samples
    return shares


def _checked(policy: Floats, tree: GameTree) -> Floats:
    """Returns a policy, normalised; ValueError unless it has probabilities for every entry."""
    if policy.shape != tree.actions.shape or not (policy >= 0).all():
        raise ValueError(
            f"policy: not {len(tree.actions)} probabilities, one for each entry of the tree"
        )
    totals = np.add.reduceat(policy, tree.first_entry[:-1])
    if np.abs(totals - 1).max() > _TOLERANCE:
        raise ValueError("policy: the probabilities of an information set don't add up to 1")
    return _shares(policy, tree)


class TabularAgent:
    """Plays a policy that is written down for every position of a small game.

    It is looked up by the seat's observation, as all agents see positions. Where observations
    forget something that a seat has seen, it is the mean over all its pasts.

    Args:
        game: The game.
        card: Facts about the policy; `num_players` and `options` say what it is for.
        keys: uint64[K], hashes of observations, sorted; several entries have the same.
        actions: int32[K], a legal action of each entry.
        policy: float64[K], its probability.
        values: float64[K], the payoff that the seat expects of it.
        name: The agent's name.

    Attributes:
        game: The game.
        card: Facts about the policy.
        name: The agent's name.
    """

    def __init__(
        self,
        game: Game,
        card: Mapping[str, Any],
        keys: Words,
        actions: NDArray[np.int32],
        policy: Floats,
        values: Floats,
        name: str = "tabular",
    ) -> None:
        self.game = game
        self.card = dict(card)
        self.name = name
        self._keys = keys
        self._actions = actions
        self._policy = policy
        self._values = values

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns a sampled action for each position, int64[N]; raises as `probabilities`."""
        cumulative = self.probabilities(positions).cumsum(1)
        uniform = (random_u64s(positions.seeds, STREAM_ACTION, 0) >> np.uint64(11)) / 2.0**53
        actions: NDArray[np.int64] = (cumulative <= uniform[:, None] * cumulative[:, -1:]).sum(1)
        return actions

    def probabilities(self, positions: Positions) -> Floats:
        """Returns the policy at N positions, float64[N, num_actions].

        Raises:
            ValueError: The positions are of another game, or aren't in the table.
        """
        dense = positions.action_mask.astype(np.float64)
        for row, entries in self._entries(positions):
            dense[row, self._actions[entries]] = self._policy[entries]
        return dense

    def evaluate(self, positions: Positions) -> Floats:
        """Returns what the seat to act expects of each action, if all play the policy afterwards.

        Args:
            positions: N positions.

        Returns:
            Payoffs float64[N, num_actions]; 0 for illegal actions, and where there is no choice.

        Raises:
            ValueError: As `probabilities`.
        """
        dense = np.zeros(positions.action_mask.shape)
        for row, entries in self._entries(positions):
            dense[row, self._actions[entries]] = self._values[entries]
        return dense

    def _entries(self, positions: Positions) -> Iterator[tuple[int, slice]]:
        """Yields the positions with a choice, each with its entries."""
        if positions.game.key != self.game.key:
            raise ValueError(f"{self.name} plays {self.game}, not {positions.game}")
        choices = np.flatnonzero(positions.action_mask.sum(1) > 1)
        keys = _observation_keys(self.game, positions.states[choices])
        first = np.searchsorted(self._keys, keys)
        last = np.searchsorted(self._keys, keys, "right")
        if (first == last).any():
            raise ValueError(
                f"{self.name} knows no such position: it plays {self.game} with "
                f"{self.card['num_players']} players and {self.card['options']}"
            )
        for row, start, end in zip(choices.tolist(), first, last, strict=True):
            yield row, slice(start, end)

    def save(self, path: str | Path) -> None:
        """Writes the agent to a file of NumPy (.npz)."""
        game = self.game
        header = {
            "format": FORMAT,
            "game": id_of(game),
            "version": game.version,
            "digest": game.digest,
            "card": self.card,
        }
        buffer = BytesIO()
        np.savez_compressed(
            buffer,
            allow_pickle=False,
            header=np.array(json.dumps(header)),
            keys=self._keys,
            actions=self._actions,
            policy=self._policy,
            values=self._values,
        )
        write_atomically(Path(path), buffer.getvalue())

    @classmethod
    def load(cls, path: str | Path) -> "TabularAgent":
        """Reads a file of `save`.

        Raises:
            ValueError: There is no such file, it is damaged, or it was made for another game.
        """
        path = local(path)
        try:
            with np.load(BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
                header = parse_json(str(arrays["header"]).encode())
                keys = arrays["keys"].astype(np.uint64)
                actions = arrays["actions"].astype(np.int32)
                policy = arrays["policy"].astype(np.float64)
                values = arrays["values"].astype(np.float64)
            check_keys("header", header, "format game version digest card".split())
            agrees("format", header["format"], FORMAT)
            game = get_same_game(header["game"], header["card"]["options"], header["digest"])
            game.check_version(header["version"])
        except FileNotFoundError as error:
            raise ValueError(f"tabular: there is no file {path}") from error
        except (OSError, KeyError, TypeError, ValueError, BadZipFile) as error:
            raise ValueError(f"tabular: {path}: {error}") from error
        shapes = {array.shape for array in (keys, actions, policy, values)}
        finite = np.isfinite(policy).all() and np.isfinite(values).all()
        if shapes != {(len(keys),)} or not finite:
            raise ValueError(
                f"tabular: {path}: keys, actions, policy and values don't fit together"
            )
        return cls(game, header["card"], keys, actions, policy, values, f"tabular:{path}")


def tabular_agent(
    tree: GameTree, policy: Floats, card: Mapping[str, Any] | None = None, name: str = "tabular"
) -> TabularAgent:
    """Returns the agent that plays a policy of a tree.

    Args:
        tree: The tree.
        policy: The policy, float64[K], such as `Solution.policy` or a best response.
        card: Further facts for its card.
        name: Its name.

    Raises:
        ValueError: The policy isn't one of this tree.
    """
    policy = _checked(policy, tree)
    choices = tree.decisions
    counts = np.diff(tree.first_entry)[choices]
    entries = spans(tree.first_entry, choices)
    sums, totals = _weighted_values(tree, policy)
    keys = np.repeat(_observation_keys(tree.game, tree.states), counts)
    weights = np.repeat(totals[choices], counts)
    order = np.lexsort((tree.actions[entries], keys))
    keys = keys[order]
    actions = tree.actions[entries][order]
    new = np.ones(len(keys), np.bool_)
    new[1:] = (keys[1:] != keys[:-1]) | (actions[1:] != actions[:-1])
    first = np.flatnonzero(new)
    weight = np.add.reduceat(weights[order], first)
    shares = np.add.reduceat((weights * policy[entries])[order], first) / weight
    values = np.add.reduceat(sums[entries][order], first) / weight
    facts = {"num_players": tree.num_players, "options": dict(tree.options), **(card or {})}
    return TabularAgent(tree.game, facts, keys[first], actions[first], shares, values, name)


def _weighted_values(tree: GameTree, policy: Floats) -> tuple[Floats, Floats]:
    """Returns the values of all entries, weighted by reach, float64[K], and the weights, [I]."""
    structure = structure_of(tree)
    weights = np.empty(len(tree.seats))
    fill_reaches(structure, _NOBODY, policy, weights)
    weights += 1e-12  # a tiny weight keeps what the policy never reaches
    values = np.empty(len(tree.seats))
    sums = np.zeros(len(tree.actions))
    totals = np.zeros(tree.num_infosets)
    for seat in range(tree.num_players):
        fill_values(structure, seat, policy, values)
        add_action_values(structure, seat, values, weights, sums, totals)
    return sums, totals


def _observation_keys(game: Game, states: Records) -> Words:
    """Returns the hashes of what the seats to act see, uint64[N]."""
    keys = np.empty(len(states), np.uint64)
    hash_words(padded_words(observations(game, states, states["seat"])), keys)
    return keys
