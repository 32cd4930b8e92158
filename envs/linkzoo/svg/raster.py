"""SVG to pixels, without a display and without the machine's fonts."""

from io import BytesIO

import numpy as np
import resvg_py
from numpy.typing import NDArray
from PIL import Image

from linkzoo.svg.letters import FOLDER

FONTS = [str(path) for path in sorted(FOLDER.glob("*.ttf"))]


def rasterise(svg: str, width: int | None = None) -> NDArray[np.uint8]:
    """The picture as RGB, uint8[height, width, 3], on white where it is transparent.

    `width` in pixels (None: the picture's own) scales it, the height with it. ValueError if `svg`
    is no SVG. Words are set in the package's own fonts only.
    """
    return np.array(Image.open(BytesIO(to_png(svg, width))).convert("RGB"))


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
