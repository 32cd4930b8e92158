"""The picture of a Love Links position: the players at the left, the bracelets at the right."""

from linkzoo.svg.elements import document, group, path, rect, text
from linkzoo.games.love_links import style
from linkzoo.games.love_links.panel import draw_panel
from linkzoo.games.love_links.view import Chain, Json, bracelets, side_of, turn, worth

_LEFT, _TOP = 372, style.MARGIN
_RIGHT, _BOTTOM = style.WIDTH - style.MARGIN, style.HEIGHT - style.MARGIN
_LABEL, _NOTE = 52, 86  # before the first link, and behind the last one
_ROW = style.LINK_HEIGHT + 18  # from one line of links to the next, in a link's own units
_SCALES = (1.25, 1.1, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4)
_READABLE = 0.8  # scales from here on are chosen for few broken lines


def draw(view: Json) -> str:
    """The SVG document."""
    area = rect(_LEFT, _TOP, _RIGHT - _LEFT, _BOTTOM - _TOP, 14, fill="#efe7d6", data_part="new")
    return document(
        style.WIDTH,
        style.HEIGHT,
        f"Love Links: {turn(view)}",
        rect(0, 0, style.WIDTH, style.HEIGHT, fill=style.PAGE),
        area,
        _bracelets(view),
        _set_aside(view),
        draw_panel(view),
    )


def _bracelets(view: Json) -> str:
    """Each bracelet from its key end to its lock end, broken into lines where it is long."""
    chains = bracelets(view)
    lengths = [len(chain) for chain in chains.values()]
    scale = _scale(lengths, _room(view))
    markup, line = [], 0
    for slot, chain in chains.items():
        markup.append(_bracelet(view, slot, chain, line, scale))
        line += _lines([len(chain)], scale)
    return "".join(markup)


def _scale(lengths: list[int], room: float) -> float:
    """The scale at which bracelets of these lengths fit, whole if that keeps them readable."""
    fitting = [s for s in _SCALES if _lines(lengths, s) * _ROW * s <= room] or [_SCALES[-1]]
    readable = [s for s in fitting if s >= _READABLE]
    return min(readable, key=lambda s: _lines(lengths, s)) if readable else fitting[0]


def _room(view: Json) -> float:
    """The height that the bracelets may take."""
    return _BOTTOM - _TOP - (54 if view["set_aside"] else 24)


def _per_line(scale: float) -> int:
    return int((_RIGHT - _LEFT - _LABEL - _NOTE) / (style.LINK_WIDTH * scale))


def _lines(lengths: list[int], scale: float) -> int:
    """How many lines bracelets of these lengths take."""
    return sum(-(-length // _per_line(scale)) for length in lengths)


def _bracelet(view: Json, slot: int, chain: Chain, line: int, scale: float) -> str:
    links, x, y = [], 0.0, 0.0
    for index, (number, owner) in enumerate(chain):
        row, column = divmod(index, _per_line(scale))
        x = _LEFT + _LABEL + column * style.LINK_WIDTH * scale
        y = _TOP + 16 + (line + row) * _ROW * scale
        side = None if owner is None else side_of(view, owner)
        if row and not column:
            links.append(_continued(x - 18 * scale, y + style.LINK_HEIGHT * scale / 2))
        links.append(style.link(number, x, y, scale, side))
    first = _TOP + 16 + line * _ROW * scale + style.LINK_HEIGHT * scale / 2
    points = worth(view, chain)
    behind = x + style.LINK_WIDTH * scale + 10
    middle = y + style.LINK_HEIGHT * scale / 2
    closing = "" if points is None else text(f"worth {points}", behind, middle + 5, 13)
    return group(
        text(f"@{slot}", _LEFT + 10, first + 5, 14, fill=style.GREY),
        *links,
        _end(f"@{slot} key", _LEFT + _LABEL, first, scale),
        _end(f"@{slot} lock", x + style.LINK_WIDTH * scale / 2, middle, scale),
        group(closing, data_part=f"@{slot} close") if closing else "",
        fill=style.INK,
    )


def _end(name: str, left: float, middle: float, scale: float) -> str:
    """The half of a link at an end of a bracelet, to point at."""
    height = style.LINK_HEIGHT * scale
    size = style.LINK_WIDTH * scale / 2, height
    return rect(left, middle - height / 2, *size, 6, fill_opacity=0, data_part=name)


def _continued(x: float, y: float) -> str:
    """An arrow to (x, y): the line goes on from the end of the one above."""
    arrow = path("M", x - 16, y - 14, "v", 14, "h", 14, "m", -4, -4, "l", 4, 4, -4, 4)
    return group(arrow, fill="none", stroke=style.GREY, stroke_width=1.5)


def _set_aside(view: Json) -> str:
    """The links that found no free slot."""
    if not view["set_aside"]:
        return ""
    return text(
        f"set aside: {' '.join(view['set_aside'])}", _LEFT + 10, _BOTTOM - 14, 13, fill=style.GREY
    )
