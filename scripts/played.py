"""Writes docs/games/played: a game of each game's best policy against itself, to look at.

`python -m scripts.played` writes a page with the policy's values and an animation of each record;
with `--again` the policies play anew first.
"""

import sys

import numpy as np
from scripts.game_pages import ANIMATIONS, FOLDER, IMAGES

import linkzoo
from linkzoo import GameRecord, Positions
from linkzoo_training import load_agent
from linkzoo_training.commands.cli import main

PLAYED = FOLDER / "played"
# The policy of each game, and options: of LINK-O one round alone.
BEST: dict[str, tuple[str, dict[str, int]]] = {
    "linkage": ("linkage_az", {}),
    "love_links": ("love_links_az", {}),
    "link_o": ("link_o", {"target": 0}),
    "love_formula": ("love_formula", {}),
}


def play(game: str, policy: str, options: dict[str, int]) -> GameRecord:
    """A game of two players, both of them the policy."""
    agent = load_agent(policy)
    env = linkzoo.make(game, **options)
    env.reset(seed=20261123)
    while not any(env.terminations.values()):
        states = np.frombuffer(env.get_state(), env.game.state).copy()
        seeds = states["ply"].astype(np.uint64)
        env.step(int(agent.act(Positions(env.game, states, seeds))[0]))
    return env.record()


if __name__ == "__main__":
    PLAYED.mkdir(exist_ok=True)
    for name, (policy, options) in BEST.items():
        record = PLAYED / f"{name}.json"
        if "--again" in sys.argv:
            play(name, policy, options).save(record)
        page = PLAYED / f"{name}.html"
        animation = IMAGES / f"{name}.gif"
        page.unlink(missing_ok=True)
        animation.unlink(missing_ok=True)
        main(["replay", str(record), "--html", str(page), "--agent", policy])
        main(["replay", str(record), "--gif", str(animation), *ANIMATIONS[name].split()])
