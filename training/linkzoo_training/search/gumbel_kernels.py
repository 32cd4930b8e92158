"""What a Gumbel search does to many trees side by side, compiled for each game."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import exp, inf, log
from typing import Any

import numpy as np

from linkzoo.batch import count_legal, kernels
from linkzoo.chance import STREAM_SEARCH, below, word
from linkzoo.compiled import compiled, specialise
from linkzoo.game import Game
from linkzoo.threads import Rows
from linkzoo_training.search.gumbel_tree import (
    LEGAL,
    NONE,
    ROOT,
    inner_action,
    node_statistics,
    reset,
    root_action,
    stretch_of,
)
from linkzoo_training.search.solver import side_solver

_REDEAL, _GUMBEL, _VIEW = 0, 1, 2  # positions of random words; index: visit, action, node

# The names that `gumbel_kernels` binds to a game's functions.
legal_actions: Callable[..., Any]
apply: Callable[..., Any]
payoffs: Callable[..., Any]
margins: Callable[..., Any]
observe: Callable[..., Any]
redeal: Callable[..., Any]
settle: Callable[..., Any]
pay: Callable[..., Any]
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


def _plant(
    first: Any,
    last: Any,
    roots: Any,
    tree: Any,
    totals: Any,
    worlds: Any,
    leaves: Any,
    masks: Any,
    observations: Any,
) -> None:
    """Makes every root the leaf of its tree."""
    for i in range(first, last):
        reset(tree[i, ROOT], NONE, NONE)
        totals[i] = 0
        worlds[i] = roots[i]
        leaves[i] = ROOT
        legal_actions(roots[i], masks[i])
        observe(roots[i], roots[i].seat, observations[i])


@compiled
def draw_views(views: Any, rows: Any, seeds: Any, leaves: Any, which: Any) -> None:
    """Fills the symmetry that each of the leaves in `rows` is seen through."""
    for k in range(rows.shape[0]):
        i = rows[k]
        which[k] = views[below(views.shape[0], seeds[i], STREAM_SEARCH, leaves[i], _VIEW)]


def _draw(
    first: Any, last: Any, masks: Any, priors: Any, seeds: Any, gumbel_scale: Any, noisy: Any
) -> None:
    """Fills the logits of the roots' actions plus Gumbel noise."""
    for i in range(first, last):
        for action in range(masks.shape[1]):
            noisy[i, action] = -inf
            if masks[i, action]:
                noisy[i, action] = log(priors[i, ROOT, action])
                if gumbel_scale > 0:
                    bits = word(seeds[i], STREAM_SEARCH, action, _GUMBEL) >> np.uint64(11)
                    noisy[i, action] -= gumbel_scale * log(-log((bits + 0.5) / 2.0**53))


def _solve(
    first: Any,
    last: Any,
    roots: Any,
    memory: Any,
    limit: Any,
    score_margin_weight: Any,
    worlds: Any,
    masks: Any,
    solved: Any,
    values: Any,
    margin: Any,
) -> None:
    """Solves the roots that are in reach: `masks` become their best actions, `values` exact."""
    for i in range(first, last):
        forget(memory, i)
        legal_actions(roots[i], masks[i])
        worlds[i] = roots[i]
        best_known = keep_best(worlds[i], memory, i, limit, masks[i])
        solved[i] = best_known and finish(worlds[i], memory, i, limit)
        if solved[i]:
            pay(worlds[i], score_margin_weight, values[i], margin[i])


def _descend(
    first: Any,
    last: Any,
    roots: Any,
    seeds: Any,
    simulation: Any,
    wanted: Any,
    least_range: Any,
    score_margin_weight: Any,
    memory: Any,
    limit: Any,
    solved: Any,
    tree: Any,
    totals: Any,
    priors: Any,
    raw: Any,
    noisy: Any,
    worlds: Any,
    leaves: Any,
    masks: Any,
    observations: Any,
    values: Any,
    margin: Any,
) -> None:
    """One simulation down every tree, to a node that the network doesn't know yet or to an end.

    `worlds` and `masks` become what is found there, `observations` what the seat to act sees;
    where it is the end, or solved, `values` what it pays. `wanted` are the rows of Sequential
    Halving for each number of considered actions. Trees whose roots are solved stay as they are.
    """
    for i in range(first, last):
        if solved[i]:
            leaves[i] = NONE
            continue
        world, mask = worlds[i], masks[i]
        worlds[i] = roots[i]
        legal_actions(world, mask)
        considered = min(count_legal(mask), wanted.shape[0] - 1)
        visits = wanted[considered, simulation]
        redeal(world, roots[i].seat, word(seeds[i], STREAM_SEARCH, visits, _REDEAL))
        action, child = root_action(
            tree[i],
            totals[i],
            priors[i, ROOT],
            raw[i, ROOT],
            world.seat,
            mask,
            noisy[i],
            visits,
            least_range,
        )
        node = ROOT
        while True:
            if child == NONE:
                child = simulation + 1
                reset(tree[i, child], action, node)
                tree[i, child].sibling = tree[i, node].child
                tree[i, node].child = child
            node = child
            apply(world, action)
            settle(world, mask)
            if world.seat < 0 or not tree[i, node].known:
                break
            action, child = inner_action(
                tree[i],
                totals[i],
                node,
                priors[i, node],
                raw[i, node],
                world.seat,
                mask,
                least_range,
            )
        leaves[i] = node
        if limit > 0 and world.seat >= 0:
            finish(world, memory, i, limit)
        if world.seat < 0:
            pay(world, score_margin_weight, values[i], margin[i])
        else:
            observe(world, world.seat, observations[i])


