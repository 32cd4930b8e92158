"""Kernels of a Gumbel search over many trees side by side, compiled for each game.

A simulation has mctx's steps: `simulate` selects actions down the tree to a leaf, `expand` stores
the network's outputs there, and `backward` adds the leaf's values to its ancestors.
"""

from dataclasses import dataclass
from functools import cache
from math import inf, log

import numpy as np

from linkzoo.core.game import Game
from linkzoo.core.kernels import count_legal, make_skip_forced_actions
from linkzoo.core.protocols import LegalActions, Observe, SeatValues
from linkzoo.core.solver import SideSolver
from linkzoo.core.state import Mask, Record, Records
from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import STREAM_SEARCH, random_u64
from linkzoo.engine.threads import RowKernel
from linkzoo_training.arrays import Float32s, Int64s, UInt64s
from linkzoo_training.search.gumbel_policy import decide
from linkzoo_training.search.gumbel_selection import (
    interior_action_selection,
    root_action_selection,
    sample_action,
)
from linkzoo_training.search.gumbel_tree import Settings, Trees, set_candidates, tree_of
from linkzoo_training.search.protocols import (
    Advance,
    Descend,
    FinalValues,
    Instantiate,
    OneTree,
    SolveRoots,
)
from linkzoo_training.search.solver import side_solver
from linkzoo_training.search.tree import NONE, ROOT, add_node

# Streams of random numbers, indexed by visit, action, node and ply.
_DETERMINIZE, _GUMBEL, VIEW, _REPLY = 0, 1, 2, 3

_GRAIN = 128  # rows worth a thread of their own


def make_final_values(payoffs: SeatValues, score_margins: SeatValues) -> FinalValues:
    """Returns the function that values a finished game by its payoffs and score margins."""

    @compiled
    def final_values(
        world: Record, score_margin_weight: float, values: Float32s, margins: Float32s
    ) -> None:
        payoffs(world, values)
        score_margins(world, margins)
        for seat in range(world.num_players):
            values[seat] += score_margin_weight * margins[seat]

    return final_values


def make_instantiate(legal_actions: LegalActions, observe: Observe) -> Instantiate:
    """Returns the kernel that starts the searches."""

    @compiled
    def instantiate(first: int, last: int, roots: Records, seeds: UInt64s, trees: Trees) -> None:
        for i in range(first, last):
            trees.roots[i] = roots[i]
            trees.seeds[i] = seeds[i]
            add_node(trees.nodes[i], ROOT, NONE, NONE)
            trees.nodes[i, ROOT].expanded = 0
            trees.totals[i] = 0
            trees.worlds[i] = roots[i]
            trees.leaves[i] = ROOT
            trees.left_tree[i] = False
            trees.simulation[i] = -1
            trees.waiting[i] = True
            legal_actions(roots[i], trees.masks[i])
            legal_actions(roots[i], trees.candidates[i])
            observe(roots[i], roots[i].seat, trees.observations[i])

    return instantiate


@compiled
def _add_gumbel(first: int, last: int, rows: Int64s, trees: Trees, gumbel_scale: float) -> None:
    """Fills the logits of the roots' candidates plus Gumbel noise."""
    for k in range(first, last):
        i = rows[k]
        root_logits = trees.root_logits[i]
        for action in range(root_logits.shape[0]):
            root_logits[action] = -inf
            if trees.candidates[i, action]:
                root_logits[action] = log(trees.priors[i, ROOT, action])
                if gumbel_scale > 0:
                    bits = random_u64(trees.seeds[i], STREAM_SEARCH, action, _GUMBEL)
                    uniform = ((bits >> np.uint64(11)) + 0.5) / 2.0**53
                    root_logits[action] -= gumbel_scale * log(-log(uniform))


def make_solve_roots(solver: SideSolver, final_values: FinalValues) -> SolveRoots:
    """Returns the kernel that solves roots exactly."""
    solve = solver.solve

    @compiled
    def solve_roots(first: int, last: int, rows: Int64s, trees: Trees, settings: Settings) -> None:
        memory = settings.memory
        limit = settings.solver_limit
        for k in range(first, last):
            i = rows[k]
            world = trees.worlds[i]
            trees.solved[i] = solve(world, memory, i, limit, trees.candidates[i])
            if trees.solved[i]:
                weight = settings.score_margin_weight
                final_values(world, weight, trees.values[i], trees.margins[i])

    return solve_roots


