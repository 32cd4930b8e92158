"""Values of policies in a tree, and best responses."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo.engine.compiled import compiled
from linkzoo.exact.tree import GameTree

Floats = NDArray[np.float64]


class Structure(NamedTuple):
    """The arrays of a tree that compiled code reads."""

    seats: NDArray[np.int8]
    infosets: NDArray[np.int32]
    first_edge: NDArray[np.int64]
    first_outcome: NDArray[np.int64]
    children: NDArray[np.int32]
    probabilities: Floats
    payoffs: Floats
    first_entry: NDArray[np.int64]


def structure_of(tree: GameTree) -> Structure:
    """Returns the arrays of a tree that compiled code reads."""
    return Structure(*(getattr(tree, name) for name in Structure._fields))


@compiled
def edge_value(tree: Structure, edge: int, values: Floats) -> float:
    """Returns the expected value of an edge, over chance."""
    total = 0.0
    for outcome in range(tree.first_outcome[edge], tree.first_outcome[edge + 1]):
        total += tree.probabilities[outcome] * values[tree.children[outcome]]
    return total


@compiled
def edge_probability(tree: Structure, node: int, edge: int, policy: Floats) -> float:
    """Returns how likely the seat to act plays an edge; 1 at the root."""
    infoset = tree.infosets[node]
    if infoset < 0:
        return 1.0
    return float(policy[tree.first_entry[infoset] + edge - tree.first_edge[node]])


@compiled
def node_value(tree: Structure, seat: int, node: int, policy: Floats, values: Floats) -> float:
    """Returns the expected payoff of a seat from a node on, given those of its children."""
    total = float(tree.payoffs[node, seat])
    for edge in range(tree.first_edge[node], tree.first_edge[node + 1]):
        probability = edge_probability(tree, node, edge, policy)
        if probability > 0:
            total += probability * edge_value(tree, edge, values)
    return total


@compiled
def fill_values(tree: Structure, seat: int, policy: Floats, values: Floats) -> None:
    """Fills the expected payoff of a seat from every node on, float64[N]."""
    for node in range(len(tree.seats) - 1, -1, -1):
        values[node] = node_value(tree, seat, node, policy, values)


@compiled
def fill_reaches(tree: Structure, seat: int, policy: Floats, reaches: Floats) -> None:
    """Fills how likely chance and the others let every node be reached, float64[N]."""
    reaches[:] = 0
    reaches[0] = 1
    for node in range(len(tree.seats)):
        for edge in range(tree.first_edge[node], tree.first_edge[node + 1]):
            reach = reaches[node]
            if tree.seats[node] != seat:
                reach *= edge_probability(tree, node, edge, policy)
            for outcome in range(tree.first_outcome[edge], tree.first_outcome[edge + 1]):
                reaches[tree.children[outcome]] += reach * tree.probabilities[outcome]


@compiled
def fill_both_reaches(tree: Structure, seat: int, policy: Floats, reaches: Floats) -> None:
    """Fills how likely the others and chance, and the seat, let every node be reached, [N, 2].

    The tree must not be merged: every node but the root has one parent.
    """
    reaches[0] = 1
    for node in range(len(tree.seats)):
        for edge in range(tree.first_edge[node], tree.first_edge[node + 1]):
            probability = edge_probability(tree, node, edge, policy)
            others = reaches[node, 0]
            own = reaches[node, 1]
            if tree.seats[node] == seat:
                own *= probability
            else:
                others *= probability
            for outcome in range(tree.first_outcome[edge], tree.first_outcome[edge + 1]):
                child = tree.children[outcome]
                reaches[child, 0] = others * tree.probabilities[outcome]
                reaches[child, 1] = own


@compiled
def add_action_values(
    tree: Structure, seat: int, values: Floats, weights: Floats, sums: Floats, totals: Floats
) -> None:
    """Adds a seat's values of its actions, by the weights of the nodes.

    Args:
        tree: The tree.
        seat: The seat.
        values: float64[N], its values of all nodes (`fill_values`).
        weights: float64[N].
        sums: float64[K], to which weighted values of actions are added.
        totals: float64[I], to which the weights of information sets are added.
    """
    for node in range(len(tree.seats)):
        if tree.seats[node] != seat:
            continue
        infoset = tree.infosets[node]
        totals[infoset] += weights[node]
        first = tree.first_edge[node]
        for edge in range(first, tree.first_edge[node + 1]):
            value = edge_value(tree, edge, values)
            sums[tree.first_entry[infoset] + edge - first] += weights[node] * value


@compiled
def _fill_depths(tree: Structure, seat: int, merged: bool, depths: NDArray[np.int32]) -> None:
    """Fills how often a seat has acted before every node, int32[N]; with `merged`, all seats."""
    depths[:] = 0
    for node in range(len(tree.seats)):
        depth = depths[node]
        if merged or tree.seats[node] == seat:
            depth += 1
        first = tree.first_outcome[tree.first_edge[node]]
        last = tree.first_outcome[tree.first_edge[node + 1]]
        for outcome in range(first, last):
            depths[tree.children[outcome]] = depth


@compiled
def _respond(
    tree: Structure,
    seat: int,
    reaches: Floats,
    order: NDArray[np.int64],
    values: Floats,
    totals: Floats,
    response: Floats,
) -> None:
    """Fills the values of a best response, and puts it into `response`.

    Args:
        tree: The tree.
        seat: The seat that responds.
        reaches: `fill_reaches`.
        order: Nodes at which the seat acted equally often, parents first. All nodes at which it
            acted more often have their values.
        values: float64[N], filled for these nodes.
        totals: float64[K], zeros: values of the seat's actions, weighted by reach.
        response: float64[K], the policy; filled for the seat's information sets among the nodes.
    """
    for node in order:
        if tree.seats[node] == seat:
            entry = tree.first_entry[tree.infosets[node]] - tree.first_edge[node]
            for edge in range(tree.first_edge[node], tree.first_edge[node + 1]):
                totals[entry + edge] += reaches[node] * edge_value(tree, edge, values)
    for node in order:
        if tree.seats[node] == seat:
            first = tree.first_entry[tree.infosets[node]]
            last = tree.first_entry[tree.infosets[node] + 1]
            best = first
            for entry in range(first, last):
                response[entry] = 0
                if totals[entry] > totals[best]:
                    best = entry
            response[best] = 1
    for index in range(len(order) - 1, -1, -1):
        node = order[index]
        values[node] = node_value(tree, seat, node, response, values)


class Evaluator:
    """Values and best responses of policies in one tree.

    Args:
        tree: The tree.
    """

    def __init__(self, tree: GameTree) -> None:
        self._tree = tree
        self.structure = structure_of(tree)
        self._groups = [self._groups_of(seat) for seat in range(tree.num_players)]

    def values(self, policy: Floats) -> Floats:
        """Returns the expected payoff of each seat if all play a policy, float64[P]."""
        values = np.empty(len(self._tree.seats))
        expected = np.empty(self._tree.num_players)
        for seat in range(self._tree.num_players):
            fill_values(self.structure, seat, policy, values)
            expected[seat] = values[0]
        return expected

    def best_response(self, policy: Floats, seat: int) -> tuple[float, Floats]:
        """Returns a best response of a seat if all others play a policy.

        Args:
            policy: The policy, float64[K].
            seat: The seat that responds.

        Returns:
            Its expected payoff, and the policy with the seat's entries replaced, float64[K].
        """
        reaches = np.empty(len(self._tree.seats))
        fill_reaches(self.structure, seat, policy, reaches)
        values = np.empty(len(reaches))
        totals = np.zeros(len(policy))
        response = policy.copy()
        for group in self._groups[seat]:
            _respond(self.structure, seat, reaches, group, values, totals, response)
        return float(values[0]), response

    def _groups_of(self, seat: int) -> list[NDArray[np.int64]]:
        """Returns the nodes by the number of the seat's actions before them, most first.

        An information set that a seat meets later is decided first. Where nothing is hidden, the
        groups are the levels of the tree.
        """
        depths = np.empty(len(self._tree.seats), np.int32)
        _fill_depths(self.structure, seat, self._tree.merged, depths)
        order = np.argsort(depths, kind="stable")
        bounds = np.searchsorted(depths[order], np.arange(depths.max() + 2))
        deepest = int(depths.max())
        return [order[bounds[depth] : bounds[depth + 1]] for depth in range(deepest, -1, -1)]
