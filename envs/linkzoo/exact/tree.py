"""The whole tree of a small game, with its chance and its information sets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.arguments import integer
from linkzoo.core.game import Game
from linkzoo.core.kernels import kernels, observations
from linkzoo.core.state import Masks, Record, Records
from linkzoo.engine.compiled import compiled
from linkzoo.exact.chance import Expanded, Expander
from linkzoo.exact.hashing import Words, hash_words, mix, words_of
from linkzoo.registry import get_game

CHANCE = -2  # the seat of the root, where chance deals
OVER = -1
MAX_NODES = 50_000_000
_NODES = 10_000_000  # by default: some 10 GB with hidden information
_CHUNK = 1 << 14  # records expanded at once
_MERGED_CHUNK = 1 << 11  # where equal outcomes become one: millions may become thousands
_DENOMINATOR = 1000  # payoffs are fractions of small numbers; in float32 a third isn't exact


class TreeTooLargeError(ValueError):
    """A tree has more nodes than allowed."""


@dataclass(frozen=True, eq=False)
class GameTree:
    """All positions that a game can reach, from the deal to the ends.

    Nodes have children by action and by chance: the edges of node n are
    `first_edge[n] : first_edge[n + 1]`, one for each legal action; the outcomes of edge e are
    `first_outcome[e] : first_outcome[e + 1]`. Parents have lower numbers than their children. Node
    0 is the root, where chance deals; it has one edge.

    An information set holds the nodes that the seat to act can't tell apart by all that it has
    seen, at every ply, and done (perfect recall). In a game that hides nothing, equal positions are
    one node, and each is an information set of its own. The entries of a policy are the actions of
    the information sets: `first_entry[i] : first_entry[i + 1]`.

    Attributes:
        game: The game, with compiled-in options.
        num_players: The number of players.
        options: Options by name.
        seats: int8[N], the seat to act; `CHANCE` at the root, `OVER` at the end.
        infosets: int32[N], the information set; -1 at the root and at the end.
        first_edge: int64[N + 1].
        first_outcome: int64[E + 1].
        children: int32[O], the node after each outcome.
        probabilities: float64[O], by chance.
        payoffs: float64[N, P], by seat at the end; 0 before.
        infoset_seats: int8[I].
        first_entry: int64[I + 1].
        actions: int32[K], the action of each entry.
        decisions: int64[D], the information sets with a choice.
        states: A position of each of these [D].
        merged: Whether the game hides nothing.
    """

    game: Game
    num_players: int
    options: Mapping[str, Any]
    seats: NDArray[np.int8]
    infosets: NDArray[np.int32]
    first_edge: NDArray[np.int64]
    first_outcome: NDArray[np.int64]
    children: NDArray[np.int32]
    probabilities: NDArray[np.float64]
    payoffs: NDArray[np.float64]
    infoset_seats: NDArray[np.int8]
    first_entry: NDArray[np.int64]
    actions: NDArray[np.int32]
    decisions: NDArray[np.int64]
    states: Records
    merged: bool

    @property
    def num_nodes(self) -> int:
        """The number of positions, without the root before the deal."""
        return len(self.seats) - 1

    @property
    def num_terminals(self) -> int:
        """The number of ends."""
        return int((self.seats == OVER).sum())

    @property
    def num_infosets(self) -> int:
        """The number of information sets, forced moves included."""
        return len(self.infoset_seats)

    def uniform(self) -> NDArray[np.float64]:
        """Returns the policy that plays all legal actions alike, float64[K]."""
        counts = np.diff(self.first_entry)
        return np.repeat(1 / counts, counts)


def tree(
    game: str | Game,
    num_players: int | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    max_nodes: int = _NODES,
    progress: Callable[[int], None] | None = None,
) -> GameTree:
    """Builds the whole tree of a game.

    Args:
        game: The game's name, as for `get_game`, or the game itself.
        num_players: The number of players; None for the smallest.
        options: Options by name; standard values by default.
        max_nodes: The largest number of nodes.
        progress: Called with the number of nodes so far, several times a second.

    Returns:
        The tree.

    Raises:
        TreeTooLargeError: The tree has more than `max_nodes` nodes.
        ValueError: An argument is invalid, or the game has chance that it doesn't declare.
    """
    chosen = game
    if not isinstance(chosen, Game):
        chosen = get_game(chosen, options)
    max_nodes = integer("max_nodes", max_nodes, 1, MAX_NODES)
    blank = chosen.blank(num_players, options)
    builder = _Builder(chosen, max_nodes, progress)
    builder.begin(blank)
    while len(builder.level):
        builder.expand_level()
    return builder.finish(int(blank.num_players), dict(chosen.chosen_options(blank)))


# Records of the next level, their seats' pasts, and the record of each outcome.
_Part = tuple[Records, Words, NDArray[np.int64]]


class _Columns(NamedTuple):
    """Columns of a tree, in parts that are joined at the end."""

    seats: list[NDArray[np.int8]]
    keys: list[Words]
    edges: list[NDArray[np.int64]]  # of each node
    actions: list[NDArray[np.int32]]  # of each edge
    outcomes: list[NDArray[np.int64]]  # of each edge
    children: list[NDArray[np.int64]]
    probabilities: list[NDArray[np.float64]]
    payoffs: list[NDArray[np.float64]]
    candidates: list[NDArray[np.int64]]  # nodes that may be the first of an information set
    states: list[Records]  # of these


class _Builder:
    """Builds a tree level by level."""

    def __init__(self, game: Game, max_nodes: int, progress: Callable[[int], None] | None) -> None:
        self.game = game
        self.merged = not game.hides
        self.level: Records = np.zeros(0, game.state)
        self._pasts: Words = np.zeros((0, 0, 2), np.uint64)  # of each seat [L, P]: see `see`
        self._max_nodes = max_nodes
        self._progress = progress
        self._expander = Expander(game)
        self._columns = _Columns([], [], [], [], [], [], [], [], [], [])
        self._nodes = 1  # with the root, and with the level

    def begin(self, blank: Record) -> None:
        """Writes the root, and deals."""
        players = int(blank.num_players)
        columns = self._columns
        dealt = self._expander.begin(blank)
        columns.seats.append(np.array([CHANCE], np.int8))
        columns.keys.append(np.zeros(1, np.uint64))
        columns.payoffs.append(np.zeros((1, players)))
        self._add_edges(dealt)
        seats = players
        if self.merged:
            seats = 0  # pasts tell positions apart only where something is hidden
        pasts = np.zeros((len(dealt.words), seats, 2), np.uint64)
        pasts[:, :, 0] = np.arange(1, seats + 1)
        self._next_level([self._part(dealt.states(self.game.state), pasts)])

    def expand_level(self) -> None:
        """Writes the nodes of a level and their edges; goes on to the next level."""
        first = self._nodes - len(self.level)
        room = self._max_nodes - self._nodes
        parts: list[_Part] = []
        chunk = _MERGED_CHUNK if self.merged else _CHUNK
        for start in range(0, len(self.level), chunk):
            part = slice(start, start + chunk)
            parts.append(self._expand(self.level[part], self._pasts[part], first + start))
            count = sum(len(states) for states, _, _ in parts)
            if self.merged and count > 2 * room:
                parts = [self._joined(parts)]
                count = len(parts[0][0])
            if not self.merged or len(parts) == 1:  # else records of several parts may be equal
                self._check_size(count)
            if self._progress is not None:
                self._progress(self._nodes)
        self._next_level(parts)

    def _expand(self, states: Records, pasts: Words, first: int) -> _Part:
        game = self.game
        columns = self._columns
        seats = states["seat"].copy()
        over = seats < 0
        masks = np.empty((len(states), game.num_actions), np.int8)
        kernels(game).fill_masks(states, masks)
        keys = np.zeros(len(states), np.uint64)
        if not self.merged:
            pasts = self._seen(states, pasts)
            acting = np.maximum(seats, 0).astype(np.int64)
            keys = pasts[np.arange(len(states)), acting, 0]
        expanded = self._expander.expand(states, masks)
        columns.seats.append(seats)
        columns.keys.append(keys)
        columns.payoffs.append(self._payoffs(states, over))
        self._keep_states(states, keys, masks, first)
        self._add_edges(expanded)
        child_pasts = np.empty((len(expanded.words), *pasts.shape[1:]), np.uint64)
        if not self.merged:
            _fill_child_pasts(pasts, seats, *expanded[:3], child_pasts)
        return self._part(expanded.states(game.state), child_pasts)

    def _seen(self, states: Records, pasts: Words) -> Words:
        """Returns the pasts of all seats, with what they see now."""
        pasts = pasts.copy()
        hashes = np.empty(len(states), np.uint64)
        for seat in range(pasts.shape[1]):
            seats = np.full(len(states), seat, np.int8)
            hash_words(padded_words(observations(self.game, states, seats)), hashes)
            see(hashes, pasts[:, seat])
        return pasts

    def _payoffs(self, states: Records, over: NDArray[np.bool_]) -> NDArray[np.float64]:
        players = int(states["num_players"][0])
        exact = np.zeros((len(states), players))
        payoff = np.zeros((int(over.sum()), players), np.float32)
        margin = np.zeros_like(payoff)
        if len(payoff):
            kernels(self.game).outcome(states[over], payoff, margin)
            exact[over] = _as_fractions(payoff)
        return exact

    def _keep_states(self, states: Records, keys: Words, masks: Masks, first: int) -> None:
        chosen = np.flatnonzero(masks.sum(1) > 1)
        if not self.merged:
            _, indices = np.unique(keys[chosen], return_index=True)
            chosen = chosen[np.sort(indices)]
        self._columns.candidates.append(first + chosen)
        self._columns.states.append(states[chosen])

    def _add_edges(self, expanded: Expanded) -> None:
        columns = self._columns
        columns.edges.append(np.diff(expanded.rows, prepend=0))
        columns.actions.append(expanded.actions)
        columns.outcomes.append(np.diff(expanded.ends, prepend=0))
        columns.probabilities.append(expanded.probabilities)

    def _part(self, states: Records, pasts: Words) -> _Part:
        """Returns a part of the next level; equal records are one where nothing is hidden."""
        if not self.merged or not len(states):
            return states, pasts, np.arange(len(states))
        chosen, children = _merge(states)
        return states[chosen], pasts[chosen], children

    def _joined(self, parts: list[_Part]) -> _Part:
        """Returns one part for several, with the outcomes in the same order."""
        sizes = np.cumsum([0, *(len(states) for states, _, _ in parts)])
        states = np.concatenate([states for states, _, _ in parts]).view(self.game.state)
        pasts = np.concatenate([pasts for _, pasts, _ in parts])
        numbers = [start + part[2] for start, part in zip(sizes[:-1], parts, strict=True)]
        states, pasts, children = self._part(states, pasts)
        return states, pasts, children[np.concatenate(numbers)]

    def _next_level(self, parts: list[_Part]) -> None:
        self.level, self._pasts, children = self._joined(parts)
        self._columns.children.append(self._nodes + children)
        self._check_size(len(self.level))
        self._nodes += len(self.level)

    def _check_size(self, added: int) -> None:
        if self._nodes + added > self._max_nodes:
            raise TreeTooLargeError(
                f"the tree of {self.game} has more than {self._max_nodes:,} nodes"
            )

    def _infosets(self, nodes: NDArray[np.int64], keys: Words) -> tuple[Any, Any]:
        """Returns the first node of each information set, and the information set of each node."""
        if self.merged:
            return nodes, np.arange(len(nodes))
        _, first, numbers = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return nodes[first[order]], rank[numbers.reshape(-1)]

    def finish(self, num_players: int, options: Mapping[str, Any]) -> GameTree:
        """Returns the tree."""
        columns = self._columns
        seats = np.concatenate(columns.seats)
        keys = np.concatenate(columns.keys)
        edges = np.concatenate(columns.edges)
        edge_actions = np.concatenate(columns.actions)
        probabilities = np.concatenate(columns.probabilities)
        first_edge = _starts(edges)
        first_outcome = _starts(np.concatenate(columns.outcomes))
        nodes = np.flatnonzero(seats >= 0)
        first_nodes, infosets_of_nodes = self._infosets(nodes, keys[nodes])
        infosets = np.full(len(seats), -1, np.int32)
        infosets[nodes] = infosets_of_nodes
        first_entry = _starts(edges[first_nodes])
        actions = edge_actions[spans(first_edge, first_nodes)]
        _check_probabilities(probabilities, first_outcome)
        _check_actions(
            edge_actions[spans(first_edge, nodes)],
            actions[spans(first_entry, infosets_of_nodes)],
        )
        decisions = np.flatnonzero(edges[first_nodes] > 1)
        candidates = np.concatenate(columns.candidates)
        kept = np.searchsorted(candidates, first_nodes[decisions])
        return GameTree(
            game=self.game,
            num_players=num_players,
            options=options,
            seats=seats,
            infosets=infosets,
            first_edge=first_edge,
            first_outcome=first_outcome,
            children=np.concatenate(columns.children).astype(np.int32),
            probabilities=probabilities,
            payoffs=np.concatenate(columns.payoffs),
            infoset_seats=seats[first_nodes],
            first_entry=first_entry,
            actions=actions,
            decisions=decisions,
            states=np.concatenate(columns.states).view(self.game.state)[kept],
            merged=self.merged,
        )


def padded_words(rows: NDArray[Any]) -> Words:
    """Returns rows [N, K] of numbers as words [N, W], filled up with zeros."""
    size = rows.shape[1] * rows.itemsize
    padded = np.zeros((len(rows), -(-size // 8) * 8), np.uint8)
    padded[:, :size] = np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), size)
    return padded.view(np.uint64)


@compiled
def see(hashes: Words, pasts: Words) -> None:
    """Adds what a seat sees to its pasts [N, 2]: a hash of them, and of what it saw last.

    What looks as before isn't added: a seat needn't know how many actions others took in secret.
    """
    for i in range(len(hashes)):
        if pasts[i, 1] != hashes[i]:
            pasts[i, 0] = mix(pasts[i, 0], hashes[i])
            pasts[i, 1] = hashes[i]


@compiled
def _fill_child_pasts(
    pasts: Words,
    seats: NDArray[np.int8],
    rows: NDArray[np.int64],
    actions: NDArray[np.int32],
    ends: NDArray[np.int64],
    child_pasts: Words,
) -> None:
    """Fills the pasts of the seats after each outcome [O, P, 2]."""
    edge = 0
    outcome = 0
    for i in range(len(seats)):
        while edge < rows[i]:
            while outcome < ends[edge]:
                child_pasts[outcome] = pasts[i]
                own = mix(pasts[i, seats[i], 0], np.uint64(actions[edge] + 1))
                child_pasts[outcome, seats[i], 0] = own
                outcome += 1
            edge += 1


def _merge(states: Records) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the first of each different record of a level, and the index of each record's."""
    words = words_of(states)
    hashes = np.empty(len(states), np.uint64)
    hash_words(words, hashes)
    _, first, numbers = np.unique(hashes, return_index=True, return_inverse=True)
    numbers = numbers.reshape(-1)
    if not np.array_equal(words[first[numbers]], words):
        raise RuntimeError("two different records have the same hash")
    return first, numbers


