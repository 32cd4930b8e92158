"""Approximate exploitability: a best response, trained against a fixed agent.

The response's gain over the agent in the same seat is a lower bound on the agent's exploitability;
a larger training budget may find more (Timbers et al., "Approximate exploitability: learning a best
response", IJCAI 2022). In a game whose whole tree is small, the exact value stands beside it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from re import sub
from typing import Any

from rich.console import Console
from rich.table import Table

from linkzoo import Agent, exact, get_game
from linkzoo.core.files import write_atomically
from linkzoo.registry import id_of
from linkzoo_training.agents.extensions import extension_kinds
from linkzoo_training.agents.linear import LinearAgent, has_scorer
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.named import NamedAgent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.algorithms.trainer import Trainer
from linkzoo_training.config.config import PPOConfig, load_config, read_config
from linkzoo_training.config.fields import merged, override
from linkzoo_training.evaluation.match import Match, blocks_of
from linkzoo_training.evaluation.openings import START, describe_openings, read_openings
from linkzoo_training.evaluation.report import make_table
from linkzoo_training.evaluation.result import MatchResult, by_block
from linkzoo_training.evaluation.statistics import Estimate, from_blocks
from linkzoo_training.networks.settings import training_settings
from linkzoo_training.resources import find_config
from linkzoo_training.runtime import StopSignal, alone_in, find_device
from linkzoo_training.selfplay.executors import Executor
from linkzoo_training.train import EVAL_SEED, learn, tell_files

__all__ = ["train_best_response"]

FORMAT = "linkzoo-best-response/1"
TEST_SEED = EVAL_SEED + 2  # disjoint from training and its short matches
# Nodes of a tree that is built without being asked for, in seconds. Where nothing is hidden, equal
# positions are one node, and a tree that is refused has far more outcomes than nodes.
MAX_EXACT_NODES = 500_000
MAX_OPEN_NODES = 100_000


@dataclass(frozen=True)
class Exact:
    """The exact exploitability of an agent.

    Attributes:
        gains: The gain of an exact best response by seat.
        nodes: The size of the tree.
        sampled: Whether the agent doesn't state probabilities: the figures are of one decision in
            each information set.
    """

    gains: tuple[float, ...]
    nodes: int
    sampled: bool

    @property
    def exploitability(self) -> float:
        """The mean gain: no response that plays each seat equally often gains more."""
        return sum(self.gains) / len(self.gains)

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON data."""
        return {
            "exploitability": self.exploitability,
            "nash_conv": sum(self.gains),
            "gains": list(self.gains),
            "nodes": self.nodes,
            "sampled": self.sampled,
        }


