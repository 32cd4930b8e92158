"""Measures how well networks judge who wins: the order in which the page asks them for reports.

`python -m scripts.value_errors` plays games of two between the networks of each game and `random`,
each pairing in both orders, and writes each network's mean squared error of the chance to win.
"""

import json
from collections import defaultdict
from itertools import product

import numpy as np

import linkzoo
from linkzoo import Agent, Game, GameRecord, Positions, get_game
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.values import evaluate_game, policy_with_values
from linkzoo_training.checkpoints.checkpoint import shipped_cards
from linkzoo_training.web.analysis import chances
from linkzoo_training.web.offers import VALUE_ERRORS

_ROUNDS = 2  # games of each pairing


def play(game: Game, agents: tuple[Agent, Agent], seed: int) -> GameRecord:
    """Returns a game of two agents."""
    env = linkzoo.make(game.name, 2)
    env.reset(seed=seed)
    while not any(env.terminations.values()):
        states = np.frombuffer(env.get_state(), game.state).copy()
        agent = agents[int(states["seat"][0])]
        seeds = states["ply"].astype(np.uint64) + np.uint64(seed)
        env.step(int(agent.act(Positions(game, states, seeds))[0]))
    return env.record()


def error(agent: Agent, record: GameRecord) -> float:
    """Returns the mean squared error of the chances to win along a game."""
    game = get_game(record.game, record.options)
    winners = int(list(record.replay())[-1]["winners"])
    wins = np.array([winners >> seat & 1 for seat in range(game.min_players)])
    values = evaluate_game(policy_with_values(agent), record).values.astype(np.float64)
    judged = chances(game, game.min_players, values)
    return float(np.mean((judged - wins / wins.sum()) ** 2))


def measure(name: str, networks: list[str]) -> dict[str, float]:
    """Returns the mean error of each of a game's networks, over the same games."""
    game = get_game(name)
    agents = {agent: make_agent(agent, name) for agent in ["random", *networks]}
    errors = defaultdict[str, list[float]](list)
    pairings = [*product(agents, repeat=2)] * _ROUNDS
    for seed, pairing in enumerate(pairings):
        record = play(game, (agents[pairing[0]], agents[pairing[1]]), seed)
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
