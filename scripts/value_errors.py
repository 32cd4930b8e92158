"""Measures how well networks judge who wins: the order in which the page asks them for reports.

`python -m scripts.value_errors` plays games of two between the networks of each game and `random`,
each pairing in both orders, and writes each network's mean squared error of the chance to win.
"""

import json
from collections import defaultdict
from itertools import product

import numpy as np
from scripts.played import play

import linkzoo
from linkzoo import Agent, GameRecord, get_game
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.values import evaluate_game, policy_with_values
from linkzoo_training.checkpoints.checkpoint import shipped_cards
from linkzoo_training.web.analysis import chances
from linkzoo_training.web.offers import VALUE_ERRORS

_ROUNDS = 2  # games of each pairing


def error(agent: Agent, record: GameRecord) -> float:
    """Returns the mean squared error of the chances to win along a game."""
    game = get_game(record.game, record.options)
    evaluation = evaluate_game(policy_with_values(agent), record)
    winners = int(evaluation.states["winners"][-1])
    wins = np.array([winners >> seat & 1 for seat in range(game.min_players)])
    judged = chances(game, game.min_players, evaluation.values.astype(np.float64))
    return float(np.mean((judged - wins / wins.sum()) ** 2))


def measure(name: str, networks: list[str]) -> dict[str, float]:
    """Returns the mean error of each of a game's networks, over the same games."""
    agents = {agent: make_agent(agent, name) for agent in ["random", *networks]}
    errors = defaultdict[str, list[float]](list)
    pairings = [*product(agents, repeat=2)] * _ROUNDS
    for seed, pairing in enumerate(pairings):
        env = linkzoo.make(name, 2)
        env.reset(seed=seed)
        record = play(env, [agents[agent] for agent in pairing], seed)
        for network in networks:
            errors[network].append(error(agents[network], record))
    return {network: round(float(np.mean(found)), 3) for network, found in errors.items()}


if __name__ == "__main__":
    by_game = defaultdict[str, list[str]](list)
    for name, card in shipped_cards():
        by_game[str(card["game"])].append(name)
    measured: dict[str, float] = {}
    for name, networks in by_game.items():
        measured |= measure(name, networks)
    VALUE_ERRORS.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
