"""Draws how runs come closer to the equilibrium of an edition: docs/images/nash_conv.png.

    linkzoo train lab/nash_conv/ppo.yaml --callback linkzoo_training.nash_conv:NashConv
    cp runs/edition_ppo/nash_conv.jsonl lab/nash_conv/ppo.jsonl
    python -m lab.nash_conv

Each file of lab/nash_conv is a curve; lines are agents of lab/known_values.json.
"""

import json
from pathlib import Path

from matplotlib.figure import Figure

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "lab" / "nash_conv"
PICTURE = ROOT / "docs" / "images" / "nash_conv.png"
# By edition: the runs and their titles.
PANELS = {
    "mini2x4a-h3": {"ppo": "PPO", "alphazero": "AlphaZero, 16 simulations"},
    "mini2x4b-h3": {"ppo_large": "PPO"},
}
AGENTS = {"random": "dotted", "linear": "dashed", "uct-1000": "dashdot"}


def main() -> None:
    """Draws the picture."""
    known = json.loads((ROOT / "lab" / "known_values.json").read_text(encoding="utf-8"))
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for panel, (edition, runs) in zip(figure.subplots(1, 2), PANELS.items(), strict=True):
        for name, title in runs.items():
            text = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")
            lines = [json.loads(line) for line in text.splitlines()]
            plies = [line["steps"] / 1000 for line in lines]
            panel.plot(plies, [line["nash_conv"] for line in lines], label=title)
        agents = known[f"link_o {edition} 2"]["agents"]
        for agent, style in AGENTS.items():
            if agent in agents:
                level = agents[agent]["nash_conv"]
                panel.axhline(level, color="gray", linestyle=style, label=agent)
        panel.set_yscale("log")
        panel.set_xlabel("thousands of plies")
        panel.set_ylabel("NashConv")
        panel.set_title(f"LINK-O, {edition}")
        panel.legend(loc="lower left", fontsize="small")
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
