"""Linkage's drawings: text and pictures are read back and compared with `to_dict`."""

from collections import Counter
from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray

from linkzoo.games.linkage.components import SIZE
from linkzoo.games.linkage.svg import style
from linkzoo.games.linkage.svg.board import Grid
from linkzoo.svg.raster import rasterise
from tests.driving import first_quick
from tests.linkage.helpers import GAME, SETUPS, clone, play_random, play_text, start
from tests.linkage.oracle import Setup

SVG = "{http://www.w3.org/2000/svg}"
Square = tuple[int, int]


class Position:
    """A position's `to_dict`, and derived data."""

    def __init__(self, state: np.record) -> None:
        self.state = state
        self.data: dict[str, Any] = GAME.to_dict(state)
        self.size = len(self.data["board"])
        self.pieces = [list(map(square, names)) for _, *names in self.data["pieces"]]
        self.owners = {at: i for i, cells in enumerate(self.pieces) for at in cells}

    @cached_property
    def svg(self) -> str:
        """The referee's picture."""
        return GAME.draw_svg(self.state)

    @cached_property
    def root(self) -> ElementTree.Element:
        """The picture's elements."""
        return ElementTree.fromstring(self.svg)  # noqa: S314

    def content(self, at: Square) -> str:
        """`.`, `X` or the colour."""
        return str(self.data["board"][at[0]][at[1]])

    def squares(self) -> list[Square]:
        return [(row, column) for row in range(self.size) for column in range(self.size)]

    def neighbours(self) -> Iterator[tuple[Square, Square]]:
        """All pairs of cells side by side."""
        for row, column in self.squares():
            if column + 1 < self.size:
                yield (row, column), (row, column + 1)
            if row + 1 < self.size:
                yield (row, column), (row + 1, column)

    def closed(self) -> set[Square]:
        """The empty cells beside the counter's piece (R4)."""
        last = None if self.data["counter"] is None else self.pieces[self.data["counter"]]
        pairs = [*self.neighbours(), *((b, a) for a, b in self.neighbours())]
        return {b for a, b in pairs if last and a in last and self.content(b) == "."}


def square(name: str) -> Square:
    return int(name[1]) - 1, "abcdefg".index(name[0])


@cache
def game(setup: Setup, seed: int) -> list[Position]:
    """Every position of a random game."""
    rng, state = np.random.default_rng(seed), start(setup, seed)
    states = [clone(state)]
    while state.seat >= 0:
        states.append(clone(play_random(state, rng, plies=1)))
    return [Position(state) for state in states]


@cache
def positions() -> list[Position]:
    """Every third position of one random game per combination of options, the last one too."""
    return [position for seed, setup in enumerate(SETUPS) for position in game(setup, seed)[::-3]]


