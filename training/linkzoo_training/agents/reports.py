"""Agents that report on a match, such as the requests that they sent to a server."""

from typing import Any, NamedTuple, Protocol, cast

from linkzoo import Agent


class AgentReport(NamedTuple):
    """An agent's own account of a match.

    Attributes:
        summary: The report as one line of text.
        data: The report as JSON data.
    """

    summary: str
    data: dict[str, Any]


class ReportingAgent(Agent, Protocol):
    """An agent that reports on each match; it plays in the process of the match."""

    def begin_match(self) -> None:
        """Starts a new report."""

    def report(self) -> AgentReport | None:
        """Returns the report since the last `begin_match`; None if the agent has none."""


class StopMatchError(ValueError):
    """An agent ends a match from its `act`: it can't go on.

    A match keeps its finished games, as after Ctrl-C.
    """


def report_of(agent: Agent) -> AgentReport | None:
    """Returns an agent's report on the match; None if it isn't a ReportingAgent."""
    if not hasattr(agent, "report"):
        return None
    return cast(ReportingAgent, agent).report()


def begin_match(agent: Agent) -> None:
    """Starts a new report of an agent that reports."""
    if report_of(agent) is not None:
        cast(ReportingAgent, agent).begin_match()
