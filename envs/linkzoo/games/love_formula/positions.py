"""Positions of Love Formula as JSON (section "JSON" of RULES.md), both ways.

Tables below give the field of the record for each key; `PositionJson` has a codec for each field.
The reader only converts: `validation` decides whether a position can be played.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.arguments import boolean, check_keys, integer, sequence, shown
from linkzoo.core.positions import JsonHeader, SharedViews, read_winners
from linkzoo.core.state import Record, winners_of
from linkzoo.games.love_formula import decisions, phases
from linkzoo.games.love_formula.binding import bind
from linkzoo.games.love_formula.cards import LISTS, MAX_TYPES, SUBTYPES, TABLES, Cards
from linkzoo.games.love_formula.components import COUPLES, NEEDS, NONE, OBSTACLES, PICKS, REACTIONS
from linkzoo.games.love_formula.notation import MoveTexts
from linkzoo.games.love_formula.ops import ON_RESOLVE
from linkzoo.games.love_formula.rules import course, draft, piles, scoring
from linkzoo.games.love_formula.state import FIELDS, MAX_HAND

Json = dict[str, Any]
FieldOf = Mapping[str, str]  # the field of the record by key of a JSON object

_KEYS = (
    "game version options seed num_players seat ply half turn stage cursor step decision deck "
    "discard reshuffles random_discards hands piles packs selected priorities order fields "
    "obstacles window acting effect look limbo react draft passed taken known hand_sizes_at_end "
    "vp winners"
).split()
# Keys of one number, of lists with a field for their size, of lists by seat, and of cards by seat.
# Each is also the name of a field.
_SINGLE = "seat half turn stage cursor step decision reshuffles random_discards limbo".split()
_LISTS = ("deck", "discard", "look", "order")
_BY_SEAT = ("selected", "priorities", "hand_sizes_at_end")
_COUNTED = ("hands", "piles", "taken")


def _prefixed(prefix: str, keys: str) -> dict[str, str]:
    """Returns the fields of an object by key, where a field is a prefix and its key."""
    return {key: prefix + key for key in keys.split()}


# Keys that have no field follow from others and aren't read.
_WINDOW = _prefixed("", "move_used discard_closed menu moving")
_ACTING = _prefixed("acting_", "card by targets step")
_EFFECT = _prefixed("effect_", "card by list couple obstacle targets op who left")
_REACT = {
    "kind": "event",
    **_prefixed("event_", "source card couple owner cancelled redirected recovered"),
    **_prefixed("", "poll quiet resolving pending"),
}
_OBJECTS = {"window": _WINDOW, "acting": _ACTING, "effect": _EFFECT, "react": _REACT}
_PENDING = _prefixed("pending_", "card by answers cancelled")
_OBSTACLE = {
    "card": "obstacle_type",
    "couple": "obstacle_couple",
    "by": "obstacle_by",
    "turns_left": "turns_left",
}


class Codec(NamedTuple):
    """How a number is written and read.

    Attributes:
        write: Returns the JSON value of a number.
        read: Returns the number of a JSON value; gets its name for errors, the value, and the
            number of players.
    """

    write: Callable[[Any], Any]
    read: Callable[[str, Any, int], int]


def _read_flag(name: str, value: Any, players: int) -> int:
    return boolean(name, value)


def _read_seat(name: str, value: Any, players: int) -> int:
    return integer(name, value, 0, players - 1)


_FLAG = Codec(bool, _read_flag)
_SEAT = Codec(int, _read_seat)


def _number(low: int, high: int) -> Codec:
    def read(name: str, value: Any, players: int) -> int:
        return integer(name, value, low, high)

    return Codec(int, read)


def _word(words: Sequence[str], noun: str = "") -> Codec:
    """Returns the codec for an index into words.

    Args:
        words: The words.
        noun: The kind of thing that words name, for errors; else they list the words.
    """
    indices = {word: index for index, word in enumerate(words)}

    def read(name: str, value: Any, players: int) -> int:
        if isinstance(value, str) and value in indices:
            return indices[value]
        if noun:
            raise ValueError(f"{name}: no {noun} {shown(value)}")
        raise ValueError(f"{name}: {shown(value)} is not one of {words}")

    return Codec(words.__getitem__, read)


def _or_none(codec: Codec) -> Codec:
    """Returns a codec that also writes NONE as null."""

    def write(number: Any) -> Any:
        return None if number == NONE else codec.write(number)

    def read(name: str, value: Any, players: int) -> int:
        return NONE if value is None else codec.read(name, value, players)

    return Codec(write, read)


class PositionJson:
    """Writes and reads positions with one table of cards.

    Args:
        cards: The table of cards.
        header: The fields that all positions begin with.

    Attributes:
        view: Returns the same as `to_dict`, but to be read only.
    """

    def __init__(self, cards: Cards, header: JsonHeader) -> None:
        bound = bind(cards)
        self._moves = MoveTexts(cards)
        self._header = header
        self._picks = cards.course.picks
        self._points = bound(scoring.points)
        self._left_when_passed = bound(draft.left_when_passed)
        self._sees_hand = bound(piles.sees_hand)
        self._card = _word(self._moves.names, "card")
        self._couple = _word(self._moves.couples, "couple")
        self._position = _word(self._moves.positions, "position")
        self._codecs = self._make_codecs()
        self._shipped = header.fixed["cards"] in TABLES.names()
        self.view = SharedViews(self.to_dict)

    def _make_codecs(self) -> dict[str, Codec]:
        """Returns the codec of each field of the record."""
        codecs = {}
        for field in FIELDS:
            high = 127 if field.high is None else field.high
            codecs[field.name] = _number(field.low or 0, high)
        named = (
            (self._card, "obstacle_type acting_card effect_card event_card pending_card"),
            (self._card, "deck discard look"),
            (_or_none(self._card), "limbo picks selected free"),
            (self._couple, "obstacle_couple"),
            (_or_none(self._couple), "effect_couple event_couple"),
            (_or_none(self._position), "moving"),
            (_SEAT, "order obstacle_by acting_by effect_by pending_by event_source poll"),
            (_or_none(_SEAT), "seat effect_who event_owner"),
            (_FLAG, "move_used discard_closed pending_cancelled"),
            (_FLAG, "event_cancelled event_redirected event_recovered"),
            (_word(phases.STAGES), "stage"),
            (_word(phases.STEPS), "step"),
            (_or_none(_word(decisions.NAMES)), "decision"),
            (_word(phases.ACTING_STEPS), "acting_step"),
            (_word(LISTS), "effect_list"),
            (_word(phases.EVENTS), "event"),
        )
        for codec, names in named:
            codecs |= dict.fromkeys(names.split(), codec)
        for name in ("priorities", "effect_obstacle", "resolving"):
            codecs[name] = _or_none(codecs[name])
        return codecs

    def _target_codec(self, state: Record) -> Codec:
        """Returns the codec for the targets of the card that resolves."""
        target = self._moves.cards[state.acting_card].target
        if target == "own_obstacle":
            places = range(state.obstacle_count)
            return _word([self._moves.obstacle(state, place) for place in places], "obstacle")
        if target in ("opp_couple", "opp_couple_incomplete"):
            return self._couple
        if target == "opp":
            return _SEAT
        if target == "discard_prep_or_couple":
            return self._card
        return self._position

    # Writing

    def to_dict(self, state: Record, seat: int | None = None) -> Json:
        """Returns the position as JSON data: the referee's view, or a seat's view (R6, R8)."""
        data = self._referee(state)
        if seat is None:
            return data
        return self._seen_by(state, seat, data)

    def _referee(self, state: Record) -> Json:
        n = int(state.num_players)
        players = range(n)
        obstacles = range(state.obstacle_count)
        data = {
            **self._header.write(state),
            **{name: self._codecs[name].write(state[name]) for name in _SINGLE},
            **{name: self._list(name, state[name][:n]) for name in _BY_SEAT},
            **{name: [self._cards(row) for row in state[name][:n]] for name in _COUNTED},
            **{name: self._list(name, state[name][: state[f"{name}_size"]]) for name in _LISTS},
            "ply": int(state.ply),
            "packs": [self._pack(state, seat) for seat in players],
            "fields": [self._field(state, seat) for seat in players],
            "obstacles": [self._row(state, _OBSTACLE, place) for place in obstacles],
            **self._frames(state),
            "draft": [self._list("picks", picks) for picks in state.picks[:n]],
            "passed": [[self._passed(state, seat, pack) for pack in players] for seat in players],
            "known": [[self._cards(row) for row in rows[:n]] for rows in state.known[:n]],
            "vp": [int(self._points(state, seat)) for seat in players],
            "winners": winners_of(state),
        }
        data["deck"].reverse()
        if state.stage != phases.RESOLVE:
            data["step"] = ""
        if not state.order_size:
            data["priorities"] = []
        if state.stage != phases.OVER:
            data["hand_sizes_at_end"] = None
        ordered = {key: data[key] for key in _KEYS}
        if self._shipped:
            return ordered
        return {"digest": f"{self._header.digest:012x}", **ordered}

    def _frames(self, state: Record) -> Json:
        """Returns the windows, the card that resolves, the effect and the event."""
        menu = bool(state.decision == decisions.DISCARD_MENU)
        frames: Json = {
            "window": self._object(state, _WINDOW, menu=menu),
            "acting": None,
            "effect": None,
            "react": None,
        }
        targets = []
        if state.acting_card != NONE:
            codec = self._target_codec(state)
            targets = [codec.write(target) for target in state.targets if target != NONE]
            frames["acting"] = self._object(state, _ACTING, targets=targets)
        if state.effect_list != NONE:
            seen = targets if state.effect_list == ON_RESOLVE else []
            frames["effect"] = self._object(state, _EFFECT, targets=seen)
        if state.event != NONE:
            places = range(state.pending_size)
            pending = [self._row(state, _PENDING, place) for place in places]
            frames["react"] = self._object(state, _REACT, pending=pending)
        return frames

    def _object(self, state: Record, fields: FieldOf, **others: Any) -> Json:
        """Returns the object of these fields; `others` are keys that have no field."""
        return {
            key: others[key] if key in others else self._codecs[name].write(state[name])
            for key, name in fields.items()
        }

    def _row(self, state: Record, fields: FieldOf, place: int) -> Json:
        """Returns the object of a place of these fields."""
        return {key: self._codecs[name].write(state[name][place]) for key, name in fields.items()}

    def _list(self, name: str, numbers: NDArray[Any]) -> list[Any]:
        return [self._codecs[name].write(number) for number in numbers]

    def _cards(self, counts: NDArray[Any]) -> list[str]:
        """Returns the names of counted cards, sorted by type."""
        names = self._moves.names
        return [names[card] for card in counts.nonzero()[0] for _ in range(counts[card])]

    def _pack(self, state: Record, seat: int) -> list[str]:
        """Returns the pack that a seat holds."""
        if state.stage != phases.DRAFT:
            return []
        return self._cards(state.packs[draft.pack_of(state, seat)])

    def _passed(self, state: Record, viewer: int, pack: int) -> list[str]:
        """Returns the cards of a pack when a seat last passed it on."""
        if state.stage != phases.DRAFT:
            return []
        counts = np.zeros(MAX_TYPES, np.int8)
        self._left_when_passed(state, viewer, pack, counts)
        return self._cards(counts)

    def _field(self, state: Record, seat: int) -> Json:
        couples = []
        for couple in np.flatnonzero(state.owner == seat):
            needs = enumerate(self._moves.requirements[couple])
            attached = [name for place, name in needs if state.attached[couple] >> place & 1]
            couples.append({"card": self._moves.couples[couple], "attached": attached})
        free = dict(zip(SUBTYPES, self._list("free", state.free[seat]), strict=True))
        return {"couples": couples, "free": free, "shield_until": int(state.shield[seat])}

    def _seen_by(self, state: Record, seat: int, data: Json) -> Json:
        """Removes the information hidden from a seat from the referee's view."""
        del data["seed"], data["ply"]
        data["deck"] = len(data["deck"])
        for other in range(state.num_players):
            if other != seat:
                self._hide_cards(state, other, data)
        for pack, picks in enumerate(data["draft"]):
            for number in range(PICKS):
                secret = picks[number] is not None
                if secret and draft.holder_of(state, pack, number) != seat:
                    picks[number] = None
        if state.seat != seat:
            data |= dict.fromkeys(("seat", "decision", "window", "look"))
            if state.stage in (phases.DRAFT, phases.SELECT):
                data["cursor"] = None
            if data["react"] is not None:
                data["react"] |= dict.fromkeys(("poll", "quiet", "resolving"))
        return data

    def _hide_cards(self, state: Record, other: int, data: Json) -> None:
        """Replaces the cards and the knowledge of a seat by numbers and null."""
        counts = state.hands[other].copy()
        if state.stage == phases.SELECT:
            data["selected"][other] = None
            if state.selected[other] != NONE:  # it looks as if still in hand
                counts[state.selected[other]] += 1
        if self._sees_hand(state, other):
            data["hands"][other] = self._cards(counts)
        else:
            data["hands"][other] = int(counts.sum())
        picked = int(draft.has_picked(state, other))  # a pick looks as if still in the pack
        data["piles"][other] = len(data["piles"][other]) - picked
        data["packs"][other] = len(data["packs"][other]) + picked
        for name in ("passed", "taken", "known"):
            data[name][other] = None

    # Reading

    def from_dict(self, data: Mapping[str, Any]) -> Record:
        """Returns the record of the referee's `to_dict`; ValueError names an unreadable part."""
        state = self._header.read(data, _KEYS, optional=("digest",))
        course.clear(state)
        for name in _SINGLE:
            state[name] = self._read_number(state, name, data[name], name)
        if state.stage in (phases.START, phases.END):  # only effects have decisions there
            state.step = phases.EFFECT
        self._read_cards(state, data)
        for seat, field in _by_seat(state, "fields", data["fields"]):
            self._read_field(state, f"fields[{seat}]", field, seat)
        rows = data["obstacles"]
        state.obstacle_count = self._read_rows(state, "obstacles", rows, _OBSTACLE, OBSTACLES)
        for name, fields in _OBJECTS.items():
            if data[name] is not None or name == "window":
                for field_name, number in self._read_object(state, name, data[name], fields):
                    state[field_name] = number
        if data["acting"] is not None:
            self._read_targets(state, data["acting"]["targets"])
        if data["react"] is not None:
            rows = data["react"]["pending"]
            state.pending_size = self._read_rows(state, "react: pending", rows, _PENDING, REACTIONS)
        state.winners = read_winners(data["winners"], int(state.num_players))
        return state

    def _read_number(self, state: Record, name: str, value: Any, field: str) -> int:
        """Reads a number of a field; `name` is for errors."""
        return self._codecs[field].read(name, value, int(state.num_players))

    def _read_list(
        self, state: Record, name: str, value: Any, field: str, low: int, high: int
    ) -> list[int]:
        """Reads a list of low..high numbers of a field."""
        read = self._codecs[field].read
        players = int(state.num_players)
        return [read(name, item, players) for item in sequence(name, value, low, high)]

    def _read_object(
        self, state: Record, name: str, data: Any, fields: FieldOf
    ) -> list[tuple[str, int]]:
        """Reads an object; returns its fields with their numbers."""
        check_keys(name, data, fields)
        return [
            (field, self._read_number(state, f"{name}: {key}", data[key], field))
            for key, field in fields.items()
            if field in self._codecs
        ]

    def _read_rows(self, state: Record, name: str, value: Any, fields: FieldOf, most: int) -> int:
        """Reads a list of objects into places of fields; returns their number."""
        rows = sequence(name, value, 0, most)
        for place, row in enumerate(rows):
            for field, number in self._read_object(state, f"{name}[{place}]", row, fields):
                state[field][place] = number
        return len(rows)

    def _read_targets(self, state: Record, value: Any) -> None:
        for index, target in enumerate(sequence("acting: targets", value, 0, 2)):
            codec = self._target_codec(state)
            name = f"acting: targets[{index}]"
            state.targets[index] = codec.read(name, target, int(state.num_players))

    def _read_cards(self, state: Record, data: Mapping[str, Any]) -> None:
        """Reads the deck, the discard pile, hands, the draft, and the knowledge of them."""
        players = int(state.num_players)
        for name in _LISTS:
            numbers = self._read_list(state, name, data[name], name, 0, len(state[name]))
            if name == "deck":
                numbers.reverse()
            state[name].fill(NONE)
            state[name][: len(numbers)] = numbers
            state[f"{name}_size"] = len(numbers)
        for name in _BY_SEAT:
            if data[name] not in (None, []):
                numbers = self._read_list(state, name, data[name], name, players, players)
                state[name][:players] = numbers
        self._read_draft(state, data)
        for name in _COUNTED:
            for seat, cards in _by_seat(state, name, data[name]):
                self._count(state, f"{name}[{seat}]", cards, state[name][seat])
        state.hand_size[:] = state.hands.sum(1)
        for viewer, rows in _by_seat(state, "known", data["known"]):
            for seat, cards in _by_seat(state, f"known[{viewer}]", rows):
                self._count(state, f"known[{viewer}][{seat}]", cards, state.known[viewer, seat])

    def _read_draft(self, state: Record, data: Mapping[str, Any]) -> None:
        """Reads the picks, from which the round of the draft follows, and the packs."""
        players = int(state.num_players)
        for pack, picks in _by_seat(state, "draft", data["draft"]):
            name = f"draft[{pack}]"
            state.picks[pack] = self._read_list(state, name, picks, "picks", PICKS, PICKS)
        drafting = state.stage == phases.DRAFT
        if drafting:
            picked = (state.picks[:players] != NONE).sum(1)
            state.draft_round = min(int(picked.min()), self._picks - 1)
        for seat, cards in _by_seat(state, "packs", data["packs"]):
            pack = draft.pack_of(state, seat) if drafting else seat
            self._count(state, f"packs[{seat}]", cards, state.packs[pack])

    def _count(self, state: Record, name: str, value: Any, counts: NDArray[Any]) -> None:
        """Reads a list of cards and adds them to counts by type."""
        for card in self._read_list(state, name, value, "deck", 0, MAX_HAND):
            counts[card] += 1

    def _read_field(self, state: Record, name: str, field: Any, seat: int) -> None:
        check_keys(name, field, ("couples", "free", "shield_until"))
        shield = field["shield_until"]
        state.shield[seat] = self._read_number(state, f"{name}: shield_until", shield, "shield")
        check_keys(f"{name}: free", field["free"], SUBTYPES)
        for slot, subtype in enumerate(SUBTYPES):
            card = field["free"][subtype]
            state.free[seat, slot] = self._read_number(
                state, f"{name}: free: {subtype}", card, "free"
            )
        couples = sequence(f"{name}: couples", field["couples"], 0, COUPLES)
        for index, entry in enumerate(couples):
            self._read_couple(state, f"{name}: couples[{index}]", entry, seat)

    def _read_couple(self, state: Record, name: str, entry: Any, seat: int) -> None:
        check_keys(name, entry, ("card", "attached"))
        couple = self._read_number(state, f"{name}: card", entry["card"], "obstacle_couple")
        state.owner[couple] = seat
        needs = _word(self._moves.requirements[couple])
        for preparation in sequence(f"{name}: attached", entry["attached"], 0, NEEDS):
            place = needs.read(f"{name}: attached", preparation, 0)
            state.attached[couple] |= 1 << place


def _by_seat(state: Record, name: str, value: Any) -> Iterator[tuple[int, Any]]:
    """Yields the seats with their entries of a list, which must have one for each."""
    players = int(state.num_players)
    return enumerate(sequence(name, value, players, players))