def words(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def passed() -> np.record:
    """Player 1 has just moved, player 0 had to pass."""
    return play_text(start(Setup(board_size=3, threshold=3)), "W a1-b1, B b3-c3")


def test_text_shows_what_is_on_every_cell() -> None:
    for position in positions():
        lines, closed = GAME.drawing.text(position.state).splitlines(), position.closed()
        for row, column in position.squares():
            content = position.content((row, column))
            shown = "×" if (row, column) in closed else {".": "·", "X": "●"}.get(content, content)
            last = position.owners.get((row, column), -1) == position.data["counter"]
            line = lines[2 + 2 * row]
            assert line[3 + 4 * column : 6 + 4 * column] == (f"({shown})" if last else f" {shown} ")
            assert line.startswith(f"{row + 1} ")
            assert lines[0][4 + 4 * column] == "abcdefg"[column]


def test_text_has_borders_around_the_pieces_and_none_inside() -> None:
    for position in positions():
        lines = GAME.drawing.text(position.state).splitlines()
        for (row, column), other in position.neighbours():
            beside = other[0] == row
            at = (2 + 2 * row, 6 + 4 * column) if beside else (3 + 2 * row, 4 + 4 * column)
            border = "│" if beside else "─"
            parted = position.owners.get((row, column)) != position.owners.get(other)
            assert lines[at[0]][at[1]] == (border if parted else " ")


def test_text_of_a_position() -> None:
    state = play_text(start(Setup(board_size=4, threshold=6)), "W a1-b1, Y c2-c3")
    assert GAME.drawing.text(state).splitlines() == [
        "    a   b   c   d",
        "  ┌───────┬───────┐",
        "1 │ W   W │ ×   · │",
        "  ├───────┼───┐   │",
        "2 │ ·   × │(Y)│ × │",
        "  │       │   │   │",
        "3 │ ·   × │(Y)│ × │",
        "  │       └───┘   │",
        "4 │ ·   ·   ×   · │",
        "  └───────────────┘",
        "",
        "supply  W 1  B 2  R 2  Y 1",
        "groups  2: More ≥ 6 (player 0), Fewer ≤ 5 (player 1)",
        "Player 0 (More) to move",
    ]


def test_both_tell_the_turn_and_the_winner() -> None:
    for position in positions():
        data = position.data
        actor = data["winner"] if data["seat"] is None else data["seat"]
        if data["phase"] == "play":
            role = "More" if actor == data["more"] else "Fewer"
            doing = f"({role}) wins" if data["seat"] is None else f"({role}) to move"
        else:
            doing = "places the hole" if data["phase"] == "hole" else "chooses a role"
        assert f"\nPlayer {actor} {doing}" in GAME.drawing.text(position.state)
        assert f"Player {actor} {doing}" in words(position.root)


def test_both_tell_a_pass() -> None:
    state = passed()
    assert state.seat == 1
    assert state.counter == -1
    assert "again: player 0 had to pass" in GAME.drawing.text(state)
    assert "again: player 0 had to pass" in words(ElementTree.fromstring(GAME.draw_svg(state)))  # noqa: S314
    assert not any("had to pass" in GAME.drawing.text(p.state) for p in game(SETUPS[0], 0)[:5])


def test_every_seat_sees_the_same() -> None:
    for position in positions()[::5]:
        for draw in (GAME.drawing.text, GAME.draw_svg):
            assert draw(position.state, 0) == draw(position.state, 1) == draw(position.state)


def test_svg_is_well_formed_and_within_its_frame() -> None:
    for position in positions():
        root = position.root
        assert root.tag == f"{SVG}svg"
        assert root.get("viewBox") == "0 0 896 592"
        assert root.findtext(f"{SVG}title", "").startswith("Linkage: Player")
        for box in root.findall(f"{SVG}g//{SVG}rect"):
            x, y, width, height = (float(box.get(k, "nan")) for k in ("x", "y", "width", "height"))
            assert 0 <= x < x + width <= 896
            assert 0 <= y < y + height <= 592


def test_svg_shows_the_supply() -> None:
    """A small piece in the panel is a rim of 36 x 19."""
    for position in positions():
        root = position.root
        small = [
            e for e in root.iter(f"{SVG}rect") if (e.get("width"), e.get("height")) == ("36", "19")
        ]
        rims = {paint.rim: letter for letter, paint in style.PAINTS.items()}
        shown = Counter(rims[e.get("fill", "")] for e in small)
        assert shown == Counter(position.data["supply"])


def test_svg_shows_the_groups() -> None:
    for position in positions():
        assert str(position.data["groups"]) in words(position.root)


def colour(pixel: NDArray[np.uint8]) -> str:
    return "#" + bytes(pixel).hex()


@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_picture_shows_what_is_on_every_cell(setup: Setup) -> None:
    """Looks at a corner of each cell, which no mark and no counter covers."""
    for position in (game(setup, 1)[len(game(setup, 1)) // 2], game(setup, 1)[-1]):
        image, grid = rasterise(position.svg), Grid(position.size)
        for row, column in position.squares():
            x, y = grid.middle(SIZE * row + column)
            corner = colour(image[int(y - 0.3 * grid.cell), int(x - 0.3 * grid.cell)])
            content = position.content((row, column))
            if content in style.PAINTS:
                assert corner == style.PAINTS[content].face
            elif (row, column) in position.closed():
                assert corner != style.CELL
            else:
                assert corner == style.CELL
            if content == "X":
                assert colour(image[int(y), int(x)]) == style.BLACK
        last = position.data["counter"]
        if last is not None:
            middles = np.array([grid.middle(SIZE * r + c) for r, c in position.pieces[last]])
            x, y = middles.mean(axis=0)
            assert colour(image[int(y), int(x)]) == style.GREEN


@pytest.mark.parametrize("setup", first_quick(SETUPS[:6], slow=0), ids=str)
def test_picture_joins_what_is_in_one_group_and_nothing_else(setup: Setup) -> None:
    """Looks at the gap between every two pieces that touch."""
    position = game(setup, 2)[-1]
    image, grid = rasterise(position.svg), Grid(position.size)
    for one, other in position.neighbours():
        contents = position.content(one), position.content(other)
        if "." in contents or "X" in contents or position.owners[one] == position.owners[other]:
            continue
        middles = np.array([grid.middle(SIZE * r + c) for r, c in (one, other)])
        x, y = middles.mean(axis=0).astype(int)
        same = contents[0] == contents[1]
        assert colour(image[y, x]) == (style.PAINTS[contents[0]].rim if same else style.FRAME)


@pytest.mark.slow
def test_pictures_of_different_positions_differ() -> None:
    images = [rasterise(position.svg, 300) for position in game(SETUPS[1], 0)]
    images.append(rasterise(GAME.draw_svg(passed()), 300))
    assert len({image.tobytes() for image in images}) == len(images)
