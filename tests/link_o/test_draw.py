"""LINK-O's drawings: text and pictures are read back and compared with the JSON they show."""

import re
from collections import Counter
from itertools import combinations
from math import cos, radians, sin
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray

from linkzoo.games.link_o.board import Board, Space, load_board
from linkzoo.games.link_o.svg import draw_svg
from linkzoo.games.link_o.text import draw_text
from linkzoo.svg.raster import rasterise
from tests.driving import first_quick

Json = dict[str, Any]
SVG = "{http://www.w3.org/2000/svg}"
COLOURS = ["red", "blue", "green", "yellow"]
TYPES = [
    f"{colour} {ends}"
    for colour in COLOURS
    for ends in [*(f"{a}-{b}" for a in range(5) for b in range(a, 5)), "LINK-O", "LINK-O"]
]


BOARD = load_board("ring4x16")
IDS = ["16", "12", "two links", "mini, one link", "mini, two links"]
OTHERS = [load_board(name) for name in ("ring4x12", "ring4x16x2", "mini2x4a-h2", "mini2x4b-h3")]
BOARDS = [BOARD, *OTHERS]


def position(**changes: Any) -> Json:
    """The view of seat 1 of three in the middle of round 2, with some fields changed."""
    view: Json = {
        "options": {"num_players": 3, "target": 64, "circle_bonus": 0},
        "num_players": 3,
        "seat": 1,
        "round": 2,
        "starter": 2,
        "scores": [0, 31, 7],
        "hands": [5, ["red 0-2", "red LINK-O", "green 3-3"], 9],
        "bag": 40,
        "board": {
            "3": {"tile": "red 2-4", "by": 0},
            "4": {"tile": "red 4-4", "by": 2},
            "5": {"tile": "red 4-1", "by": 1},
            "6": {"tile": "red LINK-O", "by": 1},
            "28": {"tile": "blue LINK-O", "by": 0, "value": 4},
            "32": {"tile": "green LINK-O", "by": 2, "value": None},
        },
        "first_turn": [True, False, False],
        "dug": [0, 0, 4],
        "passed": [False, False, True],
        "last_round": {"winner": 1, "points": 31, "how": "out"},
        "winners": [],
    }
    return view | changes


def referee(hands: list[list[str]], bag: list[str], **changes: Any) -> Json:
    """A view of all hands and the bag."""
    seats, no = len(hands), [False] * len(hands)
    everyone = {"num_players": seats, "scores": [431] * seats, "first_turn": no, "passed": no}
    return position(hands=hands, bag=bag, dug=[12] * seats, **(everyone | changes))


def full(board: Board) -> Json:
    """Tiles of many kinds on every space; they needn't match."""
    ends = ("0-3", "LINK-O", "4-1", "2-0", "1-2", "3-4", "0-0")
    lying: Json = {}
    for number, space in enumerate(board.spaces):
        colour = board.colours[space.circle]
        tile: Json = {"tile": f"{colour} {ends[number % 7]}", "by": number % 3}
        if space.partner is not None:
            tile |= {"tile": f"{colour} LINK-O", "value": number % 5}
        lying[str(number)] = tile
    return lying


def filled(board: Board) -> Json:
    """A position with a tile on every space, and a hand in colours of the board."""
    hand = ["red 0-2", "red LINK-O", f"{board.colours[-1]} 3-3"]
    return position(board=full(board), hands=[5, hand, 9])


def crowded() -> list[tuple[Json, Board]]:
    """Views with much to show, and their boards."""
    shuffled = [TYPES[7 * index % 68] for index in range(68)]
    cases = [(filled(board), board) for board in BOARDS]
    for hands, bag in [
        ([TYPES[:60], TYPES[60:]], []),
        ([TYPES[:8], TYPES[8:16]], shuffled[16:]),
        ([TYPES[start : start + 8] for start in range(0, 48, 8)], shuffled[48:]),
        ([TYPES[:28], *(shuffled[start : start + 8] for start in range(28, 68, 8))], []),
    ]:
        cases.append((referee(hands, bag), BOARD))
    return cases