@dataclass(frozen=True)
class BestResponse:
    """Matches with one number of players, over the same blocks."""

    response: MatchResult  # the response against the agent
    itself: MatchResult  # the agent against itself
    linear: MatchResult | None = None  # the game's linear scorer, if it has one, against the agent
    exact: Exact | None = None  # where the game's tree is small

    def gain(self, side: int | None = None) -> Estimate:
        """Returns the response's payoff minus the agent's in the same place.

        Over all sides (None) its expectation is a lower bound on the agent's exploitability.
        """
        return self._gain(self.response, side)

    def linear_gain(self) -> Estimate | None:
        """Returns the scorer's payoff minus the agent's over all sides: another lower bound."""
        if self.linear is None:
            return None
        return self._gain(self.linear, None)

    def _gain(self, match: MatchResult, side: int | None) -> Estimate:
        return from_blocks(by_block(match.payoff - self.itself.payoff, side), -2, 2)

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON data: the gain per side and over all sides, and both matches."""
        response = self.response
        linear_gain = self.linear_gain()
        return {
            "num_players": response.num_players,
            "openings": response.openings,
            "gain": self.gain()._asdict(),
            "linear_gain": linear_gain and linear_gain._asdict(),
            "exact": self.exact and self.exact.to_dict(),
            "fair_share": 1 / response.num_sides,
            "sides": [
                {"label": response.side_label(side), "gain": self.gain(side)._asdict()}
                for side in range(response.num_sides)
            ],
            "response": response.to_dict(),
            "itself": self.itself.to_dict(),
        }


def best_response_config(
    agent: AgentSpec,
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
    starts from that checkpoint.

    The base configuration is a YAML file or the name of a preset, by default the game's quick
    preset for PPO. The budget in `steps` (plies) and `seconds` is the configuration's by default;
    with `steps` alone the time has no limit. `settings` override fields, as in `load_config`.

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
        "name": f"best_response_{name}_{sub(r'[^0-9A-Za-z.]+', '_', str(agent)).strip('_')}",
        "pool": {"fixed_opponents": [str(agent)], "size": 0, "share": 1.0},
        "eval": {"opponents": [str(agent)], "openings": START},
        "entropy": [base.entropy.first, 0.0],
        "score_margin_weight": [base.score_margin_weight.first, 0.0],
        "views": 1,
    }
    if card := agent.card(game):
        network = card["network"]
        changes |= {"initial_checkpoint": agent.checkpoint(game), "network": network["kind"]}
        changes |= {"width": network["width"], "blocks": network["blocks"]}
        changes["options"] = agent.fixed(game)  # its board or cards
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
        # Preserves the checkpoint's strength until training improves on it: the critic learns
        # first, the rate is small, and the loss of imitating the checkpoint's moves decays.
        rate = 1e-4
        teacher = {"agent": start, "share": 0.05, "learning_rate": rate, "weight": [0.1, 0.0]}
        fields = merged(fields, {"teacher": teacher, "learning_rate": [rate, 0.0]})
    chosen = read_config(override(fields, settings))
    assert isinstance(chosen, PPOConfig)
    pool = chosen.pool
    if (pool.fixed_opponents, pool.size, pool.share) != ((str(agent),), 0, 1.0):
        raise ValueError("pool: all games are played against the agent")
    return chosen


def train_best_response(
    config: PPOConfig,
    games: int,
    *,
    openings: str = START,
    folder: Path | None = None,
    output: Path | None = None,
    resume: bool = False,
    stop: StopSignal | None = None,
    executor: Executor | None = None,
) -> dict[str, Any] | None:
    """Trains a best response, then plays it against its agent, with every number of players.

    The response plays its most probable actions: it has no need to mix. It is written to
    `<folder>/checkpoint`, the result to `<folder>/best_response.json` and to the terminal.

    Args:
        config: The training, from `best_response_config`.
        games: Games with each number of players, rounded up to whole blocks.
        openings: Random plies before each game, as in `play_match`; by default none. After random
            plies, the bound is of another game.
        folder: Output folder of the run; None: `runs/<name>`.
        output: Additional file for the result.
        resume: Whether to continue a run that was stopped.
        stop: Stops the run with its state saved.
        executor: Runs the workers that play; None: this process plays.

    Returns:
        The result as JSON data; None if the run was stopped.

    Raises:
        ValueError: `games` is below 1, the game has no such openings, or as in `train`.
    """
    rules = get_game(config.game, config.options)
    read_openings(openings, rules)  # raises before training begins
    blocks = {players: blocks_of(config.game, players, games) for players in config.players}
    folder = folder or Path("runs") / config.name
    with training_settings(find_device(config.device)), alone_in(folder):
        trainer = learn(config, folder, resume=resume, executor=executor, stop=stop)
        if trainer is None:
            return None
        response = trainer.agent(temperature=0.0)
        response.name = f"{folder / 'checkpoint'}~0"
        results = _measure(response, trainer, blocks, openings)
        trainer.publish(folder / "checkpoint", [result.response.for_card() for result in results])
        report = _report(results, trainer, config)
        for path in filter(None, (folder / "best_response.json", output)):
            write_atomically(path, (json.dumps(report, indent=1) + "\n").encode())
        for result in results:
            Console().print(best_response_table(result, report["budget"]))
        tell_files(folder)
    return report


def _measure(
    response: Agent, trainer: Trainer, blocks: Mapping[int, int], openings: str
) -> list[BestResponse]:
    """Plays the response and the agent against the agent; `blocks` are by number of players."""
    config = trainer.config
    agent = NamedAgent(AgentSpec.parse(config.pool.fixed_opponents[0]), config.game, config.options)
    settings: dict[str, Any] = {"seed": TEST_SEED, "openings": openings, "options": config.options}
    # A response that learned from the agent shares its blind spots; the scorer has others.
    scorer: Agent | None = None
    if has_scorer(get_game(config.game, config.options)):
        scorer = LinearAgent()
    results = []

    def play(player: Agent, count: int, players: int) -> MatchResult:
        match = Match(config.game, player, agent, count, num_players=players, **settings)
        return match.play(executor=trainer.match_executor(agent))

    with Console(stderr=True).status("playing the best response against the agent"):
        for players, count in blocks.items():
            of_response = play(response, count, players)
            of_agent = play(agent, count, players)
            of_scorer: MatchResult | None = None
            if scorer is not None:
                of_scorer = play(scorer, count, players)
            known: Exact | None = None
            if openings == START:
                known = exact_value(agent.spec, config.game, players, config.options)
            results.append(BestResponse(of_response, of_agent, of_scorer, known))
    return results


def exact_value(
    spec: AgentSpec, game: str, players: int, options: Mapping[str, Any]
) -> Exact | None:
    """Returns the exact exploitability of an agent, where the game's tree is small.

    None: the tree has too many nodes or can't be built, or a server or a person would be asked for
    each of its decisions.
    """
    if spec.kind == "human" or (spec.kind in extension_kinds() and spec.kind != "tabular"):
        return None
    limit = MAX_EXACT_NODES if get_game(game, options).hides else MAX_OPEN_NODES
    try:
        tree = exact.tree(game, players, options, max_nodes=limit)
    except (ValueError, RuntimeError):  # too large, or with chance that isn't declared
        return None
    agent = make_agent(spec, game, options)
    result = exact.exploitability(agent, tree, seed=TEST_SEED)
    gains = tuple(result.gains.tolist())
    return Exact(gains, tree.num_nodes, not isinstance(agent, exact.StochasticAgent))


def _report(results: Sequence[BestResponse], trainer: Trainer, config: PPOConfig) -> dict[str, Any]:
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
        "players": [result.to_dict() for result in results],
    }


def best_response_table(result: BestResponse, budget: Mapping[str, Any]) -> Table:
    """Returns the result as a table for the terminal."""
    response = result.response
    agent = response.agents[1]
    count = f"{response.num_players} players, {response.games:,} games"
    openings = describe_openings(response.openings)
    title = f"A best response to {agent}: {response.game}, {count} {openings}"
    columns = ("side", "wins", "95 % interval", f"{agent} there", "gain", "95 % interval")
    rows = []
    for side in [*range(response.num_sides), None]:
        share = response.win_share(side)
        gain = result.gain(side)
        wins = f"{share.mean:.1%}", f"{share.low:.1%} … {share.high:.1%}"
        itself = f"{result.itself.win_share(side).mean:.1%}"
        gains = f"{gain.mean:+.3f}", f"{gain.low:+.3f} … {gain.high:+.3f}"
        rows.append((response.side_label(side), *wins, itself, *gains))
    table = make_table(title, columns, rows)
    gain = result.gain()
    verdict = "no gain shown"
    if gain.low > 0:
        verdict = "lower bound on exploitability"
        if response.openings != START:
            verdict += f" of games {openings}"
    start = budget["initial_checkpoint"] or "scratch"
    table.caption = (
        f"gain: payoff above {agent}'s against itself\n"
        f"{verdict}: {gain.mean:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}] under this budget: "
        f"{budget['steps']:,} steps, {budget['seconds']:,.0f} s "
        f"({1000 * budget['seconds_per_step']:.3g} ms a step), network {budget['network']}, "
        f"from {start}"
    )
    if known := result.exact:
        judged = ", by one decision in each information set" if known.sampled else ""
        table.caption += (
            f"\nexact exploitability: {known.exploitability:+.4f}, in a tree of {known.nodes:,} "
            f"positions{judged}"
        )
    if linear := result.linear_gain():
        bounds = f"[{linear.low:+.3f}, {linear.high:+.3f}]"
        table.caption += f"\ngain of the linear scorer: {linear.mean:+.3f} {bounds}"
    return table
