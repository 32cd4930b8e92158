"""Pixels of a drawing: the bundled fonts, sizes."""

import numpy as np
import pytest

from linkzoo.svg import elements as svg
from linkzoo.svg import raster
from linkzoo.svg.raster import rasterise, to_png


def sample(*markup: str) -> str:
    return svg.document(80, 40, "sample", *markup)


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
