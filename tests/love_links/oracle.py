"""A slow model of Love Links in plain Python: links are texts, bracelets lists, sums taken anew.

It knows nothing of the package. Comments cite the rules R1-R23 of RULES.md, which also has
the links, the action numbers, the texts and the JSON. `ScoreSheet` is a second, separate
model of the scoring alone: it reads placements and counts points.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Json = dict[str, Any]
Chain = list[tuple[str, int | None]]

ROUNDS = ("bronze", "silver", "gold")
MASTER = 11
SLOTS = 24
NUM_ACTIONS = 365
TARGET = 90  # of the short game (R21)
JOINS = ("KEY", "LOCK", "CLOSE")

# The table of links: key, lock, copies in bronze, silver and gold, stone.
TABLE = """\
2,3,2,0,0,
2,4,2,0,0,
2,5,2,0,0,
2,6,2,0,0,
2,7,2,0,0,
2,8,2,0,0,
2,9,0,2,0,
2,10,0,2,0,
3,2,1,0,0,
3,4,2,0,0,
3,5,2,0,0,
3,6,2,0,0,
3,7,2,0,0,
3,8,0,2,0,
3,9,0,2,0,
3,10,0,2,0,
4,2,1,0,0,sapphire
4,5,2,0,0,
4,6,2,0,0,
4,7,0,2,0,
4,8,0,2,0,
4,9,0,2,0,
4,10,0,0,2,
5,2,1,0,0,
5,3,1,0,0,ruby
5,4,2,0,0,
5,6,0,2,0,
5,7,0,0,1,
5,8,0,2,0,
5,9,0,0,2,
5,10,0,0,2,
5,M,0,0,1,
6,4,1,0,0,
6,7,0,1,0,ruby
6,8,0,0,1,
6,10,0,0,2,
7,2,1,0,0,diamond
7,4,0,1,0,sapphire
7,6,0,1,0,emerald
7,8,0,0,2,
7,9,0,0,1,emerald
7,10,0,0,2,emerald
7,M,2,0,0,
8,2,1,0,0,sapphire
8,4,0,1,0,
8,6,0,0,1,
8,9,0,0,1,ruby
8,10,0,0,2,
9,4,0,1,0,
9,6,0,0,1,
9,8,0,0,2,
9,10,0,0,2,
9,M,0,2,0,
10,3,0,1,0,ruby
10,4,0,0,1,
10,7,0,0,1,diamond
10,8,0,0,1,
10,9,0,0,1,sapphire
10,M,0,2,0,
"""


class Link(NamedTuple):
    """One of the 59 types."""

    key: int
    lock: int
    metal: int  # 1 bronze, 2 silver, 3 gold: its points (R16)
    stone: str
    copies: int


def _read_table() -> dict[str, Link]:
    """The types by their text, in the order of the link ids."""
    links = []
    for line in TABLE.splitlines():
        key, lock, *counts, stone = line.split(",")
        number = MASTER if lock == "M" else int(lock)
        for metal, count in enumerate(map(int, counts), 1):
            if count:
                links.append((f"{key}-{lock}", Link(int(key), number, metal, stone, count)))
    return dict(sorted(links, key=lambda item: (item[1].metal, item[1].key, item[1].lock)))


LINKS: dict[str, Link] = _read_table()
TYPES: tuple[str, ...] = tuple(LINKS)
ORDER: dict[str, int] = {text: number for number, text in enumerate(TYPES)}


def by_id(texts: list[str]) -> list[str]:
    """Sorted by link id."""
    return sorted(texts, key=ORDER.__getitem__)


def deck(metal: str) -> list[str]:
    """All links of a metal, by id."""
    return [t for t in TYPES if ROUNDS[LINKS[t].metal - 1] == metal for _ in range(LINKS[t].copies)]


def fits(key: int, lock: int) -> bool:
    """R10: whether a key opens a lock."""
    return key in (2, 3, 4, 5, 6, 8) if lock == MASTER else lock % key == 0


class Move(NamedTuple):
    """A placement, in the notation."""

    verb: str
    link: str
    slot: int | None = None

    def __str__(self) -> str:
        return f"{self.verb} {self.link}" + ("" if self.slot is None else f" @{self.slot}")


def read_move(text: str) -> Move:
    """The move of a text."""
    verb, link, *slot = text.split()
    return Move(verb, link, int(slot[0][1:]) if slot else None)


@dataclass(frozen=True)
class Edition:
    """A set of links: copies by text, hands by round, bracelets at the start and their length."""

    name: str = "standard"
    copies: tuple[tuple[str, int], ...] = tuple((text, link.copies) for text, link in LINKS.items())
    hand_sizes: tuple[int, ...] = (5, 4, 4)
    open_at_start: int = 5
    closed_length: int = 5

    @classmethod
    def read(cls, data: Json) -> "Edition":
        """The edition of a JSON file."""
        numbers = data["open_at_start"], data["closed_length"]
        copies = tuple(data["links"].items())
        return cls(data["name"], copies, tuple(data["hand_sizes"]), *numbers)

    @property
    def texts(self) -> list[str]:
        """R1: every link."""
        return [text for text, copies in self.copies for _ in range(copies)]


STANDARD = Edition()


@dataclass(frozen=True)
class Setup:
    """The number of players and the options."""

    num_players: int = 2
    short: bool = False
    edition: Edition = STANDARD

    def kwargs(self) -> Json:
        """The options that the package takes."""
        return {"short": self.short}

    @property
    def sides(self) -> int:
        """R2: two teams of two, or each for himself."""
        return 2 if self.num_players == 4 else self.num_players

    def __str__(self) -> str:
        return f"{self.num_players}p{'-short' if self.short else ''}"


class Oracle:
    """One game of Love Links."""

    def __init__(self, setup: Setup, supply: dict[str, list[str]], seed: int = 0) -> None:
        """A new game with three supplies in drawing order."""
        self.setup = setup
        self.seed = seed
        self.supply = {metal: list(supply[metal]) for metal in ROUNDS}
        self.hands: list[list[str]] = [[] for _ in range(setup.num_players)]
        self.board: dict[int, Chain] = {}
        self.set_aside: list[str] = []
        self.scores = [0] * setup.sides
        self.captured = [0] * setup.sides
        self.completed = 0
        self.gone: list[str] = []  # links of completed bracelets
        self.seat: int | None = 0  # R7
        self.ply = 0
        self.round = 0
        self.move = 1
        self.matched = False
        self.must_start = False
        self.deal()

    @classmethod
    def read(cls, data: Json, edition: Edition = STANDARD) -> Self:
        """Any position, as the referee sees it."""
        setup = Setup(data["num_players"], data["options"]["short"], edition)
        self = cls(setup, {metal: [] for metal in ROUNDS}, data["seed"])
        self.supply = {metal: list(data["supply"][metal]) for metal in ROUNDS}
        self.hands = [list(hand) for hand in data["hands"]]
        self.board = {
            bracelet["slot"]: [(link, owner) for link, owner in bracelet["links"]]
            for bracelet in data["bracelets"]
        }
        self.set_aside = list(data["set_aside"])
        self.scores, self.captured = list(data["scores"]), list(data["captured"])
        self.completed = data["completed"]
        self.seat, self.ply = data["seat"], data["ply"]
        self.round, self.move = ROUNDS.index(data["round"]), data["move"]
        self.matched, self.must_start = data["matched"], data["must_start"]
        remaining = edition.texts
        for text in self.everywhere():
            remaining.remove(text)
        self.gone = remaining
        return self

    def everywhere(self) -> list[str]:
        """Every link that is in a hand, a supply or a bracelet, completed or set aside."""
        piles = [*self.hands, *self.supply.values(), self.set_aside, self.gone]
        chains = [[text for text, _ in chain] for chain in self.board.values()]
        return [text for pile in piles + chains for text in pile]

    def side(self, seat: int) -> int:
        """R2: seats 0 and 2 against 1 and 3."""
        return seat % self.setup.sides

    # Rounds and turns

    def hand_size(self) -> int:
        """R5."""
        return self.setup.edition.hand_sizes[self.round]

    def draw(self, count: int) -> list[str]:
        """R3: the next links of the round's supply, fewer if it doesn't last."""
        supply = self.supply[ROUNDS[self.round]]
        drawn = supply[:count]
        del supply[:count]
        return drawn

    def deal(self) -> None:
        """R6: hands from seat 0 on, then neutral bracelets until enough are open."""
        for seat in range(self.setup.num_players):
            self.hands[seat] = by_id(self.draw(self.hand_size()))
        enough = self.setup.edition.open_at_start
        while len(self.board) < enough and self.supply[ROUNDS[self.round]]:
            self.lay(self.draw(1)[0], None)

    def lay(self, link: str, owner: int | None) -> None:
        """A new bracelet in the lowest free slot; with all slots full it is set aside."""
        free = [slot for slot in range(SLOTS) if slot not in self.board]
        if free:
            self.board[free[0]] = [(link, owner)]
        else:
            self.set_aside.append(link)

    def end_turn(self) -> None:
        """R8, R14: refill, then the next seat with links, or the next round."""
        assert self.seat is not None
        mover = self.seat
        hand = self.hands[mover]
        self.hands[mover] = by_id(hand + self.draw(max(0, self.hand_size() - len(hand))))
        here = self.round
        while not any(self.hands):
            if self.round == 2:
                self.round = here
                self.finish()
                return
            self.round += 1
            self.deal()
        self.move, self.matched = 1, False
        after = [(mover + step) % self.setup.num_players for step in range(1, 5)]
        self.seat = next(seat for seat in after if self.hands[seat])

    def finish(self) -> None:
        """R20, R21: over; round and move stay."""
        self.seat, self.matched, self.must_start = None, False, False

    def winners(self) -> list[int]:
        """R20: the highest score, then the most captured links, else shared."""
        if self.seat is not None:
            return []
        results = list(zip(self.scores, self.captured, strict=True))
        return [
            seat
            for seat in range(self.setup.num_players)
            if results[self.side(seat)] == max(results)
        ]

    def payoffs(self) -> list[float]:
        """R22, for the winning sides' shares."""
        n = self.setup.sides
        winners = set(self.winners())
        shares = [
            1 / len({self.side(w) for w in winners}) if seat in winners else 0.0
            for seat in range(self.setup.num_players)
        ]
        return [(share - 1 / n) * n / (n - 1) for share in shares]

    def margins(self) -> list[float]:
        """R22, `reward="score"`."""
        sides = range(self.setup.sides)
        mean = {
            own: sum(self.scores[other] for other in sides if other != own) / (len(sides) - 1)
            for own in sides
        }
        return [
            (self.scores[self.side(seat)] - mean[self.side(seat)]) / 100
            for seat in range(self.setup.num_players)
        ]

    # Moves

    def joins(self, link: str) -> list[Move]:
        """R10: the ways to join a link to the open bracelets."""
        key, lock = LINKS[link].key, LINKS[link].lock
        joins = []
        for slot, chain in self.board.items():
            at_key = fits(LINKS[chain[0][0]].key, lock)
            at_lock = fits(key, LINKS[chain[-1][0]].lock)
            if at_key:
                joins.append(Move("KEY", link, slot))
            if at_lock:
                joins.append(Move("LOCK", link, slot))
            if at_key and at_lock and len(chain) + 1 >= self.setup.edition.closed_length:
                joins.append(Move("CLOSE", link, slot))
        return joins

    def moves(self) -> list[Move]:
        """R10-R12: every legal placement, copies of a link once."""
        if self.seat is None:
            return []
        hand = dict.fromkeys(self.hands[self.seat])
        joins = [move for link in hand for move in self.joins(link)]
        if self.must_start or not joins:
            return [Move("NEW", link) for link in hand]
        return joins

    def action(self, move: Move) -> int:
        """The number of a legal move."""
        assert self.seat is not None
        index = self.hands[self.seat].index(move.link)
        if move.slot is None:
            return 360 + index
        return (index * 24 + move.slot) * 3 + JOINS.index(move.verb)

    def decode(self, action: int) -> Move:
        """Returns the meaning of a legal action number."""
        return next(move for move in self.moves() if self.action(move) == action)

    def mask(self) -> NDArray[np.int8]:
        """The legal actions."""
        mask = np.zeros(NUM_ACTIONS, np.int8)
        for move in self.moves():
            mask[self.action(move)] = 1
        return mask

    def apply(self, move: Move) -> int:
        """Plays a legal move, and all that follows without a choice; returns its points."""
        if move not in self.moves() or self.seat is None:
            raise ValueError(f"illegal: {move}")
        seat = self.seat
        self.hands[seat].remove(move.link)
        self.ply += 1
        points = 0
        if move.slot is None:
            self.lay(move.link, seat)
            self.must_start = False
        elif move.verb == "CLOSE":
            chain = [*self.board.pop(move.slot), (move.link, seat)]  # R13
            points = self.close_points(chain, seat)
            self.captured[self.side(seat)] += self.capture(chain, seat)  # R18
            self.completed += 1
            self.gone += [text for text, _ in chain]
        else:
            points = self.join(move, seat)
        self.scores[self.side(seat)] += points
        if self.setup.short and self.scores[self.side(seat)] >= TARGET:
            self.finish()  # R21
        elif move.verb == "CLOSE" and self.hands[seat]:
            self.must_start = True  # R12
        elif self.move == 1 and self.hands[seat]:
            self.move = 2
        else:
            self.end_turn()  # R8, R9
        return points

    def join(self, move: Move, seat: int) -> int:
        """R15: one new junction."""
        assert move.slot is not None
        chain = self.board[move.slot]
        if move.verb == "KEY":
            match = LINKS[move.link].lock == LINKS[chain[0][0]].key
            chain.insert(0, (move.link, seat))
        else:
            match = LINKS[move.link].key == LINKS[chain[-1][0]].lock
            chain.append((move.link, seat))
        if not match:
            return 0
        points = 3 if self.matched else 1
        self.matched = True
        return points

    def capture(self, chain: Chain, seat: int) -> int:
        """R16: links of other sides, neutral ones not counted."""
        return sum(owner is not None and self.side(owner) != self.side(seat) for _, owner in chain)

    def close_points(self, chain: Chain, seat: int) -> int:
        """R16, for a completed bracelet whose last link closed it."""
        links = [LINKS[text] for text, _ in chain]
        last = links[-1]
        captured = self.capture(chain, seat)
        points = sum(link.metal for link in links)
        points += 2 * (len(links) - self.setup.edition.closed_length)
        points += captured or 10
        points += sum(stone_points(link.stone) for link in links)
        points += 4 * ((last.key == links[-2].lock) + (last.lock == links[0].key))
        return points - 4 * (last.lock == MASTER)

    # How others see it

    def options(self) -> Json:
        """The options; standard links aren't named."""
        options: Json = {"short": self.setup.short, "skip_forced": False}
        if self.setup.edition != STANDARD:
            options["link_set"] = self.setup.edition.name
        return options

    def to_dict(self) -> Json:
        """The referee's JSON."""
        return {
            "game": "love_links",
            "version": 0,
            "options": self.options(),
            "seed": self.seed,
            "num_players": self.setup.num_players,
            "seat": self.seat,
            "ply": self.ply,
            "round": ROUNDS[self.round],
            "move": self.move,
            "matched": self.matched,
            "must_start": self.must_start,
            "hands": [list(hand) for hand in self.hands],
            "bracelets": [
                {"slot": slot, "links": [list(pair) for pair in self.board[slot]]}
                for slot in sorted(self.board)
            ],
            "supply": {metal: list(links) for metal, links in self.supply.items()},
            "scores": list(self.scores),
            "captured": list(self.captured),
            "completed": self.completed,
            "set_aside": list(self.set_aside),
            "winners": self.winners(),
        }

    def observation(self, seat: int) -> dict[str, NDArray[np.int64]]:
        """Every named piece, as one seat sees it."""
        players, sides = self.setup.num_players, self.setup.sides
        seats = [(seat + step) % players for step in range(players)]
        hands = [[LINKS[text] for text in self.hands[other]] for other in seats]
        places = {name: np.zeros((4, 5), np.int64) for name in _LINK_FACTS}
        for row, hand in enumerate(hands):
            for index, link in enumerate(hand):
                for name, fact in _LINK_FACTS.items():
                    places[name][row, index] = fact(link)
        slots = {name: np.zeros(SLOTS, np.int64) for name in _SLOT_NAMES}
        owned = np.zeros((3, SLOTS), np.int64)
        for slot, chain in self.board.items():
            links = [LINKS[text] for text, _ in chain]
            metal = sum(link.metal for link in links)
            stones = sum(stone_points(link.stone) for link in links)
            facts = [1, links[0].key, links[-1].lock, len(links), metal, stones]
            facts.append(sum(owner is None for _, owner in chain))
            captured = self.capture(chain, seat)
            longer = len(links) + 1 - self.setup.edition.closed_length
            worth = metal + 2 * longer + (captured or 10) + stones
            facts.append(worth if longer >= 0 else 0)
            for name, value in zip(_SLOT_NAMES, facts, strict=True):
                slots[name][slot] = value
            for step in range(sides):
                side = self.side(seats[step])
                owned[step, slot] = sum(o is not None and self.side(o) == side for _, o in chain)
        remaining = [text for supply in self.supply.values() for text in supply]
        by_side = [self.side(other) for other in seats[:sides]]
        return {
            **places,
            **slots,
            "owned": owned,
            "supply": np.array([remaining.count(text) for text in TYPES]),
            "to_act": np.array([-1 if self.seat is None else seats.index(self.seat)]),
            "round": np.array([self.round]),
            "move": np.array([self.move]),
            "matched": np.array([int(self.matched)]),
            "must_start": np.array([int(self.must_start)]),
            "scores": _padded([min(self.scores[side], 500) for side in by_side], 3),
            "captured": _padded([self.captured[side] for side in by_side], 3),
            "supply_size": np.array([len(self.supply[metal]) for metal in ROUNDS]),
            "hand_size": _padded([len(hand) for hand in hands], 4),
            "target": np.array([TARGET if self.setup.short else 0]),
            "num_players": np.array([players]),
        }


