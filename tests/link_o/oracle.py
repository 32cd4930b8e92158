"""A slow model of LINK-O in plain Python: tiles are texts, the board a dict, everything taken anew.

It knows nothing of the package. Comments cite the rules R1-R23 of RULES.md, which also has the
board, the action numbers, the texts and the JSON. The shuffles of the bag are not predicted: a
round's deal is read back from its first position.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Json = dict[str, Any]

COLORS = ("red", "blue", "green", "yellow")
PAIRS = tuple((low, high) for low in range(5) for high in range(low, 5))
OPEN_PAIRS = tuple(pair for pair in PAIRS if pair[0] != pair[1])
CODES = (*PAIRS, *((high, low) for low, high in OPEN_PAIRS), None)  # left end, right end; LINK-O

DEFAULTS: Json = {
    "target": 64,
    "circle_bonus": 0,
    "board": "ring4x16",
    "open_connectors": "any_matching_color",
    "dig": "until_playable",
    "next_starter": "left_of_previous_starter",
    "blocked_tie": "no_score",
    "max_rounds": 100,
    "redeal_inference": False,
    "skip_forced": False,
}

LINKS = {
    "ring4x16": (16, [(4, 28), (24, 32), (44, 52), (48, 8)]),
    "ring4x12": (12, [(3, 21), (18, 24), (33, 39), (36, 6)]),
    "ring4x16x2": (
        16,
        [(3, 29), (5, 27), (23, 33), (25, 47), (43, 53), (45, 51), (63, 9), (49, 7)],
    ),
}


def board_json(name: str, sizes: tuple[int, ...], links: list[tuple[int, int]]) -> Json:
    """A board of four rings as the schema has it; ids run clockwise, circle by circle."""
    centres = ((1.0, 1.0), (3.0, 1.0), (3.0, 3.0), (1.0, 3.0))
    partner = dict(links) | {b: a for a, b in links}
    spaces: list[Json] = []
    for circle, size in enumerate(sizes):
        first = len(spaces)
        for pos in range(size):
            angle = 2 * np.pi * pos / size
            x, y = centres[circle]
            spaces.append(
                {
                    "id": first + pos,
                    "circle": circle,
                    "color": COLORS[circle],
                    "pos": pos,
                    "kind": "connector" if first + pos in partner else "regular",
                    "prev": first + (pos - 1) % size,
                    "next": first + (pos + 1) % size,
                    "partner": partner.get(first + pos),
                    "x": round(float(x + 0.88 * np.sin(angle)), 3),
                    "y": round(float(y - 0.88 * np.cos(angle)), 3),
                }
            )
    return {
        "name": name,
        "colors": list(COLORS),
        "spaces": spaces,
        "links": [list(link) for link in links],
        "tiles": {"max_pip": 4, "linko_per_color": 2, "points": {"linko": 16}},
        "schema": "linko-board/1",
        "rules": {},
    }


@dataclass(frozen=True)
class Board:
    """The spaces of a board, by id, and its tiles."""

    name: str
    prev: tuple[int, ...]
    next: tuple[int, ...]
    partner: tuple[int | None, ...]
    color: tuple[str, ...]
    tiles: tuple[str, ...]
    hand: int

    @classmethod
    def read(cls, data: Json) -> "Board":
        """The board of a JSON file."""
        spaces = sorted(data["spaces"], key=lambda space: int(space["id"]))
        prev, after, partner, color = (
            tuple(space[key] for space in spaces) for key in ("prev", "next", "partner", "color")
        )
        tiles = tiles_of(data["colors"], **data["tiles"])
        return cls(data["name"], prev, after, partner, color, tiles, data.get("hand", 8))

    @property
    def size(self) -> int:
        """The number of spaces."""
        return len(self.prev)

    @cached_property
    def of_color(self) -> dict[str, list[int]]:
        """The spaces of each colour."""
        spaces: dict[str, list[int]] = {}
        for space, color in enumerate(self.color):
            spaces.setdefault(color, []).append(space)
        return spaces

    def is_connector(self, space: int) -> bool:
        """Whether a space has a partner."""
        return self.partner[space] is not None


# Tiles


@cache
def tile_text(color: str, pair: tuple[int, int] | None) -> str:
    """A tile as it lies: `red 3-1` or `red LINK-O`."""
    return f"{color} LINK-O" if pair is None else f"{color} {pair[0]}-{pair[1]}"


TYPES: tuple[str, ...] = tuple(
    tile_text(color, pair) for color in COLORS for pair in (*PAIRS, None)
)
ORDER: dict[str, int] = {tile: number for number, tile in enumerate(TYPES)}


def tiles_of(
    colors: list[str], max_pip: int = 4, linko_per_color: int = 2, points: Json | None = None
) -> tuple[str, ...]:
    """R2: every tile of these colours."""
    tiles: list[str] = []
    for color in colors:
        tiles += [tile_text(color, pair) for pair in PAIRS if pair[1] <= max_pip]
        tiles += [tile_text(color, None)] * linko_per_color
    return tuple(tiles)


ALL_TILES = tiles_of(list(COLORS))
BOARDS: dict[str, Board] = {
    name: Board.read(board_json(name, (size,) * 4, links)) for name, (size, links) in LINKS.items()
}


@cache
def ends(tile: str) -> tuple[int, int] | None:
    """Left and right end; None for a LINK-O."""
    _, face = tile.split()
    if face == "LINK-O":
        return None
    left, right = face.split("-")
    return int(left), int(right)


@cache
def color_of(tile: str) -> str:
    """The tile's colour."""
    return tile.split(maxsplit=1)[0]


