"""Writes docs/games/played: a game of each game's best policy against itself, to look at.

`python -m scripts.played` writes a page with the policy's values and an animation of each record;
with `--again` the policies play anew first.
"""

import sys
from collections.abc import Sequence

import numpy as np
from scripts.game_pages import ANIMATIONS, FOLDER, IMAGES

import linkzoo
from linkzoo import Agent, GameEnv, GameRecord, Positions
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


def play(env: GameEnv, agents: Sequence[Agent], seed: int) -> GameRecord:
    """Plays a game that has begun, with an agent for each seat and the seed of their chance."""
    while not any(env.terminations.values()):
        states = np.frombuffer(env.get_state(), env.game.state).copy()
        agent = agents[int(states["seat"][0])]
        seeds = states["ply"].astype(np.uint64) + np.uint64(seed)
        env.step(int(agent.act(Positions(env.game, states, seeds))[0]))
    return env.record()


def play_itself(game: str, policy: str, options: dict[str, int]) -> GameRecord:
    """Returns a game of two players, both of them the policy."""
    env = linkzoo.make(game, **options)
    env.reset(seed=20261123)
    return play(env, [load_agent(policy)] * 2, 0)


if __name__ == "__main__":
    PLAYED.mkdir(exist_ok=True)
    for name, (policy, options) in BEST.items():
        record = PLAYED / f"{name}.json"
        if "--again" in sys.argv:
            play_itself(name, policy, options).save(record)
        page = PLAYED / f"{name}.html"
        animation = IMAGES / f"{name}.gif"
        page.unlink(missing_ok=True)
        animation.unlink(missing_ok=True)
        main(["replay", str(record), "--html", str(page), "--agent", policy])
        main(["replay", str(record), "--gif", str(animation), *ANIMATIONS[name].split()])