def make_descend(
    game: Game, solver: SideSolver, final_values: FinalValues, asks_others: bool
) -> Descend:
    """Returns the function that descends to a leaf.

    Args:
        game: The game.
        solver: Solves leaves.
        final_values: The values of finished games.
        asks_others: Whether other seats act on their own observations.
    """
    apply = game.rules.apply
    observe = game.observation.observe
    skip_forced_actions = make_skip_forced_actions(game)
    finish = solver.finish

    @compiled
    def descend(i: int, action: int, child: int, trees: Trees, settings: Settings) -> None:
        tree = tree_of(trees, i)
        nodes = trees.nodes[i]
        node = trees.leaves[i]
        world = trees.worlds[i]
        mask = trees.masks[i]
        seat = trees.roots[i].seat
        min_value_range = settings.min_value_range
        while True:
            if not trees.left_tree[i]:
                if child == NONE:
                    child = trees.simulation[i] + 1
                    add_node(nodes, child, action, node)
                    nodes[child].expanded = 0
                node = child
            apply(world, action)
            skip_forced_actions(world, mask)
            others = asks_others and world.seat != seat
            if world.seat < 0 or others or trees.left_tree[i] or not nodes[node].expanded:
                break
            action, child = interior_action_selection(tree, node, world.seat, mask, min_value_range)
        trees.leaves[i] = node
        if settings.leaf_limit > 0 and world.seat >= 0:
            finish(world, settings.memory, i, settings.leaf_limit)
        if world.seat < 0:
            final_values(world, settings.score_margin_weight, trees.values[i], trees.margins[i])
        else:
            observe(world, world.seat, trees.observations[i])

    return descend


def make_simulate(game: Game, descend: Descend) -> OneTree:
    """Returns the function that starts a simulation at the root and descends to a leaf."""
    determinize = game.determinize

    @compiled
    def simulate(i: int, trees: Trees, settings: Settings) -> None:
        world = trees.worlds[i]
        mask = trees.masks[i]
        trees.worlds[i] = trees.roots[i]
        trees.leaves[i] = ROOT
        trees.left_tree[i] = False
        set_candidates(i, trees)
        considered = min(count_legal(mask), settings.considered_visits.shape[0] - 1)
        visits = settings.considered_visits[considered, trees.simulation[i]]
        world_seed = random_u64(trees.seeds[i], STREAM_SEARCH, visits, _DETERMINIZE)
        determinize(world, world.seat, world_seed)
        action, child = root_action_selection(
            tree_of(trees, i),
            world.seat,
            mask,
            trees.root_logits[i],
            visits,
            settings.min_value_range,
        )
        descend(i, action, child, trees, settings)

    return simulate


@compiled
def _store_policy(logits: Float32s, mask: Mask, probabilities: Float32s) -> None:
    """Fills probabilities [A] from logits [A].

    No illegal action has more than the best legal one: the network never learned their logits,
    which could leave the legal ones nothing.
    """
    max_logit = np.float32(-inf)
    total = np.float32(0)
    for action in range(mask.shape[0]):
        if mask[action]:
            max_logit = max(max_logit, logits[action])
    for action in range(mask.shape[0]):
        probabilities[action] = np.exp(min(logits[action] - max_logit, np.float32(0)))
        total += probabilities[action]
    for action in range(mask.shape[0]):
        probabilities[action] = max(probabilities[action] / total, np.float32(1e-30))


@compiled
def _expand(i: int, logits: Float32s, relative: Float32s, trees: Trees) -> None:
    """Stores the network's outputs for a leaf; outside the tree, only the values."""
    node = trees.leaves[i]
    seat_to_act = trees.worlds[i].seat
    players = np.int64(trees.worlds[i].num_players)
    for seat in range(players):
        trees.values[i, (seat_to_act + seat) % players] = relative[seat]
    if not trees.left_tree[i]:
        trees.nodes[i, node].expanded = 1
        for seat in range(trees.raw_values.shape[2]):  # assigning a row compiles 2 s longer
            trees.raw_values[i, node, seat] = trees.values[i, seat]
        _store_policy(logits, trees.masks[i], trees.priors[i, node])


