"""What a network is worth: several of them, trained for as many minutes each.

`python -m benchmarks.networks PRESET --minutes 4 board:32x3 flat:256x4` trains the preset from
nothing with each network (KIND:WIDTHxBLOCKS), one after another, in `runs/<preset>_<network>`, and
prints a row of Markdown for each: its parameters, its steps a second, and shares of wins with
intervals against the agents of `--against`. The number of steps is what the time allows at the
speed of its first iterations, so that schedules end with the run. What is finished stays.
"""

import argparse
import json
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from linkzoo_training import make_agent, play_match
from linkzoo_training.agents.policy import load_agent
from linkzoo_training.config import AnyConfig, load_config
from linkzoo_training.evaluation.ladder import read_ladder
from linkzoo_training.evaluation.match import blocks_of
from linkzoo_training.networks import parameter_count
from linkzoo_training.train import make_trainer, train

ROOT = Path(__file__).parents[1]
NETWORK = re.compile(r"(\w+):(\d+)x(\d+)")


def configured(preset: str, network: str, steps: int, settings: list[str]) -> AnyConfig:
    """The preset with another network and number of steps; nothing but its end is evaluated."""
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
    """How many steps the configuration makes in that time, by the speed of its first iterations."""
    trainer = make_trainer(config)
    trainer.iterate()  # compiles, and starts threads
    before = trainer.seconds
    for _ in range(iterations):
        trainer.iterate()
    return round(
        seconds * (trainer.steps * iterations / (iterations + 1)) / (trainer.seconds - before)
    )


def trained(preset: str, network: str, seconds: float, settings: list[str]) -> Path:
    """The folder of the finished run."""
    folder = ROOT / "runs" / configured(preset, network, 1, settings).name
    if not (folder / "checkpoint" / "card.json").exists():
        steps = steps_in(configured(preset, network, 10**12, settings), seconds)
        with redirect_stdout(StringIO()):  # the table alone is printed
            train(configured(preset, network, steps, settings), folder=folder)
    return folder


def share(checkpoint: Path, opponent: str, games: int, players: int) -> str:
    """Its wins against an agent, as the game's ladder plays its first match."""
    agent = load_agent(checkpoint)
    ladder = read_ladder(agent.game.name)
    options = ladder.options[0]
    match = play_match(
        ladder.game,
        agent,
        make_agent(opponent, ladder.game),
        blocks=blocks_of(agent.game, players, games, options),
        seed=ladder.seed + 1,  # no match of the ladder
        openings=ladder.openings,
        num_players=players,
        options=options,
    )
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
            f"{parameter_count(agent.network):,}",
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