def _expand(
    first: Any,
    last: Any,
    rows: Any,
    probabilities: Any,
    relative: Any,
    tree: Any,
    priors: Any,
    raw: Any,
    worlds: Any,
    leaves: Any,
    values: Any,
) -> None:
    """Keeps what the network said of the leaves in `rows`."""
    for k in range(first, last):
        i = rows[k]
        node, players = leaves[i], np.int64(worlds[i].num_players)
        tree[i, node].known = 1
        for action in range(probabilities.shape[1]):
            priors[i, node, action] = probabilities[k, action]
        for seat in range(players):
            values[i, (worlds[i].seat + seat) % players] = relative[k, seat]
        raw[i, node] = values[i]


def _ascend(first: Any, last: Any, leaves: Any, tree: Any, totals: Any, values: Any) -> None:
    """Counts the values of all leaves."""
    for i in range(first, last):
        node = np.int64(leaves[i])
        while node != NONE:
            tree[i, node].visits += 1
            for seat in range(values.shape[1]):
                totals[i, node, seat] += values[i, seat]
            node = tree[i, node].parent


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


def _decide(
    first: Any,
    last: Any,
    roots: Any,
    least_range: Any,
    solved: Any,
    tree: Any,
    totals: Any,
    priors: Any,
    raw: Any,
    noisy: Any,
    masks: Any,
    actions: Any,
    policy: Any,
    values: Any,
) -> None:
    """Fills the chosen actions, the improved policies and the values that these have."""
    for i in range(first, last):
        if solved[i]:
            actions[i] = _perfect(priors[i, ROOT], masks[i], noisy[i], policy[i])
            continue
        mask, prior, seats = masks[i], priors[i, ROOT], np.int64(roots[i].num_players)
        mixed = np.zeros(seats)
        for seat in range(seats):
            legal_actions(roots[i], mask)
            mixed[seat] = node_statistics(
                tree[i], totals[i], ROOT, prior, raw[i, ROOT], seat, mask
            )[2]
        seat = roots[i].seat
        legal_actions(roots[i], mask)
        _, most, _, low, high, _, _ = node_statistics(
            tree[i], totals[i], ROOT, prior, raw[i, ROOT], seat, mask
        )
        stretch = stretch_of(most, low, high, least_range)
        unseen, total, best_score = exp(stretch * (mixed[seat] - high)), 0.0, -inf
        for action in range(mask.shape[0]):
            policy[i, action] = 0
            if mask[action] == LEGAL:
                policy[i, action] = prior[action] * unseen
                total += policy[i, action]
        child = tree[i, ROOT].child
        while child != NONE:
            action, visits = tree[i, child].action, tree[i, child].visits
            lead = stretch * (totals[i, child, seat] / visits - high)
            policy[i, action] = prior[action] * exp(lead)
            total += policy[i, action]
            if visits == most and noisy[i, action] + lead > best_score:
                actions[i], best_score = action, noisy[i, action] + lead
            child = tree[i, child].sibling
        share = 1.0
        values[i] = 0
        for action in range(mask.shape[0]):
            policy[i, action] /= total
        child = tree[i, ROOT].child
        while child != NONE:
            chance = policy[i, tree[i, child].action]
            share -= chance
            for seat in range(seats):
                values[i, seat] += chance * totals[i, child, seat] / tree[i, child].visits
            child = tree[i, child].sibling
        for seat in range(seats):
            values[i, seat] += share * mixed[seat]


@dataclass(frozen=True)
class GumbelKernels:
    """The functions above, compiled for one game."""

    plant: Rows
    draw: Rows
    solve: Rows
    descend: Rows
    expand: Rows
    ascend: Rows
    decide: Rows


@cache
def gumbel_kernels(game: Game) -> GumbelKernels:
    """The kernels of a game, made once."""
    rules: dict[str, Any] = kernels(game).rules | side_solver(game).functions
    rules["pay"] = specialise(_pay, game.key, **rules)

    def rows(function: Callable[..., Any], least: int = 16) -> Rows:
        return Rows(specialise(function, game.key, **rules), least)

    return GumbelKernels(
        plant=rows(_plant),
        draw=rows(_draw),
        solve=rows(_solve, 1),
        descend=rows(_descend, 4),
        expand=rows(_expand),
        ascend=rows(_ascend),
        decide=rows(_decide),
    )
