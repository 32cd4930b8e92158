"""`linkzoo data positions`: positions of recorded games, as a file."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

import numpy as np

from linkzoo import Game, GameRecord, get_game
from linkzoo.core.arguments import agrees
from linkzoo.core.state import Record
from linkzoo.engine.rng import STREAM_POSITIONS, permutation
from linkzoo.position_file import save_positions
from linkzoo.registry import id_of
from linkzoo_training.commands import common

HELP = "write the positions of recorded games to a file"


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    text = "JSON files of games of one kind, or folders of them"
    add("sources", type=Path, metavar="RECORD", nargs="+", help=text)
    text = "file to write: a JSON object per line, the position in its field `position` (required)"
    add("--out", type=common.output_file, metavar="FILE", required=True, help=text)
    text = "positions from this ply on (default: %(default)s)"
    add("--first", type=common.whole(0, 2**15), default=0, metavar="PLY", help=text)
    text = "positions up to this ply (default: no limit)"
    add("--last", type=common.whole(0, 2**15), default=2**15, metavar="PLY", help=text)
    text = "at most so many positions, drawn at random (default: all)"
    add("--count", type=common.whole(1, 10**7), metavar="N", help=text)
    add("--seed", type=common.SEED, default=0, help="seed of the draw (default: %(default)s)")


def run(args: Namespace) -> None:
    """Writes each position in which a seat is to act once, however many games reach it."""
    folders = [
        sorted(source.glob("*.json")) if source.is_dir() else [source] for source in args.sources
    ]
    paths = [path for files in folders for path in files]
    game: Game | None = None
    found: dict[bytes, tuple[Record, str]] = {}
    for path in paths:
        try:
            record = GameRecord.load(path)
            own = get_game(record.game, record.options)
            agrees("game", id_of(own), id_of(own if game is None else game))
            game = own if game is None else game
            agrees("digest", own.digest, game.digest)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        for state in record.replay():
            if state.seat >= 0 and args.first <= state.ply <= args.last:
                alike = state.copy()
                alike.seed = 0
                found.setdefault(alike.tobytes(), (state, str(path)))
    kept = list(found.values())
    if args.count is not None and args.count < len(kept):
        order = permutation(len(kept), args.seed, STREAM_POSITIONS, 0)
        kept = [kept[index] for index in sorted(order[: args.count])]
    if game is None or not kept:
        raise ValueError(f"no positions at plies {args.first}..{args.last} in {len(paths)} records")
    states = np.array([state for state, _ in kept], game.state)
    save_positions(args.out, game, states, [{"record": path} for _, path in kept])
    print(f"{args.out}: {len(kept):,} different positions of {len(paths):,} games")
