"""Plays OpenSpiel's search against an agent of ours, or computes exploitability.

    pip install ".[openspiel]"
    python examples/open_spiel_search.py linkage --simulations 50
    python examples/open_spiel_search.py "linkage(board_size=3,threshold=4)" --exploitability

Takes any game by name or as `module:NAME`, optionally with options. The search is MCTS in games
without chance and hidden information, otherwise information-set MCTS, which resamples what the seat
to act can't know.
`apply_action_with_legality_check` stops the run at the first illegal move.
"""

import argparse
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.algorithms import exploitability, ismcts, mcts
from open_spiel.python.policy import UniformRandomPolicy

import linkzoo.integrations.open_spiel as ours
from linkzoo_training import make_agent

EXPLORATION = 1.4


def searcher(game: Any, simulations: int, seed: int) -> Any:
    """Builds OpenSpiel's search for a game, with random rollouts."""
    random = np.random.RandomState(seed)
    rollouts = mcts.RandomRolloutEvaluator(1, random)
    if game.get_type().information == pyspiel.GameType.Information.PERFECT_INFORMATION:
        return mcts.MCTSBot(game, EXPLORATION, simulations, rollouts, random_state=random)
    return ismcts.ISMCTSBot(game, rollouts, EXPLORATION, simulations, random_state=random)


def play(game: Any, bots: list[Any], seed: int) -> list[float]:
    """Plays one game; returns the return of each seat."""
    state = game.new_initial_state()
    random = np.random.default_rng(seed)
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            action = int(random.choice(outcomes, p=chances))
        else:
            action = int(bots[state.current_player()].step(state))
        state.apply_action_with_legality_check(action)
    returns: list[float] = state.returns()
    return returns


def main() -> None:
    """Plays the search against an agent from every seat, or prints an exploitability."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", help='name, optionally with options: "name(option=3)"')
    parser.add_argument("--players", type=int, default=None)
    parser.add_argument("--agent", default="random", help="random, greedy, uct-100, … of linkzoo")
    parser.add_argument("--simulations", type=int, default=50)
    parser.add_argument("--games", type=int, default=4, help="games per seat of the search")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--exploitability", action="store_true", help="only for the smallest variants"
    )
    args = parser.parse_args()
    name, bracket, options = args.game.partition("(")
    parameters = pyspiel.game_parameters_from_string(ours.register_game(name) + bracket + options)
    short_name = parameters.pop("name")
    if args.players is not None:
        parameters["players"] = args.players
    game = pyspiel.load_game(short_name, parameters)

    if args.exploitability:
        value = exploitability.exploitability(game, UniformRandomPolicy(game))
        print(f"exploitability of uniform play: {value:.4f}")
        return
    returns = []
    for seat in range(game.num_players()):
        for number in range(args.games):
            seed = args.seed + number
            bots = [
                ours.AgentBot(make_agent(args.agent, name), seed) for _ in range(game.num_players())
            ]
            bots[seat] = searcher(game, args.simulations, seed)
            payoffs = play(game, bots, seed)
            assert abs(sum(payoffs)) < 1e-6, f"payoffs are zero-sum, not {payoffs}"
            returns.append(payoffs[seat])
    print(
        f"{args.simulations} simulations against {args.agent}: mean return {np.mean(returns):+.2f}"
    )
    print(f"{len(returns)} games, no illegal move")


if __name__ == "__main__":
    main()
