"""Gumbel search (Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022).

Many positions are searched side by side: compiled code descends all trees until they need the
network, which evaluates their leaves in one batch. Trees don't wait for each other's simulations.

- `gumbel_selection`: the selection rules at the root and below it.
- `gumbel_qtransform`: how values are scaled and added to logits.
- `gumbel_kernels`: the steps of a simulation: simulate, expand, backward.
- `gumbel_policy`: the improved policy and the chosen action.
- `gumbel_tree`: the arrays of the trees.

The search is open loop: a node stands for the actions since the root, and every simulation plays
them in a determinized world. The n-th visits of all root actions share a world, so that values
differ by the action and not by luck (common random numbers). With perfect information this is plain
tree search, and with public chance the values are means over draws. Values are per seat, and every
seat maximises its own (max^n).

With hidden information only the searching seat searches. Other seats draw their actions from the
network's policy, given their own observation in the simulation's world, so that no action depends
on a hand that its seat can't see. A simulation ends where the searching seat first acts outside the
known tree, with the network's value of that seat's observation. The search thus improves one seat's
policy while the other policies stay fixed (SPARTA: Lerer et al., "Improving policies via search in
cooperative partially observable games", AAAI 2020, with one searcher). It has three limits:

- Worlds have the distribution of `determinize`, which infers nothing from the others' moves.
- Others are assumed to play like the network: the search finds a best response, not an equilibrium.
- Later decisions of the searcher share a node for all observations in between, with the priors of
  the first world.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from torch import Tensor

from linkzoo.core.agent import check_unfinished
from linkzoo.core.game import Game
from linkzoo.engine.rng import STREAM_SEARCH, random_u64s
from linkzoo_training.arrays import Array, Float32s, Int64s, UInt64s
from linkzoo_training.networks.inputs import Inputs
from linkzoo_training.networks.symmetries import symmetries
from linkzoo_training.networks.transfers import ToHost, in_turn
from linkzoo_training.search.evaluations import Evaluations
from linkzoo_training.search.gumbel_kernels import VIEW, gumbel_kernels
from linkzoo_training.search.gumbel_selection import sequence_of_considered_visits
from linkzoo_training.search.gumbel_tree import NODE, Settings, Trees
from linkzoo_training.search.solver import side_solver
from linkzoo_training.search.tree import NONE, ROOT

CONSIDERED = 16  # actions tried at the root
MIN_VALUE_RANGE = 1e-8  # smallest range of a node's values that is scaled to 0..1
LEAF_SHARE = 16  # the solver's limit for a leaf is the root's divided by this
HIDDEN_MIN_VALUE_RANGE = 1.0  # with hidden information: small differences over few worlds are luck

# Yields after the network was called; returns logits [R, A] and relative values [R, P].
Outputs = Generator[None, None, tuple[Float32s, Float32s]]


class Evaluate(Protocol):
    """A network's forward pass."""

    def __call__(self, features: Array, /) -> tuple[Tensor, Tensor]:
        """Maps features [N, F] to logits [N, A] and values [N, P] relative to the seat to act."""
        ...


@dataclass(frozen=True)
class PolicyOutput:
    """Results of a search of N positions.

    Attributes:
        actions: Chosen actions, int64 [N].
        policy: The improved policy, float32 [N, A], 0 for illegal actions.
        values: Values of the improved policy by seat, float32 [N, P].
    """

    actions: Int64s
    policy: Float32s
    values: Float32s


