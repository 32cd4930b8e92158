"""Compares settings by strength in equal time: `python -m lab.variants CONFIG VARIANT...`.

A variant is settings with spaces between them, "epochs=1 minibatches=16". Each, and the
configuration as it is, trains for the same CPU minutes with each seed, in `--folder`; its policy
then plays against greedy play and against the configuration's with the same seed. Prints win
shares as Markdown: the mean of the seeds (lowest to highest), for the fewest and most players.
Finished runs and their matches are kept, so an interrupted benchmark goes on.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from lab.race.report import spread

from linkzoo import Agent
from linkzoo.core.files import write_atomically
from linkzoo_training.agents.baselines import GreedyAgent
from linkzoo_training.agents.policy import PolicyAgent, load_agent
from linkzoo_training.config.config import AnyConfig, load_config
from linkzoo_training.evaluation.match import blocks_of, play_match
from linkzoo_training.train import make_trainer


def train(config: AnyConfig, folder: Path) -> float:
    """Trains for `config.max_seconds` of CPU time, writes the policy, and returns plies/s.

    The clock starts after the first iteration, which compiles; schedules follow it.
    """
    assert config.max_seconds is not None
    trainer = make_trainer(config)
    trainer.iterate()
    begun, before = time.process_time(), trainer.steps
    trainer.seconds = 0.0
    while trainer.seconds < config.max_seconds:
        trainer.iterate()
        trainer.seconds = time.process_time() - begun
    trainer.publish(folder, [])
    return (trainer.steps - before) / trainer.seconds


def shares(
    config: AnyConfig, agent: PolicyAgent, base: PolicyAgent, games: int
) -> dict[str, float]:
    """Plays `games` games of each match; returns win shares."""
    players, options = sorted({min(config.players), max(config.players)}), config.options
    found = {}
    for count in players:
        opponents: dict[str, Agent] = {"greedy": GreedyAgent(), "as it is": base}
        for name, opponent in opponents.items():
            if opponent is not agent:
                blocks = blocks_of(config.game, count, games, options)
                match = play_match(
                    config.game, agent, opponent, blocks, num_players=count, options=options
                )
                found[f"v {name}, {count} players"] = match.win_share().mean
    return found


def table(rows: list[dict[str, Any]]) -> str:
    """Returns the rows of all seeds as Markdown."""
    columns = list(dict.fromkeys(key for row in rows for key in row["found"]))
    lines = [f"| settings | {' | '.join(columns)} |", "|---|" + "---:|" * len(columns)]
    for variant in dict.fromkeys(row["variant"] for row in rows):
        own = [row["found"] for row in rows if row["variant"] == variant]
        cells = [spread([f[key] for f in own]) if key in own[0] else "" for key in columns]
        lines.append(f"| {variant or 'as it is'} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config")
    parser.add_argument("variants", nargs="+", metavar="VARIANT")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--games", type=int, default=1000, help="of each match")
    parser.add_argument("--folder", type=Path, default=Path("runs/variants"))
    arguments = parser.parse_args()
    rows = []
    for seed in arguments.seeds:
        base: PolicyAgent | None = None
        for variant in ["", *arguments.variants]:
            own = [f"seed={seed}", "num_threads=1", f"max_seconds={60 * arguments.minutes}"]
            config = load_config(arguments.config, [*own, *variant.split()])
            budget = f"{arguments.minutes:g}min_seed{seed}"
            folder = arguments.folder / "_".join([config.name, budget, *variant.split()])
            result = folder / "result.json"
            if not result.exists():
                speed = train(config, folder)
                agent = load_agent(str(folder))
                found = {"plies/s": speed, **shares(config, agent, base or agent, arguments.games)}
                write_atomically(result, json.dumps(found).encode())
                print(seed, variant, found, flush=True)
            base = base or load_agent(str(folder))
            rows.append({"variant": variant, "found": json.loads(result.read_text())})
    print(table(rows))


if __name__ == "__main__":
    main()
