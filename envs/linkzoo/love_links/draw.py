"""Love Links as text and as a picture."""

from linkzoo.compiled import Record


def draw_svg(state: Record, seat: int | None = None) -> str:
    """The position as an SVG document."""
    raise NotImplementedError


def draw_text(state: Record, seat: int | None = None) -> str:
    """The position as lines of text."""
    raise NotImplementedError
