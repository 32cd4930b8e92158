"""Gumbel search (Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022).

Many positions are searched side by side: compiled code goes down all trees until the network has
to be asked, and it is asked for all of them at once. A tree goes on as soon as it can, whichever
simulation that is of the others. Which action is tried next is in `gumbel_tree`.

The search is open loop: a node stands for the actions since the root, and every simulation plays
them in a world that the searching seat can't tell from the real one (`redeal`): the n-th visits of
all actions of the root in the same one, so that they differ by the action and not by luck (common
random numbers). With perfect information that is plain tree search, and with public chance the
values are means over draws. Values are by seat, and every seat maximises its own (max^n).

With hidden information only the searching seat searches. Whenever another is to act, the network is
asked what that seat plays by what it sees in the simulation's world, and draws: so no knowledge of
the searcher's hand reaches others' moves, nor one of their hands the moves of another. A simulation
ends where the searching seat is to act again, for what it is worth by what that seat sees there:
no decision and no value knows more than the seat that it is of. This is the improvement of one
seat's policy while the others keep theirs (SPARTA: Lerer et al., "Improving policies via search in
cooperative partially observable games", AAAI 2020, with one searcher). What stays wrong: worlds are
as likely as `redeal` deals them, whatever others' moves say about their hands; others are believed
to play as the network does, so it finds a best response, not an equilibrium; and later decisions of
the searcher share a node whatever it saw in between, with the priors of the first world.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from linkzoo.core.features import FeatureMap
from linkzoo.core.game import Game
from linkzoo_training.search.gumbel_batch import Settings, Trees
from linkzoo_training.search.gumbel_kernels import draw_views, gumbel_kernels
from linkzoo_training.search.gumbel_tree import NODE, considered_visits
from linkzoo_training.search.solver import side_solver
from linkzoo_training.symmetries import symmetries
from linkzoo_training.transfers import ToHost, in_turn

CONSIDERED = 16  # actions tried at the root
LEAST_RANGE = 1e-8  # of the values of a node, below which they aren't stretched to 0..1
LEAF_SHARE = 16  # one such part of what a root may take to be solved is what a leaf may
HIDDEN_LEAST_RANGE = 1.0  # with hidden information: small differences over few worlds are luck

# What a network says of features [N, F]: logits [N, A], and values [N, P] relative to the seat to
# act.
Answer = Callable[[NDArray[Any]], tuple[Tensor, Tensor]]


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
    LEAST_RANGE, and HIDDEN_LEAST_RANGE with hidden information). An end is worth its payoffs
    plus `score_margin_weight` times its margins, which the network has to know too.

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
        score_margin_weight: float = 0.0,
        solver_limit: int = 0,
    ) -> None:
        for name, value in (("simulations", simulations), ("considered", considered)):
            if value < 1:
                raise ValueError(f"{name}={value} is not 1 or more")
        self.game, self.simulations = game, simulations
        usual = LEAST_RANGE if game.hidden is None else HIDDEN_LEAST_RANGE
        memory = side_solver(game).memory(count if solver_limit else 0, solver_limit)
        rows = [considered_visits(count, simulations) for count in range(considered + 1)]
        self._settings = Settings(
            wanted=np.array(rows),
            least_range=float(usual if least_range is None else least_range),
            score_margin_weight=float(score_margin_weight),
            reply_exponent=1.0,
            solver_limit=solver_limit if memory else 0,
            leaf_limit=solver_limit // LEAF_SHARE if memory else 0,
            memory=memory,
        )
        self.map = FeatureMap(game.observation)
        self._views = None if views is None or (views == 0).all() else views
        nodes, seats, actions = simulations + 1, game.max_players, game.num_actions
        self._trees = Trees(
            roots=np.zeros(count, game.state),
            seeds=np.zeros(count, np.uint64),
            nodes=np.zeros((count, nodes), NODE),
            totals=np.zeros((count, nodes, seats)),
            priors=np.zeros((count, nodes, actions), np.float32),
            raw=np.zeros((count, nodes, seats), np.float32),
            noisy=np.zeros((count, actions)),
            worlds=np.zeros(count, game.state),
            leaves=np.zeros(count, np.int64),
            beyond=np.zeros(count, np.bool_),
            simulation=np.zeros(count, np.int64),
            waiting=np.zeros(count, np.bool_),
            masks=np.zeros((count, actions), np.int8),
            observations=np.zeros((count, game.observation.size), game.observation.dtype),
            values=np.zeros((count, seats), np.float32),
            margins=np.zeros((count, seats), np.float32),
            solved=np.zeros(count, np.bool_),
            policy=np.zeros((count, actions), np.float32),
        )

    def run(
        self,
        states: NDArray[Any],
        seeds: NDArray[np.uint64],
        answer: Answer,
        *,
        gumbel_scale: float = 0.0,
        temperature: float = 1.0,
        splits: int = 1,
    ) -> Found:
        """Searches records [N] in which a seat is to act; uint64 seeds [N] are all the randomness.

        `gumbel_scale` is 1 to explore, 0 to play. Where something is hidden, others draw their
        moves at `temperature`, above 0. With `splits` above 1 the positions are searched in so many
        groups, each as it would be alone: while a GPU answers for one of them, the trees of the
        others grow. ValueError for more positions than the search was made for, and if the network
        answers with numbers that aren't finite.
        """
        kernel, count = gumbel_kernels(self.game), len(states)
        settings = self._settings._replace(reply_exponent=1 / float(temperature))
        most = len(self._trees.nodes)
        if not count == len(seeds) <= most:
            raise ValueError(
                f"{count} positions and {len(seeds)} seeds: this search was made for up to {most}, "
                "each with its seed"
            )
        trees = Trees._make(array[:count] for array in self._trees)
        kernel.plant(states, seeds, trees)
        groups = np.array_split(np.arange(count), max(1, min(splits, count)))
        in_turn(*(self._grow(group, trees, answer, settings, gumbel_scale) for group in groups))
        actions = np.empty(count, np.int64)
        kernel.decide(actions, trees, settings)
        return Found(actions, trees.policy.copy(), trees.values.copy())

    def _grow(
        self,
        rows: NDArray[np.int64],
        trees: Trees,
        answer: Answer,
        settings: Settings,
        gumbel_scale: float,
    ) -> Iterator[None]:
        """The searches of some rows; it stops whenever it has asked the network."""
        kernel = gumbel_kernels(self.game)
        chances, values = yield from self._ask(rows, trees, answer)
        kernel.expand(rows, chances, values, trees)
        kernel.draw(rows, trees, float(gumbel_scale))
        if settings.solver_limit:
            kernel.solve(rows, trees, settings)
        trees.waiting[rows] = ~trees.solved[rows]
        kernel.advance(rows[trees.waiting[rows]], chances, values, trees, settings)
        while len(waiting := rows[trees.waiting[rows]]):
            chances, values = yield from self._ask(waiting, trees, answer)
            kernel.advance(waiting, chances, values, trees, settings)

    def _ask(
        self, rows: NDArray[np.int64], trees: Trees, answer: Answer
    ) -> Generator[None, None, tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """What the network says of R rows; it stops when that was asked.

        Probabilities of all actions [R, A] and values [R, P] relative to the seat that is to act.
        In other worlds other actions are legal, so none is left out.
        """
        most = 1 + self._settings.score_margin_weight
        features = self.map(trees.observations[rows])
        which = np.empty(len(rows), np.int64)
        if self._views is not None:
            draw_views(which, self._views, rows, trees.seeds, trees.leaves)
            symmetries(self.game).turn_features(features, which)
        logits, relative = answer(features)
        sent = ToHost(
            torch.softmax(logits.float(), -1).clamp_(min=1e-30),
            relative.float().clamp(-most, most),
            torch.stack([*logits.float().aminmax(), *relative.float().aminmax()]),
        )
        yield
        chances, values, extremes = sent.arrays()
        for what, numbers in (("logits", extremes[:2]), ("values", extremes[2:])):
            if not np.isfinite(numbers).all():  # far faster than of each
                raise ValueError(f"the network's {what} aren't finite: its weights are damaged")
        if self._views is not None:
            symmetries(self.game).turn_back(chances, which)
        return chances, values

    def visits(self, row: int) -> NDArray[np.int64]:
        """How often the latest search tried each action in one of its positions, int64[A]."""
        nodes, found = self._trees.nodes[row], np.zeros(self.game.num_actions, np.int64)
        child = int(nodes[0]["child"])
        while child >= 0:
            found[nodes[child]["action"]] = nodes[child]["visits"]
            child = int(nodes[child]["sibling"])
        return found
