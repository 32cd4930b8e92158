"""Writes docs/games/played: a game of each game's best policy against itself, to look at.

`python -m scripts.played` plays them again: a record and a page with the policy's values
for each, and the README's animation.
"""

from pathlib import Path

import numpy as np

import linkzoo
from linkzoo import GameRecord, Positions
from linkzoo_training import load_agent
from linkzoo_training.web.pictures import as_gif, as_html

DOCS = Path(__file__).parents[1] / "docs"
FOLDER = DOCS / "games" / "played"
ANIMATION = DOCS / "images" / "linkage.gif"
# The policy of each game, and options: of LINK-O one round alone.
BEST: dict[str, tuple[str, dict[str, int]]] = {
    "linkage": ("linkage_az", {}),
    "love_links": ("love_links_az", {}),
    "link_o": ("link_o", {"target": 0}),
    "love_formula": ("love_formula", {}),
}


def play(game: str, policy: str, options: dict[str, int]) -> GameRecord:
    """A game of two players, both of them the policy."""
    agent, env = load_agent(policy), linkzoo.make(game, **options)
    env.reset(seed=20261123)
    while not any(env.terminations.values()):
        states = np.frombuffer(env.get_state(), env.game.state).copy()
        seeds = states["ply"].astype(np.uint64)
        env.step(int(agent.act(Positions(env.game, states, seeds))[0]))
    return env.record()


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, (policy, options) in BEST.items():
        record = play(name, policy, options)
        record.save(FOLDER / f"{name}.json")
        as_html(record, FOLDER / f"{name}.html", load_agent(policy))
    as_gif(GameRecord.load(FOLDER / "linkage.json"), ANIMATION, width=420, milliseconds=700)
