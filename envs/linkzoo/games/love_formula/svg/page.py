"""The drawing for a page: fields and the cards under way, the viewing seat's cards below."""

from typing import NamedTuple

from linkzoo.games.love_formula.describe import Json, Table
from linkzoo.games.love_formula.svg import panel, style
from linkzoo.games.love_formula.svg.fields import Box, Look, draw_field
from linkzoo.games.love_formula.svg.hand import draw_hand
from linkzoo.games.love_formula.svg.layout import layouts
from linkzoo.games.love_formula.svg.style import PITCH
from linkzoo.svg.panel import moved

WIDTH = 878  # letters of 12 are 12 pixels high on a screen of 1280, beside score and log
_HEIGHT = 700  # of a picture with few cards
_SCREEN = 735  # most that a screen of 800 shows in full width
_FIELD_DECISIONS = "WINDOW MOVE_DEST DISCARD_MENU PLACE TARGET_PREP SWAP_OWN CHOICE".split()
_MARGIN = 8
_INNER = WIDTH - 2 * _MARGIN
_PANEL = panel.WIDTH + 2 * _MARGIN  # width of the panel with its margins
_SCALES = (1.4, 1.3, 1.2, 1.1, 1.0)
_LARGE = 1.2  # smallest scale with the texts of obstacles: their letters have 12
_LOW = (22, 19)  # smaller distances of strips in a dense picture
_COLUMN = 157  # minimum width of a column in a dense picture
_HEAD = 32  # height of a field's head there
_INSET = 3  # of the columns in a field there
_LETTERS = 12.05  # smallest letter size there
_NARROWEST = 166  # width of the narrowest fields


class _Arrangement(NamedTuple):
    """How a picture is arranged.

    Attributes:
        dense: Whether the panel is above the fields, which are narrow and have small strips.
        brief: Whether the hand has no texts, or short ones.
    """

    dense: bool
    brief: bool


def draw_content(view: Json, table: Table, seat: int | None) -> tuple[list[str], float]:
    """Returns the markup of the picture and its height.

    A picture that is too high for a screen leaves out the key, earlier discards, the texts of the
    hand, and the names of preparations of complete couples. Pointed at, cards show their texts.
    """
    for dense in (False, True):
        for brief in (False, True):
            drawn, height = _drawn(view, table, seat, _Arrangement(dense, brief))
            if height <= _SCREEN:
                return drawn, height
    return drawn, height


def _drawn(
    view: Json, table: Table, seat: int | None, arrangement: _Arrangement
) -> tuple[list[str], float]:
    """Returns the markup of the picture in an arrangement, and its height."""
    below = ""
    below_height = float(_MARGIN)
    if seat is not None and seat < view["num_players"]:  # no spectator
        below, height = draw_hand(view, seat, table, _INNER, brief=arrangement.brief)
        below_height += height
    choices, height = panel.draw_choices(view, table, _INNER)
    below += moved(choices, 0, below_height - _MARGIN)
    below_height += height
    if arrangement.dense:
        drawn, end = _dense(view, table, seat, below_height)
    else:
        drawn, end = _roomy(view, table, seat, below_height)
    drawn.append(moved(below, _MARGIN, end + _MARGIN))
    return drawn, end + below_height + _MARGIN


def _roomy(
    view: Json, table: Table, seat: int | None, below_height: float
) -> tuple[list[str], float]:
    """Returns large fields beside the panel, and their lower edge."""
    room = _HEIGHT - below_height - _MARGIN
    width = WIDTH - _PANEL - _MARGIN
    drawn, end = _fields(view, table, seat, _looks(seat), Box(_MARGIN, _MARGIN, width, room), room)
    side, side_end = panel.draw_beside(view, table, seat, end, room)
    drawn.append(moved(side, WIDTH - _PANEL + _MARGIN - panel.LEFT, 0))
    return drawn, max(end, side_end)


def _dense(
    view: Json, table: Table, seat: int | None, below_height: float
) -> tuple[list[str], float]:
    """Returns the panel above small fields, and their lower edge."""
    above, height = panel.draw_above(view, table, seat, _INNER)
    top = height + _MARGIN
    room = _HEIGHT - below_height - top - _MARGIN
    looks = _dense_looks(view, seat)
    most = _SCREEN - below_height - top - _MARGIN
    drawn, end = _fields(view, table, seat, looks, Box(_MARGIN, top, _INNER, room), most)
    return [moved(above, _MARGIN, 0), *drawn], end


def _order(view: Json, seat: int | None) -> list[int]:
    """Returns the players from the top on, the viewing seat's at the bottom."""
    players = view["num_players"]
    last = players - 1
    if seat is not None and seat < players:
        last = seat
    return [(last + step) % players for step in range(1, players + 1)]


def _looks(seat: int | None) -> list[Look]:
    """Returns looks of fields beside the panel, the largest first."""
    looks = [
        Look(
            scale,
            faces=seat is None,
            full=full,
            counted=True,
            held=seat is None,
            least=style.LEAST / scale,
        )
        for full in (True, False)
        for scale in _SCALES
        if scale >= _LARGE or not full
    ]
    return [*looks, looks[-1]._replace(titled=False)]


def _dense_looks(view: Json, seat: int | None) -> list[Look]:
    """Returns looks of fields in a dense picture, the largest first.

    Where a place of a field is chosen, strips stay as high as others.
    """
    pitches = [PITCH]
    if view["decision"] not in _FIELD_DECISIONS:
        pitches += _LOW
    return [
        Look(
            1,
            faces=False,
            counted=True,
            titled=False,
            held=seat is None,
            least=_LETTERS,
            pitch=pitch,
            column=_COLUMN,
            inset=_INSET,
            head=_HEAD,
            brief=brief,
        )
        for pitch in pitches
        for brief in (False, True)
    ]


def _fields(
    view: Json, table: Table, seat: int | None, looks: list[Look], area: Box, most: float
) -> tuple[list[str], float]:
    """Returns the fields with the largest look in the widest columns, and their lower edge.

    They fill the area, and may be `most` high, with the last look even higher.
    """
    order = _order(view, seat)
    narrow = int(area.width / _NARROWEST)
    for look in looks:
        columns = narrow if look.scale == 1 else 0
        ways = layouts(view, table, order, look, area.width, columns)
        layout = min(ways, key=lambda layout: layout.height)
        if ways[0].height <= most:
            layout = ways[0]
        if layout.height <= most:
            break
    boxes = layout.boxes(area.left, area.top, area.height)
    drawn = [
        draw_field(view, player, seat, table, box, look)
        for player, box in zip(order, boxes, strict=True)
    ]
    return drawn, max(box.top + box.height for box in boxes)
