"""Pixels of a drawing: the PNG decoder, the bundled fonts, sizes."""

import struct
import zlib

import numpy as np
import pytest
from numpy.typing import NDArray

from linkzoo import raster, svg
from linkzoo.raster import decode_png, rasterise, to_png


def sample(*markup: str) -> str:
    return svg.document(80, 40, "sample", *markup)


def predicted(kind: int, left: int, up: int, corner: int) -> int:
    """What a PNG filter subtracts (PNG specification, section 9.2)."""
    if kind == 4:
        near = left + up - corner
        return min((left, up, corner), key=lambda value: abs(near - value))
    return [0, left, up, (left + up) // 2][kind]


def encode(pixels: NDArray[np.uint8], kinds: list[int], depth: int = 8) -> bytes:
    """A PNG of uint8[height, width, 4]; one filter a line."""
    height, width, _ = pixels.shape
    padded = np.zeros((height + 1, 4 * width + 4), int)
    padded[1:, 4:] = pixels.reshape(height, -1)
    data = b""
    for y, kind in enumerate(kinds, 1):
        line = [
            (
                padded[y, x]
                - predicted(kind, padded[y, x - 4], padded[y - 1, x], padded[y - 1, x - 4])
            )
            % 256
            for x in range(4, 4 * width + 4)
        ]
        data += bytes([kind, *line])
    packed = zlib.compress(data)
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, depth, 6, 0, 0, 0)),
        (b"IDAT", packed[:50]),
        (b"IDAT", packed[50:]),
        (b"IEND", b""),
    ]
    chunks = [struct.pack(">I", len(d)) + name + d + bytes(4) for name, d in parts]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def test_decoder_undoes_every_filter() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (25, 9, 4), np.uint8)
    kinds = list(range(5)) + [k for a in range(5) for k in (a, (a * 2 + 1) % 5)] * 2
    assert set(kinds) == set(range(5))
    np.testing.assert_array_equal(decode_png(encode(pixels, kinds)), pixels)


def test_decoder_refuses_what_it_cannot_read() -> None:
    with pytest.raises(ValueError, match="8-bit RGBA"):
        decode_png(encode(np.zeros((1, 1, 4), np.uint8), [0], depth=16))


def test_picture_has_the_size_and_the_colours_of_the_drawing() -> None:
    image = rasterise(sample(svg.rect(0, 0, 40, 40, fill="#102030")))
    assert image.shape == (40, 80, 3)
    assert image.dtype == np.uint8
    assert (image[:, :40] == [0x10, 0x20, 0x30]).all()
    assert (image[:, 40:] == 255).all()  # white where the drawing is transparent


@pytest.mark.parametrize(("width", "shape"), [(40, (20, 40, 3)), (160, (80, 160, 3))])
def test_width_scales_the_height_too(width: int, shape: tuple[int, ...]) -> None:
    assert rasterise(sample(), width).shape == shape


def test_same_drawing_gives_the_same_bytes() -> None:
    drawing = sample(svg.text("Linkage", 2, 20, 16), svg.circle(60, 20, 9.5))
    assert to_png(drawing) == to_png(drawing)


def test_words_are_set_in_the_bundled_fonts_only(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, bold = (
        rasterise(sample(svg.text("Linkage", 2, 20, 16, font_weight=weight)))
        for weight in ("normal", "bold")
    )
    assert (plain < 128).any()
    assert (plain != bold).any()
    monkeypatch.setattr(raster, "FONTS", [])
    assert (rasterise(sample(svg.text("Linkage", 2, 20, 16))) == 255).all()


def test_words_without_a_font_are_set_in_ours() -> None:
    drawing = sample(svg.text("Linkage", 2, 20, 16))
    plain = drawing.replace(f' font-family="{svg.FONTS}"', "")
    assert plain != drawing
    np.testing.assert_array_equal(rasterise(plain), rasterise(drawing))


@pytest.mark.parametrize("weight", ["normal", "bold"])
def test_fonts_have_the_symbols_of_the_drawings(weight: str) -> None:
    def picture(letter: str) -> bytes:
        return rasterise(sample(svg.text(letter, 2, 30, 30, font_weight=weight))).tobytes()

    missing = picture("\u4e2d")
    assert all(picture(letter) != missing for letter in "AZaz09≥≤×·●★←→↑↓…“”₁²√♥♠")


def test_no_drawing_is_a_value_error() -> None:
    with pytest.raises(ValueError, match=r"."):
        rasterise("<svg")


def test_words_and_attributes_are_escaped() -> None:
    assert (
        svg.text("a<b & c", 0, 0, 1.5) == '<text x="0" y="0" font-size="1.5">a&lt;b &amp; c</text>'
    )
    assert svg.element("g", id='"&') == "<g id='\"&amp;'/>"
    assert svg.rect(0, 1 / 3, 2, 3, fill=None) == '<rect x="0" y="0.33" width="2" height="3"/>'
