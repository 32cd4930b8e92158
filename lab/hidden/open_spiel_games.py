"""The columns as games of OpenSpiel, with the names of their information sets."""

from typing import Any

from lab.hidden.columns import Column

import linkzoo.integrations.open_spiel as adapter
from linkzoo.exact import GameTree
from linkzoo.exact.tree import CHANCE, OVER


def load(column: Column) -> Any:
    """Returns a column as a game of pyspiel, with explicit chance where its tree is known."""
    chance = "explicit" if column.exact else "sampled"
    players = column.num_players
    return adapter.load_game(column.game, players=players, chance=chance, **column.options)


def infoset_names(game: Any, tree: GameTree) -> list[str]:
    """Returns OpenSpiel's information state string of each information set of a tree."""
    names = [""] * tree.num_infosets
    stack = [(game.new_initial_state(), 0)]
    while stack:
        state, node = stack.pop()
        if tree.seats[node] == OVER:
            continue
        afters = [state]
        if tree.seats[node] != CHANCE:
            names[tree.infosets[node]] = state.information_state_string()
            afters = [state.child(action) for action in state.legal_actions()]
        for after, edge in zip(
            afters, range(tree.first_edge[node], tree.first_edge[node + 1]), strict=True
        ):
            first, last = tree.first_outcome[edge : edge + 2]
            children = tree.children[first:last].tolist()
            if len(children) == 1:
                stack.append((after, children[0]))
                continue
            for (outcome, _), child in zip(after.chance_outcomes(), children, strict=True):
                stack.append((after.child(outcome), child))
    return names
