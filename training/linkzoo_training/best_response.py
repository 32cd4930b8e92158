"""How far an agent can be exploited: a best response, trained against it as it stands.

The value of an agent against itself is that of a fair share. What a best response wins above it is
a lower bound of the agent's exploitability, under the budget that found the response (Timbers et
al., "Approximate exploitability: learning a best response", IJCAI 2022); more may be possible.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from re import sub
from typing import TYPE_CHECKING, Any

from rich.console import Console

from linkzoo import Agent, get_game
from linkzoo.core.files import write_atomically
from linkzoo_training.agents.specs import make_agent, source_of
from linkzoo_training.algorithms.trainer import Trainer
from linkzoo_training.checkpoint import load_card
from linkzoo_training.config import PPOConfig, load_config, merged, override, read_config
from linkzoo_training.evaluation.match import blocks_of, play_match
from linkzoo_training.evaluation.openings import read_openings
from linkzoo_training.evaluation.result import MatchResult, by_block
from linkzoo_training.evaluation.statistics import Estimate, from_blocks
from linkzoo_training.resources import find_checkpoint
from linkzoo_training.runtime import StopSignal
from linkzoo_training.train import EVAL_SEED, learn, own_folder, tell_files

if TYPE_CHECKING:
    from rich.table import Table

FORMAT = "linkzoo-best-response/1"
TEST_SEED = EVAL_SEED + 2  # no game of training, nor one that showed how training goes


@dataclass(frozen=True)
class BestResponse:
    """What a best response wins, with one number of players.

    Both matches have the same blocks: the response against the agent, and the agent against itself.
    """

    response: MatchResult
    itself: MatchResult

    def gain(self, side: int | None = None) -> Estimate:
        """How much more the response is paid than the agent in its place, on one side or on all.

        Over all sides it is the lower bound of the agent's exploitability.
        """
        more = self.response.payoff - self.itself.payoff
        return from_blocks(by_block(more, side), -2, 2)

    def to_dict(self) -> dict[str, Any]:
        """JSON data: the gain, by side and in all, and both matches."""
        sides = range(self.response.num_sides)
        return {
            "num_players": self.response.num_players,
            "exploitability_at_least": self.gain()._asdict(),
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
    """The training of a best response to an agent, which plays all other sides of all games.

    It is that of a configuration (default: the game's quick one for PPO), with the options that
    count and nothing that keeps a policy mixed or aims at anything but the payoff in the end. The
    budget is the configuration's without `steps` and `seconds`; schedules run over the steps. The
    response to a checkpoint begins as that checkpoint, and goes on with small steps. `settings` are
    `field=value`, as in `load_config`. ValueError for an algorithm other than PPO, and for what
    isn't there.
    """
    name = get_game(game).name
    base = load_config(f"{name}_ppo_quick" if config is None else config)
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
    """The fields with which a response to a checkpoint begins as that checkpoint."""
    source = source_of(agent)
    if source is None:
        return {}
    start = game if source == "checkpoint" else source
    network = load_card(find_checkpoint(start))["network"]
    shape = {name: network[name] for name in ("width", "blocks")}
    return {"initial_checkpoint": start, "network": network["kind"], **shape}


def _going_on(start: str) -> dict[str, Any]:
    """The fields with which a policy is left only for what is better.

    The critic learns first, steps are small, and the policy's own moves lose their weight along the
    run. Without these, what took a search to learn is lost before anything is found.
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
    resume: bool = False,
    stop: StopSignal | None = None,
) -> dict[str, Any] | None:
    """Trains the response and plays it against its agent, with every number of players.

    It plays its likeliest actions: a best response has no need to mix. With each number of players
    there are `games`, rounded up to whole blocks, from `openings` (see play_match). The run is one
    like any other, in `folder` (default `runs/<name>`), and can be stopped and resumed: None if it
    was stopped, which `stop` tells. The result, JSON data, is also written to
    `<folder>/best_response.json`, and the response to `<folder>/checkpoint`. ValueError unless
    `games` is 1 or more, and for openings that the game doesn't have.
    """
    rules = get_game(config.game, config.options)
    read_openings(openings, rules, TEST_SEED)  # raises before training begins
    blocks = [(players, blocks_of(rules, players, games)) for players in config.players]
    folder = Path("runs") / config.name if folder is None else folder
    with own_folder(folder):
        return _train_and_measure(config, blocks, openings, folder, resume, stop)


def _train_and_measure(
    config: PPOConfig,
    blocks: Sequence[tuple[int, int]],
    openings: str | None,
    folder: Path,
    resume: bool,
    stop: StopSignal | None,
) -> dict[str, Any] | None:
    """See train_best_response; `blocks` are of matches with a number of players each."""
    trainer = learn(config, folder, resume=resume, stop=stop)
    if trainer is None:
        return None
    agent, response = (
        make_agent(config.pool.fixed_opponents[0], config.game),
        trainer.agent(temperature=0.0),
    )
    response.name = f"{folder / 'checkpoint'}~0"
    with Console(stderr=True).status("playing the best response against the agent"):
        found = [
            BestResponse(
                *(_play(config, one, agent, *count, openings) for one in (response, agent))
            )
            for count in blocks
        ]
    trainer.publish(folder / "checkpoint", [one.response.for_card() for one in found])
    report = to_dict(found, trainer, config)
    write_atomically(folder / "best_response.json", (json.dumps(report, indent=1) + "\n").encode())
    for one in found:
        Console().print(best_response_table(one, report["budget"]))
    tell_files(folder)
    return report


def _play(
    config: PPOConfig, one: Agent, agent: Agent, players: int, blocks: int, openings: str | None
) -> MatchResult:
    """A match against the agent."""
    return play_match(
        config.game,
        one,
        agent,
        blocks,
        seed=TEST_SEED,
        openings=openings,
        num_players=players,
        options=config.options,
    )


def to_dict(found: Sequence[BestResponse], trainer: Trainer, config: PPOConfig) -> dict[str, Any]:
    """JSON data: what was found, by number of players, and the budget that found it."""
    return {
        "format": FORMAT,
        "game": trainer.game.id,
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


def best_response_table(found: BestResponse, budget: Mapping[str, Any]) -> "Table":
    """The result as a table for the terminal."""
    from rich.table import Table

    response, itself = found.response, found.itself
    agent = response.agents[1]
    count = f"{response.num_players} players, {response.games:,} games"
    table = Table(title=f"A best response to {agent}: {response.game}, {count}")
    for heading in (
        "side",
        "wins",
        "95 % interval",
        f"{agent} there",
        "gain",
        "95 % interval",
    ):
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
    start = budget["initial_checkpoint"] or "nothing"
    table.caption = (
        f"gain: payoff above that of {agent} against itself\n"
        f"exploitability is at least {found.gain().mean:+.3f} under this budget: "
        f"{budget['steps']:,} steps, {budget['seconds']:,.0f} s "
        f"({1000 * budget['seconds_per_step']:.3g} ms a step), network {budget['network']}, "
        f"from {start}"
    )
    if found.gain().low <= 0:
        table.caption += "\nnot clearly above 0: nothing was found that exploits it"
    return table
