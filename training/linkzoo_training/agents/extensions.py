"""Kinds of agents that a folder of the package adds, such as `llm:MODEL`.

A folder with a file `agent.py` adds the kind of its own name: `NAME:SETTINGS` is made by
`make_agent(SETTINGS)` in `linkzoo_training/NAME/agent.py`. The folder is found by its files, so it
works without installation, and is imported only when such an agent is made.
"""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from linkzoo import Agent

_PACKAGE = Path(__file__).resolve().parents[1]


@cache
def extension_kinds() -> tuple[str, ...]:
    """Returns the kinds of agents that folders of the package add, in alphabetical order."""
    return tuple(sorted(path.parent.name for path in _PACKAGE.glob("*/agent.py")))


def make_extension_agent(kind: str, settings: str) -> Agent:
    """Makes the agent `KIND:SETTINGS`.

    Args:
        kind: One of `extension_kinds`.
        settings: The text after the colon.

    Raises:
        ValueError: The settings are wrong, or a package is missing.
    """
    module: Any = import_module(f"linkzoo_training.{kind}.agent")
    agent: Agent = module.make_agent(settings)
    return agent
