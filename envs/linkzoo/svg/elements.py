"""SVG elements as strings, shared by the games' drawings.

Every function returns markup. It takes markup or, where documented, plain text, which it escapes.
Lengths are in user units: pixels, unless the picture is scaled. Keyword arguments become
attributes, such as `stroke_width=2` for `stroke-width="2"` or `class_`; `None` omits one.
"""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from xml.sax.saxutils import escape, quoteattr

Value = str | float | None

# `raster.py` bundles the first font; browsers may fall back to the others.
FONTS = "DejaVu Sans, Verdana, sans-serif"


def element(tag: str, *children: str, **attributes: Value) -> str:
    """Returns `<tag attributes>children</tag>`."""
    named = "".join(
        [_attribute(name, value) for name, value in attributes.items() if value is not None]
    )
    if not children:
        return f"<{tag}{named}/>"
    return f"<{tag}{named}>{''.join(children)}</{tag}>"


@lru_cache(maxsize=2**14, typed=True)  # a picture repeats most of its attributes
def _attribute(name: str, value: str | float) -> str:
    return f" {name.rstrip('_').replace('_', '-')}={quoteattr(_plain(value))}"


def rect(
    x: float, y: float, width: float, height: float, radius: float = 0, **attributes: Value
) -> str:
    """Returns a rectangle with upper left corner (x, y) and corners rounded by `radius`."""
    size = {"x": x, "y": y, "width": width, "height": height, "rx": radius or None}
    return element("rect", **size, **attributes)


def circle(x: float, y: float, radius: float, **attributes: Value) -> str:
    """Returns a circle around (x, y)."""
    return element("circle", cx=x, cy=y, r=radius, **attributes)


def path(*steps: str | float, **attributes: Value) -> str:
    """Returns a path; commands and numbers are separate arguments: `path("M", 0, 0, "h", 5)`."""
    return element("path", d=" ".join(map(_plain, steps)), **attributes)


def text(words: str, x: float, y: float, size: float, **attributes: Value) -> str:
    """Returns plain text of letter size `size`; its baseline starts at (x, y).

    `text_anchor="middle"` or `"end"` aligns the middle or the end instead.
    """
    return element("text", escape(words), x=x, y=y, font_size=size, **attributes)


def group(*children: str, **attributes: Value) -> str:
    """Returns a group of markup with shared attributes."""
    return element("g", *children, **attributes)


def described(name: str, words: str) -> str:
    """Returns a group's name and its description, for screen readers and tooltips."""
    return element("title", escape(name)) + element("desc", escape(words))


def document(
    width: float,
    height: float,
    title: str,
    *children: str,
    name: str = "text",
    dark: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Returns an SVG document.

    Args:
        width: The width.
        height: The height.
        title: Its plain-text description for screen readers.
        children: Its markup.
        name: The end of the name of the document's class, for the dark colours.
        dark: The dark colour for a light colour of `fill` and `stroke`, each as a hexadecimal
            number; other colours stay. CSS's `color-scheme` decides which apply: the scheme of the
            page around the SVG, or the reader's if the SVG stands alone. Pictures of pixels
            (`raster.py`) are always light.
    """
    rules = [
        f'.linkzoo-{name} [{attribute}="{light}"]{{{attribute}:light-dark({light},{other})}}'
        for light, other in dark.items()
        for attribute in ("fill", "stroke")
    ]
    style = ""
    if rules:
        style = element("style", "svg:root{color-scheme:light dark}", *rules)
    return element(
        "svg",
        element("title", escape(title)),
        style,
        *children,
        class_=f"linkzoo-{name}",
        xmlns="http://www.w3.org/2000/svg",
        width=width,
        height=height,
        viewBox=f"0 0 {_plain(width)} {_plain(height)}",
        role="img",
        font_family=FONTS,
    )


def _plain(value: str | float) -> str:
    """Formats a value: text unchanged, numbers with at most two decimals."""
    if isinstance(value, str):
        return value
    if type(value) is int:
        return str(value)
    return f"{value:.2f}".rstrip("0").rstrip(".")
