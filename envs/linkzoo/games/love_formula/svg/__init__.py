"""Love Formula as SVG: the fields at the left, the turn at the right."""

from linkzoo.games.love_formula import describe
from linkzoo.games.love_formula.cards import Cards
from linkzoo.games.love_formula.describe import Json, Table
from linkzoo.games.love_formula.svg import panel, style
from linkzoo.games.love_formula.svg.fields import Box, draw_field, room_for
from linkzoo.svg.elements import document, rect

_GAP = 10
_COLUMNS = {2: 1, 3: 1, 4: 2}  # columns of fields by number of players


def draw_svg(view: Json, cards: Cards, seat: int | None = None) -> str:
    """Returns the position as SVG of 1200 x 900 pixels, with the hands visible in the view.

    `seat` is marked as the viewing seat.
    """
    table = {card.name: card for card in cards.cards}
    boxes = enumerate(_boxes(view, table))
    return document(
        style.WIDTH,
        style.HEIGHT,
        f"Love Formula: {describe.turn(view)}",
        rect(0, 0, style.WIDTH, style.HEIGHT, fill=style.PAGE),
        *(draw_field(view, player, seat, table, box) for player, box in boxes),
        panel.draw_panel(view, table),
    )


def _boxes(view: Json, table: Table) -> list[Box]:
    """Returns the boxes of the fields; the height of a row depends on its content."""
    players, columns = view["num_players"], _COLUMNS[view["num_players"]]
    width = (style.WIDTH - 2 * style.MARGIN - panel.WIDTH - _GAP * columns) / columns
    needs = [room_for(view, player, table, width) for player in range(players)]
    rows = [max(needs[first : first + columns]) for first in range(0, players, columns)]
    share = (style.HEIGHT - 2 * style.MARGIN - _GAP * (len(rows) - 1)) / sum(rows)
    boxes, top = [], float(style.MARGIN)
    for row in rows:
        for column in range(columns):
            left = style.MARGIN + (width + _GAP) * column
            boxes.append(Box(left, top, width, row * share))
        top += row * share + _GAP
    return boxes
