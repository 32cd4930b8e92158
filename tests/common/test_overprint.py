"""Letters in drawings: no text lies over another, or under a disc that is drawn later."""

import cmath
import math
import re
from typing import NamedTuple
from xml.etree import ElementTree

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
            return math.hypot(far_across, far_down) < (self.right - self.left) / 2 - _INSET
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across > _INSET and down > _INSET


class Frame(NamedTuple):
    """Where an element's units lie in the picture: `place(x, y) = scale * (x + iy) + origin`."""

    scale: complex = 1  # turned, too
    origin: complex = 0

    def within(self, transform: str) -> "Frame":
        """The frame of an element with a transform of translations, rotations and scales."""
        frame = self
        for name, inside in re.findall(r"(\w+)\(([^)]*)\)", transform):
            numbers = [float(number) for number in re.split(r"[ ,]+", inside.strip())]
            if name == "translate":
                frame = Frame(frame.scale, frame.place(*numbers))
            elif name == "scale":
                frame = Frame(frame.scale * numbers[0], frame.origin)
            else:
                turn = cmath.rect(1, math.radians(numbers[0]))
                frame = Frame(frame.scale * turn, frame.origin)
        return frame

    def place(self, x: float, y: float) -> complex:
        """A point in the picture."""
        return self.scale * complex(x, y) + self.origin


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


def _boxes(element: ElementTree.Element, around: Frame, anchor: str) -> list[Box]:
    """The boxes of an element and its children; text takes its anchor from around it."""
    frame = around.within(element.get("transform", ""))
    anchor = element.get("text-anchor", anchor)
    element.set("text-anchor", anchor)
    boxes = []
    corners = _corners(element)
    if corners is not None:
        x0, y0, x1, y1 = corners
        points = [frame.place(x, y) for x in (x0, x1) for y in (y0, y1)]
        across = [point.real for point in points]
        down = [point.imag for point in points]
        words = element.text or ""
        boxes.append(Box(words, min(across), min(down), max(across), max(down)))
    for child in element:
        boxes += _boxes(child, frame, anchor)
    return boxes


def overprinted(svg: str) -> list[tuple[str, str]]:
    """Pairs of texts, or of a text and "" for a disc, of which the second covers the first."""
    boxes = _boxes(ElementTree.fromstring(svg), Frame(), "start")  # noqa: S314
    return [
        (box.words, later.words)
        for index, box in enumerate(boxes)
        if box.words
        for later in boxes[index + 1 :]
        if later.top < box.bottom and box.top < later.bottom and later.covers(box)
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
