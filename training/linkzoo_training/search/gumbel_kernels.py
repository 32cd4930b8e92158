"""Kernels of a Gumbel search over many trees side by side, compiled for each game."""

from collections.abc import Callable
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
from linkzoo_training.search.gumbel_batch import Settings, Trees, set_candidates, tree_of
from linkzoo_training.search.gumbel_policy import decide
from linkzoo_training.search.gumbel_tree import drawn, inner_action, root_action
from linkzoo_training.search.solver import side_solver
from linkzoo_training.search.tree import NONE, ROOT, add_node

# Streams of random numbers, indexed by visit, action, node and ply.
_DETERMINIZE, _GUMBEL, VIEW, _REPLY = 0, 1, 2, 3

_GRAIN = 16  # minimum rows per thread

Pay = Callable[[Record, float, Float32s, Float32s], None]
Descend = Callable[[int, int, int, Trees, Settings], None]
OneTree = Callable[[int, Trees, Settings], None]


def make_pay(payoffs: SeatValues, score_margins: SeatValues) -> Pay:
    """Returns the function that fills every seat's value of a finished game."""

    @compiled
    def pay(world: Record, score_margin_weight: float, values: Float32s, margin: Float32s) -> None:
        payoffs(world, values)
        score_margins(world, margin)
        for seat in range(world.num_players):
            values[seat] += score_margin_weight * margin[seat]

    return pay


def make_instantiate(legal_actions: LegalActions, observe: Observe) -> Callable[..., None]:
    """Returns the kernel that makes every root the leaf of its tree."""

    @compiled
    def instantiate(first: int, last: int, roots: Records, seeds: UInt64s, trees: Trees) -> None:
        for i in range(first, last):
            trees.roots[i] = roots[i]
            trees.seeds[i] = seeds[i]
            add_node(trees.nodes[i], ROOT, NONE, NONE)
            trees.nodes[i, ROOT].known = 0
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
def _draw(first: int, last: int, rows: Int64s, trees: Trees, gumbel_scale: float) -> None:
    """Fills the logits of the roots' actions plus Gumbel noise."""
    for k in range(first, last):
        i = rows[k]
        noisy = trees.noisy[i]
        for action in range(noisy.shape[0]):
            noisy[action] = -inf
            if trees.candidates[i, action]:
                noisy[action] = log(trees.priors[i, ROOT, action])
                if gumbel_scale > 0:
                    bits = random_u64(trees.seeds[i], STREAM_SEARCH, action, _GUMBEL)
                    uniform = ((bits >> np.uint64(11)) + 0.5) / 2.0**53
                    noisy[action] -= gumbel_scale * log(-log(uniform))


def make_solve(solver: SideSolver, pay: Pay) -> Callable[..., None]:
    """Returns the kernel that solves roots within the limit.

    It sets their `values` to exact ones. Their `candidates` are the actions that may be best.
    """
    solve_root = solver.solve

    @compiled
    def solve(first: int, last: int, rows: Int64s, trees: Trees, settings: Settings) -> None:
        memory, limit = settings.memory, settings.solver_limit
        for k in range(first, last):
            i = rows[k]
            world = trees.worlds[i]
            trees.solved[i] = solve_root(world, memory, i, limit, trees.candidates[i])
            if trees.solved[i]:
                pay(world, settings.score_margin_weight, trees.values[i], trees.margins[i])

    return solve


def make_descend(game: Game, solver: SideSolver, pay: Pay, asks_others: bool) -> Descend:
    """Returns the function that plays an action at node `leaves[i]`, then descends known nodes.

    It stops at a finished game, at a node without network outputs and, with `asks_others`, where
    another seat is to act. It sets `worlds`, `masks` and the `observations` of the seat to act, or
    `values` if the game is finished or solved. `child` is the node that the action leads to (-1:
    none yet).
    """
    apply = game.rules.apply
    observe = game.observation.observe
    skip_forced_actions = make_skip_forced_actions(game)
    finish = solver.finish

    @compiled
    def descend(i: int, action: int, child: int, trees: Trees, settings: Settings) -> None:
        tree, nodes, node = tree_of(trees, i), trees.nodes[i], trees.leaves[i]
        world, mask = trees.worlds[i], trees.masks[i]
        seat, min_value_range = trees.roots[i].seat, settings.min_value_range
        while True:
            if not trees.left_tree[i]:
                if child == NONE:
                    child = trees.simulation[i] + 1
                    add_node(nodes, child, action, node)
                    nodes[child].known = 0
                node = child
            apply(world, action)
            skip_forced_actions(world, mask)
            others = asks_others and world.seat != seat
            if world.seat < 0 or others or trees.left_tree[i] or not nodes[node].known:
                break
            action, child = inner_action(tree, node, world.seat, mask, min_value_range)
        trees.leaves[i] = node
        if settings.leaf_limit > 0 and world.seat >= 0:
            finish(world, settings.memory, i, settings.leaf_limit)
        if world.seat < 0:
            pay(world, settings.score_margin_weight, trees.values[i], trees.margins[i])
        else:
            observe(world, world.seat, trees.observations[i])

    return descend


