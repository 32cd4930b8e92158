"""Proof-number search (Allis et al., "Proof-number search", Artificial Intelligence 66, 1994).

It solves positions by the rules alone: the tree of a position grows at the leaf that decides most,
until the root is won, drawn or lost, or the tree is full. A node holds for each seat the fewest
leaves that must be won to prove that the seat wins (`proof`), and the fewest to refute it.
"""

import numpy as np

from linkzoo import Game
from linkzoo.core.solver import BEST, OPEN, Finish, MakeMemory, Memory, Solve
from linkzoo.core.state import OVER, Mask, Record, Records
from linkzoo.engine.compiled import compiled
from linkzoo_training.search.protocols import Prove
from linkzoo_training.search.tree import NONE, ROOT, add_node, node_dtype

_SEATS = 2
_BOTH = 0b11  # bits of the seats that won: a draw
_NEVER = 2**20  # leaves: there is no such proof
_NODE = node_dtype(("seat", "i4"), ("proof", "i4", (_SEATS,)), ("refutation", "i4", (_SEATS,)))


def applies(game: Game) -> bool:
    """Returns whether a game has two seats, no secrets, no chance, and is won, drawn or lost."""
    rules = game.rules
    plain = rules.payoffs is None and rules.scores is None and rules.score_margins is None
    return plain and game.players == (_SEATS, _SEATS) and not (game.hides or game.facts.chance)


def make_memory(game: Game) -> MakeMemory:
    """Returns the function that allocates two records and a mask for each position."""

    def memory(count: int, limit: int) -> Memory:  # noqa: ARG001 - the size of the tree
        return np.zeros((count, 2), game.state), np.zeros((count, game.num_actions), np.int8)

    return memory


@compiled
def _add_leaf(nodes: Records, index: int, world: Record, action: int, parent: int) -> None:
    """Adds a node at a record to the tree."""
    add_node(nodes, index, action, parent)
    node = nodes[index]
    node.seat = world.seat
    for seat in range(_SEATS):
        if world.seat != OVER:
            node.proof[seat] = 1
            node.refutation[seat] = 1
        elif world.winners == 1 << seat:
            node.proof[seat] = 0
            node.refutation[seat] = _NEVER
        else:
            node.proof[seat] = _NEVER
            node.refutation[seat] = 0


@compiled
def _update(nodes: Records, node: Record) -> bool:
    """Sets a node's numbers by its children's; returns whether they change.

    The seat to act chooses one child, the other seat has to answer all.
    """
    seat = node.seat
    other = 1 - seat
    proof = _NEVER
    refutation = 0
    other_proof = 0
    other_refutation = _NEVER
    index = node.child
    while index != NONE:
        child = nodes[index]
        proof = min(proof, child.proof[seat])
        refutation += child.refutation[seat]
        other_proof += child.proof[other]
        other_refutation = min(other_refutation, child.refutation[other])
        index = child.sibling
    refutation = min(refutation, _NEVER)
    other_proof = min(other_proof, _NEVER)
    changed = node.proof[seat] != proof or node.refutation[seat] != refutation
    changed = changed or node.proof[other] != other_proof
    changed = changed or node.refutation[other] != other_refutation
    node.proof[seat] = proof
    node.refutation[seat] = refutation
    node.proof[other] = other_proof
    node.refutation[other] = other_refutation
    return bool(changed)


@compiled
def _decided(node: Record, seat: int) -> bool:
    """Returns whether it is proven that the seat wins, or that it doesn't."""
    return bool(node.proof[seat] == 0 or node.refutation[seat] == 0)


@compiled
def _next(nodes: Records, node: Record, seat: int) -> int:
    """Returns the child that decides most for the question whether the seat wins."""
    index = np.int64(node.child)
    while index != NONE:
        child = nodes[index]
        if node.seat == seat and child.proof[seat] == node.proof[seat]:
            break
        if node.seat != seat and child.refutation[seat] == node.refutation[seat]:
            break
        index = np.int64(child.sibling)
    return index  # type: ignore[return-value]  # int64


def make_prove(game: Game) -> Prove:
    """Returns the search: it fills `nodes`, and plays a position that it solves to its end."""
    apply = game.rules.apply
    legal_actions = game.rules.legal_actions

    @compiled
    def prove(state: Record, memory: Memory, row: int, nodes: Records) -> bool:
        worlds = memory[0][row]
        mask = memory[1][row]
        world = worlds[0]
        after = worlds[1]
        root = nodes[ROOT]
        _add_leaf(nodes, ROOT, state, NONE, NONE)
        size = 1
        seat = 0
        while size + mask.shape[0] <= nodes.shape[0]:
            seat = 1 - seat  # the questions take turns
            if _decided(root, seat):
                seat = 1 - seat
                if _decided(root, seat):
                    break
            worlds[0] = state
            leaf = ROOT
            while nodes[leaf].child != NONE:
                leaf = _next(nodes, nodes[leaf], seat)
                apply(world, nodes[leaf].action)
            legal_actions(world, mask)
            for action in range(mask.shape[0]):
                if mask[action]:
                    worlds[1] = worlds[0]
                    apply(after, action)
                    _add_leaf(nodes, size, after, action, leaf)
                    size += 1
            while leaf != NONE and _update(nodes, nodes[leaf]):
                leaf = nodes[leaf].parent
        if not (_decided(root, 0) and _decided(root, 1)):
            return False
        state.winners = _BOTH
        for seat in range(_SEATS):
            if root.proof[seat] == 0:
                state.winners = 1 << seat
        state.seat = OVER
        return True

    return prove


def make_finish(prove: Prove) -> Finish:
    """Returns the function `finish` of `linkzoo.core.solver`."""

    @compiled
    def finish(state: Record, memory: Memory, row: int, limit: int) -> bool:
        return prove(state, memory, row, np.empty(limit, _NODE))  # a thread's cache holds the tree

    return finish


def make_solve(prove: Prove) -> Solve:
    """Returns the function `solve` of `linkzoo.core.solver`.

    It ends with the first proof, so further winning actions may be OPEN. In a position that isn't
    solved it removes losing actions from the mask.
    """

    @compiled
    def solve(state: Record, memory: Memory, row: int, limit: int, mask: Mask) -> bool:
        seat = np.int64(state.seat)
        nodes = np.empty(limit, _NODE)
        solved = prove(state, memory, row, nodes)
        root = nodes[ROOT]
        index = root.child
        while index != NONE:
            child = nodes[index]
            mask[child.action] = OPEN
            if root.proof[1 - seat] == 0:  # all actions lose
                mask[child.action] = BEST
            elif root.proof[seat] == 0:
                if child.proof[seat] == 0:
                    mask[child.action] = BEST
                elif child.refutation[seat] == 0:
                    mask[child.action] = 0
            elif child.proof[1 - seat] == 0:
                mask[child.action] = 0
            elif solved and child.refutation[1 - seat] == 0:
                mask[child.action] = BEST
            index = child.sibling
        return solved

    return solve
