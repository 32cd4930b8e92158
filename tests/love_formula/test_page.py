"""The drawing of a page on a screen of 1280 x 800: sizes of letters and cards."""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from linkzoo import get_game
from linkzoo.games.love_formula.svg.page import WIDTH
from linkzoo.testing.play import positions

GAME = get_game("love_formula")
_SCREEN = (879, 736)  # of the board, beside score and log
_LETTERS = 12  # pixels
_CARD = 72  # height of a card to choose, and of a field


def letters(element: ElementTree.Element, scale: float = 1) -> Iterator[float]:
    """The letter sizes of an element's texts."""
    for factor in re.findall(r"scale\(([\d.]+)", element.get("transform", "")):
        scale *= float(factor)
    if element.tag.endswith("text") and (element.text or "").strip():
        yield scale * float(element.get("font-size", 0))
    for child in element:
        yield from letters(child, scale)


def heights(picture: ElementTree.Element) -> Iterator[float]:
    """The heights of cards that can be chosen, and of fields."""
    for part in picture.iter():
        if part.get("data-part", "").startswith("CARD ") or part.get("data-field"):
            frame = next(child for child in part.iter() if child.tag.endswith("rect"))
            yield float(frame.get("height", 0))


@pytest.mark.parametrize(
    "players", [4, *(pytest.param(number, marks=pytest.mark.slow) for number in (2, 3))]
)
def test_the_whole_table_is_read_and_hit_on_a_laptop(players: int) -> None:
    """Very many cards of four players are drawn smaller."""
    fitting = []
    for state in positions(GAME, players, {}, 0)[:-1:12]:
        picture = ElementTree.fromstring(GAME.draw_page(state, int(state["seat"])))  # noqa: S314
        width, height = (float(number) for number in str(picture.get("viewBox")).split()[2:])
        assert width == WIDTH
        scale = min(_SCREEN[0] / width, _SCREEN[1] / height)
        assert min(letters(picture)) >= _LETTERS
        fits = scale * min(letters(picture)) >= _LETTERS
        if fits and GAME.to_dict(state)["decision"] in ("DRAFT", "SELECT"):
            assert scale * min(heights(picture)) >= _CARD
        fitting.append(fits)
    assert sum(fitting) >= (1 if players < 4 else 0.9) * len(fitting)