def make_run_simulations(game: Game, descend: Descend) -> OneTree:
    """Returns the function that backs up the leaf's values and runs the next simulations.

    It stops when the network is needed again, or after the last simulation.
    """
    determinize = game.determinize

    @compiled
    def simulate(i: int, trees: Trees, settings: Settings) -> None:
        world, mask, wanted = trees.worlds[i], trees.masks[i], settings.wanted
        trees.worlds[i] = trees.roots[i]
        trees.leaves[i] = ROOT
        trees.left_tree[i] = False
        set_candidates(i, trees)
        visits = wanted[min(count_legal(mask), wanted.shape[0] - 1), trees.simulation[i]]
        fresh = random_u64(trees.seeds[i], STREAM_SEARCH, visits, _DETERMINIZE)
        determinize(world, world.seat, fresh)
        tree, noisy, min_value_range = tree_of(trees, i), trees.noisy[i], settings.min_value_range
        action, child = root_action(tree, world.seat, mask, noisy, visits, min_value_range)
        descend(i, action, child, trees, settings)

    @compiled
    def run_simulations(i: int, trees: Trees, settings: Settings) -> None:
        while True:
            node = np.int64(trees.leaves[i])
            while node != NONE:
                trees.nodes[i, node].visits += 1
                for seat in range(trees.values.shape[1]):
                    trees.totals[i, node, seat] += trees.values[i, seat]
                node = trees.nodes[i, node].parent
            trees.simulation[i] += 1
            trees.waiting[i] = trees.simulation[i] < settings.wanted.shape[1]
            if not trees.waiting[i]:
                return
            simulate(i, trees, settings)
            if trees.worlds[i].seat >= 0:
                return

    return run_simulations


@compiled
def _soften(logits: Float32s, mask: Mask, probabilities: Float32s) -> None:
    """Fills probabilities [A] from logits [A].

    No illegal action has more than the best legal one: the network never learned their logits,
    which could leave the legal ones nothing.
    """
    best, total = np.float32(-inf), np.float32(0)
    for action in range(mask.shape[0]):
        if mask[action]:
            best = max(best, logits[action])
    for action in range(mask.shape[0]):
        probabilities[action] = np.exp(min(logits[action] - best, np.float32(0)))
        total += probabilities[action]
    for action in range(mask.shape[0]):
        probabilities[action] = max(probabilities[action] / total, np.float32(1e-30))


@compiled
def _keep(i: int, logits: Float32s, relative: Float32s, trees: Trees) -> None:
    """Stores the network's outputs for a leaf; outside the tree, only the values."""
    node, players = trees.leaves[i], np.int64(trees.worlds[i].num_players)
    for seat in range(players):
        trees.values[i, (trees.worlds[i].seat + seat) % players] = relative[seat]
    if not trees.left_tree[i]:
        trees.nodes[i, node].known = 1
        for seat in range(trees.raw.shape[2]):  # assigning a row takes two seconds more to compile
            trees.raw[i, node, seat] = trees.values[i, seat]
        _soften(logits, trees.masks[i], trees.priors[i, node])


@compiled
def _expand(
    first: int, last: int, rows: Int64s, logits: Float32s, relative: Float32s, trees: Trees
) -> None:
    for k in range(first, last):
        _keep(rows[k], logits[k], relative[k], trees)


@compiled
def _reply(i: int, logits: Float32s, trees: Trees, settings: Settings) -> tuple[int, int]:
    """Draws another seat's action; returns it and the node that it leads to (-1: none yet).

    After a new node the simulation leaves the tree.
    """
    world, nodes, node = trees.worlds[i], trees.nodes[i], trees.leaves[i]
    bits = random_u64(world.seed, STREAM_SEARCH, world.ply, _REPLY) >> np.uint64(11)
    action = drawn(logits, settings.reply_exponent, trees.masks[i], bits / 2.0**53)
    trees.left_tree[i] = node == trees.simulation[i] + 1
    child = nodes[node].child
    while child != NONE and nodes[child].action != action:
        child = nodes[child].sibling
    return action, child


def make_advance(
    descend: Descend, run_simulations: OneTree, asks_others: bool
) -> Callable[..., None]:
    """Returns the kernel that continues the simulations in `rows` [R] with the network's outputs.

    Other seats draw from the policy of logits [R, A]; leaves store it and values [R, P]. Roots have
    theirs already and start their first simulation.
    """

    @compiled
    def advance(
        first: int,
        last: int,
        rows: Int64s,
        logits: Float32s,
        relative: Float32s,
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
                _keep(i, logits[k], relative[k], trees)
            run_simulations(i, trees, settings)

    return advance


@dataclass(frozen=True)
class GumbelKernels:
    """Compiled kernels of one game."""

    instantiate: RowKernel
    expand: RowKernel
    draw: RowKernel
    solve: RowKernel
    advance: RowKernel
    decide: RowKernel


@cache
def gumbel_kernels(game: Game) -> GumbelKernels:
    """Returns the kernels of a game, cached."""
    solver = side_solver(game)
    legal_actions = game.rules.legal_actions
    asks_others = game.hides  # others act on their observations
    pay = make_pay(game.payoffs, game.score_margins)
    descend = make_descend(game, solver, pay, asks_others)
    run_simulations = make_run_simulations(game, descend)
    return GumbelKernels(
        instantiate=RowKernel(make_instantiate(legal_actions, game.observation.observe), _GRAIN),
        expand=RowKernel(_expand, _GRAIN),
        draw=RowKernel(_draw, _GRAIN),
        solve=RowKernel(make_solve(solver, pay), 1),
        advance=RowKernel(make_advance(descend, run_simulations, asks_others), 4),
        decide=RowKernel(decide, _GRAIN),
    )
