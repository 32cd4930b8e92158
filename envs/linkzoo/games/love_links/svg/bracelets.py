"""The bracelets, at the right of the picture."""

from linkzoo.games.love_links.describe import Chain, Json, bracelets, side_of, worth
from linkzoo.games.love_links.svg import style
from linkzoo.svg.elements import group, path, rect, text

_LEFT, _TOP = 372, style.MARGIN
_RIGHT, _BOTTOM = style.WIDTH - style.MARGIN, style.HEIGHT - style.MARGIN
_LABEL, _NOTE = 52, 86  # space before the first link and after the last one
_ROW = style.LINK_HEIGHT + 18  # line height, in a link's own units
_SCALES = (1.25, 1.1, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4)
_READABLE = 0.8  # prefer unbroken lines down to this scale


def draw_bracelets(position: Json) -> str:
    """Returns the bracelets' markup, each from key end to lock end, in lines."""
    chains = bracelets(position)
    lengths, aside = [len(chain) for chain in chains.values()], position["set_aside"]
    scale = _scale(lengths, _BOTTOM - _TOP - (54 if aside else 24))
    area = rect(_LEFT, _TOP, _RIGHT - _LEFT, _BOTTOM - _TOP, 14, fill="#efe7d6", data_part="new")
    markup, line = [area], 0
    for slot, chain in chains.items():
        markup.append(_bracelet(position, slot, chain, line, scale))
        line += _lines([len(chain)], scale)
    if aside:
        words = f"set aside: {' '.join(aside)}"
        markup.append(text(words, _LEFT + 10, _BOTTOM - 14, 13, fill=style.GREY))
    return "".join(markup)


def _scale(lengths: list[int], height: float) -> float:
    """Returns the scale that fits bracelets of these lengths, unbroken if still readable."""
    fitting = [s for s in _SCALES if _lines(lengths, s) * _ROW * s <= height] or [_SCALES[-1]]
    readable = [s for s in fitting if s >= _READABLE]
    return min(readable, key=lambda s: _lines(lengths, s)) if readable else fitting[0]


def _per_line(scale: float) -> int:
    return int((_RIGHT - _LEFT - _LABEL - _NOTE) / (style.LINK_WIDTH * scale))


def _lines(lengths: list[int], scale: float) -> int:
    """Returns the number of lines of bracelets of these lengths."""
    return sum(-(-length // _per_line(scale)) for length in lengths)


def _bracelet(position: Json, slot: int, chain: Chain, line: int, scale: float) -> str:
    links, x, y = [], 0.0, 0.0
    for index, (number, owner) in enumerate(chain):
        row, column = divmod(index, _per_line(scale))
        x = _LEFT + _LABEL + column * style.LINK_WIDTH * scale
        y = _TOP + 16 + (line + row) * _ROW * scale
        side = None if owner is None else side_of(position, owner)
        if row and not column:
            links.append(_continued(x - 18 * scale, y + style.LINK_HEIGHT * scale / 2))
        links.append(style.link(number, x, y, scale, side))
    first = _TOP + 16 + line * _ROW * scale + style.LINK_HEIGHT * scale / 2
    points = worth(position, chain)
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
    """Returns the clickable half of a link at an end of a bracelet."""
    height = style.LINK_HEIGHT * scale
    size = style.LINK_WIDTH * scale / 2, height
    return rect(left, middle - height / 2, *size, 6, fill_opacity=0, data_part=name)


def _continued(x: float, y: float) -> str:
    """Returns an arrow to (x, y) that continues the line above."""
    arrow = path("M", x - 16, y - 14, "v", 14, "h", 14, "m", -4, -4, "l", 4, 4, -4, 4)
    return group(arrow, fill="none", stroke=style.GREY, stroke_width=1.5)
