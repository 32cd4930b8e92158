"""How wide words are in the bundled fonts, and how much of them fits into a width."""

import struct
from functools import cache, lru_cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "fonts"


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
    widths = _widths(bold)
    return sum(widths.get(ord(letter), widths[-1]) for letter in words)


@cache
def _widths(bold: bool) -> dict[int, float]:
    """By character, in ems; -1: one that the font lacks (OpenType: cmap format 4, hmtx)."""
    data = (_FOLDER / f"DejaVuSans{'-Bold' * bold}.ttf").read_bytes()

    def numbers(start: int, count: int = 1, kind: str = "H") -> tuple[int, ...]:
        return struct.unpack_from(f">{count}{kind}", data, start)

    at: dict[bytes, int] = {}
    for entry in range(numbers(4)[0]):
        tag, _, start, _ = struct.unpack_from(">4sIII", data, 12 + 16 * entry)
        at[tag] = start
    ems = numbers(at[b"head"] + 18)[0]
    advances = numbers(at[b"hmtx"], 2 * numbers(at[b"hhea"] + 34)[0])[::2]
    cmap = at[b"cmap"] + numbers(at[b"cmap"] + 8, kind="I")[0]
    segments = numbers(cmap + 6)[0] // 2
    ends, starts, deltas, offsets = (
        numbers(cmap + where + 2 * part * segments, segments)
        for part, where in enumerate((14, 16, 16, 16))
    )
    found = {-1: advances[0] / ems}
    for place, (first, last) in enumerate(zip(starts, ends, strict=True)):
        for letter in range(first, last + 1):
            glyph = letter
            if offsets[place]:
                table = cmap + 16 + 2 * (3 * segments + place)
                glyph = numbers(table + offsets[place] + 2 * (letter - first))[0]
            glyph = (glyph + deltas[place]) % 65536 if glyph else 0
            found[letter] = advances[min(glyph, len(advances) - 1)] / ems
    return found
