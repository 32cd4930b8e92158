"""What a Gumbel search does to many trees side by side, compiled for each game."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import exp, inf, log
from typing import Any

import numpy as np

from linkzoo.core.kernels import count_legal, kernels
from linkzoo.engine.rng import STREAM_SEARCH, below, word
from linkzoo.engine.compiled import compiled, specialise
from linkzoo.core.game import Game
from linkzoo.engine.threads import Rows
from linkzoo_training.search.gumbel_tree import (
    LEGAL,
    NONE,
    ROOT,
    drawn,
    inner_action,
    node_statistics,
    reset,
    root_action,
    stretch_of,
)
from linkzoo_training.search.solver import side_solver

# Positions of random words; index: visit, action, node, ply.
_REDEAL, _GUMBEL, _VIEW, _REPLY = 0, 1, 2, 3


# The names that `gumbel_kernels` binds to a game's functions.
legal_actions: Callable[..., Any]
apply: Callable[..., Any]
payoffs: Callable[..., Any]
margins: Callable[..., Any]
observe: Callable[..., Any]
redeal: Callable[..., Any]
settle: Callable[..., Any]
pay: Callable[..., Any]
go_on: Callable[..., Any]
descend: Callable[..., Any]
finish_simulations: Callable[..., Any]
asks_others: bool  # something is hidden, so that others choose by what they see alone
# Those of its exact solver.
finish: Callable[..., Any]
keep_best: Callable[..., Any]
forget: Callable[..., Any]


def _pay(world: Any, score_margin_weight: Any, values: Any, margin: Any) -> None:
    """Fills what an end is worth to every seat."""
    payoffs(world, values)
    margins(world, margin)
    for seat in range(world.num_players):
        values[seat] += score_margin_weight * margin[seat]


def _plant(first: Any, last: Any, roots: Any, seeds: Any, trees: Any) -> None:
    """Makes every root the leaf of its tree."""
    for i in range(first, last):
        trees.roots[i] = roots[i]
        trees.seeds[i] = seeds[i]
        reset(trees.nodes[i, ROOT], NONE, NONE)
        trees.totals[i] = 0
        trees.worlds[i] = roots[i]
        trees.leaves[i] = ROOT
        trees.beyond[i] = False
        trees.simulation[i] = -1
        trees.waiting[i] = True
        legal_actions(roots[i], trees.masks[i])
        observe(roots[i], roots[i].seat, trees.observations[i])


@compiled
def _draw_views(
    first: Any, last: Any, which: Any, views: Any, rows: Any, seeds: Any, leaves: Any
) -> None:
    """Fills the symmetry that each of the leaves in `rows` is seen through."""
    for k in range(first, last):
        i = rows[k]
        which[k] = views[below(views.shape[0], seeds[i], STREAM_SEARCH, leaves[i], _VIEW)]


draw_views = Rows(_draw_views, 512)


def _draw(first: Any, last: Any, rows: Any, trees: Any, gumbel_scale: Any) -> None:
    """Fills the logits of the roots' actions plus Gumbel noise."""
    for k in range(first, last):
        i = rows[k]
        noisy = trees.noisy[i]
        for action in range(noisy.shape[0]):
            noisy[action] = -inf
            if trees.masks[i, action]:
                noisy[action] = log(trees.priors[i, ROOT, action])
                if gumbel_scale > 0:
                    bits = word(trees.seeds[i], STREAM_SEARCH, action, _GUMBEL) >> np.uint64(11)
                    noisy[action] -= gumbel_scale * log(-log((bits + 0.5) / 2.0**53))


def _solve(first: Any, last: Any, rows: Any, trees: Any, settings: Any) -> None:
    """Solves the roots that are in reach: `masks` become their best actions, `values` exact."""
    memory, limit = settings.memory, settings.solver_limit
    for k in range(first, last):
        i = rows[k]
        world, mask = trees.worlds[i], trees.masks[i]
        forget(memory, i)
        legal_actions(world, mask)
        best_known = keep_best(world, memory, i, limit, mask)
        trees.solved[i] = best_known and finish(world, memory, i, limit)
        if trees.solved[i]:
            pay(world, settings.score_margin_weight, trees.values[i], trees.margins[i])


