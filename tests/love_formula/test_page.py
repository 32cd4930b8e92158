"""The drawing of a page on a screen of 1280 x 800: sizes of letters and cards."""

import re
from collections.abc import Iterator
from xml.etree import ElementTree

import numpy as np
import pytest

from linkzoo.games.love_formula.svg.page import WIDTH
from linkzoo.testing.play import positions
from tests.love_formula.helpers import GAME, TABLE, legal_list, position, read

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


def check(state: np.record, seat: int) -> None:
    """Letters, cards to choose and fields are large enough with the whole picture in view."""
    picture = ElementTree.fromstring(GAME.draw_page(state, seat))  # noqa: S314
    width, height = (float(number) for number in str(picture.get("viewBox")).split()[2:])
    assert width == WIDTH
    scale = min(_SCREEN[0] / width, _SCREEN[1] / height)
    assert scale * min(letters(picture)) >= _LETTERS
    if GAME.to_dict(state)["decision"] in ("DRAFT", "SELECT"):
        assert scale * min(heights(picture)) >= _CARD


@pytest.mark.parametrize(
    "players", [4, *(pytest.param(number, marks=pytest.mark.slow) for number in (2, 3))]
)
def test_the_whole_table_is_read_and_hit_on_a_laptop(players: int) -> None:
    for state in positions(GAME, players, {}, 0)[:-1:12]:
        check(state, int(state["seat"]))


@pytest.mark.parametrize("turn", [5, 19])
def test_a_full_table_of_four_is_read_and_hit_on_a_laptop(turn: int) -> None:
    """Five couples each, obstacles, and five cards in the hand that picks one."""
    couples = TABLE.of("couple")
    fields = [
        {
            couple: list(TABLE[couple].requirements)[: number % 4]
            for number, couple in enumerate(couples[5 * player : 5 * player + 5])
        }
        for player in range(4)
    ]
    obstacles = [("Bullying", couples[5], 0, 3), ("Cold Feet", couples[11], 1, 0)]
    hand = ["Cafe", "Parental Disapproval", "Nasty Rumor", "Objection!"]
    data = position(fields, None, obstacles=obstacles, hands={0: hand}, turn=turn)
    for seat in range(4):
        check(read(data), seat)


def test_a_long_discard_pile_to_choose_from_is_in_view() -> None:
    state = read(position([{}] * 4, {0: "Lost and Found"}, deck=()))
    while GAME.to_dict(state)["decision"] != "RECOVER":
        GAME.rules.apply(state, int(legal_list(state)[-1]))
    assert len(set(GAME.to_dict(state)["discard"])) > 50
    check(state, 0)
