"""SVG as strings: what the games' drawings are made of.

Every function returns markup. It takes markup or, where it says so, plain words, which it escapes.
Lengths are in user units: pixels, unless the picture is scaled. Keyword arguments are attributes,
`stroke_width=2` for `stroke-width="2"`; one that is `None` is left out.
"""

import re
from xml.sax.saxutils import escape, quoteattr

Value = str | float | None

_SPECIAL = re.compile(r"[&<>\"\n\r\t]")  # what an attribute can't hold as it is

# `raster.py` brings the first of these; a browser may have to take another.
FONTS = "DejaVu Sans, Verdana, sans-serif"


def element(tag: str, *children: str, **attributes: Value) -> str:
    """`<tag attributes>children</tag>`."""
    named = "".join(
        f" {name.replace('_', '-')}={_quoted(value)}"
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{named}>{''.join(children)}</{tag}>" if children else f"<{tag}{named}/>"


def rect(
    x: float, y: float, width: float, height: float, radius: float = 0, **attributes: Value
) -> str:
    """A rectangle with its upper left corner at (x, y), its corners rounded by `radius`."""
    size = {"x": x, "y": y, "width": width, "height": height, "rx": radius or None}
    return element("rect", **size, **attributes)


def circle(x: float, y: float, radius: float, **attributes: Value) -> str:
    """A circle around (x, y)."""
    return element("circle", cx=x, cy=y, r=radius, **attributes)


def path(*steps: str | float, **attributes: Value) -> str:
    """A path; letters and numbers may be given one by one: `path("M", 0, 0, "h", 5)`."""
    return element("path", d=" ".join(map(_plain, steps)), **attributes)


def text(words: str, x: float, y: float, size: float, **attributes: Value) -> str:
    """Plain words in letters of `size`, their baseline starting at (x, y).

    `text_anchor="middle"` or `"end"` puts their middle or end there.
    """
    return element("text", escape(words), x=x, y=y, font_size=size, **attributes)


def group(*children: str, **attributes: Value) -> str:
    """Markup that shares attributes."""
    return element("g", *children, **attributes)


def document(width: float, height: float, title: str, *children: str) -> str:
    """A whole picture; `title` is plain words for those who can't see it."""
    return element(
        "svg",
        element("title", escape(title)),
        *children,
        xmlns="http://www.w3.org/2000/svg",
        width=width,
        height=height,
        viewBox=f"0 0 {_plain(width)} {_plain(height)}",
        role="img",
        font_family=FONTS,
    )


def _plain(value: str | float) -> str:
    """A word as it is, a number with at most two decimals."""
    if isinstance(value, str):
        return value
    return str(value) if type(value) is int else f"{value:.2f}".rstrip("0").rstrip(".")


def _quoted(value: str | float) -> str:
    """An attribute's value; few hold what has to be escaped."""
    plain = _plain(value)
    return quoteattr(plain) if _SPECIAL.search(plain) else f'"{plain}"'
