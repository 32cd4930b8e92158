"""`linkzoo play`: a game in the terminal between a person and an agent."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path
from secrets import randbelow
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, GameRecord, get_game
from linkzoo.core.agent import decision_seeds
from linkzoo.core.arguments import integer
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import SEED_LIMIT
from linkzoo.record import new_file_name
from linkzoo_training.agents.human import HumanAgent, QuitError
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.playing import play_games
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.commands import common

HELP = "play against an agent in the terminal"


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("game", metavar="GAME", help=f"game: {common.GAMES}")
    text = f"agent in all other seats: {common.AGENTS} (default: %(default)s)"
    add("--opponent", default="checkpoint", metavar="AGENT", help=text)
    common.add_simulations(parser)
    add("--seat", type=int, default=0, help="your seat (default: %(default)s)")
    add("--seed", type=common.SEED, help="seed of the game (default: a random one)")
    text = "new file, or existing folder, for the game (default: it isn't saved)"
    add("--record", type=_record_path, metavar="PATH", help=text)
    common.add_players(parser)
    common.add_settings(parser)


def _record_path(text: str) -> Path:
    if Path(text).is_dir():
        return common.continued_folder(text)
    return common.new_file(text)


def run(args: Namespace) -> None:
    """Plays a game with the person at the terminal."""
    opponent = AgentSpec.parse(args.opponent).with_simulations(args.simulations)
    options = common.options_of(args.settings, args.game, opponent)
    played = play(
        args.game,
        make_agent(opponent, args.game, options),
        HumanAgent(),
        seat=args.seat,
        seed=randbelow(SEED_LIMIT) if args.seed is None else args.seed,
        num_players=args.players,
        options=options,
    )
    path: Path | None = args.record
    if path is not None:
        if path.is_dir():
            path /= new_file_name(played)
        played.save(path)
        print(f"Saved: {path}")


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
    """Plays a game between a person in one seat and an agent in all others; returns its record.

    The record is unfinished if the person quits. `seed` is the game's and the opponent's.

    Raises:
        ValueError: The seat, number of players or an option is invalid.
    """
    rules = get_game(game, options)
    states = np.array([rules.blank(num_players, options)], rules.state)
    players = int(states[0].num_players)
    if not 0 <= seat < players:
        raise ValueError(f"seat={seat} is not in 0..{players - 1}")
    integer("seed", seed, 0, 2**64 - 1)
    game_seeds = np.array([seed], np.uint64)
    kernels(rules).begin(states, game_seeds, np.empty((1, rules.num_actions), np.int8))
    played = GameRecord.of(rules, states[0])

    def acting(states: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(states["seat"] == seat).astype(np.int64)

    def seeds(rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        return decision_seeds(game_seeds[rows], states[rows])

    human.write(f"{rules.title}: you are player {seat} against {opponent.name}.")
    try:
        for (action,) in play_games(rules, states, (opponent, human), acting, seeds):
            event = rules.guide.event(states[0], int(action), seat)
            if event and states[0].seat != seat:
                human.write(event)
            played.actions.append(int(action))
        human.write(rules.drawing.text(states[0], seat))
        human.write(rules.guide.outcome(states[0]))
    except QuitError:
        human.write("Stopped before the end.")
    return played
