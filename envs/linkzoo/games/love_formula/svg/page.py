"""The drawing for a page: fields and the cards under way, the viewing seat's cards below."""

from typing import NamedTuple

from linkzoo.games.love_formula.describe import Json, Table
from linkzoo.games.love_formula.svg import panel, style
from linkzoo.games.love_formula.svg.fields import Box, Look, draw_field, room_for
from linkzoo.games.love_formula.svg.hand import draw_hand
from linkzoo.svg.panel import moved

WIDTH = 878  # letters of 12 are 12 pixels high on a screen of 1280, beside score and log
_HEIGHT = 700  # of a picture with few cards; a screen of 800 has room for 736
_MARGIN = 8
_PANEL = panel.WIDTH + 2 * _MARGIN  # width of the panel with its margins
_SCALES = (1.4, 1.3, 1.2, 1.1, 1.0)
_LARGE = 1.2  # smallest scale with the texts of obstacles: their letters have 12


def draw_content(view: Json, table: Table, seat: int | None) -> tuple[list[str], float]:
    """Returns the markup of the picture and its height, which grows with many cards."""
    hand = ""
    hand_height = 0.0
    if seat is not None and seat < view["num_players"]:  # no spectator
        hand, hand_height = draw_hand(view, seat, table, WIDTH - 2 * _MARGIN)
    room = _HEIGHT - hand_height - 2 * _MARGIN
    order = _order(view, seat)
    boxes, looks = _boxes(view, table, order, room, seat)
    fields_end = max(box.top + box.height for box in boxes)
    drawn = [
        draw_field(view, player, seat, table, box, look)
        for player, box, look in zip(order, boxes, looks, strict=True)
    ]
    side, side_end = panel.draw_beside(view, table, seat, fields_end, room)
    drawn.append(moved(side, WIDTH - _PANEL + _MARGIN - panel.LEFT, 0))
    top = max(fields_end, side_end)
    drawn.append(moved(hand, _MARGIN, top + _MARGIN))
    return drawn, top + hand_height + 2 * _MARGIN


def _order(view: Json, seat: int | None) -> list[int]:
    """Returns the players from the top on, the viewing seat's at the bottom."""
    players = view["num_players"]
    last = players - 1
    if seat is not None and seat < players:
        last = seat
    return [(last + step) % players for step in range(1, players + 1)]


def _boxes(
    view: Json, table: Table, order: list[int], room: float, seat: int | None
) -> tuple[list[Box], list[Look]]:
    """Returns the boxes of the fields and their looks: the largest ones, in the widest columns.

    With the smallest looks the boxes can need more than `room`.
    """
    looks = [
        Look(scale, faces=seat is None, full=full, counted=True, least=style.LEAST / scale)
        for full in (True, False)
        for scale in _SCALES
        if scale >= _LARGE or not full
    ]
    looks.append(looks[-1]._replace(titled=False))
    for look in looks:
        groupings = _groupings(order, narrow=look.scale == min(_SCALES))
        layouts = [_layout(view, table, rows, look, seat) for rows in groupings]
        layout = min(layouts, key=lambda layout: layout.height)
        if layouts[0].height <= room:
            layout = layouts[0]
        if layout.height <= room:
            break
    return layout.boxes(room), [_look_of(look, player, seat) for player in order]


def _groupings(order: list[int], *, narrow: bool) -> list[list[list[int]]]:
    """Returns ways to share rows between the fields, wide ones and, if wanted, narrow ones."""
    if len(order) == 2:
        numbers = [1]
    elif narrow:
        numbers = [2, 3]
    else:
        numbers = [2]
    return [
        [order[first : first + columns] for first in range(0, len(order), columns)]
        for columns in numbers
    ]


class _Layout(NamedTuple):
    """Rows of fields.

    Attributes:
        columns: The number of fields in each row.
        heights: The height of each row.
    """

    columns: list[int]
    heights: list[float]

    @property
    def height(self) -> float:
        """The height of all rows."""
        return sum(self.heights) + _MARGIN * (len(self.heights) - 1)

    def boxes(self, room: float) -> list[Box]:
        """Returns the boxes of the fields, which fill the room if there is more."""
        gaps = self.height - sum(self.heights)
        share = max((room - gaps) / sum(self.heights), 1)
        boxes = []
        top = float(_MARGIN)
        for columns, height in zip(self.columns, self.heights, strict=True):
            width = _width(columns)
            for column in range(columns):
                left = _MARGIN + (width + _MARGIN) * column
                boxes.append(Box(left, top, width, height * share))
            top += height * share + _MARGIN
        return boxes


def _width(columns: int) -> float:
    """Returns the width of a field in a row."""
    return (WIDTH - _PANEL - _MARGIN * columns) / columns


def _layout(
    view: Json, table: Table, rows: list[list[int]], look: Look, seat: int | None
) -> _Layout:
    """Returns rows of fields with the height that they need with a look."""
    heights = [
        max(
            room_for(view, player, table, _width(len(row)), _look_of(look, player, seat))
            for player in row
        )
        for row in rows
    ]
    return _Layout([len(row) for row in rows], heights)


def _look_of(look: Look, player: int, seat: int | None) -> Look:
    """Returns the look of a player's field: the viewing seat's cards are below the fields."""
    return look._replace(held=player != seat)
