"""No real subject: mutants that end in every way there is, for the tests of the runner."""

import os
import time
from pathlib import Path
from typing import Any

from tests.fuzz.dice import Dice

WAYS = ("accept", "refuse", "raise", "warn", "leave", "abort", "exit", "spin", "sleep", "hoard")


def warm(game: str, folder: Path) -> None:
    """Needs nothing."""


def attempt(dice: Dice, game: str, folder: Path) -> bool:
    """Ends in the way that `game` names; `some` ends in a random one of the harmless ways."""
    way = game if game != "some" else dice.pick(WAYS[:3])
    dice.note(f"{way} {dice.below(10**6)}")
    if way == "raise":
        raise KeyError("raised")
    if way == "warn":
        import warnings

        warnings.warn("warned", stacklevel=1)
    if way == "leave":
        Path("litter").touch()
    if way == "abort":
        os.abort()
    if way == "exit":
        os._exit(3)
    hoard: list[Any] = []
    while way in ("spin", "sleep", "hoard"):
        if way == "sleep":
            time.sleep(0.1)
        if way == "hoard":
            hoard.append(bytearray(2**28))
    return way == "accept"
