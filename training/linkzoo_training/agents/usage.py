"""Agents that count their usage in a match, such as requests to a server."""

from typing import Any, Protocol, cast

from linkzoo import Agent


class Usage(Protocol):
    """Counts of one match; `str` returns them as one line of text."""

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON data."""


class CountingAgent(Agent, Protocol):
    """An agent that counts its usage in a match."""

    @property
    def usage(self) -> Usage:
        """The usage since the last `begin_match`, which replaces this object by a new one."""

    def begin_match(self) -> None:
        """Resets the usage."""


def usage_of(agent: Agent) -> Usage | None:
    """Returns an agent's usage in the match; None if it isn't a CountingAgent."""
    return getattr(agent, "usage", None)


def reset_usage(agent: Agent) -> None:
    """Resets the usage of an agent that counts it."""
    if usage_of(agent) is not None:
        cast(CountingAgent, agent).begin_match()
