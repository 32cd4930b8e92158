"""Makes agents from their names."""

from linkzoo import Agent
from linkzoo.core.arguments import shown
from linkzoo_training.agents.custom import load_custom_agent
from linkzoo_training.agents.specs import AgentSpec


def make_agent(spec: str | AgentSpec, game: str) -> Agent:
    """Makes an agent from its name.

    Args:
        spec: `random`, `greedy`, `uct-N` (N simulations a move), `cheat-N` (the same, but sees
            hidden information), `mc-N` (flat Monte Carlo: N playouts of every action), `exact`
            (perfect play, where the game has a solver), `human`, `checkpoint` (the game's shipped
            one), a shipped checkpoint's name, a checkpoint's folder, or `path/to/file.py:NAME` or
            `package.module:NAME` for a custom agent. A checkpoint may have suffixes: `@N` averages
            N symmetric views, `@1` is the bare network; `~T` plays at temperature T, `~0` the most
            probable action; `:N` searches with N simulations a move. Shipped names take precedence
            over folders; write `./NAME` for the folder. Names of existing folders may contain
            suffixes.
        game: The name of the game.

    Returns:
        The agent.

    Raises:
        ValueError: The agent or game doesn't exist.
    """
    spec = AgentSpec.parse(spec)
    spec.check(game)
    checkpoint = spec.checkpoint(game)
    if spec.kind == "custom":
        return load_custom_agent(spec.source)
    if checkpoint is None:
        return spec.baseline()
    from linkzoo_training.agents.policy import SearchAgent, load_agent

    try:
        policy = load_agent(checkpoint, views=spec.views, temperature=spec.temperature)
        return policy if spec.simulations is None else SearchAgent(policy, spec.simulations)
    except ValueError as error:
        raise ValueError(f"agent {shown(str(spec))}: {error}") from error
