"""The picture of a Love Formula position: the fields at the left, the turn at the right."""

from linkzoo.svg.elements import document, rect
from linkzoo.games.love_formula.drawing import panel, style
from linkzoo.games.love_formula.drawing.field import Box, draw_field, room_for
from linkzoo.games.love_formula.drawing.view import Json, Table, turn

_GAP = 10
_COLUMNS = {2: 1, 3: 1, 4: 2}  # of fields, by the number of players


def draw(view: Json, table: Table, seat: int | None) -> str:
    """The SVG document."""
    return document(
        style.WIDTH,
        style.HEIGHT,
        f"Love Formula: {turn(view)}",
        rect(0, 0, style.WIDTH, style.HEIGHT, fill=style.PAGE),
        *(
            draw_field(view, player, seat, table, box)
            for player, box in enumerate(_boxes(view, table))
        ),
        panel.draw_panel(view, table),
    )


def _boxes(view: Json, table: Table) -> list[Box]:
    """Where the fields lie: rows share the height as what lies in them needs it."""
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