def _as_fractions(payoffs: NDArray[np.float32]) -> NDArray[np.float64]:
    """Returns the fractions of small numbers that payoffs in float32 stand for."""
    values, numbers = np.unique(payoffs, return_inverse=True)
    exact = [float(Fraction(float(value)).limit_denominator(_DENOMINATOR)) for value in values]
    return np.array(exact)[numbers.reshape(payoffs.shape)]


def _starts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns where each of several runs begins, and the end of the last."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])


def spans(starts: NDArray[np.int64], chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the indices in the runs `chosen`, one run behind the other."""
    counts = starts[chosen + 1] - starts[chosen]
    ends = np.cumsum(counts)
    indices: NDArray[np.int64] = np.arange(counts.sum()) + np.repeat(
        starts[chosen] - ends + counts, counts
    )
    return indices


def _check_probabilities(
    probabilities: NDArray[np.float64], first_outcome: NDArray[np.int64]
) -> None:
    """Raises RuntimeError unless the probabilities of every edge add up to 1."""
    totals = np.add.reduceat(probabilities, first_outcome[:-1])
    if np.abs(totals - 1).max() > 1e-9:
        raise RuntimeError(f"probabilities add up to {totals.min()} to {totals.max()}, not to 1")


def _check_actions(of_nodes: NDArray[np.int32], of_infosets: NDArray[np.int32]) -> None:
    """Raises RuntimeError unless the nodes of an information set have the same legal actions."""
    if not np.array_equal(of_nodes, of_infosets):
        raise RuntimeError(
            "positions of an information set have different legal actions: the observation lacks "
            "something that a seat knows"
        )
