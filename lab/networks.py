"""Compares networks trained for the same number of minutes.

`python -m lab.networks PRESET --minutes 4 board:32x3 flat:256x4` trains the preset from
scratch with each network (KIND:WIDTHxBLOCKS), one at a time, in `runs/<preset>_<network>`. Prints a
row of Markdown for each: parameters, steps per second, and win shares with intervals against the
agents of `--against`. The number of steps is estimated from the speed of the first iterations, so
that schedules end with the run. Finished runs are kept.
"""

import argparse
import json
import re
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

from linkzoo_training.agents.policy import load_agent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.config.config import AnyConfig, load_config
from linkzoo_training.evaluation.ladder import read_ladder
from linkzoo_training.train import make_trainer, train

ROOT = Path(__file__).parents[1]
NETWORK = re.compile(r"(\w+):(\d+)x(\d+)")


def configured(preset: str, network: str, steps: int, settings: list[str]) -> AnyConfig:
    """Returns the preset with another network and number of steps, evaluated only at the end."""
    found = NETWORK.fullmatch(network)
    if found is None:
        raise ValueError(f"{network!r} is not KIND:WIDTHxBLOCKS, such as flat:256x4")
    kind, width, blocks = found.groups()
    fields = {
        "name": f"{preset}_{kind}_{width}x{blocks}",
        "network": kind,
        "width": width,
        "blocks": blocks,
        "total_steps": steps,
        "max_seconds": "null",
        "eval.every": 10**9,
        "eval.final_blocks": 1,
        "eval.final_opponents": "[random]",
    }
    return load_config(preset, [*(f"{key}={value}" for key, value in fields.items()), *settings])


def steps_in(config: AnyConfig, seconds: float, iterations: int = 8) -> int:
    """Returns the steps that fit into the time, by the speed of the first iterations."""
    trainer = make_trainer(config)
    trainer.iterate()  # compiles and starts threads
    before = trainer.seconds
    for _ in range(iterations):
        trainer.iterate()
    return round(
        seconds * (trainer.steps * iterations / (iterations + 1)) / (trainer.seconds - before)
    )


def trained(preset: str, network: str, seconds: float, settings: list[str]) -> Path:
    """Returns the folder of the finished run."""
    folder = ROOT / "runs" / configured(preset, network, 1, settings).name
    if not (folder / "checkpoint" / "card.json").exists():
        steps = steps_in(configured(preset, network, 10**12, settings), seconds)
        with redirect_stdout(StringIO()):  # print only the table
            train(configured(preset, network, steps, settings), folder=folder)
    return folder


def share(checkpoint: Path, opponent: str, games: int, players: int) -> str:
    """Returns the win share against an agent, with the settings of the game's ladder."""
    agent = load_agent(checkpoint)
    ladder = read_ladder(agent.game.name)
    ladder = replace(ladder, seed=ladder.seed + 1)  # other games
    match = ladder.match(agent, AgentSpec.parse(opponent), games, players, ladder.options[0]).play()
    mean, low, high = (100 * number for number in match.win_share())
    return f"{mean:.1f} % [{low:.1f}, {high:.1f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("preset")
    parser.add_argument("networks", nargs="+", metavar="KIND:WIDTHxBLOCKS")
    parser.add_argument("--set", nargs="*", default=[], metavar="FIELD=VALUE", dest="settings")
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--against", nargs="+", default=["greedy"], metavar="AGENT")
    parser.add_argument("--games", type=int, default=1000)
    arguments = parser.parse_args()
    columns = ["network", "parameters", "steps/s", "steps", *arguments.against]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)
    for network in arguments.networks:
        folder = trained(arguments.preset, network, 60 * arguments.minutes, arguments.settings)
        card: dict[str, Any] = json.loads((folder / "checkpoint" / "card.json").read_text("utf-8"))
        steps, seconds = card["trained"]["steps"], card["trained"]["seconds"]
        agent = load_agent(folder / "checkpoint")
        players = configured(arguments.preset, network, 1, arguments.settings).players[0]
        cells = [
            network,
            f"{sum(one.numel() for one in agent.network.parameters()):,}",
            f"{steps / seconds:,.0f}",
            f"{steps:,}",
            *(
                share(folder / "checkpoint", opponent, arguments.games, players)
                for opponent in arguments.against
            ),
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
