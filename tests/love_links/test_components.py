"""The 94 links: every total and relation of the table, and the game's constants."""

from collections import Counter
from functools import cache

import pytest

from tests.driving import first_quick
from tests.love_links.helpers import GAME, legal_texts, position, read, start
from tests.love_links.oracle import (
    FITTING,
    LINKS,
    MASTER,
    ORDER,
    ROUNDS,
    TYPES,
    by_id,
    deck,
    fits,
)

KEYS = range(2, 11)
LOCKS = range(2, 12)
ALL = [link for link in LINKS.values() for _ in range(link.copies)]
FIFTY_NINE = sorted(LINKS.values(), key=lambda link: (link.metal, link.key, link.lock))

# How many links of the 94 close a bracelet of four with this open key and open lock.
CLOSING = """\
8 9 15 10 21 9 20 17 22 43
6 4 10 6 10 4 12 7 16 22
4 4 6 5 10 5 7 9 13 18
4 4 8 3 10 4 10 8 9 19
2 2 4 3 4 3 5 5 7 10
2 2 4 1 5 0 4 2 4 8
2 2 4 3 5 4 4 6 8 10
2 2 4 2 4 1 5 2 5 9
2 2 4 2 6 2 6 4 4 12"""


def number(lock: str) -> int:
    return MASTER if lock == "M" else int(lock)


@cache
def dealt() -> Counter[str]:
    """All links of a new game, as the game itself tells them."""
    data = GAME.to_dict(start())
    piles = [*data["hands"], *data["supply"].values()]
    piles += [[link for link, _ in b["links"]] for b in data["bracelets"]]
    return Counter(link for pile in piles for link in pile)


def test_the_game_deals_the_94_links_of_the_table() -> None:
    assert dealt() == Counter({text: link.copies for text, link in LINKS.items()})
    assert dealt().total() == 94
    assert len(dealt()) == 59


def test_row_column_and_metal_totals() -> None:
    """R1 and the sheet's margins."""
    assert [sum(link.metal == metal for link in ALL) for metal in (1, 2, 3)] == [35, 30, 29]
    assert [sum(link.key == k for link in ALL) for k in KEYS] == [16, 15, 13, 14, 5, 10, 6, 8, 7]
    columns = [sum(link.lock == lock for link in ALL) for lock in LOCKS]
    assert columns == [5, 4, 11, 6, 11, 9, 14, 11, 16, 7]


def test_metals_of_the_supplies() -> None:
    """R3, R6: a supply holds its metal's links only; hands and bracelets begin with bronze."""
    for seed in range(20):
        data = GAME.to_dict(start(seed=seed))
        assert sorted(data["supply"]["silver"]) == sorted(deck("silver"))
        assert sorted(data["supply"]["gold"]) == sorted(deck("gold"))
    assert [len(deck(metal)) for metal in ROUNDS] == [35, 30, 29]


def test_stones() -> None:
    """Diamonds 2, rubies 4, emeralds 4, sapphires 4."""
    stones = Counter(link.stone for link in ALL if link.stone)
    assert stones == {"diamond": 2, "ruby": 4, "emerald": 4, "sapphire": 4}
    links_with = {
        stone: {t for t, link in LINKS.items() if link.stone == stone} for stone in stones
    }
    assert links_with == {
        "diamond": {"7-2", "10-7"},
        "ruby": {"5-3", "6-7", "8-9", "10-3"},
        "emerald": {"7-6", "7-9", "7-10"},
        "sapphire": {"4-2", "7-4", "8-2", "10-9"},
    }


def test_no_link_has_its_own_number_twice() -> None:
    assert all(link.key != link.lock for link in LINKS.values())
    assert all(1 <= link.copies <= 2 for link in LINKS.values())


def test_order_of_the_link_ids() -> None:
    """By metal, key, lock; M is last."""
    assert list(LINKS.values()) == FIFTY_NINE
    assert TYPES[0] == "2-3"
    assert (ORDER["7-M"], ORDER["2-9"], ORDER["9-M"]) == (19, 21, 36)
    assert TYPES[-1] == "10-9"
    assert by_id(["10-M", "7-M", "10-3", "7-2", "5-M"]) == ["7-2", "7-M", "10-3", "10-M", "5-M"]


def test_fits_is_the_sheets_table_of_23_pairs() -> None:
    pairs = {
        (f"{key}", "M" if lock == MASTER else f"{lock}")
        for key in KEYS
        for lock in LOCKS
        if fits(key, lock)
    }
    assert pairs == FITTING
    assert len(pairs) == 23


@pytest.mark.parametrize(
    ("key", "count"),
    list(zip(KEYS, [64, 33, 32, 29, 18, 9, 21, 11, 16], strict=True)),
)
def test_links_with_a_lock_that_a_key_fits(key: int, count: int) -> None:
    assert sum(fits(key, link.lock) for link in ALL) == count


@pytest.mark.parametrize(
    ("lock", "count"),
    list(zip(LOCKS, [16, 15, 29, 14, 36, 10, 35, 23, 37, 69], strict=True)),
)
def test_links_with_a_key_that_fits_a_lock(lock: int, count: int) -> None:
    assert sum(fits(link.key, lock) for link in ALL) == count


def test_joinable_pairs() -> None:
    """2,830 of 8,742 ordered pairs of links, 992 of 3,481 ordered pairs of types."""
    pairs = [(a, b) for i, a in enumerate(ALL) for j, b in enumerate(ALL) if i != j]
    assert len(pairs) == 8742
    assert sum(fits(a.key, b.lock) for a, b in pairs) == 2830
    assert sum(fits(a.key, b.lock) for a in LINKS.values() for b in LINKS.values()) == 992
    own = [text for text, link in LINKS.items() if fits(link.key, link.lock)]
    assert set(own) == {"2-4", "2-6", "2-8", "2-10", "3-6", "3-9", "4-8", "5-10", "5-M"}


def four_links(key: int, lock: int, kept: list[str]) -> list[str]:
    """A chain of four with these open ends that leaves a copy of each link in `kept`."""

    def longer(chain: list[str]) -> list[str] | None:
        if len(chain) == 4:
            return chain if LINKS[chain[-1]].lock == lock else None
        for text in TYPES:
            link = LINKS[text]
            begins = link.key == key if not chain else fits(link.key, LINKS[chain[-1]].lock)
            if begins and chain.count(text) + kept.count(text) < link.copies:
                bracelets = longer([*chain, text])
                if bracelets:
                    return bracelets
        return None

    bracelets = longer([])
    assert bracelets is not None, (key, lock)
    return bracelets


@pytest.mark.parametrize("key", first_quick(list(KEYS), 2, slow=len(KEYS)))
def test_closing_relation(key: int) -> None:
    """The closing relation, asked of the game: each type as the hand link of a position."""
    counts = []
    for lock in LOCKS:
        count = 0
        for first in range(0, len(TYPES), 4):
            hand = list(TYPES[first : first + 4])
            other = "4-5" if "4-5" not in hand else "2-3"
            chain = ",".join(four_links(key, lock, [*hand, other]))
            texts = legal_texts(read(position(chain, hands=(",".join(hand), other))))
            count += sum(LINKS[text].copies for text in hand if f"CLOSE {text} @0" in texts)
        counts.append(count)
    row = CLOSING.splitlines()[key - 2]
    assert counts == [int(word) for word in row.split()]


def test_closing_relation_of_the_oracle() -> None:
    rows = [
        " ".join(
            str(sum(fits(key, link.lock) and fits(link.key, lock) for link in ALL))
            for lock in LOCKS
        )
        for key in KEYS
    ]
    assert "\n".join(rows) == CLOSING