def _go_on(i: Any, action: Any, child: Any, trees: Any, settings: Any) -> None:
    """Plays an action of the tree's node `leaves[i]`, and down by the nodes that are known.

    Stops where the network has to be asked, or at an end: a node that it doesn't know yet and, with
    `asks_others`, wherever another seat is to act. `worlds` and `masks` become what is found there,
    `observations` what the seat to act sees; where it is the end, or solved, `values` what it pays.
    `child` is the node that the action leads to (-1: none yet).
    """
    nodes, totals, world, mask = trees.nodes[i], trees.totals[i], trees.worlds[i], trees.masks[i]
    priors, raw, node = trees.priors[i], trees.raw[i], np.int64(trees.leaves[i])
    seat = trees.roots[i].seat
    while True:
        if not trees.beyond[i]:
            if child == NONE:
                child = trees.simulation[i] + 1
                reset(nodes[child], action, node)
                nodes[child].sibling = nodes[node].child
                nodes[node].child = child
            node = child
        apply(world, action)
        settle(world, mask)
        others = asks_others and world.seat != seat
        if world.seat < 0 or others or trees.beyond[i] or not nodes[node].known:
            break
        action, child = inner_action(
            nodes, totals, node, priors[node], raw[node], world.seat, mask, settings.least_range
        )
    trees.leaves[i] = node
    if settings.leaf_limit > 0 and world.seat >= 0:
        finish(world, settings.memory, i, settings.leaf_limit)
    if world.seat < 0:
        pay(world, settings.score_margin_weight, trees.values[i], trees.margins[i])
    else:
        observe(world, world.seat, trees.observations[i])


def _descend(i: Any, trees: Any, settings: Any) -> None:
    """Begins a simulation in a fresh world, and goes down the tree as far as `_go_on` does."""
    world, mask, wanted = trees.worlds[i], trees.masks[i], settings.wanted
    trees.worlds[i] = trees.roots[i]
    trees.leaves[i] = ROOT
    trees.beyond[i] = False
    legal_actions(world, mask)
    visits = wanted[min(count_legal(mask), wanted.shape[0] - 1), trees.simulation[i]]
    redeal(world, world.seat, word(trees.seeds[i], STREAM_SEARCH, visits, _REDEAL))
    action, child = root_action(
        trees.nodes[i],
        trees.totals[i],
        trees.priors[i, ROOT],
        trees.raw[i, ROOT],
        world.seat,
        mask,
        trees.noisy[i],
        visits,
        settings.least_range,
    )
    go_on(i, action, child, trees, settings)


def _finish_simulations(i: Any, trees: Any, settings: Any) -> None:
    """Counts the values of the leaf, and goes on with the next simulation.

    Until the network has to be asked again, or there is none left.
    """
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
        descend(i, trees, settings)
        if trees.worlds[i].seat >= 0:
            return


@compiled
def _keep(i: Any, probabilities: Any, relative: Any, trees: Any) -> None:
    """Keeps what the network said of a leaf; of one beyond a node, the values alone."""
    node, players = trees.leaves[i], np.int64(trees.worlds[i].num_players)
    for seat in range(players):
        trees.values[i, (trees.worlds[i].seat + seat) % players] = relative[seat]
    if not trees.beyond[i]:
        trees.nodes[i, node].known = 1
        for seat in range(trees.raw.shape[2]):  # a row at once takes two seconds more to compile
            trees.raw[i, node, seat] = trees.values[i, seat]
        for action in range(probabilities.shape[0]):
            trees.priors[i, node, action] = probabilities[action]


def _expand(
    first: Any, last: Any, rows: Any, probabilities: Any, relative: Any, trees: Any
) -> None:
    """Keeps what the network said of the roots."""
    for k in range(first, last):
        _keep(rows[k], probabilities[k], relative[k], trees)


@compiled
def _reply(i: Any, probabilities: Any, trees: Any, settings: Any) -> Any:
    """An action drawn by another seat, and the node that it leads to (-1: none yet).

    Behind a node that is new the simulation leaves the tree.
    """
    world, nodes, node = trees.worlds[i], trees.nodes[i], trees.leaves[i]
    bits = word(world.seed, STREAM_SEARCH, world.ply, _REPLY) >> np.uint64(11)
    action = drawn(probabilities, settings.reply_exponent, trees.masks[i], bits / 2.0**53)
    trees.beyond[i] = node == trees.simulation[i] + 1
    child = nodes[node].child
    while child != NONE and nodes[child].action != action:
        child = nodes[child].sibling
    return action, child


