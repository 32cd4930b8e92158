"""Approximate exploitability: a best response, trained against a fixed agent.

The response's gain over the agent in the same place is a lower bound on the agent's exploitability;
a larger training budget may find more (Timbers et al., "Approximate exploitability: learning a best
response", IJCAI 2022).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from re import sub
from typing import Any

from rich.console import Console
from rich.table import Table

from linkzoo import get_game
from linkzoo.core.files import write_atomically
from linkzoo.registry import id_of
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.policy import PolicyAgent, SearchAgent
from linkzoo_training.agents.specs import SHIPPED, AgentSpec
from linkzoo_training.algorithms.trainer import Trainer
from linkzoo_training.checkpoints.checkpoint import load_card
from linkzoo_training.config.config import PPOConfig, load_config, merged, override, read_config
from linkzoo_training.evaluation.match import blocks_of, play_match
from linkzoo_training.evaluation.openings import read_openings
from linkzoo_training.evaluation.result import MatchResult, by_block
from linkzoo_training.evaluation.statistics import Estimate, from_blocks
from linkzoo_training.resources import find_checkpoint, find_config
from linkzoo_training.runtime import StopSignal
from linkzoo_training.train import EVAL_SEED, learn, own_folder, tell_files

FORMAT = "linkzoo-best-response/1"
TEST_SEED = EVAL_SEED + 2  # disjoint from training and its short matches


@dataclass(frozen=True)
class BestResponse:
    """Matches of a best response with one number of players, over the same blocks.

    Attributes:
        response: The response against the agent.
        itself: The agent against itself.
    """

    response: MatchResult
    itself: MatchResult

    def gain(self, side: int | None = None) -> Estimate:
        """Returns the response's payoff minus the agent's in the same place.

        Over all sides (None) its expectation is a lower bound on the agent's exploitability.
        """
        more = self.response.payoff - self.itself.payoff
        return from_blocks(by_block(more, side), -2, 2)

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON data: the gain per side and over all sides, and both matches."""
        sides = range(self.response.num_sides)
        return {
            "num_players": self.response.num_players,
            "gain": self.gain()._asdict(),
            "fair_share": 1 / self.response.num_sides,
            "sides": [
                {"label": self.response.side_label(side), "gain": self.gain(side)._asdict()}
                for side in sides
            ],
            "response": self.response.to_dict(),
            "itself": self.itself.to_dict(),
        }


def best_response_config(
    agent: str,
    game: str,
    *,
    config: str | None = None,
    players: int | None = None,
    steps: int | None = None,
    seconds: float | None = None,
    settings: Sequence[str] = (),
) -> PPOConfig:
    """Returns the training configuration of a best response.

    The agent plays all other sides of all games. Options are the configuration's, none of them
    varied. The entropy bonus and the score-margin weight decay to 0. The response to a checkpoint
    starts from that checkpoint, with a small learning rate.

    Args:
        agent: The name of the agent.
        game: The name of the game.
        config: Base configuration, a YAML file or the name of a preset; None: the game's quick
            preset for PPO.
        players: Number of players; None: each number that the game allows.
        steps: Training budget in plies; None: the configuration's.
        seconds: Training budget in seconds; None: the configuration's, or no limit with `steps`.
        settings: Overrides of fields, `field=value`, as in `load_config`.

    Raises:
        ValueError: There is no such agent, game or configuration, or the configuration is for
            another game or another algorithm than PPO.
    """
    name = get_game(game).name
    if config is None:
        config = f"{name}_ppo_quick"
        try:
            find_config(config)
        except ValueError as error:
            raise ValueError(
                f"{game} has no preset {config}: give a PPO configuration (--config)"
            ) from error
    base = load_config(config)
    if not isinstance(base, PPOConfig) or get_game(base.game).name != name:
        raise ValueError(
            f"{config}: trains {base.game} by {base.algorithm}; a best response in {game} needs a "
            "configuration of ppo for that game"
        )
    changes: dict[str, Any] = {
        "name": f"best_response_{name}_{sub(r'[^0-9A-Za-z.]+', '_', agent).strip('_')}",
        "pool": {"fixed_opponents": [agent], "size": 0, "share": 1.0},
        "eval": {"opponents": [agent]},
        "entropy": [base.entropy.first, 0.0],
        "score_margin_weight": [base.score_margin_weight.first, 0.0],
        "views": 1,
        **_beginning(agent, game),
    }
    if steps is not None:
        changes["total_steps"] = steps
    if steps is not None or seconds is not None:
        changes["max_seconds"] = seconds
    if players is not None:
        changes["num_players"] = [players]
    fields = merged(base.to_dict(), changes)
    fields["initial_states"]["vary"] = {}
    start = override(fields, settings)["initial_checkpoint"]
    if start is not None:
        fields = merged(fields, _going_on(start))
    chosen = read_config(override(fields, settings))
    assert isinstance(chosen, PPOConfig)
    pool = chosen.pool
    if (pool.fixed_opponents, pool.size, pool.share) != ((agent,), 0, 1.0):
        raise ValueError("pool: all games are played against the agent")
    return chosen


def _beginning(agent: str, game: str) -> dict[str, Any]:
    """Returns the fields that start the response to a checkpoint from that checkpoint."""
    start = AgentSpec.parse(agent).checkpoint(game)
    if start is None:
        return {}
    network = load_card(find_checkpoint(start))["network"]
    shape = {name: network[name] for name in ("width", "blocks")}
    return {"initial_checkpoint": start, "network": network["kind"], **shape}


