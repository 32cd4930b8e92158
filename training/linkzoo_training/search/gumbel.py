"""Gumbel search (Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022).

Many positions are searched in lock-step: every simulation goes down all trees in compiled code,
asks the network for all the leaves at once, and goes up again. At the root, actions are drawn
without replacement by Gumbel noise on the logits and halved by their values (Sequential Halving);
below it, visits follow the improved policy. The formulas are those of mctx (`gumbel_muzero_policy`,
value scale 0.1, maxvisit init 50, completed by the mixed value).

The search is open loop: a node stands for the actions since the root, and every simulation plays
them in a world that the searching seat can't tell from the real one (`redeal`): the n-th visits of
all actions of the root in the same one, so that they differ by the action and not by luck (common
random numbers). With perfect information that is plain tree search; with public chance the values
are means over draws; with hidden information it is an information-set search. Values are by seat,
and every seat maximises its own (max^n).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import ceil, exp, inf, log, log2
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from linkzoo.batch import count_legal, kernels
from linkzoo.chance import STREAM_SEARCH, below, word
from linkzoo.compiled import compiled, specialise
from linkzoo.features import FeatureMap
from linkzoo.game import Game
from linkzoo.threads import Rows
from linkzoo_training.search.exact import side_solver
from linkzoo_training.symmetries import symmetries

CONSIDERED = 16  # actions tried at the root
_VALUE_SCALE = 0.1
_MAXVISIT_INIT = 50.0
LEAST_RANGE = 1e-8  # of the values of a node, below which they aren't stretched to 0..1
LEAF_SHARE = 16  # one such part of what a root may take to be solved is what a leaf may
HIDDEN_LEAST_RANGE = 1.0  # where something is hidden: small differences of few worlds are luck

_NONE = -1
_ROOT = 0
_LEGAL, _VISITED = 1, 2  # in a mask
_REDEAL, _GUMBEL, _VIEW = 0, 1, 2  # positions of random words; index: visit, action, node
# A node is a child of its parent by one action; children are a linked list, the newest first.
_NODE = np.dtype(
    (
        np.record,
        [
            ("action", "i4"),
            ("parent", "i4"),
            ("child", "i4"),  # the first child
            ("sibling", "i4"),  # the next child of the parent
            ("visits", "i4"),
            ("known", "i4"),  # whether the network was asked: not if it was the end so far
        ],
    )
)

# What a network says of features [N, F]: logits [N, A], and values [N, P] relative to the seat to
# act.
Answer = Callable[[NDArray[Any]], tuple[Tensor, Tensor]]

# The names that `_kernels` binds to a game's functions.
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


def considered_visits(considered: int, simulations: int) -> list[int]:
    """Sequential Halving of `considered` actions as the visits that the next one tried has so far.

    Simulation s goes to the best of the actions with entry s visits (mctx,
    `get_sequence_of_considered_visits`).
    """
    if considered <= 1:
        return list(range(simulations))
    phases, left = ceil(log2(considered)), considered
    visits, sequence = [0] * considered, list[int]()
    while len(sequence) < simulations:
        for _ in range(max(1, int(simulations / (phases * left)))):
            sequence += visits[:left]
            visits[:left] = [count + 1 for count in visits[:left]]
        left = max(2, left // 2)
    return sequence[:simulations]


@compiled
def _survey(tree: Any, totals: Any, node: Any, prior: Any, raw: Any, seat: Any, mask: Any) -> Any:
    """What `seat` knows at a node about the legal actions; visited ones become _VISITED in `mask`.

    Returns the visits, the most visits of one action, the mixed value (appendix D of the paper),
    which completes the values of actions not visited, the least and the greatest completed value,
    and of the actions not visited the sum of priors and the one with the greatest (-1: none).
    """
    visits, most, weighted, weight = 0, 0, 0.0, 0.0
    low, high = inf, -inf
    child = tree[node].child
    while child != _NONE:
        action, count = tree[child].action, tree[child].visits
        if mask[action]:
            mask[action] = _VISITED
            value = totals[child, seat] / count
            visits += count
            most = max(most, count)
            weight += prior[action]
            weighted += prior[action] * value
            low, high = min(low, value), max(high, value)
        child = tree[child].sibling
    mixed = np.float64(raw[seat])
    if visits > 0:
        mixed = (mixed + visits * weighted / weight) / (visits + 1)
    rest, best, best_prior = 0.0, _NONE, -inf
    for action in range(mask.shape[0]):
        if mask[action] == _LEGAL:
            rest += prior[action]
            if prior[action] > best_prior:
                best, best_prior = action, prior[action]
    if best != _NONE:
        low, high = min(low, mixed), max(high, mixed)
    return visits, most, mixed, low, high, rest, best


@compiled
def _stretch(most: Any, low: Any, high: Any, least_range: Any) -> Any:
    """What differences of values are multiplied with before they are added to logits."""
    return (_MAXVISIT_INIT + most) * _VALUE_SCALE / max(high - low, least_range)


@compiled
def _root_action(
    tree: Any,
    totals: Any,
    prior: Any,
    raw: Any,
    seat: Any,
    mask: Any,
    noisy: Any,
    wanted: Any,
    least_range: Any,
) -> Any:
    """The action of the root, and its child (-1: none yet), with the highest score.

    Only actions with `wanted` visits compete; `noisy` are the logits plus Gumbel noise.
    """
    _, most, _, low, high, _, _ = _survey(tree, totals, _ROOT, prior, raw, seat, mask)
    best, best_child, best_score = _NONE, _NONE, -inf
    if wanted == 0:
        for action in range(mask.shape[0]):
            if mask[action] == _LEGAL and noisy[action] > best_score:
                best, best_score = action, noisy[action]
        return best, _NONE
    stretch = _stretch(most, low, high, least_range)
    child = tree[_ROOT].child
    while child != _NONE:
        action = tree[child].action
        if tree[child].visits == wanted:
            score = noisy[action] + stretch * (totals[child, seat] / tree[child].visits - high)
            if score > best_score:
                best, best_child, best_score = action, child, score
        child = tree[child].sibling
    return best, best_child


@compiled
def _inner_action(
    tree: Any, totals: Any, node: Any, prior: Any, raw: Any, seat: Any, mask: Any, least_range: Any
) -> Any:
    """The action below the root, and its child (-1: none yet).

    It is the one whose share of the visits is furthest below the improved policy (section 5).
    """
    visits, most, mixed, low, high, rest, best = _survey(tree, totals, node, prior, raw, seat, mask)
    stretch = _stretch(most, low, high, least_range)
    unseen = exp(stretch * (mixed - high)) if best != _NONE else 0.0
    total = rest * unseen
    child = tree[node].child
    while child != _NONE:
        action = tree[child].action
        if mask[action] == _VISITED:
            value = totals[child, seat] / tree[child].visits
            total += prior[action] * exp(stretch * (value - high))
        child = tree[child].sibling
    best_child = _NONE
    best_score = prior[best] * unseen / total if best != _NONE else -inf
    child = tree[node].child
    while child != _NONE:
        action = tree[child].action
        if mask[action] == _VISITED:
            value = totals[child, seat] / tree[child].visits
            share = prior[action] * exp(stretch * (value - high)) / total
            score = share - tree[child].visits / (1.0 + visits)
            if score > best_score:
                best, best_child, best_score = action, child, score
        child = tree[child].sibling
    return best, best_child


def _pay(world: Any, margin_weight: Any, values: Any, margin: Any) -> None:
    """Fills what an end is worth to every seat."""
    payoffs(world, values)
    margins(world, margin)
    for seat in range(world.num_players):
        values[seat] += margin_weight * margin[seat]


@compiled
def _reset(node: Any, action: Any, parent: Any) -> None:
    node.action = action
    node.parent = parent
    node.child = _NONE
    node.sibling = _NONE
    node.visits = 0
    node.known = 0


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
        _reset(tree[i, _ROOT], _NONE, _NONE)
        totals[i] = 0
        worlds[i] = roots[i]
        leaves[i] = _ROOT
        legal_actions(roots[i], masks[i])
        observe(roots[i], roots[i].seat, observations[i])


@compiled
def _draw_views(views: Any, rows: Any, seeds: Any, leaves: Any, which: Any) -> None:
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
                noisy[i, action] = log(priors[i, _ROOT, action])
                if gumbel_scale > 0:
                    bits = word(seeds[i], STREAM_SEARCH, action, _GUMBEL) >> np.uint64(11)
                    noisy[i, action] -= gumbel_scale * log(-log((bits + 0.5) / 2.0**53))


def _solve(
    first: Any,
    last: Any,
    roots: Any,
    memory: Any,
    limit: Any,
    margin_weight: Any,
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
            pay(worlds[i], margin_weight, values[i], margin[i])


def _descend(
    first: Any,
    last: Any,
    roots: Any,
    seeds: Any,
    simulation: Any,
    wanted: Any,
    least_range: Any,
    margin_weight: Any,
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
            leaves[i] = _NONE
            continue
        world, mask = worlds[i], masks[i]
        worlds[i] = roots[i]
        legal_actions(world, mask)
        considered = min(count_legal(mask), wanted.shape[0] - 1)
        visits = wanted[considered, simulation]
        redeal(world, roots[i].seat, word(seeds[i], STREAM_SEARCH, visits, _REDEAL))
        action, child = _root_action(
            tree[i],
            totals[i],
            priors[i, _ROOT],
            raw[i, _ROOT],
            world.seat,
            mask,
            noisy[i],
            visits,
            least_range,
        )
        node = _ROOT
        while True:
            if child == _NONE:
                child = simulation + 1
                _reset(tree[i, child], action, node)
                tree[i, child].sibling = tree[i, node].child
                tree[i, node].child = child
            node = child
            apply(world, action)
            settle(world, mask)
            if world.seat < 0 or not tree[i, node].known:
                break
            action, child = _inner_action(
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
            pay(world, margin_weight, values[i], margin[i])
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
        while node != _NONE:
            tree[i, node].visits += 1
            for seat in range(values.shape[1]):
                totals[i, node, seat] += values[i, seat]
            node = tree[i, node].parent


@compiled
def _perfect(prior: Any, mask: Any, noisy: Any, policy: Any) -> Any:
    """Fills the policy of a solved root, whose best actions `mask` has; returns the action."""
    total, best = 0.0, _NONE
    for action in range(mask.shape[0]):
        policy[action] = prior[action] * (mask[action] != 0)
        total += policy[action]
        if mask[action] and (best == _NONE or noisy[action] > noisy[best]):
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
            actions[i] = _perfect(priors[i, _ROOT], masks[i], noisy[i], policy[i])
            continue
        mask, prior, seats = masks[i], priors[i, _ROOT], np.int64(roots[i].num_players)
        mixed = np.zeros(seats)
        for seat in range(seats):
            legal_actions(roots[i], mask)
            mixed[seat] = _survey(tree[i], totals[i], _ROOT, prior, raw[i, _ROOT], seat, mask)[2]
        seat = roots[i].seat
        legal_actions(roots[i], mask)
        _, most, _, low, high, _, _ = _survey(
            tree[i], totals[i], _ROOT, prior, raw[i, _ROOT], seat, mask
        )
        stretch = _stretch(most, low, high, least_range)
        unseen, total, best_score = exp(stretch * (mixed[seat] - high)), 0.0, -inf
        for action in range(mask.shape[0]):
            policy[i, action] = 0
            if mask[action] == _LEGAL:
                policy[i, action] = prior[action] * unseen
                total += policy[i, action]
        child = tree[i, _ROOT].child
        while child != _NONE:
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
        child = tree[i, _ROOT].child
        while child != _NONE:
            chance = policy[i, tree[i, child].action]
            share -= chance
            for seat in range(seats):
                values[i, seat] += chance * totals[i, child, seat] / tree[i, child].visits
            child = tree[i, child].sibling
        for seat in range(seats):
            values[i, seat] += share * mixed[seat]


@dataclass(frozen=True)
class _Kernels:
    """The functions above, compiled for one game."""

    plant: Rows
    draw: Rows
    solve: Rows
    descend: Rows
    expand: Rows
    ascend: Rows
    decide: Rows


@cache
def _kernels(game: Game) -> _Kernels:
    rules: dict[str, Any] = kernels(game).rules | side_solver(game).functions
    rules["pay"] = specialise(_pay, game.key, **rules)

    def rows(function: Callable[..., Any], least: int = 16) -> Rows:
        return Rows(specialise(function, game.key, **rules), least)

    return _Kernels(
        plant=rows(_plant),
        draw=rows(_draw),
        solve=rows(_solve, 1),
        descend=rows(_descend, 4),
        expand=rows(_expand),
        ascend=rows(_ascend),
        decide=rows(_decide),
    )


@dataclass(frozen=True)
class Found:
    """What a search found in N positions."""

    actions: NDArray[np.int64]  # [N]: to play
    policy: NDArray[np.float32]  # [N, A]: the improved policy, 0 for illegal actions
    values: NDArray[np.float32]  # [N, P]: of the improved policy, by seat


class GumbelSearch:
    """Searches of up to `count` positions of one game side by side, `simulations` for each.

    `considered` actions are tried at the root. Every leaf is seen through a random one of the
    game's symmetries in `views`, if there are any. `least_range` is the range of a node's values
    below which they aren't stretched to 0..1 before they are weighed against the logits (None:
    LEAST_RANGE, and HIDDEN_LEAST_RANGE if the game hides something). An end is worth its payoffs
    plus `margin_weight` times its margins, which the network has to know too.

    Where the game has an exact solver, a root that it solves within `solver_limit` positions isn't
    searched but played perfectly, as the network prefers among the best actions, and a leaf that it
    solves within a sixteenth of them (LEAF_SHARE) is an end; 0 leaves the solver out.
    """

    def __init__(
        self,
        game: Game,
        count: int,
        simulations: int,
        *,
        considered: int = CONSIDERED,
        views: NDArray[np.int64] | None = None,
        least_range: float | None = None,
        margin_weight: float = 0.0,
        solver_limit: int = 0,
    ) -> None:
        for name, value in (("simulations", simulations), ("considered", considered)):
            if value < 1:
                raise ValueError(f"{name}={value} is not 1 or more")
        self.game, self.simulations = game, simulations
        usual = LEAST_RANGE if game.hidden is None else HIDDEN_LEAST_RANGE
        self.least_range = usual if least_range is None else least_range
        self.margin_weight = margin_weight
        self._memory = side_solver(game).memory(count if solver_limit else 0, solver_limit)
        self.solver_limit = solver_limit if self._memory else 0
        self._solved = np.zeros(count, np.bool_)
        self.map = FeatureMap(game.observation)
        self._views = None if views is None or (views == 0).all() else views
        nodes, seats, actions = simulations + 1, game.max_players, game.num_actions
        self._wanted = np.array(
            [considered_visits(count, simulations) for count in range(considered + 1)]
        )
        self._tree = np.zeros((count, nodes), _NODE)
        self._totals = np.zeros((count, nodes, seats))
        self._priors = np.zeros((count, nodes, actions), np.float32)
        self._raw = np.zeros((count, nodes, seats), np.float32)
        self._noisy = np.zeros((count, actions))
        self._worlds = np.zeros(count, game.state)
        self._leaves = np.zeros(count, np.int64)
        self._masks = np.zeros((count, actions), np.int8)
        self._observations = np.zeros((count, game.observation.size), game.observation.dtype)
        self._values = np.zeros((count, seats), np.float32)
        self._margin = np.zeros((count, seats), np.float32)
        self._policy = np.zeros((count, actions), np.float32)

    def run(
        self,
        states: NDArray[Any],
        seeds: NDArray[np.uint64],
        answer: Answer,
        *,
        gumbel_scale: float = 0.0,
    ) -> Found:
        """Searches records [N] in which a seat is to act; uint64 seeds [N] are all the randomness.

        `gumbel_scale` is 1 to explore, 0 to play. ValueError for more positions than the search was
        made for, and if the network answers with numbers that aren't finite.
        """
        kernel, count, most = _kernels(self.game), len(states), 1 + self.margin_weight
        if not count == len(seeds) <= len(self._tree):
            raise ValueError(
                f"{count} positions and {len(seeds)} seeds: this search was made for up to "
                f"{len(self._tree)}, each with its seed"
            )
        arrays: list[NDArray[Any]] = [
            self._tree,
            self._totals,
            self._priors,
            self._raw,
            self._noisy,
            self._worlds,
            self._leaves,
            self._masks,
            self._observations,
            self._values,
        ]
        tree, totals, priors, raw, noisy, worlds, leaves, masks, observations, values = (
            array[:count] for array in arrays
        )
        solved, leaf_limit = self._solved[:count], self.solver_limit // LEAF_SHARE

        def ask() -> None:
            """Has the network judge the leaves that aren't an end."""
            rows = np.flatnonzero(worlds["seat"] >= 0)
            features = self.map(observations[rows])
            which = np.empty(len(rows), np.int64)
            if self._views is not None:
                _draw_views(self._views, rows, seeds, leaves, which)
                symmetries(self.game).turn_features(features, which)
            logits, relative = answer(features)
            for what, numbers in (("logits", logits), ("values", relative)):
                if not numbers.isfinite().all():
                    raise ValueError(f"the network's {what} aren't finite: its weights are damaged")
            # In other worlds other actions are legal, so all keep their priors.
            chances = torch.softmax(logits.float(), -1).clamp_(min=1e-30).cpu().numpy()
            if self._views is not None:
                symmetries(self.game).turn_back(chances, which)
            kernel.expand(
                rows,
                chances,
                relative.float().clamp(-most, most).cpu().numpy(),
                tree,
                priors,
                raw,
                worlds,
                leaves,
                values,
            )
            kernel.ascend(leaves, tree, totals, values)

        kernel.plant(states, tree, totals, worlds, leaves, masks, observations)
        ask()
        kernel.draw(masks, priors, seeds, gumbel_scale, noisy)
        if self.solver_limit:
            kernel.solve(
                states,
                self._memory,
                self.solver_limit,
                self.margin_weight,
                worlds,
                masks,
                solved,
                values,
                self._margin,
            )
        for simulation in range(0 if solved.all() else self.simulations):
            kernel.descend(
                states,
                seeds,
                simulation,
                self._wanted,
                self.least_range,
                self.margin_weight,
                self._memory,
                leaf_limit,
                solved,
                tree,
                totals,
                priors,
                raw,
                noisy,
                worlds,
                leaves,
                masks,
                observations,
                values,
                self._margin,
            )
            ask()
        actions, policy = np.empty(count, np.int64), self._policy[:count]
        kernel.decide(
            states,
            self.least_range,
            solved,
            tree,
            totals,
            priors,
            raw,
            noisy,
            masks,
            actions,
            policy,
            values,
        )
        return Found(actions, policy.copy(), values.copy())
