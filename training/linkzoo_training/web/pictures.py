"""Draws recorded games as animations and images, with the referee's view."""

import io
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
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
_GROWTH = 1.3  # least growth of an animation of many pictures with twice as many; up to 2
_COLOURS = 255  # of an animation; a GIF needs one more for unchanged pixels
_SAMPLES = 6  # frames that an animation's colours are chosen from

Progress = Callable[[str, int, int], None]
Draw = Callable[[list[Record]], Iterator[bytes]]
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

    It has every n-th position and the last one; n is 1 if that stays within MOST_FRAMES and, as far
    as half of many pictures show, within MOST_GIF_BYTES.

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
    states = _thinned(states, step)
    with _drawing(record, len(states), width, progress) as draw:
        images = _images(states, draw, milliseconds)
    if len(images) < len(states):
        step *= 2
    for factor in count(1):
        chosen = _thinned(images, factor)
        content = _animation(chosen, milliseconds)
        if len(content) <= MOST_GIF_BYTES or len(chosen) <= 2:
            break
    write_atomically(file, content)
    return step * factor


def _images(states: list[Record], draw: Draw, milliseconds: int) -> list[Image.Image]:
    """Returns the images of positions, or of every second one if an animation can't have all."""
    if len(states) <= FEW:
        return _with_common_colours(list(draw(states)))
    half = list(draw(_thinned(states, 2)))
    images = _with_common_colours(half)
    if _GROWTH * len(_animation(images, milliseconds)) > MOST_GIF_BYTES:
        return images
    pictures = [b""] * len(states)
    pictures[:-1:2] = half[:-1]
    pictures[1:-1:2] = draw(states[1:-1:2])
    pictures[-1] = half[-1]
    return _with_common_colours(pictures)


def _animation(images: list[Image.Image], milliseconds: int) -> bytes:
    """Returns a GIF that shows the last image four times as long as the others."""
    first, *others = images
    content = io.BytesIO()
    times = [milliseconds] * len(others) + [4 * milliseconds]
    first.save(content, "GIF", save_all=True, append_images=others, duration=times, loop=0)
    return content.getvalue()


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
    with _drawing(record, len(states), width, progress) as draw:
        for ply, picture in enumerate(draw(states), plies[0]):
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


@contextmanager
def _drawing(record: GameRecord, total: int, width: int, progress: Progress) -> Iterator[Draw]:
    """Yields a function that draws the referee's pictures of positions as PNGs.

    It draws in several processes if the total number of pictures is large.
    """
    draw_svg = get_game(record.game, record.options).draw_svg
    numbers = count(1)

    def draw(mapped: Callable[..., Iterable[bytes]], states: list[Record]) -> Iterator[bytes]:
        for picture in mapped(to_png, map(draw_svg, states), repeat(width)):
            progress("pictures", next(numbers), total)
            yield picture

    if total <= FEW:
        yield partial(draw, map)
        return
    processes = min(MOST_PROCESSES, get_num_threads())
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        yield partial(draw, pool.map)


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
