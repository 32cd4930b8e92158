"""Changes to a run's configuration when it is resumed."""

from collections.abc import Collection, Mapping
from typing import Any

from linkzoo_training.agents.specs import agent_digests, game_digest
from linkzoo_training.config.config import AlphaZeroConfig, AnyConfig, PPOConfig
from linkzoo_training.evaluation.openings import openings_digest
from linkzoo_training.imports import is_import_path, source_digest

# Training doesn't depend on these fields and sections.
FREE = ("name", "save_every", "eval", "views", "temperature")
# These can't change, and why. All others act from the next iteration on.
FIXED = {
    "algorithm": "each trainer has a state of its own",
    "game num_players options": "the saved games and weights are of this task",
    "network width blocks critic average": "the saved weights have these shapes",
    "optimizer": "the saved moments are those of the other one",
    "num_envs horizon": "the saved games, and the count of steps, depend on them",
    "parts processes": "the saved games are divided among them",
    "pool.share pool.size pool.fixed_opponents": "the saved games are against this pool",
    "seed": "all games so far follow from it",
    "initial_checkpoint": "it is read at the start of a run alone",
    "initial_scorer scorer_temperature": "the network begins as it at the start of a run alone",
}

Changes = Mapping[str, tuple[Any, Any]]  # of fields: before and now


def contents_of(config: AnyConfig) -> dict[str, str]:
    """Returns the digests of the agents, code and files of a configuration, by flat field."""
    agents = {
        "pool.fixed_opponents": config.pool.fixed_opponents,
        "eval.opponents": config.eval.opponents,
        "eval.final_opponents": config.eval.final_opponents,
    }
    if config.initial_checkpoint is not None:
        agents["initial_checkpoint"] = (config.initial_checkpoint,)
    if isinstance(config, PPOConfig) and config.teacher is not None:
        agents["teacher.agent"] = (config.teacher.agent,)
    contents = {
        f"{name}.{agent}": digest
        for name, agents_there in agents.items()
        for agent, digest in agent_digests(config.game, agents_there).items()
    }
    files = {
        "eval.openings": config.eval.openings,
        "initial_states.file": config.initial_states.file,
    }
    for name, file in files.items():
        if (digest := openings_digest(file)) is not None:
            contents[f"{name}.{file}"] = digest
    if is_import_path(config.network):
        contents[f"network.{config.network}"] = source_digest(config.network, "network")
    if isinstance(config, PPOConfig) and config.reward_hook is not None:
        digest = source_digest(config.reward_hook, "reward_hook")
        contents[f"reward_hook.{config.reward_hook}"] = digest
    if (digest := game_digest(config.game)) is not None:
        contents[f"game.{config.game}"] = digest
    return contents


def find_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> Changes:
    """Returns the fields that differ, flat; ValueError if one of them can't change, and why."""
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    changes = {name: (before.get(name), now.get(name)) for name in names}
    for fields, reason in FIXED.items():
        refused = {name: both for name, both in changes.items() if is_in(name, fields.split())}
        if refused:
            raise ValueError(
                f"a resumed run can't have {_listed(refused)}: {reason}; keep what it was, or "
                "start a new run under another name"
            )
    return changes


def describe(changes: Changes, config: AnyConfig) -> str:
    """Returns a line that lists the changes, and says whether the weights depend on them."""
    causes = [name for name in changes if not is_in(name, FREE)]
    asynchronous = isinstance(config, AlphaZeroConfig) and config.asynchronous
    if asynchronous and "asynchronous" not in causes:
        causes.append("asynchronous")
    exact = "the weights will be those of a run without a break"
    if causes:
        exact = f"not the weights of a run without a break, because of {', '.join(causes)}"
    return f"resumed with {_listed(changes)}: {exact}"


def is_in(name: str, fields: Collection[str]) -> bool:
    """Returns whether a flat field is one of these fields, or in one of these sections."""
    return any(name == field or name.startswith(f"{field}.") for field in fields)


def _listed(changes: Changes) -> str:
    return ", ".join(f"{name}={now!r} (was {was!r})" for name, (was, now) in changes.items())
