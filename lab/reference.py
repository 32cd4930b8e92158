"""Makes the frozen references of `linkzoo experiment rate`: `python -m lab.reference GAME`.

The opponents of a game play at each other's tables; their ratings are the most likely ones in the
model of Plackett and Luce, with greedy at 1000. The deals have other seeds than those of the
reference. Opponents are frozen: a rating that changes needs a new version.
"""

import argparse
import json
from dataclasses import replace
from math import ceil

import numpy as np

from linkzoo import get_game
from linkzoo.core.files import write_atomically
from linkzoo_training.commands.common import share_rows
from linkzoo_training.evaluation.ladder import read_ladder
from linkzoo_training.evaluation.reference import (
    ANCHOR,
    ANCHOR_RATING,
    REFERENCES,
    Reference,
    digest_of,
    plackett_luce,
    play_tables,
)

VERSIONS = {"linkage": 1, "love_links": 2, "link_o": 1, "love_formula": 1}
SEED = 20261130  # of the reference; its ratings are measured with the next one
GAMES = 4800  # of a rating, at least
# From weak to strong. Policies at high temperatures fill the gaps: games that are nearly always won
# say little about a strength.
OPPONENTS = {
    "linkage": ["random", "linkage_az~8", "greedy", "linkage_ppo", "linkage_az"],
    "love_links": [
        *("random", "love_links_action~1000", "love_links_action~500", "greedy"),
        *("love_links_action~160", "linear", "love_links_action~0"),
    ],
    "link_o": ["random", "greedy", "linear", "link_o_action"],
    "love_formula": [
        *("random", "love_formula_action~200", "love_formula_action~100", "greedy"),
        *("love_formula_action~50", "linear", "love_formula_action"),
    ],
}


def unrated(game: str) -> Reference:
    """Returns a reference without ratings."""
    ladder = read_ladder(game)
    reference = Reference(
        game=game,
        version=VERSIONS[game],
        seed=SEED,
        openings=ladder.openings,
        options=ladder.options[0],
        blocks={},
        ratings={},
        digests=dict.fromkeys(OPPONENTS[game], ""),
    )
    rules = reference.rules
    digests = {name: digest_of(rules, reference.agent(name)) for name in reference.opponents}
    blocks = {
        players: ceil(GAMES / reference.games_of_a_block(players))
        for players in range(rules.min_players, rules.max_players + 1)
    }
    return replace(reference, digests=digests, blocks=blocks)


def ratings_of(reference: Reference, players: int) -> dict[str, float]:
    """Returns the ratings of the opponents from games between them."""
    other_deals = replace(reference, seed=reference.seed + 1)
    lineups = []
    shares = []
    for number, name in enumerate(reference.opponents):
        agent = reference.agent(name)
        tables = play_tables(other_deals, players, agent, reference.blocks[players])
        sides = tables.lineups.shape[2]
        numbers = np.where(tables.lineups == 0, number, tables.lineups - 1)
        lineups.append(numbers.reshape(-1, sides))
        shares.append(tables.shares.reshape(-1, sides))
    fitted = plackett_luce(
        np.concatenate(lineups), np.concatenate(shares), len(reference.opponents)
    )
    fitted += ANCHOR_RATING - fitted[reference.opponents.index(ANCHOR)]
    return {
        name: round(float(value), 1)
        for name, value in zip(reference.opponents, fitted, strict=True)
    }


def main() -> None:
    """Writes the reference of a game."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("game", choices=list(OPPONENTS))
    parser.add_argument("--players", type=int, help="print the ratings for this number alone")
    args = parser.parse_args()
    share_rows()
    reference = unrated(args.game)
    if args.players is not None:
        print(ratings_of(reference, args.players))
        return
    ratings = {}
    for players in reference.blocks:
        ratings[players] = ratings_of(reference, players)
        print(players, ratings[players], flush=True)
    path = REFERENCES / f"{get_game(args.game).name}.json"
    data = replace(reference, ratings=ratings).to_dict()
    path.parent.mkdir(exist_ok=True)
    write_atomically(path, (json.dumps(data, indent=1) + "\n").encode())


if __name__ == "__main__":
    main()
