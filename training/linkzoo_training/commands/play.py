"""`linkzoo play`: a game in the terminal, a person against an agent."""

import argparse
from collections.abc import Mapping
from secrets import randbelow
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, GameRecord, get_game
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import SEED_LIMIT, STREAM_ACTION, words
from linkzoo.engine.compiled import Record
from linkzoo.core.arguments import integer
from linkzoo_training.agents.human import HumanAgent, QuitError
from linkzoo_training.agents.playing import play_games
from linkzoo_training.agents.specs import make_agent, searching
from linkzoo_training.config import read_options
from linkzoo_training.records import save_new


def run(parsed: argparse.Namespace) -> None:
    """Plays a game with the person at the terminal."""
    played = play(
        parsed.game,
        make_agent(searching(parsed.opponent, parsed.simulations), parsed.game),
        HumanAgent(),
        seat=parsed.seat,
        seed=randbelow(SEED_LIMIT) if parsed.seed is None else parsed.seed,
        num_players=parsed.players,
        options=read_options(parsed.settings),
    )
    if parsed.record is not None:
        if parsed.record.is_dir():
            parsed.record = save_new(played, parsed.record)
        else:
            played.save(parsed.record)
        print(f"Saved: {parsed.record}")


def play(
    game: str,
    opponent: Agent,
    human: HumanAgent,
    *,
    seat: int = 0,
    seed: int = 0,
    num_players: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> GameRecord:
    """Plays a game in which a person has `seat` and the opponent all others; returns its record.

    `seed` fixes the game's chance and the opponent's. If the person quits, the game stays
    unfinished.
    """
    rules = get_game(game, options)
    states = np.zeros(1, rules.state)
    states[0] = rules.blank(num_players, options)
    players = int(states[0].num_players)
    if not 0 <= seat < players:
        raise ValueError(f"seat={seat} is not in 0..{players - 1}")
    integer("seed", seed, 0, 2**64 - 1)
    begun = np.array([seed], np.uint64)
    kernels(rules).begin(states, begun, np.empty((1, rules.num_actions), np.int8))
    played = GameRecord(rules.id, rules.version, players, rules.chosen_options(states[0]), seed)

    def acting(states: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(states["seat"] == seat).astype(np.int64)

    def seeds(rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        return words(begun[rows], STREAM_ACTION, states["ply"][rows], states["seat"][rows])

    human.write(f"{rules.title}: you are player {seat} against {opponent.name}.")
    try:
        for (action,) in play_games(rules, states, (opponent, human), acting, seeds):
            turn = int(states[0].seat)
            if turn != seat:
                human.write(f"Player {turn} plays {rules.action_to_text(states[0], int(action))}")
            played.actions.append(int(action))
        human.write(rules.draw_text(states[0], seat))
        human.write(_result(states[0], seat))
    except QuitError:
        human.write("Stopped before the end.")
    return played


def _result(state: Record, seat: int) -> str:
    """Who won, to the person in `seat`."""
    winners = [p for p in range(int(state.num_players)) if (int(state.winners) >> p) & 1]
    if len(winners) == state.num_players:
        return "The game is a tie."
    if seat in winners:
        others = [f"player {p}" for p in winners if p != seat]
        return f"You win, together with {' and '.join(others)}." if others else "You win."
    return f"You lose: {' and '.join(f'player {p}' for p in winners)} won."
