"""Letters in drawings: no text lies over another, or under a disc that is drawn later."""

import re
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest

from linkzoo import Game, get_game
from linkzoo.core.protocols import Draw
from linkzoo.registry import NAMES
from linkzoo.svg.letters import width_of
from linkzoo.testing.play import positions

_INSET = 1.0  # pixels that boxes may overlap: letters don't fill theirs
_ASCENT = 0.73  # height of letters above the baseline, by their size


class Box(NamedTuple):
    """A text or a disc (without words) in the picture's pixels, in drawing order."""

    words: str
    left: float
    top: float
    right: float
    bottom: float

    def covers(self, other: "Box") -> bool:
        """Whether a disc, or another text's box, reaches over a text by more than `_INSET`."""
        if not self.words:
            x = (self.left + self.right) / 2
            y = (self.top + self.bottom) / 2
            far_across = x - min(max(x, other.left), other.right)
            far_down = y - min(max(y, other.top), other.bottom)
            return float(np.hypot(far_across, far_down)) < (self.right - self.left) / 2 - _INSET
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across > _INSET and down > _INSET


def _matrix(transform: str) -> np.ndarray:
    """A transform of translations, rotations and scales as a matrix."""
    matrix = np.eye(3)
    for name, inside in re.findall(r"(\w+)\(([^)]*)\)", transform):
        numbers = [float(number) for number in re.split(r"[ ,]+", inside.strip())]
        step = np.eye(3)
        if name == "translate":
            step[:2, 2] = numbers
        elif name == "scale":
            step[0, 0] = step[1, 1] = numbers[0]
        else:
            angle = np.deg2rad(numbers[0])
            step[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        matrix = matrix @ step
    return matrix


def _corners(element: ElementTree.Element) -> tuple[float, float, float, float] | None:
    """The box of a text or of a filled disc in its own units; None for other elements."""
    tag = element.tag.rpartition("}")[2]
    if tag == "circle" and element.get("fill") != "none":
        x, y, radius = (float(element.get(name, 0)) for name in ("cx", "cy", "r"))
        return x - radius, y - radius, x + radius, y + radius
    if tag != "text" or not (element.text or "").strip():
        return None
    size = float(element.get("font-size", 0))
    words = element.text or ""
    width = width_of(words, size, element.get("font-weight") == "bold")
    width += float(element.get("letter-spacing", 0)) * len(words)
    x = float(element.get("x", 0))
    y = float(element.get("y", 0))
    left = x - {"start": 0, "middle": 0.5, "end": 1}[element.get("text-anchor", "start")] * width
    return left, y - _ASCENT * size, left + width, y


def _boxes(element: ElementTree.Element, matrix: np.ndarray, anchor: str) -> list[Box]:
    """The boxes of an element and its children; text takes its anchor from around it."""
    matrix = matrix @ _matrix(element.get("transform", ""))
    anchor = element.get("text-anchor", anchor)
    element.set("text-anchor", anchor)
    boxes = []
    corners = _corners(element)
    if corners is not None:
        x0, y0, x1, y1 = corners
        points = matrix @ np.array([[x0, x0, x1, x1], [y0, y1, y0, y1], [1, 1, 1, 1]])
        low = points[:2].min(axis=1)
        high = points[:2].max(axis=1)
        boxes.append(Box(element.text or "", *map(float, (*low, *high))))
    for child in element:
        boxes += _boxes(child, matrix, anchor)
    return boxes


def overprinted(svg: str) -> list[tuple[str, str]]:
    """Pairs of texts, or of a text and "" for a disc, of which the second covers the first."""
    boxes = _boxes(ElementTree.fromstring(svg), np.eye(3), "start")  # noqa: S314
    return [
        (box.words, later.words)
        for index, box in enumerate(boxes)
        if box.words
        for later in boxes[index + 1 :]
        if later.covers(box)
    ]


def _drawings(game: Game) -> list[Draw]:
    return [game.draw_svg, game.draw_page, game.draw_tall]


def _check(name: str, number: int, seeds: int) -> None:
    """Draws positions of random games, of each number of players in turn."""
    game = get_game(name)
    for seed in range(seeds):
        players = game.players[seed % len(game.players)]
        played = positions(game, players, {}, seed)
        for state in played[:: max(len(played) * seeds // number, 1)]:
            for draw in _drawings(game):
                for seat in (None, max(int(state["seat"]), 0)):
                    assert overprinted(draw(state, seat)) == [], (seed, int(state["ply"]), draw)


@pytest.mark.parametrize("name", NAMES)
def test_no_letters_are_overprinted(name: str) -> None:
    _check(name, 3, 1)


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_no_letters_are_overprinted_in_many_positions(name: str) -> None:
    _check(name, 200, 10)


def test_overprinting_is_found() -> None:
    text = '<text x="{}" y="20" font-size="14">22</text>'
    disc = '<circle cx="30" cy="15" r="13" fill="#fff"/>'
    for parts, expected in (
        (text.format(10) + text.format(20), [("22", "22")]),
        (text.format(10) + text.format(50), []),
        (text.format(10) + disc, [("22", "")]),
        (disc + text.format(10), []),
    ):
        assert overprinted(f"<svg>{parts}</svg>") == expected