def _going_on(start: str) -> dict[str, Any]:
    """Returns the fields that preserve the checkpoint's strength until training improves on it.

    The critic learns first, the learning rate is small, and the imitation loss of the checkpoint's
    moves decays during the run.
    """
    rate = 1e-4
    teacher = {"agent": start, "share": 0.05, "learning_rate": rate, "weight": [0.1, 0.0]}
    return {"teacher": teacher, "learning_rate": [rate, 0.0]}


def train_best_response(
    config: PPOConfig,
    games: int,
    *,
    openings: str | None = None,
    folder: Path | None = None,
    output: Path | None = None,
    resume: bool = False,
    stop: StopSignal | None = None,
) -> dict[str, Any] | None:
    """Trains a best response, then plays it against its agent, with every number of players.

    The response plays its most probable actions: it has no need to mix. It is written to
    `<folder>/checkpoint`, the result to `<folder>/best_response.json` and to the terminal.

    Args:
        config: The training, from `best_response_config`.
        games: Games with each number of players, rounded up to whole blocks.
        openings: Random plies before each game, as in `play_match`.
        folder: Output folder of the run; None: `runs/<name>`.
        output: Additional file for the result.
        resume: Whether to continue a run that was stopped.
        stop: Stops the run with its state saved.

    Returns:
        The result as JSON data; None if the run was stopped.

    Raises:
        ValueError: `games` is below 1, the game has no such openings, or as in `train`.
    """
    rules = get_game(config.game, config.options)
    read_openings(openings, rules)  # raises before training begins
    blocks = [(players, blocks_of(rules, players, games)) for players in config.players]
    folder = Path("runs") / config.name if folder is None else folder
    with own_folder(folder):
        trainer = learn(config, folder, resume=resume, stop=stop)
        if trainer is None:
            return None
        found = _measure(trainer, config, blocks, openings, f"{folder / 'checkpoint'}~0")
        trainer.publish(folder / "checkpoint", [one.response.for_card() for one in found])
        report = to_dict(found, trainer, config)
        for path in filter(None, (folder / "best_response.json", output)):
            write_atomically(path, (json.dumps(report, indent=1) + "\n").encode())
        for one in found:
            Console().print(best_response_table(one, report["budget"]))
        tell_files(folder)
    return report


def _measure(
    trainer: Trainer,
    config: PPOConfig,
    blocks: Sequence[tuple[int, int]],
    openings: str | None,
    name: str,
) -> list[BestResponse]:
    """Plays the response, called `name`, and the agent itself against the agent.

    `blocks` lists the matches as pairs (number of players, number of blocks).
    """
    spec = AgentSpec.parse(config.pool.fixed_opponents[0])
    agent, response = make_agent(spec, config.game), trainer.agent(temperature=0.0)
    response.name = name
    if isinstance(agent, PolicyAgent | SearchAgent) and spec.source != SHIPPED:
        agent.name = str(spec)  # its full path, so that the card's commands can be run
    settings: dict[str, Any] = {"seed": TEST_SEED, "openings": openings, "options": config.options}
    found = []
    with Console(stderr=True).status("playing the best response against the agent"):
        for players, count in blocks:
            matches = (
                play_match(config.game, one, agent, count, num_players=players, **settings)
                for one in (response, agent)
            )
            found.append(BestResponse(*matches))
    return found


def to_dict(found: Sequence[BestResponse], trainer: Trainer, config: PPOConfig) -> dict[str, Any]:
    """Returns JSON data: the results by number of players, and the budget of the training."""
    return {
        "format": FORMAT,
        "game": id_of(trainer.game),
        "version": trainer.game.version,
        "agent": config.pool.fixed_opponents[0],
        "budget": {
            "steps": trainer.steps,
            "seconds": round(trainer.seconds, 1),
            "seconds_per_step": trainer.seconds / trainer.steps,
            "network": f"{config.network}, {config.width} × {config.blocks}",
            "initial_checkpoint": config.initial_checkpoint,
            "machine": trainer.machine,
            "config": config.to_dict(),
        },
        "players": [one.to_dict() for one in found],
    }


def best_response_table(found: BestResponse, budget: Mapping[str, Any]) -> Table:
    """Returns the result as a table for the terminal."""
    response, itself = found.response, found.itself
    agent = response.agents[1]
    count = f"{response.num_players} players, {response.games:,} games"
    table = Table(title=f"A best response to {agent}: {response.game}, {count}")
    for heading in ("side", "wins", "95 % interval", f"{agent} there", "gain", "95 % interval"):
        table.add_column(heading, justify="left" if heading == "side" else "right")
    for side in [*range(response.num_sides), None]:
        share, gain = response.win_share(side), found.gain(side)
        if side is None:
            table.add_section()
        table.add_row(
            "all sides" if side is None else response.side_label(side),
            f"{share.mean:.1%}",
            f"{share.low:.1%} … {share.high:.1%}",
            f"{itself.win_share(side).mean:.1%}",
            f"{gain.mean:+.3f}",
            f"{gain.low:+.3f} … {gain.high:+.3f}",
        )
    start, gain = budget["initial_checkpoint"] or "scratch", found.gain()
    table.caption = (
        f"gain: payoff above that of {agent} against itself\n"
        f"{'lower bound on exploitability' if gain.low > 0 else 'no gain shown'}: "
        f"{gain.mean:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}] under this budget: "
        f"{budget['steps']:,} steps, {budget['seconds']:,.0f} s "
        f"({1000 * budget['seconds_per_step']:.3g} ms a step), network {budget['network']}, "
        f"from {start}"
    )
    return table
