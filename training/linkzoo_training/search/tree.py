"""Nodes of search trees: records that link to each other by their indices."""

from typing import Any

import numpy as np

NONE = -1  # no node, no action
ROOT = 0


def node_dtype(*fields: tuple[str, str] | tuple[str, str, tuple[int]]) -> np.dtype[Any]:
    """Returns the dtype of nodes with more fields.

    A node is a child of its parent by one action; children are a linked list, the newest first.
    `child` is the first child, `sibling` the parent's next one.
    """
    links = [(name, "i4") for name in ("action", "parent", "child", "sibling", "visits")]
    return np.dtype((np.record, [*links, *fields]))
