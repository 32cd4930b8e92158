"""The drawing for a page: fields and the cards under way, the viewing seat's cards below."""

from linkzoo.games.love_formula.describe import Json, Table
from linkzoo.games.love_formula.svg import panel
from linkzoo.games.love_formula.svg.fields import Box, Look, draw_field, room_for
from linkzoo.games.love_formula.svg.hand import draw_hand
from linkzoo.svg.panel import moved

WIDTH = 896  # letters of 12 are 12 pixels high on a screen of 1280, beside score and log
_HEIGHT = 700  # of a picture with few cards
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
    side, side_end = panel.draw_beside(view, table, fields_end)
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
    """Returns the boxes of the fields, in one or two columns, and their looks: the largest ones.

    With the smallest looks the boxes can need more than `room`.
    """
    columns = 1
    if len(order) > 3:
        columns = 2
    width = (WIDTH - _PANEL - _MARGIN * columns) / columns
    looks = [
        Look(scale, faces=seat is None, full=full, least=12 / scale)
        for full in (True, False)
        for scale in _SCALES
        if scale >= _LARGE or not full
    ]
    for look in looks:
        looks_of = [look._replace(held=player != seat) for player in order]
        needs = [
            room_for(view, player, table, width, own)
            for player, own in zip(order, looks_of, strict=True)
        ]
        rows = [max(needs[first : first + columns]) for first in range(0, len(needs), columns)]
        share = (room - _MARGIN * (len(rows) - 1)) / sum(rows)
        if share >= 1:
            break
    boxes = []
    top = float(_MARGIN)
    for row in rows:
        for column in range(columns):
            left = _MARGIN + (width + _MARGIN) * column
            boxes.append(Box(left, top, width, row * max(share, 1)))
        top += row * max(share, 1) + _MARGIN
    return boxes, looks_of
