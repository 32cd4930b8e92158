"""Statistics of uniformly random play: `python lab/random_play.py linkage [--games N]`.

Prints the winners, how often a seat acts twice in a row, the number of legal actions, and mean,
deviation and range of the numbers in the final records. The figures in each game's RULES.md are
reproducible from the same arguments.
"""

import argparse
import json

import numpy as np

from linkzoo.core.kernels import kernels
from linkzoo.registry import NAMES, get_game
from linkzoo_training.evaluation.result import side_label, win_shares


def main() -> None:
    parser = argparse.ArgumentParser(description="statistics of uniformly random play")
    parser.add_argument("game", choices=NAMES)
    parser.add_argument("--games", type=int, default=20_000)
    parser.add_argument("--players", type=int)
    parser.add_argument("--options", type=json.loads, default={}, help="as a JSON object")
    parser.add_argument("--seed", type=int, default=0, help="of the first game; the rest follow")
    arguments = parser.parse_args()

    game = get_game(arguments.game, arguments.options)
    run = kernels(game)
    states = np.zeros(arguments.games, game.state)
    states[:] = game.blank(arguments.players, arguments.options)
    masks = np.zeros((len(states), game.num_actions), np.int8)
    actions = np.zeros(len(states), np.int64)
    seeds = np.arange(len(states), dtype=np.uint64) + np.uint64(arguments.seed)
    run.begin(states, seeds, masks)

    legal: list[float] = []  # mean number of legal actions by decision
    asked: list[int] = []  # games that reached each decision
    again = np.zeros(len(states), np.int64)
    while (playing := states["seat"] >= 0).any():
        legal.append(float(masks[playing].sum(axis=1, dtype=np.int64).mean()))
        asked.append(int(playing.sum()))
        mover = states["seat"].copy()
        run.random_actions(masks, seeds, np.array([len(legal)]), actions)
        run.play(states, actions, masks)
        again += playing & (states["seat"] == mover)

    print(f"{game.title}: {len(states):,} games, {sum(asked):,} decisions")
    players = int(states["num_players"][0])
    roles = game.roles(arguments.options)
    shares = win_shares(states["winners"], game.one_of_each_side(players))
    for side, share in enumerate(shares.mean(0)):  # win shares; shared wins count 1/k each
        print(f"{side_label(game, players, side, roles)} wins {share:.2%}")
    shared = shares.max(1) < 1
    if shared.any():
        print(f"shared wins {shared.mean():.2%}, draws {shares.all(1).mean():.2%}")
    print(f"the same seat acts twice running in {(again > 0).mean():.2%} of the games")
    print(f"legal actions: mean {np.average(legal, weights=asked):.1f}, decision by decision")
    print("  " + " ".join(f"{mean:.1f}" for mean in legal))
    for name in states.dtype.names or ():
        values = states[name]
        if values.ndim == 1 and values.dtype.kind == "i" and values.min() < values.max():
            print(
                f"{name}: mean {values.mean():.2f}, deviation {values.std():.2f}, "
                f"range {values.min()}..{values.max()}"
            )


if __name__ == "__main__":
    main()
