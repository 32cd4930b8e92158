"""Positions of Love Formula as JSON (section "JSON" of RULES.md), both ways.

Tables say which field of the record a key is, and `PositionJson` how the numbers of each field are
written. Reading goes by name alone: `validation` says whether a position can be played.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from linkzoo.core.arguments import boolean, check_keys, integer, sequence, shown
from linkzoo.core.positions import JsonHeader, read_winners
from linkzoo.core.state import Record, winners_of
from linkzoo.games.love_formula import decisions, phases
from linkzoo.games.love_formula.binding import bind
from linkzoo.games.love_formula.cards import LISTS, MAX_TYPES, STANDARD, SUBTYPES, Cards
from linkzoo.games.love_formula.components import COUPLES, NEEDS, NONE, OBSTACLES, PICKS, REACTIONS
from linkzoo.games.love_formula.notation import MoveTexts
from linkzoo.games.love_formula.ops import ON_RESOLVE
from linkzoo.games.love_formula.rules import course, draft, piles, scoring
from linkzoo.games.love_formula.state import FIELDS, MAX_HAND

Json = dict[str, Any]
Keys = Mapping[str, str]  # the fields of an object by key

_KEYS = (
    "game version options seed num_players seat ply half turn stage cursor step decision deck "
    "discard reshuffles random_discards hands piles packs selected priorities order fields "
    "obstacles window acting effect look limbo react draft passed taken known hand_sizes_at_end "
    "vp winners"
).split()
# By key: the field of the record. A name that is no field follows from others and is not read.
_SINGLE = "seat half turn stage cursor step decision reshuffles random_discards limbo".split()
_ROWS = ("deck", "discard", "look", "order")  # with a field for their size
_BY_SEAT = ("selected", "priorities", "hand_sizes_at_end")
_COUNTED = ("hands", "piles", "taken")  # by seat and type


def _named(prefix: str, keys: str) -> dict[str, str]:
    """Returns the fields of an object by key, where a field is a prefix and its key."""
    return {key: prefix + key for key in keys.split()}


_WINDOW = _named("", "move_used discard_closed menu moving")
_ACTING = _named("acting_", "card by targets step")
_EFFECT = _named("effect_", "card by list couple obstacle targets op who left")
_REACT = {"kind": "event"}
_REACT |= _named("event_", "source card couple owner cancelled redirected recovered")
_REACT |= _named("", "poll quiet resolving pending")
_FRAMES = {"window": _WINDOW, "acting": _ACTING, "effect": _EFFECT, "react": _REACT}
_PENDING = _named("pending_", "card by answers cancelled")
_OBSTACLE = {"card": "obstacle_type"} | _named("obstacle_", "couple by") | _named("", "turns_left")


class Kind(NamedTuple):
    """How a number is written, and read: from a name for messages, a value, and the players."""

    write: Callable[[Any], Any]
    read: Callable[[str, Any, int], int]


_FLAG = Kind(bool, lambda where, value, _: boolean(where, value))
_SEAT = Kind(int, lambda where, value, players: integer(where, value, 0, players - 1))


def _number(low: int | None, high: int | None) -> Kind:
    low, high = low or 0, 127 if high is None else high
    return Kind(int, lambda where, value, _: integer(where, value, low, high))


def _word(words: Sequence[str], thing: str = "") -> Kind:
    """The place of a word; an error lists a few words, or says which thing there isn't."""
    places = {word: place for place, word in enumerate(words)}

    def read(where: str, value: Any, players: int) -> int:
        if isinstance(value, str) and value in places:
            return places[value]
        wrong = f"no {thing} {shown(value)}" if thing else f"{shown(value)} is not one of {words}"
        raise ValueError(f"{where}: {wrong}")

    return Kind(words.__getitem__, read)


def _or_none(kind: Kind) -> Kind:
    """As a kind, but null for NONE."""
    return Kind(
        lambda number: None if number == NONE else kind.write(number),
        lambda where, value, players: NONE if value is None else kind.read(where, value, players),
    )


