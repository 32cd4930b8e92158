"""Draws recorded games as animations and images, with the referee's view."""

import io
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import count, repeat
from math import ceil
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from PIL import Image

from linkzoo import GameRecord, get_game
from linkzoo.core.files import write_atomically
from linkzoo.core.state import Record
from linkzoo.engine.threads import get_num_threads
from linkzoo.svg.raster import to_png

MOST_GIF_BYTES = 3_000_000  # limit of an animation
MOST_FRAMES = 120  # limit of an animation
MOST_PROCESSES = 8  # draw at once
FEW = 40  # pictures that are drawn in this process
_COLOURS = 255  # of an animation; a GIF needs one more for unchanged pixels
_SAMPLES = 6  # frames that an animation's colours are chosen from

Progress = Callable[[str, int, int], None]
T = TypeVar("T")


def as_gif(
    record: GameRecord,
    file: Path,
    *,
    width: int = 640,
    milliseconds: int = 900,
    plies: tuple[int, int | None] = (0, None),
    progress: Progress = lambda *_: None,
) -> int:
    """Writes an animation of a game.

    It has every n-th position and the last one; n is 1 if that stays within MOST_FRAMES and
    MOST_GIF_BYTES.

    Args:
        record: The game.
        file: The file.
        width: Width in pixels.
        milliseconds: Time per position; the last one stays four times as long.
        plies: The first and the last ply; None for the game's last.
        progress: Called as `progress("pictures", done, total)`.

    Returns:
        n.

    Raises:
        ValueError: The game doesn't have these plies.
    """
    states = _between(record, plies)
    step = ceil(len(states) / MOST_FRAMES)
    pictures = list(_drawn(record, _thinned(states, step), width, progress))
    images = _with_common_colours(pictures)
    for factor in count(1):
        first, *others = _thinned(images, factor)
        content = io.BytesIO()
        times = [milliseconds] * len(others) + [4 * milliseconds]
        first.save(content, "GIF", save_all=True, append_images=others, duration=times, loop=0)
        if len(content.getvalue()) <= MOST_GIF_BYTES or len(others) <= 1:
            break
    write_atomically(file, content.getvalue())
    return step * factor


def as_pngs(
    record: GameRecord,
    folder: Path,
    *,
    width: int = 640,
    plies: tuple[int, int | None] = (0, None),
    progress: Progress = lambda *_: None,
) -> int:
    """Writes an image of every position: 0000.png, 0001.png and so on.

    Args:
        record: The game.
        folder: The folder.
        width: Width in pixels.
        plies: The first and the last ply; None for the game's last.
        progress: Called as `progress("pictures", done, total)`.

    Returns:
        The number of images.

    Raises:
        ValueError: The game doesn't have these plies.
    """
    states = _between(record, plies)
    for ply, picture in enumerate(_drawn(record, states, width, progress), plies[0]):
        write_atomically(folder / f"{ply:04}.png", picture)
    return len(states)


def _between(record: GameRecord, plies: tuple[int, int | None]) -> list[Record]:
    first, last = plies
    if last is None:
        last = len(record.actions)
    if not 0 <= first <= last <= len(record.actions):
        raise ValueError(f"plies: {first}-{last} is not within 0-{len(record.actions)}")
    return list(record.replay())[first : last + 1]


def _thinned(items: list[T], step: int) -> list[T]:
    """Returns every step-th item, including the first and the last."""
    return [*items[:-1:step], items[-1]]


def _drawn(
    record: GameRecord, states: list[Record], width: int, progress: Progress
) -> Iterator[bytes]:
    """Yields the referee's picture of each position as PNG; many are drawn in several processes."""
    draw = get_game(record.game, record.options).draw_svg
    drawings = map(draw, states)
    if len(states) <= FEW:
        yield from _counted(map(to_png, drawings, repeat(width)), len(states), progress)
        return
    processes = min(MOST_PROCESSES, get_num_threads())
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        yield from _counted(pool.map(to_png, drawings, repeat(width)), len(states), progress)


def _counted(pictures: Iterable[bytes], total: int, progress: Progress) -> Iterator[bytes]:
    """Yields the pictures and reports the progress."""
    for done, picture in enumerate(pictures, 1):
        progress("pictures", done, total)
        yield picture


def _with_common_colours(pictures: list[bytes]) -> list[Image.Image]:
    """Decodes PNGs of one size with one palette, so that unchanged areas have the same pixels."""
    chosen = pictures[:: max(1, len(pictures) // _SAMPLES)] + pictures[-1:]
    samples = [_decoded(picture) for picture in chosen]
    width, height = samples[0].size
    stacked = Image.new("RGB", (width, height * len(samples)))
    for number, sample in enumerate(samples):
        stacked.paste(sample, (0, number * height))
    palette = stacked.quantize(_COLOURS)
    dither = Image.Dither.NONE
    return [_decoded(picture).quantize(palette=palette, dither=dither) for picture in pictures]


def _decoded(picture: bytes) -> Image.Image:
    return Image.open(io.BytesIO(picture)).convert("RGB")
