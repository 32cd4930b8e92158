"""The same games of poker as plain trees, written apart from the compiled rules, and exact values.

A history is the moves made so far, a letter each. Whatever depends on the cards is an array over
all deals, which are equally likely: a policy gives, for each history at which somebody has to
choose, the probabilities float64[D, M] of the moves in each of D deals. Values are chips of seat 0.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

Policy = Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Tree:
    """One game. `deals` are cards [D, C]: of seat 0, of seat 1, and those that are shown later."""

    deals: NDArray[np.int64]
    moves: Callable[[str], str]  # letters of the moves to choose from; "" at the end
    mover: Callable[[str], int]  # the seat that chooses
    seen: Callable[
        [str, int], NDArray[np.int64]
    ]  # [D]: equal where the seat can't tell deals apart
    chips: Callable[[str], NDArray[np.float64]]  # [D]: what seat 0 has won at the end

    def histories(self, history: str = "") -> list[str]:
        """All histories at which somebody has to choose, the earlier ones first."""
        moves = self.moves(history)
        below = [later for move in moves for later in self.histories(history + move)]
        return [history, *below] if moves else []

    def uniform(self) -> Policy:
        """The policy that takes every move with the same probability."""
        chances = {history: 1 / len(self.moves(history)) for history in self.histories()}
        return {
            history: np.full((len(self.deals), len(self.moves(history))), chance)
            for history, chance in chances.items()
        }


def values(tree: Tree, policy: Policy, history: str = "") -> NDArray[np.float64]:
    """The value of each deal [D] if both seats follow a policy."""
    moves = tree.moves(history)
    if not moves:
        return tree.chips(history)
    below = np.stack([values(tree, policy, history + move) for move in moves], 1)
    return np.asarray((policy[history] * below).sum(1))


def value(tree: Tree, policy: Policy) -> float:
    """The value of the game if both seats follow a policy."""
    return float(values(tree, policy).mean())


def best_response(tree: Tree, policy: Policy, seat: int) -> float:
    """The most that a seat can win, in its own chips, against a policy of the other seat."""
    sign = 1 - 2 * seat

    def walk(history: str, reach: NDArray[np.float64]) -> NDArray[np.float64]:
        """Chips of the seat in each deal; `reach`: how likely the other seat's moves were."""
        moves = tree.moves(history)
        if not moves:
            return sign * tree.chips(history)
        own = tree.mover(history) == seat
        chances = np.ones((len(reach), len(moves))) if own else policy[history]
        below = np.stack(
            [walk(history + move, reach * chances[:, i]) for i, move in enumerate(moves)], 1
        )
        if not own:
            return np.asarray((chances * below).sum(1))
        chosen = by_seen(tree.seen(history, seat), reach[:, None] * below).argmax(1)
        return np.asarray(below[np.arange(len(reach)), chosen])

    return float(walk("", np.ones(len(tree.deals))).mean())