CROWDED = crowded()
TEXT = """\
LINK-O, round 2, first to 64
Last round: player 1 went out, 31 points

red, 3 of 8
at  0     1     2=14  3     4=24  5     6     7
    ·     2-4   4-4   O     ·     ·     ·     ·
by        0     2     1

blue, 1 of 8
at  8     9     10    11    12=16 13    14=2  15
    ·     ·     ·     ·     ·     ·     O=4   ·
by                                      0

green, 1 of 8
at  16=12 17    18    19    20    21    22=26 23
    O=?   ·     ·     ·     ·     ·     ·     ·
by  1

yellow, 0 of 8
at  24=4  25    26=22 27    28    29    30    31
    ·     ·     ·     ·     ·     ·     ·     ·
by

  Player 0: 0 points, 5 tiles, first turn due
> Player 1 (you): 31 points, 3 tiles
      red 0-2 LINK-O, green 3-3
  Player 2: 7 points, 9 tiles, starter, drew 4, passed
  Bag: 40 tiles

Circles run clockwise; 1-3 on a space: 1 faces the space before, 3 the next one. 4=28: a connector
and its partner. O: LINK-O, on a connector with its value (? none yet). by: who placed the tile.

Player 1 to play, places one tile
"""
BLINDED = position(hands=[60, ["red 0-2"], 7], bag=0, dug=[52, 0, 0])


def parsed(view: Json, board: Board = BOARD, seat: int | None = None) -> ElementTree.Element:
    # Our own drawing, so there is nothing to distrust in it.
    return ElementTree.fromstring(draw_svg(view, board, seat))  # noqa: S314