@compiled
def _expand_rows(
    first: int, last: int, rows: Int64s, logits: Float32s, relative: Float32s, trees: Trees
) -> None:
    for k in range(first, last):
        _expand(rows[k], logits[k], relative[k], trees)


@compiled
def _backward(i: int, trees: Trees) -> None:
    """Adds a visit and the leaf's values to the leaf and its ancestors."""
    node = np.int64(trees.leaves[i])
    while node != NONE:
        trees.nodes[i, node].visits += 1
        for seat in range(trees.values.shape[1]):
            trees.totals[i, node, seat] += trees.values[i, seat]
        node = trees.nodes[i, node].parent


def make_run_simulations(simulate: OneTree) -> OneTree:
    """Returns the function that backs up the leaf's values and runs the next simulations.

    It stops when the network is needed again, or after the last simulation.
    """

    @compiled
    def run_simulations(i: int, trees: Trees, settings: Settings) -> None:
        while True:
            _backward(i, trees)
            trees.simulation[i] += 1
            trees.waiting[i] = trees.simulation[i] < settings.considered_visits.shape[1]
            if not trees.waiting[i]:
                return
            simulate(i, trees, settings)
            if trees.worlds[i].seat >= 0:
                return

    return run_simulations


@compiled
def _reply(i: int, logits: Float32s, trees: Trees, settings: Settings) -> tuple[int, int]:
    """Draws another seat's action; returns it and its child (NONE: not yet in the tree).

    After a new node the simulation leaves the tree.
    """
    world = trees.worlds[i]
    nodes = trees.nodes[i]
    node = trees.leaves[i]
    bits = random_u64(world.seed, STREAM_SEARCH, world.ply, _REPLY) >> np.uint64(11)
    action = sample_action(logits, settings.reply_exponent, trees.masks[i], bits / 2.0**53)
    trees.left_tree[i] = node == trees.simulation[i] + 1
    child = nodes[node].child
    while child != NONE and nodes[child].action != action:
        child = nodes[child].sibling
    return action, child


def make_advance(descend: Descend, run_simulations: OneTree, asks_others: bool) -> Advance:
    """Returns the kernel that continues simulations with the network's outputs."""

    @compiled
    def advance(
        first: int,
        last: int,
        rows: Int64s,
        logits: Float32s,
        values: Float32s,
        trees: Trees,
        settings: Settings,
    ) -> None:
        for k in range(first, last):
            i = rows[k]
            if asks_others and trees.worlds[i].seat != trees.roots[i].seat:
                action, child = _reply(i, logits[k], trees, settings)
                descend(i, action, child, trees, settings)
                if trees.worlds[i].seat >= 0:
                    continue
            elif trees.simulation[i] >= 0:
                _expand(i, logits[k], values[k], trees)
            run_simulations(i, trees, settings)

    return advance


@dataclass(frozen=True)
class GumbelKernels:
    """Compiled kernels of one game, in the order of a search."""

    instantiate: RowKernel
    expand: RowKernel
    solve_roots: RowKernel
    add_gumbel: RowKernel
    advance: RowKernel
    decide: RowKernel


@cache
def gumbel_kernels(game: Game) -> GumbelKernels:
    """Returns the kernels of a game, cached."""
    solver = side_solver(game)
    asks_others = game.hides  # others act on their observations
    final_values = make_final_values(game.payoffs, game.score_margins)
    descend = make_descend(game, solver, final_values, asks_others)
    run_simulations = make_run_simulations(make_simulate(game, descend))
    instantiate = make_instantiate(game.rules.legal_actions, game.observation.observe)
    return GumbelKernels(
        instantiate=RowKernel(instantiate, _GRAIN),
        expand=RowKernel(_expand_rows, _GRAIN),
        solve_roots=RowKernel(make_solve_roots(solver, final_values), 1),
        add_gumbel=RowKernel(_add_gumbel, _GRAIN),
        advance=RowKernel(make_advance(descend, run_simulations, asks_others), 16),
        decide=RowKernel(decide, _GRAIN),
    )
