"""`linkzoo best-response`."""

import argparse

from linkzoo_training.best_response import best_response_config, train_best_response
from linkzoo_training.commands.common import game_of, write_json
from linkzoo_training.runtime import StopSignal


def run(parsed: argparse.Namespace) -> int:
    """Trains the response; 128 and the number of the signal that stopped it, else 0."""
    config = best_response_config(
        parsed.agent,
        game_of(parsed.game, parsed.agent),
        config=parsed.config,
        players=parsed.players,
        steps=parsed.steps,
        seconds=parsed.seconds,
        settings=parsed.settings,
    )
    stop, settings = StopSignal(), {"openings": parsed.openings, "resume": parsed.resume}
    report = train_best_response(config, parsed.games, stop=stop, **settings)
    if report is not None:
        write_json(parsed.json, report)
    return stop.exit_code
