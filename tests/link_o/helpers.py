"""Short ways to drive the game, to write positions, and to walk through whole matches."""

from collections import Counter
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np

from linkzoo.core.game import Game
from linkzoo.registry import get_game
from tests import driving
from tests.link_o.oracle import (
    ALL_TILES,
    BOARDS,
    COLORS,
    DEFAULTS,
    Json,
    Laid,
    Oracle,
    Setup,
    by_type,
    color_of,
    ends,
    is_opener,
    turned,
    type_of,
)

GAME = get_game("link_o")
SHORT = Setup(2, {"target": 20})  # two or three rounds

legal_mask = partial(driving.legal_mask, game=GAME)
legal_texts = partial(driving.legal_texts, game=GAME)
clone = partial(driving.clone, game=GAME)
payoffs = partial(driving.payoffs, game=GAME)
margins = partial(driving.margins, game=GAME)
observe = partial(driving.observe, game=GAME)
play_text = partial(driving.play_text, game=GAME)
play_random = partial(driving.play_random, game=GAME)


@cache
def game_of(board: str = "ring4x16") -> Game:
    """The game on a board."""
    return get_game("link_o", {"board": board})


def start(setup: Setup | None = None, seed: int = 0) -> np.record:
    """A new match."""
    setup = setup or Setup()
    game = game_of(setup.options.get("board", "ring4x16"))
    state = game.blank(setup.num_players, setup.options)
    game.rules.new_game(state, np.uint64(seed))
    return state


def determinized(state: np.record, seat: int, seed: int, game: Game = GAME) -> np.record:
    """Another world for a seat."""
    other = clone(state, game=game)
    game.determinize(other, seat, np.uint64(seed))
    return other


def midgame(setup: Setup, seed: int, plies: int) -> np.record:
    """A position of a random match."""
    game = game_of(setup.options.get("board", "ring4x16"))
    return play_random(start(setup, seed), np.random.default_rng([seed, plies]), plies, game=game)


def walk(setup: Setup, seed: int) -> Iterator[tuple[np.record, Oracle, str | None]]:
    """A match on both sides: every position, and the move that led to it.

    The oracle chooses among its own legal moves; the game is told by the text.
    """
    rng = np.random.default_rng([seed, setup.num_players])
    game = game_of(setup.options.get("board", "ring4x16"))
    state = start(setup, seed)
    oracle = Oracle.begin(game.to_dict(state))
    yield state, oracle, None
    while not oracle.over:
        moves = oracle.moves()
        move = moves[int(rng.integers(len(moves)))]
        game.rules.apply(state, game.notation.text_to_action(state, move))
        oracle.follow(move, game.to_dict(state))
        yield state, oracle, move


# Positions written by hand


def fill(
    spaces: Iterator[int] | list[int] | range,
    off: list[str],
    laid: dict[int, str] | None = None,
    seed: int = 0,
) -> dict[int, str]:
    """Covers spaces of the usual board with tiles that fit together, beside those that lie there.

    `off` stay off the board. Connectors get doubles, LINK-Os lie on regular spaces. A circle of
    16 has 17 tiles: to be full it leaves one.
    """
    return dict(_fill(tuple(spaces), tuple(off), tuple((laid or {}).items()), seed))


@cache
def _fill(
    spaces: tuple[int, ...], off: tuple[str, ...], laid: tuple[tuple[int, str], ...], seed: int
) -> tuple[tuple[int, str], ...]:
    board = BOARDS["ring4x16"]
    order = sorted(spaces, key=lambda space: (not board.is_connector(space), space))
    for attempt in range(50):
        rng = np.random.default_rng([seed, attempt])
        filled = _try_to_fill(order, list(off), dict(laid), rng)
        if filled is not None:
            return tuple(filled.items())
    raise AssertionError("no way to fill the board was found")


def _try_to_fill(
    order: list[int], off: list[str], laid: dict[int, str], rng: np.random.Generator
) -> dict[int, str] | None:
    oracle = Oracle(2, {})
    oracle.laid = {space: Laid(tile, 0) for space, tile in laid.items()}
    pool = Counter(ALL_TILES) - Counter(off) - Counter(type_of(tile) for tile in laid.values())
    tiles = {color: [t for t in sorted(pool) if color_of(t) == color] for color in COLORS}
    budget = 4000

    def go(index: int) -> bool:
        nonlocal budget
        budget -= 1
        if index == len(order):
            return True
        space = order[index]
        ways = [
            way
            for tile in tiles[oracle.board.color[space]]
            if pool[tile]
            for way in dict.fromkeys((tile, turned(tile)))
            if may_lie(oracle, space, way)
        ]
        for number in rng.permutation(len(ways)):
            way = ways[number]
            oracle.laid[space] = Laid(way, 0)
            pool[type_of(way)] -= 1
            if go(index + 1):
                return True
            del oracle.laid[space]
            pool[type_of(way)] += 1
            if budget < 0:
                return False
        return False

    return {s: t.tile for s, t in sorted(oracle.laid.items())} if go(0) else None


