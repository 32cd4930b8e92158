"""Makes agents from their names or specs."""

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from linkzoo import Agent, get_game
from linkzoo.core.agent import check_agent
from linkzoo.core.arguments import shown
from linkzoo.policy import Policy
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.agents.trained_on import note_untrained
from linkzoo_training.imports import import_object
from linkzoo_training.resources import check_installed

__all__ = ["make_agent"]


def make_agent(spec: str | AgentSpec, game: str, options: Mapping[str, Any] | None = None) -> Agent:
    """Makes an agent from its name.

    Args:
        spec: A spec or a name. Names: `random`, `greedy`, `uct-N` (N simulations a move), `hands-N`
            (the same, but sees all hands), `cheat-N` (sees future chance, too), `mc-N` (flat Monte
            Carlo: N playouts of every action), `exact` (perfect play, where the game has a solver),
            `linear` (the linear scorer that ships for the game) or a file of `linkzoo linear fit`,
            each also with `:N` (about N playouts a move), `human`, `llm:MODEL` (a language model,
            or another `KIND:SETTINGS` of `agents.extensions`), `checkpoint` (the game's shipped
            checkpoint), a shipped checkpoint's name, a checkpoint's folder, or
            `path/to/file.py:NAME` or `package.module:NAME` for a custom agent. A checkpoint may
            have suffixes: `@N` averages N symmetric views, `@1` is the bare network; `~T` plays at
            temperature T, `~0` the most probable action; `:N` searches with N simulations a move.
            Shipped names take precedence over folders; write `./NAME` for the folder. Names of
            existing folders may contain suffixes.
        game: The name of the game.
        options: Options of the game that is played; with None, a checkpoint may be for any of the
            game's boards or cards.

    Returns:
        The agent.

    Raises:
        ValueError: The agent or game doesn't exist, the checkpoint plays another game, or a custom
            agent fails to import or isn't an agent.
    """
    if not isinstance(spec, AgentSpec):
        spec = AgentSpec.parse(spec)
    get_game(game, options)
    spec.check(game)
    checkpoint = spec.checkpoint(game)
    if spec.kind == "custom":
        return _load_custom_agent(spec.source)
    if checkpoint is None:
        return spec.baseline()
    try:
        return _load_policy(checkpoint, spec, game, options)
    except ValueError as error:
        raise ValueError(f"agent {shown(str(spec))}: {error}") from error


def _load_policy(
    checkpoint: str, spec: AgentSpec, game: str, options: Mapping[str, Any] | None
) -> Agent:
    """Returns a checkpoint's policy with the search that its name asks for.

    Raises:
        ValueError: It plays another game, or its search has no temperature, but one is given.
    """
    from linkzoo_training.agents.policy import SearchAgent, load_agent
    from linkzoo_training.agents.policy_playouts import PolicyPlayoutAgent, began_as_scorer

    policy = load_agent(checkpoint, views=spec.views, temperature=spec.temperature)
    rules = get_game(game, policy.game.fixed.values if options is None else options)
    if policy.game.key != rules.key:
        raise ValueError(f"it plays {policy.game}, not {rules}")
    if spec.simulations is None:
        return policy
    if not began_as_scorer(policy):
        return SearchAgent(policy, spec.simulations)
    if spec.temperature:
        raise ValueError(
            f"a search by playouts plays the best candidate: leave out ~{spec.temperature:g}"
        )
    return PolicyPlayoutAgent(policy, spec.simulations)


def _load_custom_agent(path: str) -> Agent:
    """Imports a custom agent, or a class or function that returns one without arguments."""
    agent: Any = import_object(path, "agent")
    if inspect.isfunction(agent):
        _check_maker(agent, path)
    try:
        if isinstance(agent, type) or not hasattr(agent, "act"):
            agent = agent()
    except Exception as error:  # user code can raise anything
        raise ValueError(f"agent {path!r}: {type(error).__name__}: {error}") from error
    return check_agent(agent, f"agent {path!r}")


def _check_maker(function: Callable[..., Any], path: str) -> None:
    """Raises ValueError if a function can't be called without arguments."""
    parameters = inspect.signature(function).parameters.values()
    catching = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty and parameter.kind not in catching
    ]
    if needed:
        raise ValueError(
            f"agent {path!r}: the function needs {', '.join(needed)}: give an agent, or what makes "
            "one without arguments; linkzoo.integrations.FunctionAgent(NAME, FUNCTION, "
            "features=False) makes one of a function of observations and masks"
        )


def load_policy(
    agent: str | Path,
    game: str | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    seed: int = 0,
) -> Policy:
    """Loads a policy that plays in any loop; the entry point behind `linkzoo.load_policy`."""
    spec = AgentSpec.parse(str(agent))
    if spec.kind == "checkpoint":
        check_installed("train", "torch", "safetensors", "pydantic")
    if game is None:
        if not spec.checkpoint(""):
            raise ValueError(f"agent {shown(str(spec))}: name the game that it plays")
        game = str(spec.card("")["game"])
    player = make_agent(spec, game, options)
    rules = getattr(player, "game", None) or get_game(game, options)
    if options is not None:
        note_untrained(player, np.array([rules.blank(None, options)]), options_only=True)
    return Policy(player, rules, seed=seed)