class GumbelSearch:
    """Searches up to `count` positions of one game side by side.

    Not thread-safe: the trees of a search are kept in it.

    Args:
        inputs: The game's positions as the network reads them.
        count: Maximum number of positions.
        simulations: Simulations per position.
        considered: Number of actions tried at the root.
        views: Symmetries, int64 [S]: every leaf is evaluated through a random one of them.
        min_value_range: A node's values are scaled to 0..1 by their range, or by this if the range
            is smaller. None: MIN_VALUE_RANGE; with hidden information HIDDEN_MIN_VALUE_RANGE.
        score_margin_weight: Weight of score margins in final values, the same as the network's.
        solver_limit: Positions that a solver (`search.solver.side_solver`) may visit to solve a
            root, and LEAF_SHARE times fewer for a leaf. Solved roots are played perfectly, without
            a search, by the network's preference among the actions that are proven to be best;
            solved leaves count as final. No root action is tried that is known to lose. 0: no
            solver.
    """

    def __init__(
        self,
        inputs: Inputs,
        count: int,
        simulations: int,
        *,
        considered: int = CONSIDERED,
        views: Int64s | None = None,
        min_value_range: float | None = None,
        score_margin_weight: float = 0.0,
        solver_limit: int = 0,
    ) -> None:
        for name, value in (("simulations", simulations), ("considered", considered)):
            if value < 1:
                raise ValueError(f"{name}={value} is not 1 or more")
        game = inputs.game
        self.game = game
        self.simulations = simulations
        if min_value_range is None:
            min_value_range = MIN_VALUE_RANGE
            if game.hides:
                min_value_range = HIDDEN_MIN_VALUE_RANGE
        solved_rows = 0
        if solver_limit:
            solved_rows = count
        memory = side_solver(game).memory(solved_rows, solver_limit)
        if not memory:  # there is no solver, or it solves any position at once
            solver_limit = 0
        schedules = [sequence_of_considered_visits(n, simulations) for n in range(considered + 1)]
        self._settings = Settings(
            considered_visits=np.array(schedules),
            min_value_range=float(min_value_range),
            score_margin_weight=float(score_margin_weight),
            reply_exponent=1.0,
            solver_limit=solver_limit,
            leaf_limit=solver_limit // LEAF_SHARE,
            memory=memory,
            targets=False,
        )
        self._inputs = inputs
        self._views: Int64s | None = None
        if views is not None and views.any():
            self._views = views
        self._trees = _make_trees(game, count, simulations + 1)

    def run(
        self,
        states: Array,
        seeds: UInt64s,
        evaluate: Evaluate,
        *,
        gumbel_scale: float = 0.0,
        temperature: float = 1.0,
        splits: int = 1,
        evaluations: Evaluations | None = None,
        targets: bool = False,
    ) -> PolicyOutput:
        """Searches positions.

        Args:
            states: Unfinished records [N].
            seeds: All the randomness, uint64 [N].
            evaluate: The network's forward pass.
            gumbel_scale: 1 to explore, 0 to play.
            temperature: With hidden information, of other seats' actions; above 0.
            splits: Number of groups; the host searches one while a GPU evaluates another. With
                `evaluations` there is one.
            evaluations: Outputs of `evaluate` in earlier searches, which are used and added to;
                each is of the symmetry that its position was seen through first. None: every leaf
                is evaluated.
            targets: Whether the policies are training targets. In solved roots they then also have
                the actions that are neither proven nor refuted, as unvisited ones with the
                network's value, else only those proven to be best.

        Returns:
            The actions, and the improved policies with their values.

        Raises:
            ValueError: A game is over, N exceeds `count`, or network outputs aren't finite.
        """
        check_unfinished(states)
        kernel = gumbel_kernels(self.game)
        count = len(states)
        settings = self._settings._replace(
            reply_exponent=1 / float(temperature), targets=bool(targets)
        )
        limit = len(self._trees.nodes)
        if not count == len(seeds) <= limit:
            raise ValueError(
                f"{count} positions and {len(seeds)} seeds: this search was made for up to "
                f"{limit}, each with its seed"
            )
        trees = Trees._make(array[:count] for array in self._trees)
        kernel.instantiate(states, seeds, trees)
        splits = max(1, min(splits, count))
        if evaluations is not None:
            splits = 1
        groups = np.array_split(np.arange(count), splits)
        ask = partial(self._ask, trees=trees, evaluate=evaluate, evaluations=evaluations)
        in_turn(*(self._search(group, trees, ask, settings, gumbel_scale) for group in groups))
        actions = np.empty(count, np.int64)
        kernel.decide(actions, trees, settings)
        return PolicyOutput(actions, trees.policy.copy(), trees.values.copy())

    def _search(
        self,
        rows: Int64s,
        trees: Trees,
        ask: Callable[[Int64s], Outputs],
        settings: Settings,
        gumbel_scale: float,
    ) -> Iterator[None]:
        """Runs the searches of some rows; yields after every call of the network."""
        kernel = gumbel_kernels(self.game)
        logits, values = yield from ask(rows)
        kernel.expand(rows, logits, values, trees)
        if settings.solver_limit:
            kernel.solve_roots(rows, trees, settings)
        kernel.add_gumbel(rows, trees, float(gumbel_scale))
        trees.waiting[rows] = ~trees.solved[rows]
        kernel.advance(rows[trees.waiting[rows]], logits, values, trees, settings)
        while len(waiting := rows[trees.waiting[rows]]):
            logits, values = yield from ask(waiting)
            kernel.advance(waiting, logits, values, trees, settings)

    def _ask(
        self, rows: Int64s, trees: Trees, evaluate: Evaluate, evaluations: Evaluations | None
    ) -> Outputs:
        """Evaluates R leaves; yields once if it calls the network.

        Returns logits [R, A] and values [R, P] relative to the seat to act.
        """
        worlds = None
        if self._inputs.row:
            worlds = trees.worlds[rows]
        features = self._inputs.encode(worlds, trees.masks[rows], trees.observations[rows])
        if evaluations is None:
            return (yield from self._evaluate(rows, features, trees, evaluate))
        entries, new = evaluations.find(features)
        if len(new):
            logits, values = yield from self._evaluate(rows[new], features[new], trees, evaluate)
            evaluations.logits[entries[new]] = logits
            evaluations.values[entries[new]] = values
        return evaluations.logits[entries], evaluations.values[entries]

    def _evaluate(self, rows: Int64s, features: Array, trees: Trees, evaluate: Evaluate) -> Outputs:
        """Calls the network for R leaves, each through a random symmetry."""
        max_value = 1 + self._settings.score_margin_weight
        views = self._views
        if views is not None:
            bits = random_u64s(trees.seeds[rows], STREAM_SEARCH, trees.leaves[rows], VIEW)
            view = views[bits % np.uint64(len(views))]
            symmetries(self.game).turn_features(features, view)
        sent = ToHost(*(output.float() for output in evaluate(features)))
        yield
        logits, values = (np.array(output) for output in sent.arrays())
        for name, numbers in (("logits", logits), ("values", values)):
            if not np.isfinite(numbers).all():
                raise ValueError(f"the network's {name} aren't finite: its weights are damaged")
        if views is not None:
            symmetries(self.game).turn_back(logits, view)
        return logits, np.clip(values, -max_value, max_value)

    @property
    def nbytes(self) -> int:
        """Bytes of the trees and of the solver's memory."""
        return sum(array.nbytes for array in (*self._trees, *self._settings.memory))

    def visits(self, row: int) -> Int64s:
        """Returns the latest search's visits of each root action in one position, int64 [A]."""
        nodes = self._trees.nodes[row]
        visits = np.zeros(self.game.num_actions, np.int64)
        child = int(nodes[ROOT]["child"])
        while child != NONE:
            visits[nodes[child]["action"]] = nodes[child]["visits"]
            child = int(nodes[child]["sibling"])
        return visits


def _make_trees(game: Game, count: int, nodes: int) -> Trees:
    """Allocates the trees of `count` searches with up to `nodes` nodes each."""
    seats = game.max_players
    actions = game.num_actions
    spec = game.observation.spec
    return Trees(
        roots=np.zeros(count, game.state),
        seeds=np.zeros(count, np.uint64),
        nodes=np.zeros((count, nodes), NODE),
        totals=np.zeros((count, nodes, seats)),
        priors=np.zeros((count, nodes, actions), np.float32),
        raw_values=np.zeros((count, nodes, seats), np.float32),
        root_logits=np.zeros((count, actions)),
        worlds=np.zeros(count, game.state),
        leaves=np.zeros(count, np.int64),
        left_tree=np.zeros(count, np.bool_),
        simulation=np.zeros(count, np.int64),
        waiting=np.zeros(count, np.bool_),
        masks=np.zeros((count, actions), np.int8),
        candidates=np.zeros((count, actions), np.int8),
        observations=np.zeros((count, spec.size), spec.dtype),
        values=np.zeros((count, seats), np.float32),
        margins=np.zeros((count, seats), np.float32),
        solved=np.zeros(count, np.bool_),
        policy=np.zeros((count, actions), np.float32),
    )
