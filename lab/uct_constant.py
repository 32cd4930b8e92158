"""UCT's exploration constant, by paired games: `python lab/uct_constant.py link_o 1 1.4`.

Each constant plays the next one with equal simulations per move, in blocks that share opening,
chance and seeds, with sides exchanged. Prints the win share of the second constant with its 95 %
interval. A game's default (`Game.uct_c`) beats or equals both neighbours.
"""

import argparse
import json
from itertools import pairwise

from linkzoo import game_names, get_game
from linkzoo_training.agents.baselines import UctAgent
from linkzoo_training.evaluation.match import blocks_of, play_match
from linkzoo_training.evaluation.result import variants_of


def main() -> None:
    parser = argparse.ArgumentParser(description="UCT's constants against one another")
    parser.add_argument("game", choices=game_names())
    parser.add_argument("constants", type=float, nargs="+", help="two or more, neighbours in turn")
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--games", type=int, default=400, help="of each comparison")
    parser.add_argument("--players", type=int)
    parser.add_argument(
        "--options", type=json.loads, default={}, help='such as {"threshold": [13, 14]}'
    )
    parser.add_argument("--openings", help="default: as in Match")
    parser.add_argument("--seed", type=int, default=17)
    arguments = parser.parse_args()

    variant = variants_of(arguments.options)[0]
    rules = get_game(arguments.game, variant)
    players = int(rules.blank(arguments.players, variant).num_players)
    for old, new in pairwise(arguments.constants):
        match = play_match(
            arguments.game,
            UctAgent(arguments.simulations, new),
            UctAgent(arguments.simulations, old),
            blocks_of(arguments.game, players, arguments.games, arguments.options),
            seed=arguments.seed,
            openings=arguments.openings,
            num_players=players,
            options=arguments.options,
        )
        share = match.win_share()
        print(
            f"{arguments.game}, {players} players, {arguments.simulations} simulations: "
            f"{new:g} against {old:g}: {share.mean:.1%} [{share.low:.1%}, {share.high:.1%}] "
            f"of {match.games} games from {match.openings}",
            flush=True,
        )


if __name__ == "__main__":
    main()