def words(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def tiles_of(root: ElementTree.Element) -> list[ElementTree.Element]:
    """The tiles of a picture, those on the board first; the key has none of them."""
    return [element for element in root.iter(f"{SVG}g") if element.get("data-tile")]


def tiles_in(view: Json) -> list[str]:
    """The tiles that a view shows."""
    seen = [pile for pile in (*view["hands"], view["bag"]) if isinstance(pile, list)]
    return [lying["tile"] for lying in view["board"].values()] + [t for pile in seen for t in pile]


def moved(tile: ElementTree.Element, points: list[tuple[float, float]]) -> NDArray[np.float64]:
    """Points of a tile's own units in the picture, float[n, 2]."""
    numbers = re.findall(r"-?[\d.]+", str(tile.get("transform")))
    x, y, angle, scale = map(float, numbers)
    turn = radians(angle)
    rotation = np.array([[cos(turn), sin(turn)], [-sin(turn), cos(turn)]])
    rotated: NDArray[np.float64] = scale * np.array(points).reshape(-1, 2) @ rotation + (x, y)
    return rotated


def outline(tile: ElementTree.Element) -> NDArray[np.float64]:
    """The four corners of a tile, rim included."""
    return moved(tile, [(-31, -21), (31, -21), (31, 21), (-31, 21)])


def apart(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Whether a side of one of two rectangles parts them."""
    for corners in (one, other):
        for axis in (corners[1] - corners[0], corners[3] - corners[0]):
            a, b = one @ axis, other @ axis
            if a.max() <= b.min() or b.max() <= a.min():
                return True
    return False


def by_space(root: ElementTree.Element, view: Json) -> dict[int, ElementTree.Element]:
    """The tile on each space of a full board."""
    spaces = sorted(map(int, view["board"]))
    return dict(zip(spaces, tiles_of(root), strict=False))


def test_svg_shows_every_tile_of_the_view_once() -> None:
    for view, board in [(position(), BOARD), (BLINDED, BOARD), *CROWDED]:
        root = parsed(view, board, 1)
        assert root.tag == f"{SVG}svg"
        assert root.get("viewBox") == "0 0 1200 720"
        assert root.findtext(f"{SVG}title", "").startswith("LINK-O: Player 1")
        assert Counter(t.get("data-tile") for t in tiles_of(root)) == Counter(tiles_in(view))


def test_tiles_are_drawn_apart_and_within_the_frame() -> None:
    for view, board in CROWDED:
        outlines = [outline(tile) for tile in tiles_of(parsed(view, board))]
        for corners in outlines:
            assert corners.min() >= 0
            assert (corners <= (1200, 720)).all()
        assert all(apart(one, other) for one, other in combinations(outlines, 2))


def test_cards_and_backs_stay_above_the_key() -> None:
    for view, board in [(BLINDED, BOARD), *CROWDED]:
        root = parsed(view, board)
        parts = root.findall(f"{SVG}g[last()]/{SVG}g")
        boxes = [
            box for part in parts if not part.get("transform") for box in part.iter(f"{SVG}rect")
        ]
        for box in boxes:
            if "transform" in box.attrib or box.get("y", "").startswith("-"):
                continue
            x, y, width, height = (float(box.get(k, "nan")) for k in ("x", "y", "width", "height"))
            assert 720 <= x < x + width <= 1180
            assert y + height <= 640
        assert max(outline(tile)[:, 1].max() for tile in tiles_of(root)) <= 700


@pytest.mark.parametrize("board", first_quick(BOARDS, slow=0), ids=IDS)
def test_tiles_lie_where_the_board_has_their_spaces(board: Board) -> None:
    """At its coordinates, but for one scale and one shift."""
    view = filled(board)
    tiles = by_space(parsed(view, board), view)
    drawn = np.array([moved(tiles[space], [(0, 0)])[0] for space in range(len(board.spaces))])
    given = np.array([(space.x, space.y) for space in board.spaces])
    scale = np.ptp(drawn, axis=0) / np.ptp(given, axis=0)
    assert scale[0] == pytest.approx(scale[1], rel=1e-3)
    assert np.allclose(drawn - drawn[0], scale * (given - given[0]), atol=0.05)


@pytest.mark.parametrize("board", first_quick(BOARDS, slow=0), ids=IDS)
def test_the_first_end_faces_the_space_before(board: Board) -> None:
    """Each pip is nearer to the neighbour that its end faces."""
    view = filled(board)
    tiles = by_space(parsed(view, board), view)
    middle = {space: moved(tile, [(0, 0)])[0] for space, tile in tiles.items()}
    for number, space in enumerate(board.spaces):
        tile = tiles[number]
        ends = str(tile.get("data-tile")).split(" ")[1]
        if ends == "LINK-O":
            continue
        pips = [(float(p.get("cx", 0)), float(p.get("cy", 0))) for p in tile.iter(f"{SVG}circle")]
        places = moved(tile, pips)
        before, after = (
            np.linalg.norm(places - middle[other], axis=1) for other in (space.prev, space.next)
        )
        assert f"{(before < after).sum()}-{(after < before).sum()}" == ends


def test_empty_spaces_have_their_numbers() -> None:
    for board in BOARDS:
        numbers = set(map(str, range(len(board.spaces))))
        assert numbers <= set(words(parsed({**filled(board), "board": {}}, board)))
        assert numbers <= set(words(parsed(filled(board), board)))


def test_linkos_on_connectors_show_their_value() -> None:
    tiles = {t.get("data-tile"): words(t) for t in tiles_of(parsed(position()))[:6]}
    assert tiles["blue LINK-O"] == ["4"]
    assert tiles["green LINK-O"] == ["?"]
    assert tiles["red LINK-O"] == tiles["red 4-4"] == []


def test_a_seat_sees_its_own_hand_only() -> None:
    """Others' hands and the bag are as many backs."""
    root = parsed(position(), BOARD, 1)
    assert [t.get("data-tile") for t in tiles_of(root)[6:]] == position()["hands"][1]
    backs = [e for e in root.iter(f"{SVG}rect") if e.get("height") == "11"]
    assert len(backs) == 5 + 9 + 40
    hands = draw_text(position(), BOARD, 1).partition("\n  Player 0")[2]
    assert re.findall(r"^ {6}(.*)", hands, re.MULTILINE) == ["red 0-2 LINK-O, green 3-3"]
    assert "Player 1 (you)" in hands
    assert "You" in words(root)


def test_text_shows_what_is_on_every_space() -> None:
    for view, board in [(position(), BOARD), *CROWDED]:
        partners = {number: space.partner for number, space in enumerate(board.spaces)}
        shown: Json = {}
        lines = draw_text(view, board).splitlines()
        for index, line in enumerate(lines):
            if not line.startswith("at "):
                continue
            colour = lines[index - 1].partition(",")[0]
            for start in range(4, len(line), 6):
                place, tile, by = (row[start : start + 6].strip() for row in lines[index:][:3])
                space, _, partner = place.partition("=")
                assert partners.pop(int(space)) == (int(partner) if partner else None)
                if tile == "·":
                    assert not by
                    continue
                ends, _, value = tile.partition("=")
                name = f"{colour} {'LINK-O' if ends == 'O' else ends}"
                shown[space] = {"tile": name, "by": int(by)}
                if value:
                    shown[space]["value"] = None if value == "?" else int(value)
        assert not partners
        assert shown == view["board"]


def test_text_shows_all_hands_and_the_bag_to_the_referee() -> None:
    for view, board in CROWDED[len(BOARDS) :]:
        shown, colour = [], ""
        piles = draw_text(view, board).partition("Player 0")[2].partition("\n\n")[0]
        for line in re.findall(r"^ {6}(.*)", piles, re.MULTILINE):
            for word in line.replace(",", "").split():
                colour = word if word in COLOURS else colour
                shown += [f"{colour} {word}"] * (word not in COLOURS)
        assert shown == tiles_in(view)[6:]


def test_text_is_narrow() -> None:
    for view, board in [(position(), BOARD), (BLINDED, BOARD), *CROWDED]:
        assert max(map(len, draw_text(view, board, 1).splitlines())) <= 100


def test_text_of_a_position() -> None:
    links = {2: 14, 12: 16, 22: 26, 24: 4}
    partners = links | {other: one for one, other in links.items()}
    spaces = [
        Space(i // 8, (i - 1) % 8 + i // 8 * 8, (i + 1) % 8 + i // 8 * 8, partners.get(i), 0, 0)
        for i in range(32)
    ]
    board = Board("small", tuple(COLOURS), tuple(spaces), "")
    lying = {
        "1": {"tile": "red 2-4", "by": 0},
        "2": {"tile": "red 4-4", "by": 2},
        "3": {"tile": "red LINK-O", "by": 1},
        "14": {"tile": "blue LINK-O", "by": 0, "value": 4},
        "16": {"tile": "green LINK-O", "by": 1, "value": None},
    }
    assert draw_text(position(board=lying), board, 1) == TEXT


def test_svg_tells_scores_hands_and_what_happened() -> None:
    drawn = words(parsed(position(), BOARD))
    for phrase in (
        *("Player 0", "Player 1", "Player 2", "0", "31", "7", "5 tiles", "3 tiles", "9 tiles"),
        *("first turn due", "starter · drew 4 · passed", "40 tiles", "red, 4 of 16"),
        *("round 2, first to 64", "Last round: player 1 went out, 31 points"),
    ):
        assert phrase in drawn


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ["Player 1 to play", "places one tile"]),
        ({"first_turn": [True] * 3}, ["first turn: a double or a LINK-O"]),
        ({"board": {}}, ["opens with a double or a LINK-O on a connector"]),
        ({"seat": None, "winners": [2]}, ["Player 2 wins", "0 : 31 : 7"]),
        ({"seat": None, "winners": [0, 2]}, ["Players 0 and 2 win"]),
        ({"seat": None, "winners": [0, 1, 2]}, ["A draw"]),
        ({"options": {"target": 0, "circle_bonus": 0}}, ["a single round"]),
        (
            {"options": {"target": 64, "circle_bonus": 16}},
            ["round 2, first to 64, 16 for a full circle"],
        ),
        (
            {"last_round": {"winner": 0, "points": 1, "how": "blocked"}},
            ["Last round: blocked, player 0 had the lowest hand, 1 point"],
        ),
        (
            {"last_round": {"winner": None, "points": 0, "how": "blocked"}},
            ["Last round: blocked, tied for the lowest hand, 0 points each"],
        ),
    ],
)
def test_both_tell_the_turn_and_the_result(changes: Json, said: list[str]) -> None:
    text, drawn = draw_text(position(**changes), BOARD), words(parsed(position(**changes)))
    for words_ in said:
        assert words_ in text
        assert words_ in drawn


def test_no_last_round_in_the_first_one() -> None:
    view = position(last_round=None)
    assert "Last round" not in draw_text(view, BOARD)
    assert not any("Last round" in word for word in words(parsed(view)))


@pytest.mark.slow
def test_pictures_of_different_positions_differ() -> None:
    """They can be rasterised, and nothing that matters is lost in it."""
    lying = position()["board"]
    views = [
        position(),
        position(seat=0),
        position(board=lying | {"5": {"tile": "red 1-4", "by": 1}}),
        position(board=lying | {"5": {"tile": "red 4-1", "by": 0}}),
        position(board=lying | {"28": {"tile": "blue LINK-O", "by": 0, "value": None}}),
        position(hands=[6, *position()["hands"][1:]]),
        position(seat=None, winners=[1]),
    ]
    images = {rasterise(draw_svg(view, BOARD)).tobytes() for view in views}
    assert len(images) == len(views)
