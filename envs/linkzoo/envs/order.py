"""Errors of environments before their first `reset`."""

from typing import TYPE_CHECKING, Any

_SET_BY_RESET = (
    *("agent", "agents", "num_agents", "rewards", "infos"),
    *("terminations", "truncations", "_cumulative_rewards"),
)


class SetByReset:
    """Says what is to be done about an attribute that an environment has from `reset` on."""

    if not TYPE_CHECKING:  # mypy would take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            """Raises AttributeError."""
            if name in _SET_BY_RESET:
                raise AttributeError(f"{name} before reset: call reset() first")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
