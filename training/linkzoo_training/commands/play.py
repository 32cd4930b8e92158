"""`linkzoo play`: a game in the terminal, a person against an agent."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from secrets import randbelow
from typing import Any

import numpy as np

from linkzoo import Agent, GameRecord, Positions, get_game
from linkzoo.batch import kernels
from linkzoo.chance import SEED_LIMIT, STREAM_ACTION, word
from linkzoo.compiled import Record
from linkzoo.fields import integer
from linkzoo_training.agents.human import HumanAgent, QuitError
from linkzoo_training.agents.specs import make_agent, searching
from linkzoo_training.config import read_options


def run(parsed: argparse.Namespace) -> None:
    """Plays a game with the person at the terminal."""
    play(
        parsed.game,
        make_agent(searching(parsed.opponent, parsed.simulations), parsed.game),
        seat=parsed.seat,
        seed=randbelow(SEED_LIMIT) if parsed.seed is None else parsed.seed,
        num_players=parsed.players,
        options=read_options(parsed.settings),
        record=parsed.record,
    )


def play(
    game: str,
    opponent: Agent,
    *,
    seat: int = 0,
    seed: int = 0,
    num_players: int | None = None,
    options: Mapping[str, Any] | None = None,
    record: Path | None = None,
    read: Callable[[str], str] = input,
    write: Callable[[str], None] = print,
) -> GameRecord:
    """Plays a game in which a person has `seat` and the opponent all others; returns its record.

    `seed` fixes the game's chance and the opponent's. If the person quits, the game stays
    unfinished. Finished or not, it is saved as JSON at `record`, if given.
    """
    rules = get_game(game, options)
    kernel = kernels(rules)
    states = np.zeros(1, rules.state)
    states[0] = rules.blank(num_players, options)
    players = int(states[0].num_players)
    if not 0 <= seat < players:
        raise ValueError(f"seat={seat} is not in 0..{players - 1}")
    if record is not None and not record.parent.is_dir():
        raise ValueError(f"{record}: there is no folder {record.parent}")
    integer("seed", seed, 0, 2**64 - 1)
    mask = np.empty((1, rules.num_actions), np.int8)
    kernel.begin_one(states, np.array([seed], np.uint64), mask)
    played = GameRecord(rules.id, rules.version, players, rules.chosen_options(states[0]), seed)
    human = HumanAgent(read, write)
    outcome = np.zeros((2, players), np.float32)  # payoffs, margins
    write(f"{rules.title}: you are player {seat} against {opponent.name}.")
    try:
        while (turn := int(states[0].seat)) >= 0:
            decision = word(np.uint64(seed), STREAM_ACTION, int(states[0].ply), turn)
            positions = Positions(rules, states.copy(), np.array([decision], np.uint64))
            action = int((human if turn == seat else opponent).act(positions)[0])
            if not 0 <= action < rules.num_actions or not mask[0, action]:
                raise ValueError(f"{opponent.name} played the illegal action {action}")
            if turn != seat:
                write(f"Player {turn} plays {rules.action_to_text(states[0], action)}")
            kernel.play_one(states, action, mask[0], *outcome)
            played.actions.append(action)
        write(rules.draw_text(states[0], seat))
        write(_result(states[0], seat))
    except QuitError:
        write("Stopped before the end.")
    if record is not None:
        played.save(record)
        write(f"Saved: {record}")
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
