"""The bracelets, each from key end to lock end, in lines."""

from dataclasses import dataclass

from linkzoo.games.love_links.components import LINK_TEXTS
from linkzoo.games.love_links.describe import Chain, Json, bracelets, side_of, worth
from linkzoo.games.love_links.svg import style
from linkzoo.svg.elements import group, path, rect, text
from linkzoo.svg.letters import fit
from linkzoo.svg.panel import GREY, INK

_LABEL = 46  # space before the first disc
_ROW = style.LINK_HEIGHT + 16  # line height, in a link's own units
_SCALES = (1.5, 1.4, 1.3, 1.2, 1.1, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4)
_TALL = 0.795  # the scale in the drawing for narrow screens
_ASIDE = 30  # height of the line for links set aside


@dataclass(frozen=True)
class Layout:
    """The area of the bracelets, and their scale.

    Attributes:
        left: The left edge.
        top: The upper edge.
        width: The width of the area.
        height: The height of the area.
        scale: The scale of the links; a line has `per_line` of them.
    """

    left: float
    top: float
    width: float
    height: float
    scale: float

    @classmethod
    def fitting(cls, view: Json, left: float, top: float, width: float, height: float) -> "Layout":
        """Returns the layout with the largest scale at which everything fits."""
        for scale in _SCALES:
            layout = cls(left, top, width, height, scale)
            if layout.needed(view) <= height:
                break
        return layout

    @classmethod
    def tall(cls, view: Json, left: float, top: float, width: float) -> "Layout":
        """Returns the layout as high as needed."""
        height = cls(left, top, width, 0, _TALL).needed(view)
        return cls(left, top, width, height, _TALL)

    @property
    def label(self) -> float:
        """The space before the first link, whose disc reaches into it."""
        return _LABEL + style.KEY_RADIUS * self.scale

    @property
    def per_line(self) -> int:
        """The number of links in a line."""
        return int((self.width - self.label - 8) / (style.LINK_WIDTH * self.scale))

    def lines(self, length: int) -> int:
        """Returns the number of lines of a bracelet."""
        return -(-length // self.per_line)

    def needed(self, view: Json) -> float:
        """Returns the height of all bracelets."""
        lines = sum(self.lines(len(chain)) for chain in bracelets(view).values())
        height = 12 + lines * _ROW * self.scale
        if view["set_aside"]:
            height += _ASIDE
        return height


def draw_bracelets(position: Json, layout: Layout, closed_length: int) -> str:
    """Returns the bracelets' markup; a completed one has at least `closed_length` links."""
    box = (layout.left, layout.top, layout.width, layout.height)
    markup = [rect(*box, 14, fill=style.TABLE, data_part="new")]
    line = 0
    for slot, chain in bracelets(position).items():
        points = worth(position, chain, closed_length)
        markup.append(_bracelet(position, slot, chain, points, line, layout))
        line += layout.lines(len(chain))
    if position["set_aside"]:
        words = f"set aside: {' '.join(position['set_aside'])}"
        bottom = layout.top + layout.height - 12
        markup.append(text(words, layout.left + 10, bottom, 13, fill=GREY))
    return "".join(markup)


def _bracelet(
    position: Json, slot: int, chain: Chain, points: int | None, line: int, layout: Layout
) -> str:
    """Returns a bracelet from a line on, with its label and clickable ends.

    Closing it brings `points`; None if it is too short.
    """
    scale = layout.scale
    links = []
    x = 0.0
    y = 0.0
    for index, (number, owner) in enumerate(chain):
        row, column = divmod(index, layout.per_line)
        x = layout.left + layout.label + column * style.LINK_WIDTH * scale
        y = layout.top + 12 + (line + row) * _ROW * scale
        if row > 0 and column == 0:
            links.append(_continued(x - 18 * scale, y + style.LINK_HEIGHT * scale / 2))
        side = None
        if owner is not None:
            side = side_of(position, owner)
        link = style.link(number, x, y, scale, side)
        links.append(group(link, data_item=f"@{slot} {LINK_TEXTS[number]}"))
    first = layout.top + 12 + line * _ROW * scale
    return group(
        *links,
        _label(slot, points, layout.left, first, scale),
        _end(f"@{slot} key", layout.left + _LABEL, first, scale),
        _end(f"@{slot} lock", x + style.LINK_WIDTH * scale / 2, y, scale),
        fill=INK,
    )


def _label(slot: int, points: int | None, left: float, top: float, scale: float) -> str:
    """Returns a bracelet's name and, if it is long enough, the points for closing it."""
    height = style.LINK_HEIGHT * scale
    if points is None:
        return text(f"@{slot}", left + 5, top + height / 2 + 5, 14, fill=GREY)
    (words,), size = fit(f"+{points}", _LABEL - 7, 14, 12.5, bold=True)
    closing = text(words, left + 5, top + height / 2 + 15, size, font_weight="bold")
    return group(
        rect(left + 2, top - 4, _LABEL - 4, height + 8, 6, fill_opacity=0),
        text(f"@{slot}", left + 5, top + height / 2 - 2, 14, fill=GREY),
        closing,
        data_part=f"@{slot} close",
    )


def _end(name: str, left: float, top: float, scale: float) -> str:
    """Returns the clickable half of a link at an end of a bracelet, the key's disc included."""
    width = style.LINK_WIDTH / 2
    if name.endswith("key"):
        width += style.KEY_RADIUS
    return rect(
        left, top, scale * width, style.LINK_HEIGHT * scale, 6, fill_opacity=0, data_part=name
    )


def _continued(x: float, y: float) -> str:
    """Returns an arrow to (x, y) that continues the line above."""
    arrow = path("M", x - 16, y - 14, "v", 14, "h", 14, "m", -4, -4, "l", 4, 4, -4, 4)
    return group(arrow, fill="none", stroke=GREY, stroke_width=1.5)
