"""Love Links' drawings: text and pictures are read back and compared with `to_dict`."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest

from linkzoo.svg.raster import rasterise
from tests.driving import first_quick
from tests.love_links.helpers import (
    GAME,
    POLICIES,
    SETUPS,
    clone,
    play_random,
    play_text,
    position,
    read,
    start,
    walk,
)
from tests.love_links.oracle import LINKS, Json, Setup

SVG = "{http://www.w3.org/2000/svg}"
# A link in the text: key, lock, first letters of metal and stone; its owner; copies.
LINK = re.compile(r"(\d+-(?:\d+|M))([bsg])([DRES]?)(?:\((\d)\))?(?:×(\d))?")


@cache
def states() -> list[np.record]:
    """Positions of a game per combination of options and way to play: every eighth from the end."""
    positions = []
    for seed, setup in enumerate(SETUPS):
        policy = POLICIES[seed % len(POLICIES)]
        positions += [clone(state) for state, _, _ in walk(setup, seed, policy)][::-8][::-1]
    return positions


@cache
def pictures() -> list[tuple[Json, ElementTree.Element]]:
    """Their JSON and their pictures."""
    return [(GAME.to_dict(state), parsed(state)) for state in states()]


def links_of(root: ElementTree.Element) -> list[ElementTree.Element]:
    """The links of a picture, in drawing order; the last one belongs to the legend."""
    return [element for element in root.iter(f"{SVG}g") if element.get("data-link")]


def places(
    element: ElementTree.Element, x: float = 0, y: float = 0
) -> Iterator[tuple[float, float]]:
    """Where the links of a picture lie."""
    moved = re.match(r"translate\(([-\d.]+) ([-\d.]+)\)", element.get("transform", ""))
    if moved:
        x, y = x + float(moved[1]), y + float(moved[2])
    if element.get("data-link"):
        yield x, y
    for child in element:
        yield from places(child, x, y)


def words(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def parsed(state: np.record) -> ElementTree.Element:
    # Our own drawing, so there is nothing to distrust in it.
    return ElementTree.fromstring(GAME.draw_svg(state))  # noqa: S314


@pytest.mark.slow
def test_svg_shows_every_link_of_bracelets_and_hands() -> None:
    """Well-formed, and each link as its key and its lock; bracelets from key end to lock end."""
    last = links_of(pictures()[0][1])[-1].get("data-link")
    for data, root in pictures():
        assert root.tag == f"{SVG}svg"
        assert root.findtext(f"{SVG}title", "").startswith("Love Links: ")
        links = []
        for element in links_of(root):
            links.append(str(element.get("data-link")))
            assert words(element)[:2] == links[-1].split("-")
        table = [link for bracelet in data["bracelets"] for link, _ in bracelet["links"]]
        hands = [link for hand in data["hands"] for link in hand]
        assert links[: len(table)] == table
        assert Counter(links[len(table) : -1]) == Counter(hands)
        assert links[-1] == last


def test_svg_stays_within_its_frame() -> None:
    for _, root in pictures():
        _, _, width, height = map(float, str(root.get("viewBox")).split())
        for x, y in places(root):
            assert 0 <= x <= width - 20
            assert 0 <= y <= height - 14


@pytest.mark.slow
def test_links_are_drawn_apart() -> None:
    """No two links at one place, in crowded positions too."""
    full = (
        "3-2 3-4 3-4 3-5 3-5 3-6 3-6 3-7 3-7 3-8 3-8 3-10 3-10 "
        "5-2 5-3 5-4 5-4 5-6 5-6 5-7 5-8 5-8 5-10 5-10"
    )
    crowded = read(position(*full.split(), hands=("9-4", "7-M", "2-3,2-4", "7-2")))
    for root in [*(root for _, root in pictures()), parsed(crowded)]:
        points = list(places(root))
        assert len(set(points)) == len(points) == len(links_of(root))


def test_text_shows_bracelets_with_owners_and_hands() -> None:
    for state in states():
        data = GAME.to_dict(state)
        text = GAME.drawing.text(state)
        table, _, rest = text.partition("\nPlayer")
        chains: dict[int, list[list[object]]] = {}
        for line in table.splitlines()[1:]:
            if line.startswith("@"):
                slot = int(line.split()[0].removeprefix("@"))
                chains[slot] = []
            for link, metal, stone, owner, _ in LINK.findall(line):
                assert "bsg".index(metal) + 1 == LINKS[link].metal
                assert stone == LINKS[link].stone[:1].upper()
                chains[slot].append([link, int(owner) if owner else None])
        assert chains == {b["slot"]: b["links"] for b in data["bracelets"]}
        hands, _, supply = rest.partition("\nbronze")
        shown = Counter(match[0] for match in LINK.findall(hands))
        assert shown == Counter(link for hand in data["hands"] for link in hand)
        counts: Counter[str] = Counter()
        for link, _, _, _, copies in LINK.findall(supply.partition("\naside")[0]):
            counts[link] += int(copies or 1)
        assert counts == Counter(link for links in data["supply"].values() for link in links)


@pytest.mark.slow
def test_both_tell_scores_captures_and_turn() -> None:
    for state, (data, root) in zip(states(), pictures(), strict=True):
        text, drawn = GAME.drawing.text(state), words(root)
        for side, (score, captured) in enumerate(
            zip(data["scores"], data["captured"], strict=True)
        ):
            name = (
                f"Players {side} and {side + 2}" if data["num_players"] == 4 else f"Player {side}"
            )
            assert f"{name}: {score} points, {captured} captured" in text
            assert name in drawn
            assert str(score) in drawn
            assert f"{captured} captured" in drawn
        assert f"{data['round']} round" in text
        if data["seat"] is not None:
            assert f"Player {data['seat']} to move" in text
            assert f"Player {data['seat']} to move" in drawn
            assert f"move {data['move']} of 2" in text


def test_both_tell_the_winners() -> None:
    """One winner, a team, a tie broken by captures, and a shared win."""
    for hands, scores, captured, expected in [
        (("2-5", ""), [50, 60], [0, 0], "Player 1 wins"),
        (("2-5", ""), [60, 60], [2, 1], "Player 0 wins"),
        (("2-5", ""), [60, 60], [1, 1], "A shared win"),
        (("2-5", "", "", ""), [50, 60], [0, 0], "Players 1 and 3 win"),
        (("2-5", "", ""), [50, 60, 60], [0, 0, 1], "Player 2 wins"),
    ]:
        state = read(position("4-7", hands=hands, scores=scores, captured=captured))
        play_text(state, "NEW 2-5")
        assert expected in GAME.drawing.text(state)
        assert expected in words(parsed(state))
        assert ("captured stones" in GAME.drawing.text(state)) == (captured in ([2, 1], [0, 0, 1]))


def test_both_tell_what_has_to_be_done() -> None:
    data = position("4-7@-,7-10@A,10-8@A,8-6@A", "7-4", hands=("6-4,2-3,4-8", "9-M"))
    state = play_text(read(data), "CLOSE 6-4 @0")
    assert "must start" in GAME.drawing.text(state)
    assert any("must start" in word for word in words(parsed(state)))
    state = play_text(read(data), "LOCK 4-8 @1")
    assert "worth 3" in GAME.drawing.text(state)
    assert any("worth 3" in word for word in words(parsed(state)))
    assert "first to 90" in GAME.drawing.text(start(Setup(2, short=True)))
    assert "first to 90" not in GAME.drawing.text(start())


def test_both_tell_what_closing_is_worth() -> None:
    """The observation's closing value, for the seat to act."""
    chain = "2-7@A,7-2@A,2-4@A,4-6@B"
    for seat, worth in ((0, 4 + 1 + 10), (1, 4 + 3 + 10)):
        state = read(position(chain, hands=("2-8", "9-M"), seat=seat))
        assert f"[worth {worth}]" in GAME.drawing.text(state)
        assert f"+{worth}" in words(parsed(state))


