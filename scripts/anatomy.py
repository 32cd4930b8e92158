"""Draws the fields of a record and the parts of an observation, for docs/concepts.md.

`python -m scripts.anatomy`; the position is the first picture of Linkage's page.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from scripts.game_pages import FOLDER, SCENES

import linkzoo
from linkzoo import Game
from linkzoo.core.state import HEADER, Record

IMAGES = Path(__file__).parents[1] / "docs" / "images"
ACROSS = 24  # bytes in a row
COLOURS = ("#6c4f9e", "#2f8f83", "#c9b98f")  # of the header, the options, the game's own fields


def record_picture(game: Game, state: Record, file: Path) -> None:
    """Every byte of a record as a cell: the header, the options, the game's own fields."""
    assert game.state.fields is not None
    header = [name for name, _ in HEADER]
    options = set(game.chosen_options(state))
    rows = -(-game.state.itemsize // ACROSS)
    figure, axes = plt.subplots(figsize=(10, 0.75 * rows + 0.6), layout="constrained")
    for name, (kind, start, *_) in game.state.fields.items():
        colour = COLOURS[0 if name in header else 1 if name in options else 2]
        for row in range(start // ACROSS, (start + kind.itemsize - 1) // ACROSS + 1):
            first = max(start, row * ACROSS)
            last = min(start + kind.itemsize, (row + 1) * ACROSS)
            where = (first - row * ACROSS, row + 0.08)
            axes.add_patch(
                Rectangle(where, last - first, 0.84, facecolor=colour, edgecolor="white", lw=2)
            )
            wide = last - first >= 0.45 * len(name)
            axes.text(
                where[0] + (last - first) / 2,
                row + 0.5,
                name,
                ha="center",
                va="center",
                fontsize=9 if wide else 6,
                rotation=0 if wide else 60,
                color="black" if colour == COLOURS[2] else "white",
            )
    for row in range(rows):
        axes.text(-0.3, row + 0.5, str(row * ACROSS), ha="right", va="center", fontsize=8)
    axes.set(xlim=(-1.2, ACROSS), ylim=(rows, 0))
    axes.axis("off")
    axes.set_title(
        f"One record of {game.title}: {game.state.itemsize} bytes. "
        "Purple: every game's header; green: options; sand: the game's own fields",
        fontsize=10,
    )
    figure.savefig(file, dpi=110)


def observation_picture(game: Game, state: Record, file: Path) -> None:
    """Every plane of an observation of a board, with the name of its part."""
    seen = np.zeros(game.observation.spec.size, game.observation.spec.dtype)
    game.observation.observe(state, int(state.seat), seen)
    planes = seen.reshape(game.observation.spec.shape)
    names = []
    highs = []
    for part in game.observation.spec.parts:
        count = 1 if len(part.shape) == 2 else part.shape[0]
        names += [f"{part.name}{f' {k}' if count > 1 else ''}" for k in range(count)]
        highs += [part.high] * count
    figure, grid = plt.subplots(3, -(-len(names) // 3), figsize=(10, 5.4), layout="constrained")
    every: list[Axes] = list(grid.flat)
    for plane, name, high, axes in zip(planes, names, highs, every, strict=False):
        axes.imshow(plane, vmin=0, vmax=high, cmap="Purples")
        axes.set_title(name, fontsize=9)
        value = f"{plane[0, 0]} everywhere" if (plane == plane[0, 0]).all() else ""
        axes.set_xlabel(value, fontsize=8)
        axes.set(xticks=[], yticks=[])
    for axes in every[len(names) :]:
        axes.axis("off")
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    played = linkzoo.GameRecord.load(FOLDER / "played" / "linkage.json")
    shown = list(played.replay())[SCENES["linkage"][0].ply]
    linkage = linkzoo.get_game("linkage")
    record_picture(linkage, shown, IMAGES / "record.png")
    observation_picture(linkage, shown, IMAGES / "observation.png")