def _advance(
    first: Any,
    last: Any,
    rows: Any,
    probabilities: Any,
    relative: Any,
    trees: Any,
    settings: Any,
) -> None:
    """Goes on with the simulations in `rows` [R], now that the network was asked.

    Of probabilities [R, A] others draw their actions; those and values [R, P] are kept at leaves.
    A root's are kept already: there the first simulation begins.
    """
    for k in range(first, last):
        i = rows[k]
        if asks_others and trees.worlds[i].seat != trees.roots[i].seat:
            action, child = _reply(i, probabilities[k], trees, settings)
            go_on(i, action, child, trees, settings)
            if trees.worlds[i].seat >= 0:
                continue
        elif trees.simulation[i] >= 0:
            _keep(i, probabilities[k], relative[k], trees)
        finish_simulations(i, trees, settings)


@compiled
def _perfect(prior: Any, mask: Any, noisy: Any, policy: Any) -> Any:
    """Fills the policy of a solved root, whose best actions `mask` has; returns the action."""
    total, best = 0.0, NONE
    for action in range(mask.shape[0]):
        policy[action] = prior[action] * (mask[action] != 0)
        total += policy[action]
        if mask[action] and (best == NONE or noisy[action] > noisy[best]):
            best = action
    for action in range(mask.shape[0]):
        policy[action] /= total
    return best


def _decide(first: Any, last: Any, actions: Any, trees: Any, settings: Any) -> None:
    """Fills the chosen actions, the improved policies and the values that these have."""
    for i in range(first, last):
        mask, prior = trees.masks[i], trees.priors[i, ROOT]
        noisy, policy = trees.noisy[i], trees.policy[i]
        if trees.solved[i]:
            actions[i] = _perfect(prior, mask, noisy, policy)
            continue
        nodes, totals, raw = trees.nodes[i], trees.totals[i], trees.raw[i, ROOT]
        seats = np.int64(trees.roots[i].num_players)
        mixed = np.zeros(seats)
        for seat in range(seats):
            legal_actions(trees.roots[i], mask)
            mixed[seat] = node_statistics(nodes, totals, ROOT, prior, raw, seat, mask)[2]
        seat = trees.roots[i].seat
        legal_actions(trees.roots[i], mask)
        _, most, _, low, high, _, _ = node_statistics(nodes, totals, ROOT, prior, raw, seat, mask)
        stretch = stretch_of(most, low, high, settings.least_range)
        unseen, total, best_score = exp(stretch * (mixed[seat] - high)), 0.0, -inf
        for action in range(mask.shape[0]):
            policy[action] = 0
            if mask[action] == LEGAL:
                policy[action] = prior[action] * unseen
                total += policy[action]
        child = nodes[ROOT].child
        while child != NONE:
            action, visits = nodes[child].action, nodes[child].visits
            lead = stretch * (totals[child, seat] / visits - high)
            policy[action] = prior[action] * exp(lead)
            total += policy[action]
            if visits == most and noisy[action] + lead > best_score:
                actions[i], best_score = action, noisy[action] + lead
            child = nodes[child].sibling
        share = 1.0
        values = trees.values[i]
        values[:] = 0
        for action in range(mask.shape[0]):
            policy[action] /= total
        child = nodes[ROOT].child
        while child != NONE:
            chance = policy[nodes[child].action]
            share -= chance
            for seat in range(seats):
                values[seat] += chance * totals[child, seat] / nodes[child].visits
            child = nodes[child].sibling
        for seat in range(seats):
            values[seat] += share * mixed[seat]


@dataclass(frozen=True)
class GumbelKernels:
    """The functions above, compiled for one game."""

    plant: Rows
    expand: Rows
    draw: Rows
    solve: Rows
    advance: Rows
    decide: Rows


@cache
def gumbel_kernels(game: Game) -> GumbelKernels:
    """The kernels of a game, made once."""
    rules: dict[str, Any] = kernels(game).rules | side_solver(game).functions
    rules["asks_others"] = game.hidden is not None
    for function in (_pay, _go_on, _descend, _finish_simulations):
        rules[function.__name__[1:]] = specialise(function, game.key, **rules)

    def rows(function: Callable[..., Any], least: int = 16) -> Rows:
        return Rows(specialise(function, game.key, **rules), least)

    return GumbelKernels(
        plant=rows(_plant),
        expand=rows(_expand),
        draw=rows(_draw),
        solve=rows(_solve, 1),
        advance=rows(_advance, 4),
        decide=rows(_decide),
    )