_LINK_FACTS: dict[str, Callable[[Link], int]] = {
    "hand_present": lambda link: int(link.key > 0),
    "hand_key": lambda link: link.key,
    "hand_lock": lambda link: link.lock,
    "hand_metal": lambda link: link.metal,
    "hand_stone": lambda link: ["", "diamond", "ruby", "emerald", "sapphire"].index(link.stone),
}
_SLOT_NAMES = "open open_key open_lock length metal stones neutral closing_value".split()


def _padded(values: list[int], length: int) -> NDArray[np.int64]:
    """Absent seats and sides are 0."""
    return np.array(values + [0] * (length - len(values)))


def stone_points(stone: str) -> int:
    """R16."""
    return 10 if stone == "diamond" else 5 if stone else 0


# A second model of the scoring. The pairs are those that the rules list by key.
_PAIRS = "2:2,4,6,8,10,M 3:3,6,9,M 4:4,8,M 5:5,10,M 6:6,M 7:7 8:8,M 9:9 10:10"
FITTING: frozenset[tuple[str, str]] = frozenset(
    (key, lock)
    for group in _PAIRS.split()
    for key, locks in [group.split(":")]
    for lock in locks.split(",")
)
_METAL_POINTS = {"bronze": 1, "silver": 2, "gold": 3}
_METALS = {text: metal for metal in ROUNDS for text in deck(metal)}


