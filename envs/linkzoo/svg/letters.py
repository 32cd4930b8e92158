"""How wide words are in the bundled fonts, and how much of them fits into a width."""

from functools import cache, lru_cache
from pathlib import Path

from PIL import ImageFont

FOLDER = Path(__file__).parent / "fonts"
_UNITS = 2048  # of the fonts in an em: at this size their widths are whole numbers


def width_of(words: str, size: float, bold: bool = False) -> float:
    """The width of words in letters of `size`, in the same units; kerning is left out."""
    return size * _ems(words, bold)


def fit(
    words: str, width: float, size: float, least: float, lines: int = 1, bold: bool = False
) -> tuple[list[str], float]:
    """The words in at most so many lines of `width`, and the size of their letters.

    That is `size`, or the first smaller one, by half units down to `least`, at which all words fit;
    if there is none, lines are cut off behind an ellipsis.
    """
    while True:
        found = _broken(words, width, size, lines, bold)
        if size <= least or all(width_of(line, size, bold) <= width for line in found):
            return [_cut(line, width, size, bold) for line in found], size
        size = max(size - 0.5, least)


def _broken(words: str, width: float, size: float, lines: int, bold: bool) -> list[str]:
    """The words in lines, each as full as `width` allows; the last one has all that is left."""
    found: list[str] = []
    for word in words.split():
        longer = f"{found[-1]} {word}" if found else ""
        if found and (len(found) == lines or width_of(longer, size, bold) <= width):
            found[-1] = longer
        else:
            found.append(word)
    return found


def _cut(words: str, width: float, size: float, bold: bool) -> str:
    """The words, cut off behind an ellipsis if they are wider than `width`."""
    if width_of(words, size, bold) <= width:
        return words
    while words and width_of(f"{words}…", size, bold) > width:
        words = words[:-1]
    return f"{words.rstrip()}…"


@lru_cache(1 << 12)
def _ems(words: str, bold: bool) -> float:
    """The width of words in letters of size 1."""
    return sum(_font(bold).getlength(letter) / _UNITS for letter in words)


@cache
def _font(bold: bool) -> ImageFont.FreeTypeFont:
    path = FOLDER / f"DejaVuSans{'-Bold' * bold}.ttf"
    return ImageFont.truetype(path, _UNITS, layout_engine=ImageFont.Layout.BASIC)
