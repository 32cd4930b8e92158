"""LINK-O as text and as a picture, from what `to_dict` says of it."""

import json
from collections.abc import Mapping
from typing import Any

from linkzoo.svg import document, text


def draw_text(view: Mapping[str, Any], seat: int | None = None) -> str:
    """The position as lines of text."""
    return "\n".join(f"{name}: {json.dumps(value)}" for name, value in view.items()) + "\n"


def draw_svg(view: Mapping[str, Any], seat: int | None = None) -> str:
    """The position as an SVG document."""
    lines = draw_text(view, seat).splitlines()
    return document(
        1200,
        40 + 24 * len(lines),
        "LINK-O",
        *(text(line, 20, 40 + 24 * row, 14) for row, line in enumerate(lines)),
    )