class PositionJson:
    """Writes and reads positions with one table of cards.

    Args:
        cards: The table of cards.
        header: The fields that all positions begin with.
    """

    def __init__(self, cards: Cards, header: JsonHeader) -> None:
        bound = bind(cards)
        moves = MoveTexts(cards)
        self._moves = moves
        self._header = header
        self._points = bound(scoring.points)
        self._left_when_passed = bound(draft.left_when_passed)
        self._sees_hand = bound(piles.sees_hand)
        card, couple = _word(moves.names, "card"), _word(moves.couples, "couple")
        self._position = _word(moves.positions, "position")
        kinds = (
            (card, "obstacle_type acting_card effect_card event_card pending_card"),
            (card, "deck discard look"),
            (_or_none(card), "limbo picks selected free"),
            (couple, "obstacle_couple"),
            (_or_none(couple), "effect_couple event_couple"),
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
        self._kinds = {field.name: _number(field.low, field.high) for field in FIELDS}
        self._kinds |= {name: kind for kind, names in kinds for name in names.split()}
        for name in ("priorities", "effect_obstacle", "resolving"):
            self._kinds[name] = _or_none(self._kinds[name])
        # Targets of cards; those of other kinds are positions.
        self._aims = {"opp_couple": couple, "opp_couple_incomplete": couple, "opp": _SEAT}
        self._aims |= {"discard_prep_or_couple": card}

    def _target(self, state: Record) -> Kind:
        """How the targets of the card that resolves are written."""
        target = self._moves.cards[state.acting_card].target
        if target == "own_obstacle":
            places = range(state.obstacle_count)
            return _word([self._moves.obstacle(state, place) for place in places], "obstacle")
        return self._aims.get(target, self._position)

    # Writing

    def to_dict(self, state: Record, seat: int | None = None) -> Json:
        """Returns the position as JSON data: the referee's view, or what a `seat` sees (R6, R8)."""
        data = self._referee(state)
        return data if seat is None else self._seen_by(state, seat, data)

    def _referee(self, state: Record) -> Json:
        n = int(state.num_players)
        players, obstacles = range(n), range(state.obstacle_count)
        menu = bool(state.decision == decisions.DISCARD_MENU)
        packs = [state.packs[draft.pack_of(state, seat)] for seat in players]
        found = {
            **self._header.write(state),
            **{name: self._kinds[name].write(state[name]) for name in _SINGLE},
            **{name: self._list(name, state[name][:n]) for name in _BY_SEAT},
            **{name: [self._held(row) for row in state[name][:n]] for name in _COUNTED},
            **{name: self._list(name, state[name][: state[f"{name}_size"]]) for name in _ROWS},
            "ply": int(state.ply),
            "packs": [self._held(row) if state.stage == phases.DRAFT else [] for row in packs],
            "fields": [self._field(state, seat) for seat in players],
            "obstacles": [self._written(state, _OBSTACLE, place) for place in obstacles],
            "window": self._written(state, _WINDOW, menu=menu),
            **self._frames(state),
            "draft": [self._list("picks", picks) for picks in state.picks[:n]],
            "passed": [[self._passed(state, seat, pack) for pack in players] for seat in players],
            "known": [[self._held(row) for row in rows[:n]] for rows in state.known[:n]],
            "vp": [int(self._points(state, seat)) for seat in players],
            "winners": winners_of(state),
        }
        found["deck"].reverse()
        if state.stage != phases.RESOLVE:
            found["step"] = ""
        if not state.order_size:
            found["priorities"] = []
        if state.stage != phases.OVER:
            found["hand_sizes_at_end"] = None
        own_table = self._header.fixed["cards"] != STANDARD
        digest = {"digest": f"{self._header.digest:012x}"} if own_table else {}
        return digest | {key: found[key] for key in _KEYS}

    def _frames(self, state: Record) -> Json:
        """The card that resolves, the effect and the event."""
        pending = [self._written(state, _PENDING, place) for place in range(state.pending_size)]
        targets = [self._target(state).write(each) for each in state.targets if each != NONE]
        seen = targets if state.effect_list == ON_RESOLVE else []
        found: Json = dict.fromkeys(("acting", "effect", "react"))
        if state.acting_card != NONE:
            found["acting"] = self._written(state, _ACTING, targets=targets)
        if state.effect_list != NONE:
            found["effect"] = self._written(state, _EFFECT, targets=seen)
        if state.event != NONE:
            found["react"] = self._written(state, _REACT, pending=pending)
        return found

    def _written(self, state: Record, keys: Keys, place: Any = (), **others: Any) -> Json:
        """The object of these fields, or of a place of theirs, and of what follows from others."""
        return {
            key: others[key] if key in others else self._kinds[name].write(state[name][place])
            for key, name in keys.items()
        }

    def _list(self, name: str, numbers: Any) -> list[Any]:
        return [self._kinds[name].write(number) for number in numbers]

    def _held(self, counts: Any) -> list[str]:
        names = self._moves.names
        return [names[card] for card in counts.nonzero()[0] for _ in range(counts[card])]

    def _passed(self, state: Record, viewer: int, pack: int) -> list[str]:
        """Returns what was left in a pack when a seat last passed it on."""
        counts = np.zeros(MAX_TYPES, np.int8)
        self._left_when_passed(state, viewer, pack, counts)
        return self._held(counts)

    def _field(self, state: Record, seat: int) -> Json:
        couples = []
        for couple in np.flatnonzero(state.owner == seat):
            needs = enumerate(self._moves.requirements[couple])
            attached = [name for place, name in needs if state.attached[couple] >> place & 1]
            couples.append({"card": self._moves.couples[couple], "attached": attached})
        free = dict(zip(SUBTYPES, self._list("free", state.free[seat]), strict=True))
        return {"couples": couples, "free": free, "shield_until": int(state.shield[seat])}

    def _seen_by(self, state: Record, seat: int, data: Json) -> Json:
        """Hides from the referee's view what a seat can't know."""
        del data["seed"], data["ply"]
        data["deck"] = len(data["deck"])
        for other in set(range(state.num_players)) - {seat}:
            counts = state.hands[other].copy()
            if state.stage == phases.SELECT and state.selected[other] != NONE:
                counts[state.selected[other]] += 1
            open_hand = self._sees_hand(state, other)
            data["hands"][other] = self._held(counts) if open_hand else int(counts.sum())
            picked = int(draft.has_picked(state, other))
            data["piles"][other] = len(data["piles"][other]) - picked
            data["packs"][other] = len(data["packs"][other]) + picked
            if state.stage == phases.SELECT:
                data["selected"][other] = None
            for name in ("passed", "taken", "known"):
                data[name][other] = None
        for pack, picks in enumerate(data["draft"]):
            for number in range(PICKS):
                if draft.holder_of(state, pack, number) != seat:
                    picks[number] = None
        if state.seat != seat:  # who is asked, and what he looks at
            data |= dict.fromkeys(("seat", "decision", "window", "look"))
            if state.stage in (phases.DRAFT, phases.SELECT):
                data["cursor"] = None
            if data["react"] is not None:
                data["react"] |= dict.fromkeys(("poll", "quiet", "resolving"))
        return data

    # Reading

    def from_dict(self, data: Mapping[str, Any]) -> Record:
        """Returns the record of the referee's `to_dict`; ValueError says what can't be read."""
        state = self._header.read(data, _KEYS, optional=("digest",))
        course.clear(state)
        for name in _SINGLE:
            state[name] = self._one(state, name, data[name], name)
        if state.stage in (phases.START, phases.END):  # where only effects ask
            state.step = phases.EFFECT
        self._read_cards(state, data)
        for seat, field in _by_seat(state, "fields", data["fields"]):
            self._read_field(state, f"fields[{seat}]", field, seat)
        rows = data["obstacles"]
        state.obstacle_count = self._read_rows(state, "obstacles", rows, _OBSTACLE, OBSTACLES)
        for where, keys in _FRAMES.items():
            if data[where] is not None or where == "window":
                for key, number in self._read(state, where, data[where], keys).items():
                    state[keys[key]] = number
        if data["acting"] is not None:
            targets = sequence("acting: targets", data["acting"]["targets"], 0, 2)
            for index, target in enumerate(targets):
                where, kind = f"acting: targets[{index}]", self._target(state)
                state.targets[index] = kind.read(where, target, int(state.num_players))
        if data["react"] is not None:
            rows = data["react"]["pending"]
            state.pending_size = self._read_rows(state, "react: pending", rows, _PENDING, REACTIONS)
        state.winners = read_winners(data["winners"], int(state.num_players))
        return state

    def _one(self, state: Record, where: str, value: Any, name: str) -> int:
        return self._kinds[name].read(where, value, int(state.num_players))

    def _some(
        self, state: Record, where: str, value: Any, name: str, low: int, high: int
    ) -> list[int]:
        """Reads low..high numbers of a field."""
        read, players = self._kinds[name].read, int(state.num_players)
        return [read(where, item, players) for item in sequence(where, value, low, high)]

    def _read(self, state: Record, where: str, data: Any, keys: Keys) -> dict[str, int]:
        """Reads an object: the numbers of its fields by key."""
        check_keys(where, data, keys)
        return {
            key: self._one(state, f"{where}: {key}", data[key], name)
            for key, name in keys.items()
            if name in self._kinds
        }

    def _read_rows(self, state: Record, where: str, value: Any, keys: Keys, most: int) -> int:
        """Reads a list of objects; says how many there are."""
        rows = sequence(where, value, 0, most)
        for place, row in enumerate(rows):
            for key, number in self._read(state, f"{where}[{place}]", row, keys).items():
                state[keys[key]][place] = number
        return len(rows)

    def _read_cards(self, state: Record, data: Mapping[str, Any]) -> None:
        """The deck, the discard pile, hands, the draft, and what is known of them."""
        players = int(state.num_players)
        for name in _ROWS:
            numbers = self._some(state, name, data[name], name, 0, len(state[name]))
            state[name].fill(NONE)
            state[name][: len(numbers)] = numbers[::-1] if name == "deck" else numbers
            state[f"{name}_size"] = len(numbers)
        for name in _BY_SEAT:
            if data[name] not in (None, []):
                numbers = self._some(state, name, data[name], name, players, players)
                state[name][:players] = numbers
        for pack, picks in _by_seat(state, "draft", data["draft"]):
            state.picks[pack] = self._some(state, f"draft[{pack}]", picks, "picks", PICKS, PICKS)
        if state.stage == phases.DRAFT:
            made = (state.picks[:players] != NONE).sum(1)
            state.draft_round = min(int(made.min()), PICKS - 1)
        for name in _COUNTED:
            for seat, cards in _by_seat(state, name, data[name]):
                self._count(state, f"{name}[{seat}]", cards, state[name][seat])
        state.hand_size[:] = state.hands.sum(1)
        for seat, cards in _by_seat(state, "packs", data["packs"]):
            pack = draft.pack_of(state, seat) if state.stage == phases.DRAFT else seat
            self._count(state, f"packs[{seat}]", cards, state.packs[pack])
        for viewer, rows in _by_seat(state, "known", data["known"]):
            for seat, cards in _by_seat(state, f"known[{viewer}]", rows):
                self._count(state, f"known[{viewer}][{seat}]", cards, state.known[viewer, seat])

    def _count(self, state: Record, where: str, value: Any, into: Any) -> None:
        for card in self._some(state, where, value, "deck", 0, MAX_HAND):
            into[card] += 1

    def _read_field(self, state: Record, where: str, field: Any, seat: int) -> None:
        check_keys(where, field, ("couples", "free", "shield_until"))
        shield = field["shield_until"]
        state.shield[seat] = self._one(state, f"{where}: shield_until", shield, "shield")
        free = self._read(state, f"{where}: free", field["free"], dict.fromkeys(SUBTYPES, "free"))
        state.free[seat] = [free[subtype] for subtype in SUBTYPES]
        for index, entry in enumerate(sequence(f"{where}: couples", field["couples"], 0, COUPLES)):
            at = f"{where}: couples[{index}]"
            check_keys(at, entry, ("card", "attached"))
            couple = self._one(state, f"{at}: card", entry["card"], "obstacle_couple")
            state.owner[couple] = seat
            needs = _word(self._moves.requirements[couple])
            for name in sequence(f"{at}: attached", entry["attached"], 0, NEEDS):
                state.attached[couple] |= 1 << needs.read(f"{at}: attached", name, 0)


def _by_seat(state: Record, where: str, value: Any) -> Iterator[tuple[int, Any]]:
    players = int(state.num_players)
    return enumerate(sequence(where, value, players, players))
