"""Love Formula as SVG: the fields at the left, the turn at the right."""

from linkzoo.games.love_formula import describe
from linkzoo.games.love_formula.cards import Cards
from linkzoo.games.love_formula.describe import Json, Table
from linkzoo.games.love_formula.svg import fields, page, panel, style
from linkzoo.games.love_formula.svg.fields import Box, Look, draw_field, room_for
from linkzoo.svg.elements import document, rect
from linkzoo.svg.panel import TALL, moved

_GAP = 10
_COLUMNS = {2: 1, 3: 1, 4: 2}  # columns of fields by number of players


def draw_svg(view: Json, cards: Cards, seat: int | None = None) -> str:
    """Returns the position as SVG of 1200 x 900 pixels, with the hands visible in the view.

    `seat` is marked as the viewing seat.
    """
    table = Table(cards)
    boxes = enumerate(_boxes(view, table))
    drawn = [draw_field(view, player, seat, table, box) for player, box in boxes]
    panel_ = panel.draw_panel(view, table)
    return _document(view, style.WIDTH, style.HEIGHT, *drawn, panel_)


def draw_page(view: Json, cards: Cards, seat: int | None = None) -> str:
    """Returns the position for a page that shows the turn itself; 896 wide, about 700 high."""
    drawn, height = page.draw_content(view, Table(cards), seat)
    return _document(view, page.WIDTH, height, *drawn)


def draw_tall(view: Json, cards: Cards, seat: int | None = None) -> str:
    """Returns the position for a narrow screen, the own field and hand at the top."""
    table = Table(cards)
    players = view["num_players"]
    first = _first_player(view, seat)
    width = TALL - 8
    scale = (TALL - 12) / panel.WIDTH  # of the panel's parts
    left = 6 - scale * panel.LEFT
    drawn = []
    top = 4.0
    for step in range(players):
        player = (first + step) % players
        height = room_for(view, player, table, width, fields.TALL)
        box = Box(4, top, width, height)
        drawn.append(draw_field(view, player, seat, table, box, fields.TALL))
        top += height + 8
        if step == 0:
            turn, end = panel.draw_turn(view, table, 0)
            drawn.append(moved(turn, left, top, scale))
            top += end * scale
    piles, end = panel.draw_below(view, table)
    drawn.append(moved(piles, left, top, scale))
    return _document(view, TALL, top + end * scale, *drawn)


def _first_player(view: Json, seat: int | None) -> int:
    """Returns the player at the top: the viewing seat, else the seat to act, else 0."""
    if seat is not None:
        return seat
    return view["seat"] or 0


def _document(view: Json, width: float, height: float, *parts: str) -> str:
    title = f"Love Formula: {describe.turn(view)}"
    page = rect(0, 0, width, height, fill=style.PAGE)
    return document(width, height, title, page, *parts, name="love_formula", dark=style.DARK)


def _boxes(view: Json, table: Table) -> list[Box]:
    """Returns the boxes of the fields; the height of a row depends on its content."""
    players = view["num_players"]
    columns = _COLUMNS[players]
    width = (style.WIDTH - 2 * style.MARGIN - panel.WIDTH - _GAP * columns) / columns
    for faces in (True, False):
        look = Look(1, faces)
        needs = [room_for(view, player, table, width, look) for player in range(players)]
        rows = [max(needs[first : first + columns]) for first in range(0, players, columns)]
        share = (style.HEIGHT - 2 * style.MARGIN - _GAP * (len(rows) - 1)) / sum(rows)
        if share >= fields.FACES:
            break
    boxes = []
    top = float(style.MARGIN)
    for row in rows:
        for column in range(columns):
            left = style.MARGIN + (width + _GAP) * column
            boxes.append(Box(left, top, width, row * share))
        top += row * share + _GAP
    return boxes
