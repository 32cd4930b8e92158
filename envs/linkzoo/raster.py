"""SVG to pixels, without a display and without the machine's fonts."""

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import resvg_py
from numpy.typing import NDArray

from linkzoo.compiled import compiled

FONTS = [str(path) for path in sorted((Path(__file__).parent / "fonts").glob("*.ttf"))]
_RGBA = 4  # bytes of a pixel in the PNG


def rasterise(svg: str, width: int | None = None) -> NDArray[np.uint8]:
    """The picture as RGB, uint8[height, width, 3], on white where it is transparent.

    `width` in pixels (None: the picture's own) scales it, the height with it. ValueError if `svg`
    is no SVG. Words are set in the package's own fonts only.
    """
    return decode_png(to_png(svg, width))[:, :, :3].copy()


def to_png(svg: str, width: int | None = None) -> bytes:
    """The picture of `rasterise` as a PNG file."""
    return resvg_py.svg_to_bytes(
        svg_string=svg,
        width=width,
        background="#ffffff",
        skip_system_fonts=True,
        font_files=FONTS,
        font_family="DejaVu Sans",
    )


def decode_png(png: bytes) -> NDArray[np.uint8]:
    """The pixels of an 8-bit RGBA PNG that isn't interlaced, uint8[height, width, 4]."""
    width, height, *layout = struct.unpack_from(">IIBBBBB", png, 16)
    if layout != [8, 6, 0, 0, 0]:
        raise ValueError(f"not an 8-bit RGBA PNG without interlacing: {layout}")
    data, start = b"", 33
    while start < len(png):
        length, kind = struct.unpack_from(">I4s", png, start)
        if kind == b"IDAT":
            data += png[start + 8 : start + 8 + length]
        start += 12 + length
    lines = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + _RGBA * width)
    image = np.zeros((height, _RGBA * width), np.uint8)
    _undo_filters(lines, image)
    return image.reshape(height, width, _RGBA)


@compiled
def _undo_filters(lines: Any, image: Any) -> None:
    """PNG specification, section 9: each line is a filter and differences to bytes nearby."""
    above = np.zeros_like(image[0])
    for line, row in zip(lines, image):  # noqa: B905 - Numba has no `strict`
        kind = line[0]
        row[:] = line[1:] + above if kind == 2 else line[1:]
        if kind in (1, 3, 4):
            for i in range(len(row)):
                left = np.int64(row[i - _RGBA]) if i >= _RGBA else 0
                corner = np.int64(above[i - _RGBA]) if i >= _RGBA else 0
                if kind == 1:
                    guess = left
                elif kind == 3:
                    guess = (left + np.int64(above[i])) // 2
                else:
                    guess = _paeth(left, np.int64(above[i]), corner)
                row[i] = (np.int64(row[i]) + guess) & 255
        above = row


@compiled
def _paeth(left: Any, up: Any, corner: Any) -> Any:
    """Whichever is nearest to left + up - corner, the first of equals."""
    by_left, by_up, by_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
    if by_left <= by_up and by_left <= by_corner:
        return left
    return up if by_up <= by_corner else corner