def may_lie(oracle: Oracle, space: int, tile: str) -> bool:
    """Whether a tile of the space's colour could lie there in a finished picture."""
    pair = ends(tile)
    if oracle.board.is_connector(space):
        return pair is not None and is_opener(tile) and oracle.constraints(space) <= {pair[0]}
    if pair is None:
        return True
    left, right = oracle.left_of(space), oracle.right_of(space)
    return left in (None, pair[0]) and right in (None, pair[1])


def position(
    board: dict[int, str],
    hands: list[list[str]],
    *,
    seat: int = 0,
    top: list[str] | None = None,
    bag: list[str] | None = None,
    first: tuple[int, ...] = (),
    by: int | None = None,
    **changes: Any,
) -> Json:
    """A position of round 1; all 68 tiles are somewhere.

    `first` are the seats with their first turn to come. All tiles were placed by `by` (the last
    seat whose first turn is over). The bag is `bag`, or `top` and then of the tiles that are left
    as many as a round can start with; the hand with a `...` in it takes the rest.
    """
    players = len(hands)
    if by is None:
        by = max([other for other in range(players) if other not in first], default=0)
    oracle = Oracle(players, DEFAULTS | changes.pop("options", {}))
    oracle.laid = {space: Laid(tile, by) for space, tile in board.items()}
    oracle.settle()
    unused = Counter(ALL_TILES) - Counter(type_of(tile) for tile in board.values())
    named = [tile for hand in hands for tile in hand if tile != "..."]
    named += bag or []
    named += top or []
    missing = Counter(named) - unused
    assert not missing, f"{missing} are used twice"
    rest = by_type((unused - Counter(named)).elements())
    rng = np.random.default_rng(5)
    rest = [rest[number] for number in rng.permutation(len(rest))]
    if bag is None:
        size = 68 - 8 * players - len(top or [])
        bag, rest = [*(top or []), *rest[:size]], rest[size:]
    open_hands = [hand for hand in hands if "..." in hand]
    assert len(open_hands) == 1 or (not open_hands and not rest), f"nobody holds {rest}"
    oracle.hands = [
        by_type([tile for tile in hand if tile != "..."] + (rest if "..." in hand else []))
        for hand in hands
    ]
    oracle.bag = bag
    oracle.first_turn = [other in first for other in range(players)]
    oracle.seat, oracle.round, oracle.ply, oracle.starter = seat, 1, len(board), by
    return oracle.to_dict() | changes


def read(data: Json) -> np.record:
    """The game's record of a position."""
    return GAME.from_dict(data)


def nearly_full(
    hands: list[list[str]], mover: int, space: int, bag: list[str], **changes: Any
) -> tuple[Json, str]:
    """All spaces but one are filled, and the seat to act holds the tile for it; and that move.

    Hands and bag leave one tile of each colour.
    """
    full = fill(range(64), [tile for hand in hands for tile in hand] + bag)
    last = full.pop(space)
    held = [[*hand, type_of(last)] if seat == mover else hand for seat, hand in enumerate(hands)]
    return position(full, held, seat=mover, bag=bag, **changes), f"@{space} {last}"


class Both:
    """A position in the game and in the oracle, kept equal move by move."""

    def __init__(self, data: Json) -> None:
        self.game = game_of(data["options"]["board"])
        self.state = self.game.from_dict(data)
        self.oracle = Oracle.read(data)
        self.compare()

    def compare(self) -> None:
        """JSON, moves, payoffs and margins agree."""
        assert self.game.to_dict(self.state) == self.oracle.to_dict()
        assert legal_texts(self.state, game=self.game) == set(self.oracle.moves())
        driving.close(payoffs(self.state, game=self.game), self.oracle.payoffs())
        driving.close(margins(self.state, game=self.game), self.oracle.margins())

    @property
    def data(self) -> Json:
        """The position as the game tells it."""
        return self.game.to_dict(self.state)

    def legal(self, *tiles: str) -> set[str]:
        """The legal moves, of all tiles or of some types."""
        texts = legal_texts(self.state, game=self.game)
        return {m for m in texts if not tiles or type_of(m.split(" ", 1)[1]) in tiles}

    def on(self, space: int) -> set[str]:
        """The tiles, as they would lie, that may be placed on a space."""
        found = (text.split(" ", 1) for text in legal_texts(self.state, game=self.game))
        return {tile for where, tile in found if where == f"@{space}"}

    def play(self, *moves: str) -> "Both":
        """Plays on both sides."""
        for move in moves:
            play_text(self.state, move, game=self.game)
            self.oracle.follow(move, self.game.to_dict(self.state))
            self.compare()
        return self
