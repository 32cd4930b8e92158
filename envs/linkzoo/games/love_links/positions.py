"""Love Links' positions as JSON, both ways (section "JSON" of RULES.md)."""

from collections.abc import Mapping
from typing import Any

from linkzoo.core.arguments import boolean, check_keys, integer, sequence, shown
from linkzoo.core.positions import JsonHeader, none_or_integer, or_none, read_winners
from linkzoo.core.state import Record, winners_of
from linkzoo.games.love_links import components
from linkzoo.games.love_links.components import LINK_TEXTS, METALS, NUM_SIDES, SLOTS, TOTAL
from linkzoo.games.love_links.links import LINK_SETS, LinkSet
from linkzoo.games.love_links.notation import hand_texts
from linkzoo.games.love_links.state import MAX_SCORE, attach, clear_table, first_of
from linkzoo.games.love_links.tables import link_tables

_FIELDS = (
    "game version options num_players seat ply round move matched must_start hands bracelets "
    "supply scores captured completed set_aside winners"
).split()


class PositionJson:
    """The positions of a game with a set of links as JSON, both ways.

    Args:
        links: The set of links.
        header: The fields that all positions begin with.
    """

    def __init__(self, links: LinkSet, header: JsonHeader) -> None:
        self._header = header
        self._tables = link_tables(links)
        self._shipped = header.fixed["link_set"] in LINK_SETS.names()

    def to_dict(self, state: Record, seat: int | None = None) -> dict[str, Any]:
        """Returns the position as JSON data; a `seat` sees no seed and no order of the supplies."""
        sides = int(NUM_SIDES[state.num_players])
        occupied = [slot for slot in range(SLOTS) if state.length[slot]]
        data = {
            **self._header.write(state, seat),
            "round": METALS[state.round_number],
            "move": int(state.move),
            "matched": bool(state.matched),
            "must_start": bool(state.must_start),
            "hands": [hand_texts(state, other) for other in range(state.num_players)],
            "bracelets": [{"slot": slot, "links": _slot_links(state, slot)} for slot in occupied],
            "supply": {
                name: self._supply(state, metal, seat is None) for metal, name in enumerate(METALS)
            },
            "scores": state.scores[:sides].tolist(),
            "captured": state.captured[:sides].tolist(),
            "completed": int(state.completed),
            "set_aside": [text for text, _ in _slot_links(state, components.SET_ASIDE)],
            "winners": winners_of(state),
        }
        if not self._shipped:
            data["digest"] = f"{self._header.digest:012x}"
        return data

    def _supply(self, state: Record, metal: int, ordered: bool) -> list[str]:
        """Returns the links of a supply: the next one first if `ordered`, else sorted by type."""
        first = int(self._tables.first_link[metal])
        links = state.supply[first : first + int(state.supply_size[metal])].tolist()
        if ordered:
            links.reverse()
        else:
            links.sort()
        return [LINK_TEXTS[link] for link in links]

    def from_dict(self, data: Mapping[str, Any]) -> Record:
        """Reads the record of `to_dict`; ValueError names the unreadable link, slot or field.

        Links that appear nowhere count as completed. A missing seed (in a seat's view) is 0, and
        the supplies are drawn in the order of their lists.
        """
        state = self._header.read(data, _FIELDS, optional=("seed", "digest"))
        clear_table(state)
        self._read_links(state, data)
        sides = int(NUM_SIDES[state.num_players])
        last_seat = int(state.num_players) - 1
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
        state.seat = none_or_integer("seat", data["seat"], 0, last_seat)
        state.winners = read_winners(data["winners"], last_seat + 1)
        return state

    def _read_links(self, state: Record, data: Mapping[str, Any]) -> None:
        """Reads hands, bracelets, supplies and the links set aside."""
        players = int(state.num_players)
        remaining = self._tables.copies.tolist()  # by type, copies that are not yet read
        for seat, hand in enumerate(sequence("hands", data["hands"], players, players)):
            label = f"hands[{seat}]"
            texts = sequence(label, hand, 0, components.HAND_PLACES)
            links = sorted(self._take(remaining, label, text) for text in texts)
            state.hands[seat, : len(texts)] = links
            state.hand_size[seat] = len(texts)
        for bracelet in sequence("bracelets", data["bracelets"], 0, SLOTS):
            self._read_bracelet(state, bracelet, remaining)
        check_keys("supply", data["supply"], METALS)
        for metal, name in enumerate(METALS):
            self._read_supply(state, metal, data["supply"][name], remaining)
        for text in sequence("set_aside", data["set_aside"], 0, TOTAL):
            link = self._take(remaining, "set_aside", text)
            attach(state, components.SET_ASIDE, link, components.NONE, components.LOCK)

    def _take(self, remaining: list[int], label: str, text: Any) -> int:
        """Returns the type of a link, and removes a copy from the remaining ones."""
        if not isinstance(text, str) or text not in components.LINK_NUMBERS:
            raise ValueError(f"{label}: no link {shown(text)}")
        link = components.LINK_NUMBERS[text]
        if not remaining[link]:
            copies = self._tables.copies[link]
            raise ValueError(f"{label}: more links {text} than the {copies} of the game")
        remaining[link] -= 1
        return link

    def _read_bracelet(self, state: Record, data: Any, remaining: list[int]) -> None:
        """Reads a bracelet: its slot, and its links with their owners."""
        check_keys("bracelets", data, ("slot", "links"))
        slot = integer("bracelets: slot", data["slot"], 0, SLOTS - 1)
        if state.length[slot]:
            raise ValueError(f"bracelets: slot {slot} is listed twice")
        label = f"bracelet @{slot}"
        last_seat = int(state.num_players) - 1
        for entry in sequence(label, data["links"], 1, TOTAL):
            text, owner = sequence(label, entry, 2, 2)
            link = self._take(remaining, label, text)
            seat = none_or_integer(f"{label}: owner of {text}", owner, 0, last_seat)
            attach(state, slot, link, seat, components.LOCK)

    def _read_supply(self, state: Record, metal: int, data: Any, remaining: list[int]) -> None:
        """Reads a metal's supply, whose first link is drawn next."""
        label = f"supply: {METALS[metal]}"
        first = int(self._tables.first_link[metal])
        texts = sequence(label, data, 0, int(self._tables.first_link[metal + 1]) - first)
        for position, text in enumerate(reversed(texts)):
            link = self._take(remaining, label, text)
            state.supply[first + position] = link
            state.left[link] += 1
        state.supply_size[metal] = len(texts)


def _slot_links(state: Record, slot: int) -> list[list[Any]]:
    """Returns the links [text, owner] of a slot, SET_ASIDE included, from its key end."""
    first = int(first_of(state, slot))
    end = first + int(state.length[slot])
    links = state.links[first:end].tolist()
    owners = state.owners[first:end].tolist()
    return [[LINK_TEXTS[link], or_none(owner)] for link, owner in zip(links, owners, strict=True)]
