"""Love Links' positions as JSON, both ways (section "JSON" of RULES.md)."""

from collections.abc import Mapping
from typing import Any

from linkzoo.core.arguments import boolean, check_keys, integer, sequence, shown
from linkzoo.core.positions import JsonHeader, none_or_integer, or_none, read_winners
from linkzoo.core.state import Record, winners_of
from linkzoo.games.love_links import components
from linkzoo.games.love_links.components import COPIES, LINK_TEXTS, METALS, NUM_SIDES, SLOTS, TOTAL
from linkzoo.games.love_links.notation import hand_texts
from linkzoo.games.love_links.options import Options
from linkzoo.games.love_links.state import MAX_SCORE, STATE, attach, clear_table, first_of

HEADER = JsonHeader("love_links", 1, Options, STATE, (2, components.MAX_PLAYERS), TOTAL)
_FIELDS = (
    "game version options num_players seat ply round move matched must_start hands bracelets "
    "supply scores captured completed set_aside winners"
).split()


def to_dict(state: Record, seat: int | None = None) -> dict[str, Any]:
    """Returns the position; a `seat` sees neither the seed nor the order of the supplies."""
    sides = int(NUM_SIDES[state.num_players])
    occupied = [slot for slot in range(SLOTS) if state.length[slot]]
    return {
        **HEADER.write(state, seat),
        "round": METALS[state.round_number],
        "move": int(state.move),
        "matched": bool(state.matched),
        "must_start": bool(state.must_start),
        "hands": [hand_texts(state, other) for other in range(state.num_players)],
        "bracelets": [{"slot": slot, "links": _slot_links(state, slot)} for slot in occupied],
        "supply": {name: _supply(state, metal, seat is None) for metal, name in enumerate(METALS)},
        "scores": state.scores[:sides].tolist(),
        "captured": state.captured[:sides].tolist(),
        "completed": int(state.completed),
        "set_aside": [text for text, _ in _slot_links(state, components.SET_ASIDE)],
        "winners": winners_of(state),
    }


def _slot_links(state: Record, slot: int) -> list[list[Any]]:
    """Returns the links [text, owner] of a slot from its key end; of SET_ASIDE, those set aside."""
    first = int(first_of(state, slot))
    where = slice(first, first + int(state.length[slot]))
    placed = zip(state.links[where].tolist(), state.owners[where].tolist(), strict=True)
    return [[LINK_TEXTS[link], or_none(owner)] for link, owner in placed]


def _supply(state: Record, metal: int, ordered: bool) -> list[str]:
    """Returns the links of a supply, `ordered` as they will be drawn or sorted by type."""
    first = int(components.FIRST_LINK[metal])
    links = state.supply[first : first + int(state.supply_size[metal])].tolist()
    return [LINK_TEXTS[link] for link in (reversed(links) if ordered else sorted(links))]


def from_dict(data: Mapping[str, Any]) -> Record:
    """Reads the record of `to_dict`; ValueError names the link, slot or field that can't be read.

    Links that appear nowhere count as completed. Without a seed (a seat's view) the seed is 0, and
    the supplies are drawn in the order in which they are listed.
    """
    state = HEADER.read(data, _FIELDS, optional=("seed",))
    clear_table(state)
    _read_links(state, data)
    sides, last = int(NUM_SIDES[state.num_players]), int(state.num_players) - 1
    for name, high in (("scores", MAX_SCORE), ("captured", TOTAL)):
        for side, value in enumerate(sequence(name, data[name], sides, sides)):
            state[name][side] = integer(f"{name}[{side}]", value, 0, high)
    state.completed = integer("completed", data["completed"], 0, TOTAL)
    if data["round"] not in METALS:
        raise ValueError(f"round: {shown(data['round'])} is not one of {list(METALS)}")
    state.round_number = METALS.index(data["round"])
    state.move = integer("move", data["move"], 1, 2)
    state.matched = boolean("matched", data["matched"])
    state.must_start = boolean("must_start", data["must_start"])
    state.seat = none_or_integer("seat", data["seat"], 0, last)
    state.winners = read_winners(data["winners"], last + 1)
    return state


def _read_links(state: Record, data: Mapping[str, Any]) -> None:
    players, left = int(state.num_players), COPIES.tolist()
    for seat, hand in enumerate(sequence("hands", data["hands"], players, players)):
        where = f"hands[{seat}]"
        texts = sequence(where, hand, 0, components.HAND_PLACES)
        state.hands[seat, : len(texts)] = sorted(_take(left, where, text) for text in texts)
        state.hand_size[seat] = len(texts)
    for bracelet in sequence("bracelets", data["bracelets"], 0, SLOTS):
        _read_bracelet(state, bracelet, left)
    check_keys("supply", data["supply"], METALS)
    for metal, name in enumerate(METALS):
        _read_supply(state, metal, data["supply"][name], left)
    for text in sequence("set_aside", data["set_aside"], 0, TOTAL):
        link = _take(left, "set_aside", text)
        attach(state, components.SET_ASIDE, link, components.NONE, components.LOCK)


def _take(left: list[int], where: str, text: Any) -> int:
    """Returns the type of a link, and takes it from those that are `left`, copies by type."""
    if not isinstance(text, str) or text not in components.LINK_NUMBERS:
        raise ValueError(f"{where}: no link {shown(text)}")
    link = components.LINK_NUMBERS[text]
    if not left[link]:
        raise ValueError(f"{where}: more links {text} than the {COPIES[link]} of the game")
    left[link] -= 1
    return link


def _read_bracelet(state: Record, data: Any, left: list[int]) -> None:
    check_keys("bracelets", data, ("slot", "links"))
    slot = integer("bracelets: slot", data["slot"], 0, SLOTS - 1)
    if state.length[slot]:
        raise ValueError(f"bracelets: slot {slot} is listed twice")
    where, last = f"bracelet @{slot}", int(state.num_players) - 1
    for entry in sequence(where, data["links"], 1, TOTAL):
        text, owner = sequence(where, entry, 2, 2)
        link = _take(left, where, text)
        seat = none_or_integer(f"{where}: owner of {text}", owner, 0, last)
        attach(state, slot, link, seat, components.LOCK)


def _read_supply(state: Record, metal: int, data: Any, left: list[int]) -> None:
    where, first = f"supply: {METALS[metal]}", int(components.FIRST_LINK[metal])
    texts = sequence(where, data, 0, int(components.FIRST_LINK[metal + 1]) - first)
    for position, text in enumerate(reversed(texts)):
        link = _take(left, where, text)
        state.supply[first + position] = link
        state.left[link] += 1
    state.supply_size[metal] = len(texts)
