"""Text widths in the bundled fonts, and fitting text into a width."""

from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import ImageFont

FOLDER = Path(__file__).parent / "fonts"
_UNITS = 2048  # font units per em, in which widths are integers


def width_of(words: str, size: float, bold: bool = False) -> float:
    """Returns the width of text at letter size `size`, without kerning."""
    return size * _ems(words, bold)


def fit(
    words: str, width: float, size: float, least: float, lines: int = 1, bold: bool = False
) -> tuple[list[str], float]:
    """Breaks text into lines, at the largest letter size that fits.

    Args:
        words: The text.
        width: The width of a line.
        size: The largest letter size; smaller ones are tried in steps of half a unit.
        least: The smallest letter size; lines that don't fit are cut off with an ellipsis.
        lines: The maximum number of lines.
        bold: Whether the text is bold.

    Returns:
        The lines and the letter size.
    """
    fitted, letters = _fitted(words, width, size, least, lines, bold)
    return list(fitted), letters


@lru_cache(1 << 12)  # pictures repeat most of their texts
def _fitted(
    words: str, width: float, size: float, least: float, lines: int, bold: bool
) -> tuple[tuple[str, ...], float]:
    while True:
        broken = _broken(words, width, size, lines, bold)
        if size <= least or all(width_of(line, size, bold) <= width for line in broken):
            return tuple(_cut(line, width, size, bold) for line in broken), size
        size = max(size - 0.5, least)


def _broken(words: str, width: float, size: float, lines: int, bold: bool) -> list[str]:
    """Breaks text greedily into lines of `width`; the last line holds the rest."""
    broken: list[str] = []
    for word in words.split():
        longer = " ".join([*broken[-1:], word])
        if broken and (len(broken) == lines or width_of(longer, size, bold) <= width):
            broken[-1] = longer
        else:
            broken.append(word)
    return broken


def _cut(words: str, width: float, size: float, bold: bool) -> str:
    """Cuts text off with an ellipsis if it is wider than `width`."""
    if width_of(words, size, bold) <= width:
        return words
    while words and width_of(f"{words}…", size, bold) > width:
        words = words[:-1]
    return f"{words.rstrip()}…"


@lru_cache(1 << 12)
def _ems(words: str, bold: bool) -> float:
    """Returns the width of text at letter size 1."""
    return sum(_em(letter, bold) for letter in words)


@lru_cache(1 << 12)
def _em(letter: str, bold: bool) -> float:
    """Returns the width of a letter at size 1, cached: the font takes ten times as long."""
    return _font(bold).getlength(letter) / _UNITS


@cache
def _font(bold: bool) -> "ImageFont.FreeTypeFont":
    from PIL import ImageFont  # only programs that draw load it

    name = "DejaVuSans.ttf"
    if bold:
        name = "DejaVuSans-Bold.ttf"
    return ImageFont.truetype(FOLDER / name, _UNITS, layout_engine=ImageFont.Layout.BASIC)