@cache
def turned(tile: str) -> str:
    """The other orientation."""
    pair = ends(tile)
    return tile if pair is None else tile_text(color_of(tile), (pair[1], pair[0]))


@cache
def type_of(tile: str) -> str:
    """The tile with its low end first."""
    return tile if tile in ORDER else turned(tile)


@cache
def is_opener(tile: str) -> bool:
    """R5, R6: a double or LINK-O."""
    pair = ends(tile)
    return pair is None or pair[0] == pair[1]


def points(tile: str) -> int:
    """R17: the sum of the ends, 16 for a LINK-O."""
    pair = ends(tile)
    return 16 if pair is None else sum(pair)


def total(hand: list[str]) -> int:
    """R17, R18: the points of a hand."""
    return sum(points(tile) for tile in hand)


def by_type(tiles: Any) -> list[str]:
    """In the order of the types."""
    return sorted(tiles, key=ORDER.__getitem__)


def read_move(text: str) -> tuple[int, str]:
    """Space and tile of `@5 red 3-1`."""
    space, tile = text.split(" ", 1)
    return int(space.removeprefix("@")), tile


@dataclass
class Laid:
    """A tile on the board, as it lies; `value` is that of a LINK-O on a connector."""

    tile: str
    by: int
    value: int | None = None


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
    """One match of LINK-O."""

    def __init__(
        self, num_players: int, options: Json, board: Board | None = None, seed: int = 0
    ) -> None:
        self.num_players = num_players
        self.options: Json = DEFAULTS | options
        self.board = board or BOARDS[self.options["board"]]
        self.seed = seed
        self.scores = [0] * num_players
        self.ply = 0
        self.round = 0
        self.starter = 0
        self.seat: int | None = None
        self.over = False
        self.last_round: Json | None = None
        self.winner_seats: list[int] = []
        self.clear([[] for _ in range(num_players)], [])

    def clear(self, hands: list[list[str]], bag: list[str]) -> None:
        """R2: an empty board; nothing is known of the hands."""
        self.hands = [by_type(hand) for hand in hands]
        self.bag = list(bag)
        self.laid: dict[int, Laid] = {}
        self.first_turn = [True] * self.num_players
        self.lacks: list[set[str]] = [set() for _ in range(self.num_players)]
        self.dug = [0] * self.num_players
        self.passed = [False] * self.num_players
        self.passes = 0

    @classmethod
    def read(cls, data: Json, board: Board | None = None) -> "Oracle":
        """Any position in which a seat is to act, or of a match that is over."""
        self = cls(data["num_players"], data["options"], board, data["seed"])
        self.clear(data["hands"], data["bag"])
        for space, cell in data["board"].items():
            self.laid[int(space)] = Laid(cell["tile"], cell["by"], cell.get("value"))
        for name in ("scores", "first_turn", "dug", "passed"):
            setattr(self, name, list(data[name]))
        for name in ("seat", "ply", "round", "starter", "last_round"):
            setattr(self, name, data[name])
        self.lacks = [set(types) for types in data["lacks"]]
        if self.seat is not None and self.dug[self.seat]:
            self.lacks[self.seat] |= self.placeable_types(self.seat)
        self.over = self.seat is None
        self.winner_seats = list(data["winners"])
        return self

    @classmethod
    def begin(cls, data: Json, board: Board | None = None) -> "Oracle":
        """A match from its first position."""
        self = cls(data["num_players"], data["options"], board, data["seed"])
        self.new_round(data, data["starter"])
        return self

    # Rounds

    def new_round(self, shown: Json, starter: int) -> None:
        """R2: the deal that led to a round's first position, then play up to the first choice.

        Who digs on an empty board draws openers last and nothing else of interest before them.
        """
        hands = [list(hand) for hand in shown["hands"]]
        drawn: list[str] = []
        for step in range(self.num_players):
            seat = (starter + step) % self.num_players
            openers = [tile for tile in hands[seat] if is_opener(tile)]
            rest = [tile for tile in hands[seat] if not is_opener(tile)]
            count = shown["dug"][seat]
            last = openers[:1] if count and not shown["passed"][seat] else []
            mine = rest[: count - len(last)] + last
            for tile in mine:
                hands[seat].remove(tile)
            drawn += mine
        assert [len(hand) for hand in hands] == [self.board.hand] * self.num_players  # R2
        bag = drawn + list(shown["bag"])
        assert Counter(bag + [tile for hand in hands for tile in hand]) == Counter(self.board.tiles)
        self.clear(hands, bag)
        self.round += 1
        self.starter = starter
        self.take_turns(starter)

    def next_starter(self) -> int | None:
        """R3; None for a random one."""
        assert self.last_round is not None
        how = self.options["next_starter"]
        if how == "first_seat":
            return 0
        if how == "random":
            return None
        if how == "winner" and self.last_round["winner"] is not None:
            return int(self.last_round["winner"])
        return (self.starter + 1) % self.num_players

    def end_round(self, how: str) -> None:
        """R17-R21: scores; then the match is over, or the next deal is awaited."""
        totals = [total(hand) for hand in self.hands]
        if how == "out":
            best = [seat for seat in range(self.num_players) if not self.hands[seat]]
        else:
            best = [seat for seat, held in enumerate(totals) if held == min(totals)]
        others = sum(held for seat, held in enumerate(totals) if seat not in best)
        if len(best) == 1:
            gain = others  # R17, R18: not the difference
        elif self.options["blocked_tie"] == "split":
            gain = others // len(best)
        else:
            gain = 0  # R19
        for seat in best:
            self.scores[seat] += gain
        winner = best[0] if len(best) == 1 else None
        self.last_round = {"winner": winner, "points": gain, "how": how}
        self.seat = None
        top = [seat for seat, score in enumerate(self.scores) if score == max(self.scores)]
        if self.options["target"] == 0:
            drawn = len(best) > 1 and self.options["blocked_tie"] == "no_score"
            self.finish(list(range(self.num_players)) if drawn else best)
        elif max(self.scores) >= self.options["target"] and len(top) == 1:
            self.finish(top)  # R20
        elif self.round == self.options["max_rounds"]:
            self.finish(top)  # R21

    def finish(self, winners: list[int]) -> None:
        """The match is over."""
        self.over = True
        self.winner_seats = winners

    # Turns

    def take_turns(self, seat: int) -> None:
        """R4, R7, R8, R16: digs and passes are forced; up to a seat that can place, or the end."""
        while True:
            can = self.placeable_types(seat)
            self.dug[seat], self.passed[seat] = 0, False
            able = any(tile in can for tile in self.hands[seat])
            if not able:
                able = self.dig(seat, can)
            if able:
                self.seat = seat
                return
            self.passed[seat] = True
            if self.first_turn[seat]:
                self.first_turn[seat], self.passes = False, 0  # R7, R18
            else:
                self.passes += 1
            if not self.bag and self.passes >= self.num_players:
                self.end_round("blocked")  # R18
                return
            seat = (seat + 1) % self.num_players

    def dig(self, seat: int, can: set[str]) -> bool:
        """R7, R16: draws; returns whether the last tile can be placed. Updates the known lacks."""
        placeable = False
        while self.bag and not placeable:
            tile = self.bag.pop(0)
            self.hands[seat] = by_type([*self.hands[seat], tile])
            self.dug[seat] += 1
            placeable = tile in can
            if self.options["dig"] == "one":
                break
        stays = self.dug[seat] - placeable
        self.lacks[seat] = set(can) if stays else self.lacks[seat] | can
        return placeable

    def lacking(self, seat: int) -> set[str]:
        """The types that a seat certainly doesn't hold: the last one dug may be any placeable."""
        dug = seat == self.seat and self.dug[seat]
        return self.lacks[seat] - self.placeable_types(seat) if dug else self.lacks[seat]

    # The board

    def value_of(self, space: int) -> int | None:
        """R14: the value of a connector, if it has one."""
        laid = self.laid.get(space)
        if laid is None:
            return None
        pair = ends(laid.tile)
        return laid.value if pair is None else pair[0]

    def shows(self, neighbour: int, end: int) -> int | None:
        """R11: the value of a ring neighbour's left (0) or right (1) end."""
        if self.board.is_connector(neighbour):
            return self.value_of(neighbour)
        laid = self.laid.get(neighbour)
        pair = None if laid is None else ends(laid.tile)
        return None if pair is None else pair[end]

    def left_of(self, space: int) -> int | None:
        """The value of the previous space's end."""
        return self.shows(self.board.prev[space], 1)

    def right_of(self, space: int) -> int | None:
        """The value of the next space's end."""
        return self.shows(self.board.next[space], 0)

    def constraints(self, space: int) -> set[int]:
        """R12: the set C of a connector."""
        partner = self.board.partner[space]
        assert partner is not None
        seen = (self.left_of(space), self.right_of(space), self.value_of(partner))
        return {value for value in seen if value is not None}

    def touches(self, space: int) -> bool:
        """R10."""
        around = [self.board.prev[space], self.board.next[space]]
        partner = self.board.partner[space]
        if partner is not None:
            around.append(partner)
        return any(other in self.laid for other in around)

    def fits(self, space: int, tile: str, first: bool) -> bool:
        """R5-R13: whether a tile, as it would lie, may be placed on a space."""
        board = self.board
        if space in self.laid or color_of(tile) != board.color[space]:  # R9
            return False
        if first and not is_opener(tile):  # R6
            return False
        pair = ends(tile)
        if not board.is_connector(space):
            if not self.touches(space):  # R10
                return False
            if pair is None:  # R15
                return True
            return self.left_of(space) in (None, pair[0]) and self.right_of(space) in (
                None,
                pair[1],
            )
        # R5, R6a: whoever opens may use any connector, whatever he has passed before.
        free = self.options["open_connectors"] == "any_matching_color"
        if self.laid and not self.touches(space) and not (first and free):  # R10
            return False
        if not is_opener(tile):  # R12
            return False
        constraints = self.constraints(space)
        if len(constraints) >= 2:
            return False
        return pair is None or not constraints or constraints == {pair[0]}

    def placements(self, tile: str, first: bool) -> Iterator[str]:
        """Yields where and how a tile may be placed."""
        ways = dict.fromkeys((tile, turned(tile)))
        for space in self.board.of_color[color_of(tile)]:  # R9
            for way in ways:
                if self.fits(space, way, first):
                    yield f"@{space} {way}"

    def placeable_types(self, seat: int) -> set[str]:
        """All types that a seat could place now."""
        first = self.first_turn[seat]
        return {tile for tile in set(self.board.tiles) if any(self.placements(tile, first))}

    def settle(self) -> None:
        """R14: values of the LINK-Os on connectors, until nothing changes."""
        changed = True
        while changed:
            changed = False
            for space, laid in self.laid.items():
                if not self.board.is_connector(space) or ends(laid.tile) is not None:
                    continue
                constraints = self.constraints(space)
                if laid.value is None and constraints:
                    assert len(constraints) == 1
                    (laid.value,) = constraints
                    changed = True

    # Moves

    def moves(self) -> list[str]:
        """Every legal move of the seat to act, as a text."""
        if self.seat is None:
            return []
        first = self.first_turn[self.seat]
        return [
            move
            for tile in dict.fromkeys(self.hands[self.seat])
            for move in self.placements(tile, first)
        ]

    def mask(self) -> NDArray[np.int8]:
        """Brute force: each of the spaces x 26 actions on its own."""
        mask = np.zeros(self.board.size * len(CODES), np.int8)
        if self.seat is None:
            return mask
        hand = set(self.hands[self.seat])
        for action in range(mask.size):
            space, tile = self.decode(action)
            if type_of(tile) in hand:
                mask[action] = self.fits(space, tile, self.first_turn[self.seat])
        return mask

    def decode(self, action: int) -> tuple[int, str]:
        """Space, and tile as it lies, of an action number."""
        space, code = divmod(action, len(CODES))
        return space, tile_text(self.board.color[space], CODES[code])

    def encode(self, move: str) -> int:
        """The action number of a move."""
        space, tile = read_move(move)
        return space * len(CODES) + CODES.index(ends(tile))

    def play(self, move: str) -> None:
        """Plays a legal move, and all that follows without a choice.

        With `seat` None and not `over`, a new round's deal is awaited (`new_round`).
        """
        space, tile = read_move(move)
        seat = self.seat
        assert seat is not None
        fits = type_of(tile) in self.hands[seat] and self.fits(space, tile, self.first_turn[seat])
        assert fits, f"{move} is illegal"
        self.hands[seat].remove(type_of(tile))
        self.laid[space] = Laid(tile, seat)
        self.settle()
        self.first_turn[seat] = False
        self.passes = 0
        self.ply += 1
        if all(other in self.laid for other in self.board.of_color[color_of(tile)]):
            self.scores[seat] += self.options["circle_bonus"]  # R23
        if not self.hands[seat]:
            self.end_round("out")  # R17
        else:
            self.seat = None
            self.take_turns((seat + 1) % self.num_players)

    def follow(self, move: str, shown: Json) -> None:
        """Plays a move; a round that begins with it is dealt as the position behind it shows."""
        self.play(move)
        if self.seat is None and not self.over:
            starter = self.next_starter()
            self.new_round(shown, shown["starter"] if starter is None else starter)

    # Results

    def payoffs(self) -> list[float]:
        """The winners' shares, zero-sum, a sole winner at 1."""
        n = self.num_players
        if not self.over:
            return [0.0] * n
        share = 1 / len(self.winner_seats)
        shares = [share * (seat in self.winner_seats) for seat in range(n)]
        return [(value - 1 / n) * n / (n - 1) for value in shares]

    def margins(self) -> list[float]:
        """Own score minus the mean of the others', on the scale of 64."""
        n, everything = self.num_players, sum(self.scores)
        return [(own - (everything - own) / (n - 1)) / 64 for own in self.scores]

    def observation(self, seat: int) -> dict[str, NDArray[np.int64]]:
        """Every named piece, as one seat sees it."""
        players, size = self.num_players, self.board.size
        seats = [(seat + step) % players for step in range(players)]
        laid = [self.laid.get(space) for space in range(size)]
        shown = np.zeros((2, 5, size), np.int64)
        for space in range(size):
            for side, value in enumerate((self.left_of(space), self.right_of(space))):
                if value is not None:
                    shown[side, value, space] = 1
        connectors = [space for space in range(size) if self.board.is_connector(space)]
        met = [self.constraints(space) for space in connectors]
        hidden = [tile for other in seats[1:] for tile in self.hands[other]] + self.bag
        bits: dict[str, list[Any]] = {
            "first_turn": [self.first_turn[other] for other in seats],
            "starter": [other == self.starter for other in seats],
            "to_act": [other == self.seat for other in seats],
            "dug": [self.dug[other] for other in seats],
            "passed": [self.passed[other] for other in seats],
            "hand_size": [len(self.hands[other]) for other in seats],
        }
        lacks = [[tile in self.lacks[other] for tile in TYPES] for other in seats]
        scores = [list(divmod(self.scores[other], 100)) for other in seats]
        return {
            **{name: six(values) for name, values in bits.items()},
            "hand": np.array([self.hands[seat].count(tile) for tile in TYPES]),
            "unseen": np.array([hidden.count(tile) for tile in TYPES]),
            "occupied": np.array([int(cell is not None) for cell in laid]),
            "linko": np.array([int(cell is not None and ends(cell.tile) is None) for cell in laid]),
            "left_shows": shown[0],
            "right_shows": shown[1],
            "placed_by": np.array(
                [0 if cell is None else seats.index(cell.by) + 1 for cell in laid]
            ),
            "constraint": np.array([[int(value in c) for c in met] for value in range(5)]),
            "blocked": np.array([int(len(c) > 1) for c in met]),
            "bag_size": np.array([len(self.bag)]),
            "scores": six(scores),
            "target": np.array(divmod(self.options["target"], 100)),
            "round": np.array([self.round]),
            "num_players": np.array([players]),
            "lacks": six(lacks),
        }

    def hidden(self, seat: int) -> dict[str, NDArray[np.int64]]:
        """The hidden part of a position, for a seat."""
        hands = np.zeros((5, len(TYPES)), np.int64)
        for step in range(1, self.num_players):
            for tile in self.hands[(seat + step) % self.num_players]:
                hands[step - 1, ORDER[tile]] += 1
        slots = [*TYPES, *(tile for tile in TYPES if ends(tile) is None)]
        order = np.zeros(len(slots), np.int64)
        for number, tile in reversed(list(enumerate(self.bag))):  # a LINK-O left alone comes first
            places = [slot for slot, other in enumerate(slots) if other == tile]
            free = next(slot for slot in places if not order[slot])
            order[free] = 52 - number
        return {"hands": hands, "draw_order": order}

    def to_dict(self, seat: int | None = None) -> Json:
        """The JSON of the referee, or of a seat."""
        board: Json = {}
        for space in sorted(self.laid):
            laid = self.laid[space]
            board[str(space)] = {"tile": laid.tile, "by": laid.by}
            if self.board.is_connector(space) and ends(laid.tile) is None:
                board[str(space)]["value"] = laid.value
        data: Json = {
            "game": "link_o",
            "version": 0,
            "options": dict(self.options),
            "seed": self.seed,
            "num_players": self.num_players,
            "seat": self.seat,
            "ply": self.ply,
            "round": self.round,
            "starter": self.starter,
            "scores": list(self.scores),
            "hands": [list(hand) for hand in self.hands],
            "bag": list(self.bag),
            "board": board,
            "first_turn": list(self.first_turn),
            "lacks": [by_type(self.lacking(own)) for own in range(self.num_players)],
            "dug": list(self.dug),
            "passed": list(self.passed),
            "last_round": self.last_round,
            "winners": list(self.winner_seats),
        }
        if seat is not None:
            hands = data["hands"]
            data["hands"] = [hand if own == seat else len(hand) for own, hand in enumerate(hands)]
            data["bag"] = len(self.bag)
            del data["seed"], data["ply"]
        return data


def six(values: Sequence[Any]) -> NDArray[np.int64]:
    """By seat; absent seats are 0."""
    padded = np.array(values, np.int64)
    return np.concatenate([padded, np.zeros((6 - len(values), *padded.shape[1:]), np.int64)])