def by_seen(seen: NDArray[np.int64], amounts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Amounts [D, M] added up over the deals that look the same; [D, M]."""
    _, groups = np.unique(seen, return_inverse=True)
    totals = np.zeros((groups.max() + 1, amounts.shape[1]))
    np.add.at(totals, groups, amounts)
    return totals[groups]


def exploitability(tree: Tree, policy: Policy) -> float:
    """The gain of best responses to a policy, in chips, as the mean of both seats.

    0 for an equilibrium; half of NashConv.
    """
    return (best_response(tree, policy, 0) + best_response(tree, policy, 1)) / 2


def approximate_equilibrium(tree: Tree, rounds: int) -> Policy:
    """By CFR+ (Tammelin, "Solving large imperfect information games using CFR+", 2014)."""
    regret = {history: 0 * chances for history, chances in tree.uniform().items()}
    total = {history: 0 * chances for history, chances in tree.uniform().items()}

    def walk(
        policy: Policy, seat: int, weight: int, history: str, reach: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Chips of `seat`, whose regrets are brought up to date; `reach` [2, D] is by seat."""
        moves = tree.moves(history)
        if not moves:
            return (1 - 2 * seat) * tree.chips(history)
        mover, chances = tree.mover(history), policy[history]
        below = []
        for i, move in enumerate(moves):
            further = reach.copy()
            further[mover] *= chances[:, i]
            below.append(walk(policy, seat, weight, history + move, further))
        strategy = np.stack(below, 1)
        mean = (chances * strategy).sum(1)
        if mover == seat:
            gain = reach[1 - seat][:, None] * (strategy - mean[:, None])
            gain = by_seen(tree.seen(history, seat), gain)
            regret[history] = np.maximum(regret[history] + gain, 0)
        else:
            total[history] += weight * reach[mover][:, None] * chances
        return np.asarray(mean)

    for number in range(1, rounds + 1):
        for seat in (0, 1):
            now = {history: shares(amounts) for history, amounts in regret.items()}
            walk(now, seat, number, "", np.ones((2, len(tree.deals))))
    return {history: shares(amounts) for history, amounts in total.items()}


def shares(amounts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Amounts [D, M] as probabilities; uniform where all are 0."""
    totals = amounts.sum(1, keepdims=True)
    uniform = np.full_like(amounts, 1 / amounts.shape[1])
    return np.where(totals > 0, amounts / np.where(totals > 0, totals, 1), uniform)


# Kuhn poker: p(ass) and b(et).

_KUHN_DEALS = np.array(list(permutations(range(3), 2)))


def _kuhn_seen(history: str, seat: int) -> NDArray[np.int64]:
    return _KUHN_DEALS[:, seat]


def _kuhn_chips(history: str) -> NDArray[np.float64]:
    shown = np.sign(_KUHN_DEALS[:, 0] - _KUHN_DEALS[:, 1])
    chips = {"pp": shown, "pbp": -1, "pbb": 2 * shown, "bp": 1, "bb": 2 * shown}[history]
    return np.broadcast_to(chips, len(_KUHN_DEALS)).astype(np.float64)


KUHN_TREE = Tree(
    deals=_KUHN_DEALS,
    moves=lambda history: "pb" if history in ("", "p", "b", "pb") else "",
    mover=lambda history: len(history) % 2,
    seen=_kuhn_seen,
    chips=_kuhn_chips,
)

# Leduc hold'em: f(old), c(all, or check) and r(aise). What may follow in a round, and at the ends
# of rounds how many raises were called.

_FOLLOW = {"": "cr", "c": "cr", "r": "fcr", "cr": "fcr", "rr": "fc", "crr": "fc"}
_CALLED = {"cc": 0, "rc": 1, "crc": 1, "rrc": 2, "crrc": 2}
_FOLDED = {"rf": 0, "crf": 0, "rrf": 1, "crrf": 1}  # raises that the one who folds had paid
_LEDUC_DEALS = np.array(list(permutations(range(6), 3)))
_RANKS = _LEDUC_DEALS // 2


def _rounds(history: str) -> tuple[str, str]:
    """The moves of each round."""
    ends = [end for end in range(len(history) + 1) if history[:end] in _CALLED]
    return (history[: ends[0]], history[ends[0] :]) if ends else (history, "")


def _leduc_moves(history: str) -> str:
    first, second = _rounds(history)
    return _FOLLOW.get(second if first in _CALLED else first, "")


def _leduc_mover(history: str) -> int:
    first, second = _rounds(history)
    return len(second if first in _CALLED else first) % 2


def _leduc_seen(history: str, seat: int) -> NDArray[np.int64]:
    own = _RANKS[:, seat]
    return 3 * own + _RANKS[:, 2] if _rounds(history)[0] in _CALLED else own


def _leduc_chips(history: str) -> NDArray[np.float64]:
    first, second = _rounds(history)
    if history.endswith("f"):
        if first in _FOLDED:
            paid = 1 + 2 * _FOLDED[first]
        else:
            paid = 1 + 2 * _CALLED[first] + 4 * _FOLDED[second]
        loser = len(second or first) % 2 == 1  # seat 0 makes the odd moves of a round
        return np.full(len(_RANKS), -float(paid) if loser else float(paid))
    paid = 1 + 2 * _CALLED[first] + 4 * _CALLED[second]
    strength = _RANKS[:, :2] + 3 * (_RANKS[:, :2] == _RANKS[:, 2:])  # a pair beats every rank
    return np.asarray(paid * np.sign(strength[:, 0] - strength[:, 1]).astype(np.float64))


LEDUC_TREE = Tree(_LEDUC_DEALS, _leduc_moves, _leduc_mover, _leduc_seen, _leduc_chips)
