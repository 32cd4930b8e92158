"""Rasterises SVG without a display or system fonts."""

import re
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from linkzoo.svg.letters import FOLDER

_STYLE = re.compile("<style>.*?</style>", re.DOTALL)
FONTS = [str(path) for path in sorted(FOLDER.glob("*.ttf"))]


def rasterise(svg: str, width: int | None = None) -> NDArray[np.uint8]:
    """Renders an SVG on a white background, with the package's fonts only.

    Args:
        svg: The SVG document.
        width: Width in pixels, at the same aspect ratio; None for the SVG's own size.

    Returns:
        RGB pixels, uint8[height, width, 3].

    Raises:
        ValueError: `svg` isn't valid.
    """
    from PIL import Image  # only programs that draw load these packages

    return np.array(Image.open(BytesIO(to_png(svg, width))).convert("RGB"))


def to_png(svg: str, width: int | None = None) -> bytes:
    """Renders an SVG as a PNG file, without the colours of the dark; see `rasterise`."""
    import resvg_py

    return resvg_py.svg_to_bytes(
        svg_string=_STYLE.sub("", svg, count=1),
        width=width,
        background="#ffffff",
        skip_system_fonts=True,
        font_files=FONTS,
        font_family="DejaVu Sans",
    )
