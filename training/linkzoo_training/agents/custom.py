"""Custom agents by their import paths (`imports`)."""

from typing import Any

from linkzoo import Agent
from linkzoo.core.agent import check_agent
from linkzoo_training.imports import import_object


def load_custom_agent(path: str) -> Agent:
    """Imports a custom agent, or a class or function that returns one without arguments.

    Raises:
        ValueError: The file, module or name doesn't exist, fails to import or construct, or isn't
            an agent.
    """
    found: Any = import_object(path, "agent")
    try:
        if isinstance(found, type) or not hasattr(found, "act"):
            found = found()
    except Exception as error:  # user code can raise anything
        raise ValueError(f"agent {path!r}: {type(error).__name__}: {error}") from error
    return check_agent(found, f"agent {path!r}")
