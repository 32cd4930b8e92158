"""A slow model of Love Formula in plain Python: cards are names, zones are lists of them.

It knows nothing of the package. Comments cite the rules R1-R27 of RULES.md. The flow of a game is a
generator that asks for one decision after the other and is told the move as a text. Shuffles, the
order among equal priorities and random discards are not predicted: they are read back from the
position behind a move (`shown`), and checked to be possible; without one, `rng` draws them.
"""

import csv
import json
from collections import Counter
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Json = dict[str, Any]
Flow = Generator[None, str, None]
Asking = Generator[None, str, str]

SUBTYPES = ("event", "location", "item")
TURNS, PICKS = 10, 12  # of a half


@dataclass(frozen=True)
class Card:
    """A row of the table."""

    id: int
    name: str
    type: str
    subtype: str
    priority: int
    copies: int
    requirements: tuple[str, ...]
    trigger: str
    target: str
    turns: int
    static: Json
    on_resolve: tuple[tuple[Any, ...], ...]
    on_turn_start: tuple[tuple[Any, ...], ...]
    on_expire: tuple[tuple[Any, ...], ...]
    flags: tuple[str, ...]

    def __hash__(self) -> int:
        return self.id


def read_row(row: dict[str, str]) -> Card:
    """One row as the schema has it."""
    card: dict[str, Any] = {
        name: tuple(tuple(op) for op in json.loads(row[name]))
        for name in ("on_resolve", "on_turn_start", "on_expire")
    }
    return Card(
        id=int(row["id"]),
        name=row["name"],
        type=row["type"],
        subtype=row["subtype"],
        priority=int(row["priority"] or 0),
        copies=int(row["copies"]),
        requirements=tuple(name for name in row["requirements"].split("|") if name),
        trigger=row["trigger"],
        target=row["target"],
        turns=int(row["turns"] or 0),
        static=json.loads(row["static"]),
        flags=tuple(flag for flag in row["flags"].split("|") if flag),
        **card,
    )


class Table:
    """The cards of a table, by name, and the course of the game."""

    def __init__(
        self,
        rows: Iterable[dict[str, str]],
        picks: int = PICKS,
        turns: int = TURNS,
        halves: int = 2,
    ) -> None:
        self.picks, self.turns, self.halves = picks, turns, halves
        self.cards = {card.name: card for card in map(read_row, rows)}
        self.names = list(self.cards)
        self.job = next(c.name for c in self.cards.values() if "one_per_player" in c.flags)
        self.deck = [name for name, c in self.cards.items() for _ in range(c.copies)]
        self.deck = [name for name in self.deck if name != self.job]  # R2, R3

    def __getitem__(self, name: str) -> Card:
        return self.cards[name]

    def of(self, *types: str) -> list[str]:
        """The names of some types of cards."""
        return [name for name, card in self.cards.items() if card.type in types]

    def sorted(self, names: Iterable[str]) -> list[str]:
        """By type id."""
        return sorted(names, key=lambda name: self.cards[name].id)


def read_table(path: Path) -> Table:
    """The table in a file."""
    with path.open(encoding="utf-8", newline="") as file:
        return Table(csv.DictReader(file))


def read_edition(data: Json, standard: Path) -> Table:
    """The cards of an edition out of the standard ones."""
    rows = []
    with standard.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["flags"]:
                rows.append(row)
            elif row["name"] in data["cards"]:
                rows.append(row | {"copies": str(data["cards"][row["name"]])})
    for number, row in enumerate(rows):
        row["id"] = str(number)
    return Table(rows, data["picks"], data["turns"], data["halves"])


@dataclass
class Field:
    """A player's field: couples with attached cards, and the free slots."""

    couples: dict[str, list[str]] = field(default_factory=dict)
    free: dict[str, str | None] = field(default_factory=lambda: dict.fromkeys(SUBTYPES))
    shield_until: int = -1


@dataclass(eq=False)
class Obstacle:
    """An obstacle on the table; equal ones are different."""

    card: str
    couple: str
    by: int
    turns_left: int


@dataclass(eq=False)
class Reaction:
    """A reaction that was played and waits."""

    card: str
    by: int
    answers: "Reaction | None"  # None: the event itself
    cancelled: bool = False


@dataclass(eq=False)
class Event:
    """The event of a reaction window (R19)."""

    kind: str  # obstacle, action or prep_discarded
    source: int
    card: str
    couple: str | None = None
    owner: int | None = None
    cancelled: bool = False
    redirected: bool = False
    recovered: bool = False
    pending: list[Reaction] = field(default_factory=list)


@dataclass(frozen=True)
class Setup:
    """The number of players and the options that are not the usual ones."""

    num_players: int = 2
    options: Json = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return "-".join([f"{self.num_players}p", *(f"{k}={v}" for k, v in self.options.items())])


