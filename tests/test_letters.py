"""Widths of words in the bundled fonts are those of the picture; words are fitted into widths."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkzoo.core.defaults import make_svg
from linkzoo.svg import elements as svg
from linkzoo.svg.letters import fit, width_of
from linkzoo.svg.raster import rasterise

WORDS = st.text(st.characters(codec="latin-1", exclude_categories=["C"]), max_size=40)
WIDTHS = st.floats(30, 300)


def inked(words: str, size: float, bold: bool) -> int:
    """The width of words between two marks, in pixels, measured in a picture."""
    look = {"font_weight": "bold" if bold else "normal"}
    ends = []
    for line in (f"{words}I", "I"):
        drawn = svg.document(1200, 60, "sample", svg.text(line, 0, 45, size, **look))
        ends.append(int(np.flatnonzero((rasterise(drawn) < 128).any(axis=(0, 2)))[-1]))
    return ends[0] - ends[1]


@pytest.mark.parametrize("bold", [False, True])
@pytest.mark.parametrize(
    "words",
    ["Matchmaker's Intuition", "×9 ∞ ♥★→…", "Café Größe", "III", "WWWW mmm", "\u4e2d\u4e2d"],
)
def test_widths_are_those_of_the_picture(words: str, bold: bool) -> None:
    """But for kerning."""
    assert width_of(words, 40, bold) == pytest.approx(inked(words, 40, bold), abs=4)


@pytest.mark.slow
@given(WORDS, WIDTHS, st.integers(1, 3), st.booleans())
def test_what_is_fitted_fits(words: str, width: float, lines: int, bold: bool) -> None:
    text, size = fit(words, width, 12, 9, lines, bold)
    assert len(text) <= lines
    assert 9 <= size <= 12
    assert all(width_of(line, size, bold) <= width for line in text)
    if size > 9:
        assert " ".join(text).split() == words.split()


@pytest.mark.slow
@given(WORDS)
def test_what_fits_is_left_as_it_is(words: str) -> None:
    line = " ".join(words.split())
    wide = width_of(line, 12) + 1
    assert fit(words, wide, 12, 9) == ([line] if line else [], 12)


def test_letters_shrink_before_words_are_cut() -> None:
    name = "Embarrassing Accident"
    room = width_of(name, 10.4)
    assert fit(name, room, 12, 9) == ([name], 10)
    (cut,), size = fit(name, room, 12, 11)
    assert size == 11
    assert cut.endswith("…")
    assert name.startswith(cut[:-1])
    assert fit(name, room, 12, 11, lines=2) == (["Embarrassing", "Accident"], 12)


@pytest.mark.parametrize("letter", list("iIl.|jfrtaemwMWQ@%0#\u00c5"))
def test_a_text_is_drawn_in_columns(letter: str) -> None:
    """The picture of an own game's text: every letter is in the middle of its column."""
    draw = make_svg("sample", lambda *_: f"H{letter * 3}H\n")
    inked = np.flatnonzero((rasterise(draw(np.zeros(1)[0])) < 128).any(axis=(0, 2)))
    columns = [inked[(inked >= 10 * (1 + c)) & (inked < 10 * (2 + c))] for c in range(5)]
    for column, pixels in enumerate(columns[1:4], 1):
        assert len(pixels) >= 1
        assert (pixels[0] + pixels[-1] + 1) / 2 == pytest.approx(10 * (1.5 + column), abs=2)
    assert inked[0] >= 10
    assert inked[-1] < 60
