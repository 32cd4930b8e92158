"""Nodes of search trees: records that link to each other by their indices."""

from typing import Any

import numpy as np

from linkzoo.core.state import Records
from linkzoo.engine.compiled import compiled

NONE = -1  # no node, no action
ROOT = 0


def node_dtype(*fields: tuple[str, str] | tuple[str, str, tuple[int]]) -> np.dtype[Any]:
    """Returns the dtype of nodes with more fields.

    A node is a child of its parent by one action; children are a linked list, the newest first.
    `child` is the first child, `sibling` the parent's next one.
    """
    links = [(name, "i4") for name in ("action", "parent", "child", "sibling", "visits")]
    return np.dtype((np.record, [*links, *fields]))


@compiled
def add_node(nodes: Records, index: int, action: int, parent: int) -> None:
    """Makes a node without visits the first child of its parent (NONE: the root of a tree)."""
    node = nodes[index]
    node.action = action
    node.parent = parent
    node.child = NONE
    node.sibling = NONE
    node.visits = 0
    if parent != NONE:
        node.sibling = nodes[parent].child
        nodes[parent].child = index