class Oracle:
    """One game of Love Formula. `moves()` are the legal moves, `follow` plays one."""

    def __init__(self, table: Table, num_players: int, discards: str = "windows") -> None:
        n = num_players
        self.table, self.n, self.discards = table, n, discards
        self.rng = np.random.default_rng(0)
        self.shown: Json | None = None
        self.half, self.turn, self.stage, self.step = 1, -1, "draft", ""
        self.cursor = 0
        self.deck: list[str] = []
        self.discard: list[str] = []
        self.loose: list[tuple[int, int]] = []  # parts of the discard pile that come in any order
        self.reshuffles = 0
        self.hands: list[list[str]] = [[] for _ in range(n)]
        self.piles: list[list[str]] = [[] for _ in range(n)]
        self.packs: list[list[str]] = [[] for _ in range(n)]
        self.jobs_aside = True  # R2: during drafts the jobs lie beside their players
        self.selected: list[str | None] = [None] * n
        self.face_down = False
        self.priorities: list[int] = []
        self.order: list[int] = []
        self.fields = [Field() for _ in range(n)]
        self.obstacles: list[Obstacle] = []
        self.move_used = self.discard_closed = False
        self.moving: str | None = None
        self.look: list[str] = []
        self.limbo: str | None = None
        self.event: Event | None = None
        self.draft: list[list[str | None]] = [[None] * PICKS for _ in range(n)]
        self.passed: list[list[Counter[str]]] = [[Counter() for _ in range(n)] for _ in range(n)]
        self.taken: list[Counter[str]] = [Counter() for _ in range(n)]
        self.known: list[list[Counter[str]]] = [[Counter() for _ in range(n)] for _ in range(n)]
        self.hand_sizes_at_end: list[int] | None = None
        self.winners: list[int] = []
        self.seat: int | None = None
        self.decision: str | None = None
        self.options: list[str] = []
        self.asked: list[tuple[int, str, int]] = []  # seat, kind, number of options
        self.flow: Flow | None = None

    # Beginnings

    @classmethod
    def new(cls, table: Table, num_players: int, seed: int, discards: str = "windows") -> "Oracle":
        """A game with chance of its own."""
        self = cls(table, num_players, discards)
        self.rng = np.random.default_rng(seed)
        self.deck = [table.deck[i] for i in self.rng.permutation(len(table.deck))]
        self.begin(self.game())
        return self

    @classmethod
    def read(cls, data: Json, table: Table) -> "Oracle":
        """A position at the start of a draft, at a selection, or before a card's pre-window.

        In the first position of a game the deck is the packs and the shown cards.
        """
        self = cls(table, data["num_players"], data["options"]["voluntary_discards"])
        self.half, self.turn, self.stage = data["half"], data["turn"], data["stage"]
        if self.stage == "draft":
            assert not any(data["piles"])
            assert self.turn == -1
            self.shown = data
            self.deck = [card for pack in data["packs"] for card in pack] + data["deck"]
            self.begin(self.game())
            return self
        for name in ("deck", "discard", "selected", "priorities", "order", "winners"):
            setattr(self, name, list(data[name]))
        self.reshuffles, self.step = data["reshuffles"], data["step"]
        self.hands = [self.table.sorted(hand) for hand in data["hands"]]
        for own, shown in zip(self.fields, data["fields"], strict=True):
            own.couples = {couple["card"]: list(couple["attached"]) for couple in shown["couples"]}
            own.free = dict(shown["free"])
            own.shield_until = shown["shield_until"]
        self.obstacles = [Obstacle(**obstacle) for obstacle in data["obstacles"]]
        self.draft = [list(picks) for picks in data["draft"]]
        self.jobs_aside = False
        self.cursor = data["cursor"]
        if self.stage == "over":
            self.hand_sizes_at_end = data["hand_sizes_at_end"]
            return self
        assert (data["decision"], self.stage) in {("SELECT", "select"), ("WINDOW", "resolve")}
        self.begin(self.game())
        return self

    def begin(self, flow: Flow) -> None:
        """Up to the first decision."""
        self.flow = flow
        next(flow)

    def moves(self) -> list[str]:
        """Every legal move of the seat to act."""
        return list(self.options)

    def follow(self, move: str, shown: Json | None = None) -> None:
        """Plays a legal move; chance is read from the position behind it."""
        assert self.flow is not None
        assert move in self.options, f"{move} is not one of {self.options}"
        self.shown = shown
        try:
            self.flow.send(move)
        except StopIteration:
            self.seat, self.decision, self.options = None, None, []
        if shown is not None:
            self.accept_order_of_discards(shown["discard"])

    def accept_order_of_discards(self, discard: list[str]) -> None:
        """Cards that leave together come onto the pile in any order."""
        for first, end in self.loose:
            assert Counter(self.discard[first:end]) == Counter(discard[first:end])
            self.discard[first:end] = discard[first:end]
        self.loose = []

    def ask(self, seat: int, kind: str, options: Iterable[str]) -> Asking:
        """One decision; nothing is asked without an option (section 9)."""
        self.options = list(dict.fromkeys(options))
        assert self.options
        self.seat, self.decision = seat, kind
        self.asked.append((seat, kind, len(self.options)))
        self.watch()
        move = yield
        return move

    # The game

    def game(self) -> Flow:
        """R3: draft 1, play 1, draft 2, play 2; from the present stage on."""
        while True:
            if self.stage == "draft":
                yield from self.draft_phase()
                first = 0
            else:
                first = self.turn - self.table.turns * (self.half - 1)
            for _ in range(first, self.table.turns):
                yield from self.one_turn()
            self.end_phase()
            if self.half == self.table.halves:
                break
            self.half, self.stage = 2, "draft"
        self.stage = "over"
        self.winners = self.ranking()

    def deal(self) -> None:
        """R4, R23. Which of the top cards a player gets isn't said."""
        n, picks = self.n, self.table.picks
        count = picks * n
        if self.shown is not None:
            packs = [list(pack) for pack in self.shown["packs"]]
            dealt = [card for pack in packs for card in pack]
            assert [len(pack) for pack in packs] == [picks] * n
            if len(self.deck) >= count:
                assert Counter(dealt) == Counter(self.deck[:count])
                self.deck = self.deck[count:]
            else:
                assert not Counter(self.deck) - Counter(dealt)
                everything = Counter(self.deck) + Counter(self.discard)
                self.deck = list(self.shown["deck"])
                assert Counter(dealt) + Counter(self.deck) == everything
                self.reshuffled()
            self.packs = packs
        else:
            self.packs = [self.table.sorted(self.draw(picks)) for _ in range(n)]

    def reshuffled(self) -> None:
        self.discard, self.loose = [], []
        self.reshuffles += 1

    def draw(self, count: int) -> list[str]:
        """R23: from the top; an empty deck takes in the discard pile."""
        drawn = []
        while count:
            if not self.deck:
                if not self.discard:
                    break
                self.deck = self.shuffled_discard()
                self.reshuffled()
            drawn.append(self.deck.pop(0))
            count -= 1
        return drawn

    def shuffled_discard(self) -> list[str]:
        if self.shown is None:
            return [self.discard[i] for i in self.rng.permutation(len(self.discard))]
        deck, look = list(self.shown["deck"]), list(self.shown["look"])
        gone = Counter(self.discard) - Counter(deck) - Counter(look)
        deck_after = look + list(gone.elements()) + deck
        assert Counter(deck_after) == Counter(self.discard)
        return deck_after

    def draft_phase(self) -> Flow:
        """R4-R6."""
        n = self.n
        self.stage, self.step, self.jobs_aside = "draft", "", True
        self.selected, self.priorities, self.order = [None] * n, [], []
        self.deal()
        self.draft = [[None] * PICKS for _ in range(n)]
        dealt_to = list(range(n))  # for each seat: the pack that it holds
        step = 1 if self.half == 1 else -1
        for number in range(self.table.picks):
            for seat in range(n):
                self.cursor = seat
                move = yield from self.ask(seat, "DRAFT", cards(self.packs[seat]))
                card = card_of(move)
                self.packs[seat].remove(card)
                self.piles[seat] = self.table.sorted([*self.piles[seat], card])
                self.draft[dealt_to[seat]][number] = card
            for seat in range(n):
                self.passed[seat][dealt_to[seat]] = Counter(self.packs[seat])
            self.packs = [self.packs[(seat - step) % n] for seat in range(n)]
            dealt_to = [dealt_to[(seat - step) % n] for seat in range(n)]
            for seat in range(n if number < self.table.picks - 1 else 0):
                self.remember(seat, dealt_to[seat], Counter(self.packs[seat]))
        for seat in range(n):
            for pack in range(n):
                self.remember(seat, pack, Counter())
                self.passed[seat][pack] = Counter()
        for seat in range(n):  # R7
            self.hands[seat] = self.table.sorted([*self.hands[seat], *self.piles[seat]])
            if self.table.job not in self.hands[seat]:
                self.hands[seat] = self.table.sorted([*self.hands[seat], self.table.job])
            self.piles[seat] = []
        self.jobs_aside = False

    def remember(self, seat: int, pack: int, content: Counter[str]) -> None:
        """The cards that others took from a pack since the seat passed it on (section 6)."""
        gone = self.passed[seat][pack] - content
        if self.n == 2:
            self.known[seat][1 - seat] += gone
        else:
            self.taken[seat] += gone

    def end_phase(self) -> None:
        """R17."""
        self.stage, self.step = "end", ""
        if self.half == self.table.halves:
            self.hand_sizes_at_end = [len(hand) for hand in self.hands]
        first = len(self.discard)
        for seat in range(self.n):
            for card in [card for card in self.hands[seat] if card != self.table.job]:
                self.discard_hand_card(seat, card)
        self.loose.append((first, len(self.discard)))
        n = self.n
        self.known = [[Counter() for _ in range(n)] for _ in range(n)]
        self.taken = [Counter() for _ in range(n)]
        self.priorities, self.order = [], []

    # Turns

    def one_turn(self) -> Flow:
        """R8; goes on from a selection or a pre-window that was read."""
        if self.stage == "resolve" and self.step == "pre":
            first = self.cursor
        else:
            if self.stage != "select":
                yield from self.start_of_turn()
                self.cursor = 0
                self.selected, self.priorities, self.order = [None] * self.n, [], []
            yield from self.select()
            self.set_order()
            first = 0
        for number in range(first, len(self.order)):
            self.cursor = number
            yield from self.resolve(self.order[number])
        yield from self.end_of_turn()
        self.stage = ""

    def start_of_turn(self) -> Flow:
        """R8, T0."""
        self.stage, self.step = "start", ""
        self.turn += 1
        self.selected = [None] * self.n
        for obstacle in list(self.obstacles):
            if obstacle not in self.obstacles:
                continue
            card = self.table[obstacle.card]
            yield from self.run_ops(card.on_turn_start, obstacle)
            if obstacle not in self.obstacles:
                continue
            if card.turns > 0:
                obstacle.turns_left -= 1
                if obstacle.turns_left == 0 and card.on_turn_start and not card.static:
                    self.discard_obstacle(obstacle)

    def select(self) -> Flow:
        """R8, T1."""
        self.stage, self.step, self.face_down = "select", "", True
        for seat in range(self.cursor, self.n):
            able = [c for c in self.hands[seat] if self.table[c].type != "reaction"]
            self.cursor = seat
            if able:
                move = yield from self.ask(seat, "SELECT", cards(able))
                self.hands[seat].remove(card_of(move))
                self.selected[seat] = card_of(move)

    def set_order(self) -> None:
        """R8, T2."""
        self.face_down = False
        self.priorities = []
        for seat, card in enumerate(self.selected):
            if card is None:
                self.priorities.append(0)
                continue
            self.seen(seat, card)
            change = sum(static.get("priority_mod", 0) for static in self.statics(seat))
            self.priorities.append(max(0, self.table[card].priority + change))
        playing = [seat for seat in range(self.n) if self.selected[seat] is not None]
        if self.shown is None:
            mixed = [playing[i] for i in self.rng.permutation(len(playing))]
            self.order = sorted(mixed, key=lambda seat: -self.priorities[seat])
        else:
            self.order = list(self.shown["order"])
            assert sorted(self.order) == playing
            values = [self.priorities[seat] for seat in self.order]
            assert values == sorted(values, reverse=True), (values, self.order)

    def end_of_turn(self) -> Flow:
        """R8, T4."""
        self.stage, self.step = "end", ""
        for obstacle in list(self.obstacles):
            if obstacle not in self.obstacles:
                continue
            card = self.table[obstacle.card]
            if card.turns > 0 and obstacle.turns_left == 0:
                yield from self.run_ops(card.on_expire, obstacle)
                if obstacle in self.obstacles:
                    self.discard_obstacle(obstacle)

    # Fields

    def owner(self, couple: str) -> int | None:
        """Whose field a couple lies in."""
        owners = [seat for seat in range(self.n) if couple in self.fields[seat].couples]
        return owners[0] if owners else None

    def controller(self, couple: str) -> int:
        owner = self.owner(couple)
        assert owner is not None
        return owner

    def complete(self, couple: str) -> bool:
        """All requirements are attached."""
        attached = self.fields[self.controller(couple)].couples[couple]
        return set(attached) == set(self.table[couple].requirements)

    def statics(self, seat: int) -> list[Json]:
        """The continuous effects on a player's couples."""
        own = self.fields[seat].couples
        return [self.table[o.card].static for o in self.obstacles if o.couple in own]

    def takes(self, couple: str, card: str) -> bool:
        """R10: whether a preparation can be attached to a couple."""
        attached = self.fields[self.controller(couple)].couples[couple]
        closed = any(
            self.table[o.card].static.get("no_attach") for o in self.obstacles if o.couple == couple
        )
        return card in self.table[couple].requirements and card not in attached and not closed

    def positions(self, seat: int, card: str) -> list[str]:
        """R10: the destinations of a preparation in a field."""
        own = self.fields[seat]
        texts = [f"COUPLE {couple}" for couple in own.couples if self.takes(couple, card)]
        return texts + (["FREE"] if own.free[self.table[card].subtype] is None else [])

    def preparations(self, seat: int) -> dict[str, str]:
        """Position to card, of a field."""
        own = self.fields[seat]
        texts = {f"POS {c}/{p}": p for c, attached in own.couples.items() for p in attached}
        free = {f"POS {seat}/{kind}": card for kind, card in own.free.items() if card is not None}
        return texts | free

    def open_preparations(self, seat: int) -> dict[str, str]:
        """Those of all opponents that lie free or with an incomplete couple."""
        texts = {}
        for other in range(self.n):
            if other == seat:
                continue
            for position, card in self.preparations(other).items():
                couple = position.removeprefix("POS ").split("/")[0]
                if couple == str(other) or not self.complete(couple):
                    texts[position] = card
        return texts

    def remove(self, position: str) -> str:
        """Takes a preparation out of its field."""
        couple, what = position.removeprefix("POS ").split("/")
        if what in SUBTYPES:
            own = self.fields[int(couple)]
            card = own.free[what]
            own.free[what] = None
            assert card is not None
            return card
        self.fields[self.controller(couple)].couples[couple].remove(what)
        return what

    def put(self, seat: int, card: str, destination: str) -> None:
        """Places a preparation."""
        if destination == "FREE":
            assert self.fields[seat].free[self.table[card].subtype] is None
            self.fields[seat].free[self.table[card].subtype] = card
        else:
            couple = destination.removeprefix("COUPLE ")
            assert self.takes(couple, card)
            self.fields[seat].couples[couple].append(card)

    def drop_couple(self, couple: str) -> None:
        """R15: with everything on it."""
        self.watch()
        first = len(self.discard)
        attached = self.fields[self.controller(couple)].couples.pop(couple)
        gone = [obstacle for obstacle in self.obstacles if obstacle.couple == couple]
        self.obstacles = [o for o in self.obstacles if o.couple != couple]
        self.discard += [couple, *attached, *(obstacle.card for obstacle in gone)]
        self.loose.append((first, len(self.discard)))

    def discard_obstacle(self, obstacle: Obstacle) -> None:
        self.watch()
        self.obstacles.remove(obstacle)
        self.discard.append(obstacle.card)

    # Hands and what others know of them

    def watch(self) -> None:
        """Class Gossip: the hand is open, a face-down card still belongs to it.

        Not during a draft, when there is no hand and others may know of the pile (two players).
        """
        if self.stage == "draft":
            return
        for seat in range(self.n):
            if any(static.get("reveal_hand") for static in self.statics(seat)):
                card = self.selected[seat] if self.face_down else None
                hand = Counter([*self.hands[seat], *([card] if card else [])])
                for other in range(self.n):
                    if other != seat:
                        self.known[other][seat] = Counter(hand)

    def seen(self, seat: int, card: str) -> None:
        """A card of a player is revealed, discarded or played: nobody knows it in his hand."""
        for other in range(self.n):
            if other != seat:
                for memory in (self.known[other][seat], self.taken[other]):
                    if memory[card] > 0:
                        memory[card] -= 1

    def discardable(self, seat: int) -> list[str]:
        """R24: cards that may be discarded from a hand."""
        return [c for c in self.hands[seat] if "undiscardable" not in self.table[c].flags]

    def discard_hand_card(self, seat: int, card: str) -> None:
        self.hands[seat].remove(card)
        self.discard.append(card)
        self.seen(seat, card)

    def take_openly(self, seat: int, card: str) -> None:
        """A card comes into a hand before everyone's eyes."""
        self.hands[seat] = self.table.sorted([*self.hands[seat], card])
        for other in range(self.n):
            if other != seat:
                self.known[other][seat][card] += 1

    # Resolution

    def resolve(self, seat: int) -> Flow:
        """R8, T3."""
        self.stage, self.step = "resolve", "pre"
        self.move_used = False
        yield from self.window(seat)
        self.step = "effect"
        card = self.selected[seat]
        assert card is not None
        yield from {
            "couple": self.resolve_couple,
            "preparation": self.resolve_preparation,
            "obstacle": self.resolve_obstacle,
            "action": self.resolve_action,
        }[self.table[card].type](seat, card)
        self.selected[seat] = None
        self.step = "post"
        yield from self.window(seat)

    def window(self, seat: int) -> Flow:
        """R11."""
        self.discard_closed = False
        while True:
            own = self.preparations(seat)
            movable = [p for p, card in own.items() if self.positions(seat, card)]
            field_cards = [*own, *(f"COUPLE {couple}" for couple in self.fields[seat].couples)]
            may_discard = self.discards == "windows" and not self.discard_closed and field_cards
            options = ["PASS", *([] if self.move_used else movable)]
            options += ["OPEN_DISCARD"] if may_discard else []
            move = yield from self.ask(seat, "WINDOW", options)
            if move == "PASS":
                return
            if move == "OPEN_DISCARD":
                what = yield from self.ask(seat, "DISCARD_MENU", [*field_cards, "PASS"])
                if what == "PASS":
                    self.discard_closed = True
                elif what.startswith("COUPLE "):
                    self.drop_couple(what.removeprefix("COUPLE "))
                else:
                    self.discard.append(self.remove(what))
            else:
                self.moving = move
                destination = yield from self.ask(
                    seat, "MOVE_DEST", self.positions(seat, own[move])
                )
                self.put(seat, self.remove(move), destination)
                self.moving, self.move_used = None, True

    def resolve_couple(self, seat: int, card: str) -> Flow:
        """R9."""
        self.fields[seat].couples[card] = []
        yield from ()

    def resolve_preparation(self, seat: int, card: str) -> Flow:
        """R12."""
        yield from self.place(seat, card)

    def place(self, seat: int, card: str) -> Flow:
        """R12: where it may lie, else onto the discard pile."""
        options = self.positions(seat, card)
        if options:
            destination = yield from self.ask(seat, "PLACE", options)
            self.put(seat, card, destination)
        else:
            self.discard.append(card)

    def targets(self, card: str, but: int) -> list[str]:
        """R13: the couples that an obstacle may be attached to, none of one player's."""
        return [
            f"COUPLE {couple}"
            for other in range(self.n)
            if other != but and self.turn > self.fields[other].shield_until
            for couple in self.fields[other].couples
            if self.table[card].target == "opp_couple" or not self.complete(couple)
        ]

    def resolve_obstacle(self, seat: int, card: str) -> Flow:
        """R13, R22."""
        options = self.targets(card, seat)
        if not options:
            self.discard.append(card)
            return
        move = yield from self.ask(seat, "TARGET_COUPLE", options)
        couple = move.removeprefix("COUPLE ")
        while True:
            event = Event("obstacle", seat, card, couple, self.owner(couple))
            yield from self.react(event)
            if event.cancelled:
                self.discard.append(card)
                return
            assert event.couple is not None
            couple = event.couple
            if not event.redirected:
                break
        obstacle = Obstacle(card, couple, seat, self.table[card].turns)
        self.obstacles.append(obstacle)
        self.selected[seat] = None
        yield from self.run_ops(self.table[card].on_resolve, obstacle)
        if self.table[card].turns < 0 and obstacle in self.obstacles:
            self.discard_obstacle(obstacle)

    def resolve_action(self, seat: int, card: str) -> Flow:
        """R14."""
        targets: list[str] | None = []
        if self.table[card].target != "none":
            targets = yield from self.choose_targets(seat, card)
        if targets is not None:
            event = Event("action", seat, card)
            yield from self.react(event)
            if not event.cancelled:
                for op in self.table[card].on_resolve:
                    yield from self.act(seat, op, targets)
        if card == self.table.job:
            self.hands[seat] = self.table.sorted([*self.hands[seat], card])
        elif any(op[0] == "SELF_TO_HAND" for op in self.table[card].on_resolve) and (
            targets is not None and not event.cancelled
        ):
            self.take_openly(seat, card)
        else:
            self.discard.append(card)

    def choose_targets(self, seat: int, card: str) -> Generator[None, str, list[str] | None]:
        """R14: None if there is no legal target."""
        kind = self.table[card].target
        near = self.open_preparations(seat)
        decision = "TARGET_PREP"
        if kind == "opp_prep_open":
            options = list(near)
        elif kind == "opp_prep_takable":
            options = [p for p, near_card in near.items() if self.positions(seat, near_card)]
        elif kind == "swap_pair":
            mine = self.preparations(seat)
            kinds = {self.table[near_card].subtype for near_card in mine.values()}
            options = [p for p, near_card in near.items() if self.table[near_card].subtype in kinds]
            if not options:
                return None
            other = yield from self.ask(seat, "TARGET_PREP", options)
            subtype = self.table[near[other]].subtype
            options = [
                p for p, near_card in mine.items() if self.table[near_card].subtype == subtype
            ]
            own = yield from self.ask(seat, "SWAP_OWN", options)
            return [own, other]
        elif kind == "own_obstacle":
            decision = "TARGET_OBSTACLE"
            own_couples = self.fields[seat].couples
            options = [self.name_of(o) for o in self.obstacles if o.couple in own_couples]
        elif kind == "discard_prep_or_couple":
            decision = "RECOVER"
            types = ("preparation", "couple")
            options = cards(self.table.sorted(c for c in self.discard if self.is_a(c, *types)))
        else:
            assert kind == "opp"
            decision = "TARGET_PLAYER"
            options = [f"PLAYER {other}" for other in range(self.n) if other != seat]
        if not options:
            return None
        move = yield from self.ask(seat, decision, options)
        return [move]

    def is_a(self, card: str, *types: str) -> bool:
        return self.table[card].type in types

    def name_of(self, obstacle: Obstacle) -> str:
        """Section 9: with its rank among the copies on the table."""
        copies = [other for other in self.obstacles if other.card == obstacle.card]
        return f"OBSTACLE {obstacle.card}#{copies.index(obstacle) + 1}"

    def act(self, seat: int, op: tuple[Any, ...], targets: list[str]) -> Flow:
        """One op of an action."""
        name, *arguments = op
        if name == "DRAW":
            for who in self.seats(arguments[0], seat, targets):
                drawn = self.draw(arguments[1])
                self.hands[who] = self.table.sorted([*self.hands[who], *drawn])
        elif name == "LOOK_TOP":
            yield from self.look_top(seat, *arguments)
        elif name == "DISCARD_HAND":
            for who in self.seats(arguments[0], seat, targets):
                yield from self.discard_hand(who, seat, arguments[1], arguments[2])
        elif name == "LOOK_HAND":
            for who in self.seats(arguments[0], seat, targets):
                self.known[seat][who] = Counter(self.hands[who])
        elif name == "DISCARD_PREP":
            owner = self.owner_at(targets[0])
            yield from self.discard_preparation(targets[0], seat, owner)
        elif name == "TAKE_PREP":
            self.limbo = self.remove(targets[0])
            yield from self.place(seat, self.limbo)
            self.limbo = None
        elif name == "SWAP_PREP":
            self.swap(seat, *targets)
        elif name == "DISCARD_OBSTACLE":
            gone = next(o for o in self.obstacles if self.name_of(o) == targets[0])
            self.discard_obstacle(gone)
        elif name == "RECOVER":
            card = card_of(targets[0])
            self.discard.remove(card)
            self.take_openly(seat, card)
        elif name == "SHIELD":
            self.fields[seat].shield_until = self.turn + arguments[1]
        else:
            assert name == "SELF_TO_HAND"

    def seats(self, who: str, seat: int, targets: list[str]) -> list[int]:
        """Clockwise from the left of the card's player."""
        if who == "me":
            return [seat]
        if who == "target":
            return [int(targets[0].removeprefix("PLAYER "))]
        assert who == "each_opp"
        return [(seat + step) % self.n for step in range(1, self.n)]

    def owner_at(self, position: str) -> int:
        couple = position.removeprefix("POS ").split("/")[0]
        owner = self.owner(couple)
        return int(couple) if owner is None else owner

    def look_top(self, seat: int, count: int, keep: int) -> Flow:
        """R23: fewer if the deck is shorter; only an empty one is shuffled anew."""
        if not self.deck and self.discard:
            self.deck = self.shuffled_discard()
            self.reshuffled()
        self.look = self.deck[:count]
        self.deck = self.deck[len(self.look) :]
        for _ in range(min(keep, len(self.look))):
            move = yield from self.ask(seat, "LOOK_KEEP", cards(self.table.sorted(self.look)))
            self.look.remove(card_of(move))
            self.hands[seat] = self.table.sorted([*self.hands[seat], card_of(move)])
        self.deck += self.look
        self.look = []

    def discard_hand(self, who: int, seat: int, count: int, chooser: str) -> Flow:
        """Fewer if there are no more; `me` sees the hand."""
        if chooser == "me" and who != seat:
            self.known[seat][who] = Counter(self.hands[who])
        if chooser == "random":
            self.discard_at_random(who, count)
            return
        for _ in range(count):
            options = self.discardable(who)
            if not options:
                return
            asked = who if chooser == "self" else seat
            move = yield from self.ask(asked, "HAND_DISCARD", cards(options))
            self.discard_hand_card(who, card_of(move))

    def discard_at_random(self, who: int, count: int) -> None:
        count = min(count, len(self.discardable(who)))
        if self.shown is None:
            for _ in range(count):
                options = self.discardable(who)
                self.discard_hand_card(who, options[int(self.rng.integers(len(options)))])
        else:
            first = len(self.discard)
            for card in self.shown["discard"][first : first + count]:
                assert card in self.discardable(who)
                self.discard_hand_card(who, card)
            assert len(self.discard) == first + count

    def discard_preparation(self, position: str, source: int, owner: int) -> Flow:
        """R19, E3."""
        card = self.remove(position)
        self.discard.append(card)
        if source != owner:
            event = Event("prep_discarded", source, card, None, owner)
            yield from self.react(event)

    def swap(self, seat: int, mine: str, theirs: str) -> None:
        """Mix-Up: mine first."""
        other = self.owner_at(theirs)
        lost, won = self.remove(mine), self.remove(theirs)
        for who, card, position in ((seat, won, mine), (other, lost, theirs)):
            couple = position.removeprefix("POS ").split("/")[0]
            old = f"COUPLE {couple}" if self.owner(couple) is not None else "FREE"
            options = self.positions(who, card)
            if old in options:
                self.put(who, card, old)
            elif "FREE" in options:
                self.put(who, card, "FREE")
            else:
                self.discard.append(card)

    # What obstacles do

    def run_ops(self, ops: Iterable[tuple[Any, ...]], obstacle: Obstacle) -> Flow:
        """The ops of an obstacle, on the controller of its couple."""
        for op in ops:
            if obstacle not in self.obstacles:
                return
            name, *arguments = op
            if name == "DISCARD_COUPLE_IF_INCOMPLETE":
                if not self.complete(obstacle.couple):
                    self.drop_couple(obstacle.couple)
                continue
            who, (controller, count, *chooser) = self.controller(obstacle.couple), arguments
            assert controller == "couple_controller"
            if name == "DISCARD_HAND":
                yield from self.discard_hand(who, obstacle.by, count, *chooser)
            elif name == "PAY_TO_REMOVE":
                if len(self.discardable(who)) >= count:
                    move = yield from self.ask(who, "PAY", ["YES", "PASS"])
                    if move == "YES":
                        yield from self.discard_hand(who, who, count, "self")
                        self.discard_obstacle(obstacle)
            else:
                for _ in range(count):
                    yield from self.choose(name, who, obstacle)

    def choose(self, name: str, who: int, obstacle: Obstacle) -> Flow:
        """R24: a hand card, if that is a choice, or an attached preparation."""
        options = cards(self.discardable(who)) if name == "CHOOSE_DISCARD" else []
        attached = self.fields[who].couples[obstacle.couple]
        options += [f"POS {obstacle.couple}/{card}" for card in attached]
        if not options:
            return
        move = yield from self.ask(who, "CHOICE", options)
        if move.startswith("CARD "):
            self.discard_hand_card(who, card_of(move))
        elif name == "RETURN_AFFECTED_PREP":
            self.take_openly(who, self.remove(move))
        else:
            assert name in {"CHOOSE_DISCARD", "DISCARD_AFFECTED_PREP"}
            yield from self.discard_preparation(move, obstacle.by, who)  # E3

    # Reactions

    def triggered(self, seat: int, card: str) -> bool:
        """R19, R20: whether a seat could play a reaction now."""
        event, trigger = self.event, self.table[card].trigger
        assert event is not None
        others = [reaction for reaction in event.pending if reaction.by != seat]
        if trigger == "REACTION_PLAYED":
            return bool(others)
        if trigger == "OPP_ACTION":
            return event.kind == "action" and event.source != seat
        if trigger == "MY_PREP_DISCARDED":
            return event.kind == "prep_discarded" and event.owner == seat
        assert trigger == "OBSTACLE_ON_ME"
        met = event.kind == "obstacle" and event.owner == seat and event.source != seat
        if met and self.table[card].on_resolve[0][0] == "REDIRECT_EVENT":
            return bool(self.redirections(seat))
        return met

    def redirections(self, seat: int) -> list[str]:
        """Couples that an obstacle may go to instead: another one, of another player."""
        event = self.event
        assert event is not None
        return [c for c in self.targets(event.card, seat) if c != f"COUPLE {event.couple}"]

    def react(self, event: Event) -> Flow:
        """R20."""
        self.event = event
        seat, passes = (event.source + 1) % self.n, 0
        while passes < self.n:
            able = [c for c in self.hands[seat] if self.is_a(c, "reaction")]
            able = [card for card in able if self.triggered(seat, card)]
            move = "PASS"
            if able:
                move = yield from self.ask(seat, "REACT", [*cards(able), "PASS"])
            if move == "PASS":
                passes += 1
            else:
                passes = 0
                card = card_of(move)
                others = [other for other in event.pending if other.by != seat]
                answer = others[-1] if self.table[card].trigger == "REACTION_PLAYED" else None
                self.hands[seat].remove(card)
                self.seen(seat, card)
                event.pending.append(Reaction(card, seat, answer))
            seat = (seat + 1) % self.n
        first = len(self.discard)
        while event.pending:
            moved = yield from self.resolve_reaction(event, event.pending.pop())
            if moved:
                first = len(self.discard)
        self.loose.append((first, len(self.discard)))
        self.event = None

    def resolve_reaction(self, event: Event, reaction: Reaction) -> Generator[None, str, bool]:
        """R21; whether something else than discarding to the pile happened."""
        card, seat = reaction.card, reaction.by
        self.discard.append(card)
        if reaction.cancelled:
            return False
        op = self.table[card].on_resolve[0][0]
        if reaction.answers is not None:
            reaction.answers.cancelled = True
            return False
        if event.cancelled:
            return False
        if event.kind == "obstacle" and event.owner != seat:
            return False
        if op == "CANCEL_EVENT":
            event.cancelled = True
        elif op == "REDIRECT_EVENT":
            options = self.redirections(seat)
            if options:
                move = yield from self.ask(seat, "TARGET_COUPLE", options)
                event.couple = move.removeprefix("COUPLE ")
                event.owner, event.redirected = self.owner(event.couple), True
                return True
        else:
            assert op == "RECOVER_EVENT_CARD"
            if not event.recovered and event.card in self.discard:
                self.discard.remove(event.card)
                self.take_openly(seat, event.card)
                event.recovered = True
                return True
        return False

    # Results

    def points(self, seat: int) -> int:
        """R26."""
        total = len(self.preparations(seat))
        for couple in self.fields[seat].couples:
            worth = 1
            statics = [self.table[o.card].static for o in self.obstacles if o.couple == couple]
            if self.complete(couple):
                worth = {2: 4, 3: 9}[len(self.table[couple].requirements)]
                if any(static.get("vp_halve") for static in statics):
                    worth //= 2
            total += worth + sum(static.get("vp", 0) for static in statics)
        return total

    def ranking(self) -> list[int]:
        """R27: the winners."""
        assert self.hand_sizes_at_end is not None
        keys = []
        for seat in range(self.n):
            couples = self.fields[seat].couples
            against = sum(obstacle.couple in couples for obstacle in self.obstacles)
            keys.append(
                (
                    self.points(seat),
                    len(self.preparations(seat)),
                    len(couples),
                    -against,
                    self.hand_sizes_at_end[seat],
                )
            )
        return [seat for seat, key in enumerate(keys) if key == max(keys)]

    def payoffs(self) -> list[float]:
        """The winners' shares, zero-sum, a sole winner at 1."""
        n = self.n
        if self.stage != "over":
            return [0.0] * n
        shares = [(seat in self.winners) / len(self.winners) for seat in range(n)]
        return [(share - 1 / n) * n / (n - 1) for share in shares]

    def margins(self) -> list[float]:
        """Own points minus the mean of the others', on the scale of 30."""
        points = [self.points(seat) for seat in range(self.n)]
        return [(own - (sum(points) - own) / (self.n - 1)) / 30 for own in points]

    def core(self) -> Json:
        """The part of the JSON that the rules determine, hands as lists by type."""
        asks = self.decision
        window = None
        if asks in {"WINDOW", "MOVE_DEST", "DISCARD_MENU"}:
            window = {
                "move_used": self.move_used,
                "discard_closed": self.discard_closed,
                "menu": asks == "DISCARD_MENU",
                "moving": None if self.moving is None else self.moving.removeprefix("POS "),
            }
        react = None
        if self.event is not None:
            event = self.event
            react = {
                name: getattr(event, name)
                for name in ("kind", "source", "card", "couple", "owner", "cancelled")
            }
            react["pending"] = [
                [
                    reaction.card,
                    reaction.by,
                    -1 if reaction.answers is None else event.pending.index(reaction.answers),
                    reaction.cancelled,
                ]
                for reaction in event.pending
                if reaction.answers is None or reaction.answers in event.pending
            ]
        return {
            "num_players": self.n,
            "seat": self.seat,
            "half": self.half,
            "turn": self.turn,
            "stage": self.stage,
            "decision": self.decision,
            "deck": list(self.deck),
            "discard": list(self.discard),
            "reshuffles": self.reshuffles,
            "hands": [list(hand) for hand in self.hands],
            "piles": [list(pile) for pile in self.piles],
            "packs": [list(pack) for pack in self.packs],
            "selected": list(self.selected),
            "priorities": list(self.priorities),
            "order": list(self.order),
            "fields": [
                {
                    "couples": {couple: sorted(on) for couple, on in own.couples.items()},
                    "free": dict(own.free),
                    "shielded": own.shield_until >= max(self.turn, 0),
                }
                for own in self.fields
            ],
            "obstacles": [
                [o.card, o.couple, o.by, o.turns_left if self.table[o.card].turns > 0 else 0]
                for o in self.obstacles
            ],
            "window": window,
            "look": list(self.look),
            "limbo": self.limbo,
            "react": react,
            "vp": [self.points(seat) for seat in range(self.n)],
            "winners": list(self.winners),
            "hand_sizes_at_end": self.hand_sizes_at_end,
        }

    def everywhere(self) -> Counter[str]:
        """Every card in its zone, the jobs beside the players too."""
        zones: list[Iterable[str]] = [self.deck, self.discard, *self.hands, *self.piles]
        zones += [*self.packs, [card for card in self.selected if card], self.look]
        for own in self.fields:
            zones.append(own.couples)
            zones += list(own.couples.values())
            zones.append(card for card in own.free.values() if card)
        on_table = [obstacle.card for obstacle in self.obstacles]
        zones.append(on_table)
        if self.limbo:
            zones.append([self.limbo])
        if self.event is not None:
            zones.append(reaction.card for reaction in self.event.pending)
        return Counter(card for zone in zones for card in zone)


def cards(names: Iterable[str]) -> list[str]:
    """Moves of cards, each type once."""
    return [f"CARD {name}" for name in dict.fromkeys(names)]


def card_of(move: str) -> str:
    return move.removeprefix("CARD ")
