"""`linkzoo data positions`: positions of recorded games, as a file."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

import numpy as np

from linkzoo import Game, GameRecord, get_game
from linkzoo.core.arguments import agrees, mapping, parse_json
from linkzoo.core.state import Record
from linkzoo.engine.rng import STREAM_POSITIONS, permutation
from linkzoo.position_file import save_positions
from linkzoo.registry import id_of
from linkzoo_training.commands import common

HELP = "write the positions of recorded games to a file"


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    text = (
        "records of one game with the same board or cards: JSON files, folders of such files, or "
    )
    text += "folders of `linkzoo data selfplay`"
    add("sources", type=common.input_path, metavar="RECORD", nargs="+", help=text)
    text = "new file for the positions, JSON lines (required)"
    add("--out", type=common.new_file, metavar="FILE", required=True, help=text)
    text = "positions from this ply on (default: %(default)s)"
    add("--first", type=common.whole(0, 2**15), default=0, metavar="PLY", help=text)
    text = "positions up to this ply (default: no limit)"
    add("--last", type=common.whole(0, 2**15), default=2**15, metavar="PLY", help=text)
    text = "largest number of positions, drawn at random (default: all)"
    add("--count", type=common.whole(1, 10**7), metavar="N", help=text)
    add("--seed", type=common.SEED, default=0, help="seed of the draw (default: %(default)s)")


def run(args: Namespace) -> None:
    """Writes every distinct position in which a seat is to act once."""
    paths = [path for source in args.sources for path in _record_files(source)]
    game: Game | None = None
    positions: dict[bytes, tuple[Record, str]] = {}
    for path in paths:
        record = GameRecord.load(path)
        try:
            game = _same_game(get_game(record.game, record.options), game)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        for state in record.replay():
            if state.seat >= 0 and args.first <= state.ply <= args.last:
                without_seed = state.copy()
                without_seed.seed = 0
                positions.setdefault(without_seed.tobytes(), (state, str(path)))
    chosen = list(positions.values())
    if args.count is not None and args.count < len(chosen):
        order = permutation(len(chosen), args.seed, STREAM_POSITIONS, 0)
        chosen = [chosen[index] for index in sorted(order[: args.count])]
    if game is None or not chosen:
        raise ValueError(f"no positions at plies {args.first}..{args.last} in {len(paths)} records")
    states = np.array([state for state, _ in chosen], game.state)
    save_positions(args.out, game, states, [{"record": path} for _, path in chosen])
    print(f"{args.out}: {len(chosen):,} different positions of {len(paths):,} games")


def _record_files(source: Path) -> list[Path]:
    """Returns a file, or the JSON files of a folder of records or of a data set."""
    if not source.is_dir():
        return [source]
    from linkzoo_training.evaluation.dataset import ABOUT

    about = source / ABOUT
    if not about.is_file():
        return sorted(source.glob("*.json"))
    files = mapping(str(about), parse_json(about.read_bytes())).get("files")
    if files != "records":
        raise ValueError(f"{source}: the data set holds {files}: write --format records")
    return sorted((source / "games").glob("*.json"))


def _same_game(game: Game, earlier: Game | None) -> Game:
    """Returns the game of all records so far; ValueError if the next one is of another."""
    if earlier is None:
        return game
    agrees("game", id_of(game), id_of(earlier))
    agrees("digest", game.digest, earlier.digest)
    return earlier
