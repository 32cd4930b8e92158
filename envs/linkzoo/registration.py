"""Registers every game with gymnasium and, where it has a registry (from 1.27 on), pettingzoo."""

import gymnasium
import pettingzoo

from linkzoo.games import NAMES


def register() -> None:
    """Makes `gymnasium.make("linkzoo/<Name>-v0")` and `pettingzoo.make` know the games."""
    for name in NAMES:
        title = "".join(word.capitalize() for word in name.split("_"))
        if f"linkzoo/{title}-v0" in gymnasium.registry:
            continue
        gymnasium.register(
            id=f"linkzoo/{title}-v0", entry_point="linkzoo.gym:SeatEnv", kwargs={"game": name}
        )
        if hasattr(pettingzoo, "register"):
            module = f"linkzoo.{name}_v0"
            pettingzoo.register("aec", f"linkzoo/{name}_v0", f"{module}:env")
            pettingzoo.register("parallel", f"linkzoo/{name}_v0", f"{module}:parallel_env")
