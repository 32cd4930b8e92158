"""The table of cards: the loader's errors, and a custom table."""

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkzoo import make
from linkzoo.games.love_formula.cards import STANDARD, load_cards
from linkzoo.registry import get_game
from tests.love_formula.helpers import CARDS, GAME, JOB, Both, asked_all, position
from tests.love_formula.oracle import read_table

Rows = list[dict[str, str]]


def shipped_rows() -> Rows:
    """The rows of the shipped table."""
    with CARDS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def row(rows: Rows, name: str) -> dict[str, str]:
    """The row of a card."""
    return next(row for row in rows if row["name"] == name)


def write(path: Path, rows: Rows) -> Path:
    """A table in a file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def change(name: str, column: str, value: str) -> Callable[[Rows], Any]:
    """One cell of one card."""
    return lambda rows: row(rows, name).update({column: value})


def one_more_type(rows: Rows) -> None:
    """65 types, which the record has no place for (section 10)."""
    row(rows, "Sabotage")["copies"] = "1"
    extra = row(rows, "Sabotage") | {"name": "Sabotage by Night"}
    rows.insert(rows.index(row(rows, "Sabotage")) + 1, extra)
    for number, one in enumerate(rows):
        one["id"] = str(number)


BROKEN: list[tuple[str, Callable[[Rows], Any], str]] = [
    # Counts of each type (section 5).
    ("a preparation too many", change("Beach", "copies", "5"), "57|preparation"),
    ("a preparation too few", change("Beach", "copies", "3"), "57|preparation"),
    ("two copies of a couple", change("Pen Pals", "copies", "2"), "24|couple|copies"),
    ("an obstacle too many", change("Bullying", "copies", "3"), "18|obstacle"),
    ("a reaction too few", change("Guardian Friend", "copies", "1"), "8|reaction"),
    ("an action too many", change("Sabotage", "copies", "3"), "17|action"),
    ("no copies", change("Sabotage", "copies", "0"), "copies|Sabotage|17"),
    ("negative copies", change("Sabotage", "copies", "-2"), "copies|Sabotage|17"),
    ("copies in words", change("Sabotage", "copies", "two"), "copies|Sabotage"),
    ("a couple missing", lambda rows: rows.pop(38), "24|couple|id"),
    ("too many types", one_more_type, "types|64"),
    # Jobs.
    ("three jobs", change(JOB, "copies", "3"), "one_per_player|4|Part-time Job|17"),
    ("no job", change(JOB, "flags", ""), "one_per_player"),
    ("two kinds of jobs", change("Sabotage", "flags", "one_per_player"), "one_per_player"),
    ("an unknown flag", change("Sabotage", "flags", "shiny"), "shiny|flag"),
    # Names and types.
    ("an unknown type", change("Sabotage", "type", "event"), "type|Sabotage"),
    ("an unknown kind", change("Beach", "subtype", "place"), "place|subtype|Beach"),
    ("the same name twice", change("Beach", "name", "Cafe"), "Cafe"),
    ("no name", change("Sabotage", "name", ""), "name"),
    ("ids in disorder", change("Sabotage", "id", "7"), "id|Sabotage"),
    ("an id in words", change("Sabotage", "id", "x"), "id|Sabotage"),
    # Couples.
    (
        "an unknown requirement",
        change("Pen Pals", "requirements", "Love Letter|Fireworks"),
        "Fireworks|Pen Pals",
    ),
    (
        "a couple as requirement",
        change("Pen Pals", "requirements", "Love Letter|Swim Team Duo"),
        "Swim Team Duo|Pen Pals",
    ),
    ("one requirement", change("Pen Pals", "requirements", "Love Letter"), "Pen Pals"),
    ("no requirement", change("Pen Pals", "requirements", ""), "Pen Pals"),
    (
        "four requirements",
        change("Pen Pals", "requirements", "Love Letter|Beach|Cafe|Shrine"),
        "Pen Pals",
    ),
    (
        "one requirement twice",
        change("Pen Pals", "requirements", "Love Letter|Love Letter"),
        "Pen Pals|Love Letter",
    ),
    # Triggers, targets, statics.
    ("an unknown trigger", change("Objection!", "trigger", "ANYTHING"), "ANYTHING"),
    ("no trigger", change("Objection!", "trigger", ""), "Objection!|trigger"),
    ("an unknown target", change("Sabotage", "target", "anything"), "anything"),
    ("an unknown static", change("Cold Feet", "static", '{"luck": 1}'), "luck"),
    ("a static that is no JSON", change("Cold Feet", "static", "{vp: 1}"), "static|Cold Feet"),
    ("a static that is a list", change("Cold Feet", "static", "[]"), "static|Cold Feet"),
    ("points in words", change("Cold Feet", "static", '{"vp": "x"}'), "vp|Cold Feet"),
    # Numbers.
    ("turns in words", change("Bullying", "turns", "four"), "turns|Bullying"),
    ("turns below -1", change("Bullying", "turns", "-2"), "turns|Bullying"),
    ("a priority in words", change("Beach", "priority", "high"), "priority|Beach"),
    ("no priority", change("Beach", "priority", ""), "priority|Beach"),
    # Ops.
    (
        "an unknown op",
        change("Shopping Spree", "on_resolve", '[["WIN", "me", 1]]'),
        "WIN",
    ),
    (
        "not valid JSON",
        change("Shopping Spree", "on_resolve", '[["DRAW", "me", 3'),
        "on_resolve|Shopping Spree",
    ),
    (
        "no list",
        change("Shopping Spree", "on_resolve", '{"DRAW": 3}'),
        "on_resolve|Shopping Spree",
    ),
    ("a bare op", change("Shopping Spree", "on_resolve", '["DRAW"]'), "Shopping Spree|DRAW"),
    (
        "too few arguments",
        change("Shopping Spree", "on_resolve", '[["DRAW", "me"]]'),
        "DRAW|Shopping Spree",
    ),
    (
        "too many arguments",
        change("Shopping Spree", "on_resolve", '[["DRAW", "me", 3, 4]]'),
        "DRAW|Shopping Spree",
    ),
    (
        "a shield of no turns",
        change("Good Luck Charm", "on_resolve", '[["SHIELD", "me", 0]]'),
        r"SHIELD with me, n \(1\.\.20",
    ),
    (
        "an unknown player",
        change("Shopping Spree", "on_resolve", '[["DRAW", "you", 3]]'),
        "you|DRAW|Shopping Spree",
    ),
    (
        "a number in words",
        change("Shopping Spree", "on_resolve", '[["DRAW", "me", "3"]]'),
        "DRAW|Shopping Spree",
    ),
    (
        "an unknown chooser",
        change("Pop Quiz", "on_resolve", '[["DISCARD_HAND", "each_opp", 2, "you"]]'),
        "you|DISCARD_HAND|Pop Quiz",
    ),
    # Reactions have one op of three, which nothing else has (section 6).
    (
        "two ops of a reaction",
        change("Objection!", "on_resolve", '[["CANCEL_EVENT"], ["CANCEL_EVENT"]]'),
        "Objection!",
    ),
    ("no op of a reaction", change("Objection!", "on_resolve", "[]"), "Objection!"),
    (
        "a draw as a reaction",
        change("Objection!", "on_resolve", '[["DRAW", "me", 1]]'),
        "Objection!|DRAW",
    ),
    (
        "an action that cancels",
        change("Shopping Spree", "on_resolve", '[["CANCEL_EVENT"]]'),
        "CANCEL_EVENT|Shopping Spree",
    ),
    (
        "an obstacle that redirects",
        change("Bullying", "on_turn_start", '[["REDIRECT_EVENT"]]'),
        "REDIRECT_EVENT|Bullying",
    ),
]


@pytest.mark.parametrize(
    ("breaks", "named"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN]
)
def test_refused_tables(breaks: Callable[[Rows], Any], named: str, tmp_path: Path) -> None:
    """Section 5: the error names the card, the column or the value."""
    rows = shipped_rows()
    breaks(rows)
    assert rows != shipped_rows()
    path = write(tmp_path / "cards.csv", rows)
    with pytest.raises(ValueError, match=rf"(?<![\w-])({named})(?![\w-])"):
        get_game("love_formula", {"cards": str(path)})


@pytest.mark.parametrize("column", list(shipped_rows()[0])[:14])
def test_missing_columns(column: str, tmp_path: Path) -> None:
    """All columns that the rules use are needed."""
    rows = [{key: cell for key, cell in row.items() if key != column} for row in shipped_rows()]
    path = write(tmp_path / "cards.csv", rows)
    with pytest.raises(ValueError, match=rf"\b{column}\b"):
        get_game("love_formula", {"cards": str(path)})


def test_no_such_table(tmp_path: Path) -> None:
    """A path without a file, an empty file, and values that are no paths."""
    with pytest.raises((ValueError, OSError), match=r"nowhere\.csv"):
        get_game("love_formula", {"cards": str(tmp_path / "nowhere.csv")})
    empty = tmp_path / "empty.csv"
    empty.write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match="cards"):
        get_game("love_formula", {"cards": str(empty)})
    with pytest.raises(ValueError, match="cards"):
        get_game("love_formula", {"cards": 3})


def test_the_shipped_table_is_the_default() -> None:
    """One Game of it, by whatever way."""
    assert get_game("love_formula") is GAME
    assert get_game("love_formula", {"cards": GAME.fixed.values["cards"]}) is GAME
    assert get_game("love_formula", {"voluntary_discards": "off"}) is GAME


# Files as spreadsheets write them


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_what_spreadsheets_write(
    encoding: str, separator: str, ending: str, tmp_path: Path
) -> None:
    """R6: a byte order mark, other separators, line breaks in cells: the same cards."""
    rows = shipped_rows()
    row(rows, "Shopping Spree")["text"] = f"Draw{ending}3 cards; or 3, all in all.\tNow."
    row(rows, "Shopping Spree")["on_resolve"] = f'[["DRAW",{ending}"me", 3]]'
    path = tmp_path / "mine.csv"
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=separator, lineterminator=ending)
        writer.writeheader()
        writer.writerows(rows)
    standard = load_cards(STANDARD).cards
    for card, expected in zip(load_cards(str(path)).cards, standard, strict=True):
        text = expected.text
        if card.name == "Shopping Spree":
            text = "Draw\n3 cards; or 3, all in all.\tNow."
        assert card == replace(expected, text=text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"Shopping Spree", b'"Shopping\nSpree"', r"name: 'Shopping\\nSpree' .* a line break"),
        (b"Shopping Spree", b"Shopping Spr\xe9e", "isn't UTF-8 text: save it as UTF-8"),
        (b"Shopping Spree", b"Shopping\0Spree", "isn't text: it has NUL bytes"),
        (
            b"Shopping Spree",
            b'"' + b"x" * 200_000 + b'"',
            r"^cards: .*mine\.csv: line 50: field larger than",
        ),
        (b",name,", b"|name|", "columns .* between ',', ';' or tabs"),
    ],
    ids=[
        "a line break in a name",
        "another encoding",
        "no text",
        "a long cell",
        "another separator",
    ],
)
def test_what_can_not_be_read(old: bytes, new: bytes, message: str, tmp_path: Path) -> None:
    """R6: the error says how to continue."""
    path = tmp_path / "mine.csv"
    path.write_bytes(CARDS.read_bytes().replace(old, new, 1))
    with pytest.raises(ValueError, match=message):
        get_game("love_formula", {"cards": str(path)})


# A table of one's own


def own_rows() -> Rows:
    """New names, 63 types instead of 64, stronger and weaker cards."""
    rows = shipped_rows()
    for one in rows:
        one["name"] = one["name"].replace("Cafe", "Tea House").replace("Objection!", "Nonsense!")
        one["requirements"] = one["requirements"].replace("Cafe", "Tea House")
    row(rows, "Shopping Spree")["on_resolve"] = '[["DRAW", "each_opp", 1], ["DRAW", "me", 4]]'
    changed = row(rows, "Lost and Found")
    changed |= {"target": "none", "on_resolve": '[["DISCARD_HAND", "each_opp", 1, "random"]]'}
    row(rows, "Good Luck Charm")["on_resolve"] = '[["SHIELD", "me", 1], ["DRAW", "me", 1]]'
    row(rows, "Cold Feet")["static"] = '{"vp": -1, "priority_mod": -1}'
    row(rows, "Bullying")["turns"] = "2"
    row(rows, "Moving Away")["turns"] = "2"
    rows.remove(row(rows, "Pop Quiz"))
    row(rows, "Sabotage")["copies"] = "3"
    for number, one in enumerate(rows):
        one["id"] = str(number)
    return rows


@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
def test_a_table_of_ones_own(tmp_path: Path) -> None:
    """It makes its own Game, which plays beside the oracle; other options stay options."""
    path = write(tmp_path / "mine.csv", own_rows())
    options = {"cards": str(path)}
    game, table = get_game("love_formula", options), read_table(path)
    assert game is not GAME
    assert game is get_game("love_formula", options)
    assert game.num_actions == GAME.num_actions - 1
    for players in (2, 3):
        rng = np.random.default_rng(players)
        both = Both.begin(asked_all(players, **options), 4, game, table)
        named = set()
        while both.oracle.seat is not None:
            moves = both.oracle.moves()
            if len(moves) > 1 and "OPEN_DISCARD" in moves and rng.random() < 0.9:
                moves.remove("OPEN_DISCARD")
            named |= {move.removeprefix("CARD ") for move in moves}
            both.one(moves[int(rng.integers(len(moves)))])
        assert "Tea House" in named
        assert "Cafe" not in named
        assert both.data["options"]["cards"] == str(path)
    env = make("love_formula", 3, cards=str(path))
    assert env.action_space("player_0").n == game.num_actions  # type: ignore[attr-defined]


@pytest.mark.usefixtures("uncompiled")
def test_positions_belong_to_their_table(tmp_path: Path) -> None:
    """A position of one table is refused by the Game of another."""
    path = write(tmp_path / "mine.csv", own_rows())
    game = get_game("love_formula", {"cards": str(path)})
    state = game.blank(2, {"cards": str(path)})
    game.rules.new_game(state, np.uint64(1))
    with pytest.raises(ValueError, match="cards"):
        GAME.from_dict(game.to_dict(state))


@pytest.mark.usefixtures("uncompiled")
def test_a_swap_at_a_couple_that_needs_two_of_a_kind(tmp_path: Path) -> None:
    """R10: a card of a swap is laid at the couple of the other one, wherever that lists it."""
    rows = shipped_rows()
    row(rows, "Pen Pals")["requirements"] = "Stuffed Animal|Love Letter"
    path = write(tmp_path / "mine.csv", rows)
    game, table = get_game("love_formula", {"cards": str(path)}), read_table(path)
    for mine, theirs in (("Stuffed Animal", "Love Letter"), ("Love Letter", "Stuffed Animal")):
        data = position([{"Pen Pals": []}, {"item": theirs}], {0: "Mix-Up"})
        data["fields"][0]["couples"][0]["attached"] = [mine]
        data["deck"].remove(mine)
        data["vp"][0] += 1
        data["options"]["cards"] = str(path)
        both = Both(data | {"digest": game.digest}, game, table).go()
        assert (both.couples(0), both.free(0)) == ({"Pen Pals": [theirs]}, {})
        assert both.free(1) == {"item": mine}
