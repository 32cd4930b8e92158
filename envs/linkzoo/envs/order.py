"""Errors of environments before their first `reset`."""

from collections.abc import Iterator, Mapping
from typing import Any, cast


def _missing(name: str) -> AttributeError:
    return AttributeError(f"{name} before reset: call reset() first")


class _BeforeReset(Mapping[str, Any]):
    """Stands for a dict of an environment until `reset`: each use raises AttributeError.

    The class itself has no attribute of the name: in CPython 3.11 that would make each access slow.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getitem__(self, agent: str) -> Any:
        raise _missing(self._name)

    def __iter__(self) -> Iterator[str]:
        raise _missing(self._name)

    def __len__(self) -> int:
        raise _missing(self._name)


def before_reset(name: str) -> dict[str, Any]:
    """Returns a stand-in for the dict of an environment until `reset`."""
    return cast(dict[str, Any], _BeforeReset(name))


class _Missing:
    """Stands for an attribute until `reset` sets the instance's own, which comes first."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        raise _missing(self._name)


class SetByReset:
    """Attributes that exist from `reset` on; before, an error names the missing call."""

    agent: Any = _Missing()
    agents: Any = _Missing()
