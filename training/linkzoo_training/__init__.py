"""Self-play training, evaluation and trained agents for linkzoo's games.

    agent = linkzoo_training.load_agent("linkage")  # a checkpoint that ships with the package

Needs the extra `train`.
"""

from typing import Any

__all__ = ["against_baselines", "load_agent", "load_policy", "make_agent", "play_match", "solve"]

_MODULES = {
    "against_baselines": "evaluation.match",
    "load_agent": "agents.policy",
    "load_policy": "agents.make",
    "make_agent": "agents.make",
    "play_match": "evaluation.match",
    "solve": "search.solver",
}


def __getattr__(name: str) -> Any:
    """Imports a function at its first use, so that importing the package doesn't import torch."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