def test_links_set_aside_are_shown() -> None:
    data = position("4-7", hands=("2-5", "9-M"), set_aside=["9-4", "10-8"])
    assert re.search(r"aside .*9-4s.*10-8g", GAME.drawing.text(read(data)))
    assert any("9-4" in word and "10-8" in word for word in words(parsed(read(data))))


def test_every_seat_sees_the_same() -> None:
    for state in states()[::3]:
        for draw in (GAME.drawing.text, GAME.draw_svg):
            assert len({draw(state, seat) for seat in (None, *range(state.num_players))}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("setup", first_quick(SETUPS[::-1], slow=0), ids=str)
def test_pictures_of_different_positions_differ(setup: Setup) -> None:
    """They can be rasterised, and neither owners nor the seat to act are lost in it."""
    rng = np.random.default_rng(2)
    state = start(setup, 2)
    images: list[bytes] = []
    while state.seat >= 0 and len(images) < 6:
        images.append(rasterise(GAME.draw_svg(state), 300).tobytes())
        play_random(state, rng, 17)
    data = position("4-7@A,7-10", hands=("2-5", "2-6"))
    for owner in (None, 0, 1):
        data["bracelets"][0]["links"][1][1] = owner
        images.append(rasterise(GAME.draw_svg(read(data))).tobytes())
    images.append(rasterise(GAME.draw_svg(read(data | {"seat": 1}))).tobytes())
    assert len(set(images)) == len(images)