class Undealt(Oracle):
    """A game in which nobody draws: what all can know of a turn."""

    def draw(self, count: int) -> list[str]:  # noqa: ARG002 - nobody draws
        return []

    def end_turn(self) -> None:
        """The seat stays."""

    def most_turn_points(self, seat: int) -> int:
        """The most points of a seat's turn (R8); what it starts in the turn isn't joined in it."""
        turn = deepcopy(self)
        turn.seat, turn.matched, turn.must_start = seat, False, False
        return turn.most_points(2, frozenset(turn.board))

    def most_points(self, moves: int, slots: frozenset[int]) -> int:
        """The most points of some moves in the bracelets of these slots."""
        assert self.seat is not None
        best = 0
        if moves == 0 or not self.hands[self.seat]:
            return best
        for move in self.moves():
            if move.slot not in slots:
                continue
            after = deepcopy(self)
            points = after.apply(move)
            if not after.must_start:
                best = max(best, points + after.most_points(moves - 1, slots))
                continue
            for start in after.moves():  # R12
                started = deepcopy(after)
                started.apply(start)
                left = slots - {move.slot}
                best = max(best, points + started.most_points(moves - 1, left))
        return best


class ScoreSheet:
    """Counts points from a list of placements: who laid which link where, and in which turn."""

    def __init__(self, team_of: list[int]) -> None:
        self.team_of = team_of
        self.slots: dict[int, list[tuple[str, int]]] = {}  # owners are sides, -1 is neutral
        self.points = [0] * (max(team_of) + 1)
        self.captured = [0] * (max(team_of) + 1)
        self.turn = -1
        self.bonus = [1, 3]  # what the turn's next matches bring

    def supply(self, slot: int, link: str) -> None:
        """A neutral bracelet."""
        assert slot not in self.slots
        self.slots[slot] = [(link, -1)]

    def place(self, turn: int, seat: int, text: str) -> int:
        """The points of one placement, and the total so far in `points`."""
        if turn != self.turn:
            self.turn, self.bonus = turn, [1, 3]
        verb, link, *rest = text.split()
        side = self.team_of[seat]
        if verb == "NEW":
            free = sorted(set(range(SLOTS)) - set(self.slots))
            if free:
                self.slots[free[0]] = [(link, side)]
            return 0
        slot = int(rest[0].removeprefix("@"))
        chain = self.slots[slot]
        key, lock = link.split("-")
        first_key, last_lock = chain[0][0].split("-")[0], chain[-1][0].split("-")[1]
        gained = 0
        if verb == "KEY":
            assert (first_key, lock) in FITTING
            self.slots[slot] = [(link, side), *chain]
            gained = self.bonus.pop(0) if first_key == lock else 0
        elif verb == "LOCK":
            assert (key, last_lock) in FITTING
            self.slots[slot] = [*chain, (link, side)]
            gained = self.bonus.pop(0) if key == last_lock else 0
        else:
            assert {(first_key, lock), (key, last_lock)} <= FITTING
            del self.slots[slot]
            gained = self._complete([*chain, (link, side)], side)
            gained += 4 * ((first_key == lock) + (key == last_lock))
            gained -= 4 if lock == "M" else 0
        self.points[side] += gained
        return gained

    def _complete(self, chain: list[tuple[str, int]], side: int) -> int:
        """The points of the links of a completed bracelet."""
        assert len(chain) >= 5
        texts = [text for text, _ in chain]
        foreign = [owner for _, owner in chain if owner not in (-1, side)]
        self.captured[side] += len(foreign)
        stones = [LINKS[text].stone for text in texts]
        gems = sum(stones.count(stone) for stone in ("ruby", "emerald", "sapphire"))
        metal = sum(_METAL_POINTS[_METALS[text]] for text in texts)
        long = sum(2 for _ in texts[5:])
        alone = 0 if foreign else 10
        return metal + long + len(foreign) + alone + 5 * gems + 10 * stones.count("diamond")
