"""Love Links as SVG: the players at the left, the bracelets at the right."""

from linkzoo.core.state import Record
from linkzoo.games.love_links.describe import turn
from linkzoo.games.love_links.positions import to_dict
from linkzoo.games.love_links.svg import style
from linkzoo.games.love_links.svg.bracelets import draw_bracelets
from linkzoo.games.love_links.svg.panel import draw_panel
from linkzoo.svg.elements import document, rect


def draw_svg(state: Record, seat: int | None = None) -> str:
    """Returns the position as an SVG document of 1200 x 720 pixels; all seats see the same."""
    position = to_dict(state, seat)
    return document(
        style.WIDTH,
        style.HEIGHT,
        f"Love Links: {turn(position)}",
        rect(0, 0, style.WIDTH, style.HEIGHT, fill=style.PAGE),
        draw_bracelets(position),
        draw_panel(position),
    )
