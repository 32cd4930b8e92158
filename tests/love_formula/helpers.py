"""Short ways to drive the game, to write positions, and to walk through whole games."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import linkzoo
from linkzoo.core.game import Game
from linkzoo.registry import get_game
from tests import driving
from tests.love_formula.oracle import SUBTYPES, Json, Oracle, Setup, Table, read_table

GAME = get_game("love_formula")
CARDS = Path(linkzoo.__file__).parent / "games/love_formula/cards.csv"
TABLE = read_table(CARDS)
JOB = TABLE.job

legal_mask = partial(driving.legal_mask, game=GAME)
legal_list = partial(driving.legal_list, game=GAME)
legal_texts = partial(driving.legal_texts, game=GAME)
clone = partial(driving.clone, game=GAME)
payoffs = partial(driving.payoffs, game=GAME)
margins = partial(driving.margins, game=GAME)
observe = partial(driving.observe, game=GAME)
piece = partial(driving.piece, game=GAME)
play_text = partial(driving.play_text, game=GAME)
play_random = partial(driving.play_random, game=GAME)


def asked_all(players: int = 2, **options: Any) -> Setup:
    """A setup in which every decision is asked, those with one option too."""
    return Setup(players, {"skip_forced": False, **options})


def start(setup: Setup | None = None, seed: int = 0, game: Game = GAME) -> np.record:
    """A new game."""
    setup = setup or Setup()
    state = game.blank(setup.num_players, setup.options)
    game.rules.new_game(state, np.uint64(seed))
    return state


def midgame(setup: Setup, seed: int, plies: int) -> np.record:
    """A position of a random game, with the actions that led to it."""
    state, rng = start(setup, seed), np.random.default_rng([seed, plies])
    return play_on(state, rng, plies)


def play_on(state: np.record, rng: np.random.Generator, plies: int = 99999) -> np.record:
    """Random moves without voluntary discards, so that fields fill."""
    never = GAME.notation.text_to_action(state, "OPEN_DISCARD")
    while state.seat >= 0 and plies > 0:
        moves = legal_list(state)
        moves = moves[moves != never] if moves.size > 1 else moves
        GAME.rules.apply(state, int(rng.choice(moves)))
        plies -= 1
    return state


def redealt(state: np.record, seat: int, seed: int) -> np.record:
    """Another world for a seat."""
    other = clone(state)
    GAME.determinize(other, seat, np.uint64(seed))
    return other


def read(data: Json) -> np.record:
    """The game's record of a position."""
    return GAME.from_dict(data)


def revealed(state: np.record, seat: int) -> Any:
    """The privileged observation of a seat's critic."""
    assert GAME.observation.privileged_spec is not None
    assert GAME.observation.reveal is not None
    out = np.full(GAME.observation.privileged_spec.size, 77, GAME.observation.privileged_spec.dtype)
    GAME.observation.reveal(state, seat, out)
    return out


# Both sides


def core_of(data: Json) -> Json:
    """The oracle's position, from the game's JSON."""
    names = ("num_players", "seat", "half", "turn", "stage", "decision", "deck", "discard")
    core = {name: data[name] for name in names}
    for name in ("reshuffles", "piles", "packs", "look", "vp", "winners", "hand_sizes_at_end"):
        core[name] = data[name]
    core["hands"] = [without_job(hand, data["stage"]) for hand in data["hands"]]
    core["fields"] = [
        {
            "couples": {couple["card"]: sorted(couple["attached"]) for couple in own["couples"]},
            "free": own["free"],
            "shielded": own["shield_until"] >= max(data["turn"], 0),
        }
        for own in data["fields"]
    ]
    core["obstacles"] = [
        [o["card"], o["couple"], o["by"], o["turns_left"] if TABLE_TURNS.get(o["card"], 1) else 0]
        for o in data["obstacles"]
    ]
    if data["stage"] == "resolve":
        core["priorities"], core["order"] = data["priorities"], data["order"]
    if data["stage"] in {"resolve", "select"}:
        core["selected"] = data["selected"]
    if data["decision"] in {"WINDOW", "MOVE_DEST", "DISCARD_MENU"}:
        core["window"] = data["window"]
    if data["decision"] == "REACT":
        react = data["react"]
        kept = ("kind", "source", "card", "couple", "owner", "cancelled")
        core["react"] = {name: react[name] for name in kept}
        pending = ("card", "by", "answers", "cancelled")
        core["react"]["pending"] = [[r[name] for name in pending] for r in react["pending"]]
    return core


TABLE_TURNS = {name: int(TABLE[name].turns > 0) for name in TABLE.of("obstacle")}


def without_job(hand: list[str], stage: str) -> list[str]:
    """R2: during drafts, and after the end, it doesn't matter where the Part-time Job is."""
    return [card for card in hand if card != JOB or stage in {"start", "select", "resolve"}]


def expected_core(oracle: Oracle) -> Json:
    """The oracle's position, in the same form."""
    core = oracle.core()
    core["hands"] = [without_job(hand, core["stage"]) for hand in core["hands"]]
    if core["stage"] != "resolve":
        del core["priorities"], core["order"]
    if core["stage"] not in {"resolve", "select"}:
        del core["selected"]
    if core["window"] is None:
        del core["window"]
    if core["decision"] != "REACT":
        del core["react"]
    del core["limbo"]
    return core


def cards_in(value: Any) -> Counter[str]:
    """A memory of cards as a count, without Part-time Jobs, which need none."""
    counts = Counter(value)
    del counts[JOB]
    return +counts


def memory_of(data: Json) -> Json:
    """The cards that seats remember, by viewer (section 6)."""
    n = range(data["num_players"])
    known = data["known"]
    return {
        "passed": [[cards_in(pack) for pack in packs] for packs in data["passed"]],
        "taken": [cards_in(cards) for cards in data["taken"]],
        "known": [[cards_in(known[v][q]) for q in n if q != v] for v in n],
        "draft": data["draft"] if data["stage"] == "draft" else None,
    }


def expected_memory(oracle: Oracle) -> Json:
    """The same of the oracle."""
    n = range(oracle.n)
    return {
        "passed": [[cards_in(pack) for pack in packs] for packs in oracle.passed],
        "taken": [cards_in(cards) for cards in oracle.taken],
        "known": [[cards_in(oracle.known[v][q]) for q in n if q != v] for v in n],
        "draft": oracle.draft if oracle.stage == "draft" else None,
    }


def agree(game: Json, oracle: Json) -> None:
    """The same fields with the same values; the message has those that differ."""
    wrong = {
        name: (game.get(name), oracle.get(name))
        for name in game.keys() | oracle.keys()
        if name not in game or name not in oracle or game[name] != oracle[name]
    }
    assert not wrong, f"game and oracle differ: {wrong}"


class Both:
    """A position in the game and in the oracle, kept equal move by move.

    `one` plays one move; `play` goes on to the next choice, or to the window behind the effect.
    """

    def __init__(self, data: Json, game: Game = GAME, table: Table = TABLE) -> None:
        self.game, self.table = game, table
        self.state = game.from_dict(data)
        self.oracle = Oracle.read(data, table)
        self.data: Json = game.to_dict(self.state)  # the position as the game tells it
        self.compare()

    @classmethod
    def begin(cls, setup: Setup, seed: int, game: Game = GAME, table: Table = TABLE) -> "Both":
        """A new game."""
        return cls(game.to_dict(start(setup, seed, game)), game, table)

    def compare(self) -> None:
        """The position, the moves, payoffs and margins agree."""
        data = self.data
        agree(core_of(data), expected_core(self.oracle))
        agree(memory_of(data), expected_memory(self.oracle))
        agree({"moves": self.legal()}, {"moves": set(self.oracle.moves())})
        state, oracle = self.state, self.oracle
        for found, expected in (
            (driving.payoffs(state, game=self.game), oracle.payoffs()),
            (driving.margins(state, game=self.game), oracle.margins()),
        ):
            assert max(abs(a - b) for a, b in zip(found, expected, strict=True)) < 1e-6

    def legal(self) -> set[str]:
        """The legal moves."""
        return driving.legal_texts(self.state, game=self.game)

    @property
    def asks(self) -> tuple[int | None, str | None]:
        """The seat to act, and its kind of decision."""
        data = self.data
        return data["seat"], data["decision"]

    def one(self, move: str) -> None:
        """Plays one move on both sides."""
        driving.play_text(self.state, move, game=self.game)
        self.data = self.game.to_dict(self.state)
        self.oracle.follow(move, self.data)
        self.compare()

    def go(self) -> "Both":
        """Passes windows before an effect and plays forced actions, up to a choice."""
        while self.oracle.seat is not None:
            moves, data = self.oracle.moves(), self.data
            if data["decision"] == "WINDOW" and data["step"] == "pre":
                self.one("PASS")
            elif data["decision"] == "WINDOW" or len(moves) > 1:
                break
            else:
                self.one(moves[0])
        return self

    def play(self, *moves: str) -> "Both":
        """Plays moves, and calls `go` after each."""
        for move in moves:
            while move not in self.oracle.moves() and len(self.oracle.moves()) == 1:
                self.one(self.oracle.moves()[0])
            self.one(move)
            self.go()
        return self

    def until(self, *kinds: str) -> "Both":
        """Passes windows and reactions, selects jobs, up to a decision of a kind."""
        quiet = ("PASS", f"CARD {JOB}")
        while self.data["decision"] not in kinds:
            moves = self.oracle.moves()
            assert moves, "the game is over"
            move = next((move for move in quiet if move in moves), moves[0])
            assert len(moves) == 1 or move in quiet, f"a choice: {self.asks} {moves}"
            self.one(move)
        return self

    def next_turn(self) -> "Both":
        """Up to the first selection of the next turn."""
        turn = self.data["turn"]
        while self.data["turn"] == turn:
            self.one(next(m for m in ("PASS", f"CARD {JOB}") if m in self.oracle.moves()))
        return self

    # What the tests look at

    def hand(self, seat: int) -> list[str]:
        """A hand without the Part-time Job."""
        return [card for card in self.data["hands"][seat] if card != self.table.job]

    def couples(self, seat: int) -> dict[str, list[str]]:
        """Couples of a field and their attached cards."""
        own = self.data["fields"][seat]["couples"]
        return {couple["card"]: sorted(couple["attached"]) for couple in own}

    def free(self, seat: int) -> dict[str, str]:
        """The free slots that are taken."""
        own = self.data["fields"][seat]["free"]
        return {kind: card for kind, card in own.items() if card}

    def on_table(self) -> list[tuple[str, str]]:
        """Obstacles and their couples."""
        return [(o["card"], o["couple"]) for o in self.data["obstacles"]]


def walk(setup: Setup, seed: int, quiet: bool = True) -> Iterator[tuple[Both, str | None]]:
    """A random game on both sides: every position, and the move that led to it.

    The oracle chooses among its own legal moves; `quiet` means few voluntary discards.
    """
    rng = np.random.default_rng([seed, setup.num_players])
    game, table = get_game("love_formula", setup.options), TABLE
    if "cards" in setup.options:
        table = read_table(Path(setup.options["cards"]))
    both = Both.begin(setup, seed, game, table)
    yield both, None
    while both.oracle.seat is not None:
        moves = both.oracle.moves()
        if quiet and len(moves) > 1 and "OPEN_DISCARD" in moves and rng.random() < 0.9:
            moves.remove("OPEN_DISCARD")
        move = moves[int(rng.integers(len(moves)))]
        both.one(move)
        yield both, move


# Positions written by hand


@cache
def _base(players: int) -> str:
    state = start(asked_all(players, voluntary_discards="off"), 1)
    while GAME.to_dict(state)["decision"] != "SELECT":
        play_text(state, min(legal_texts(state)))
    return json.dumps(GAME.to_dict(state))


def emptied(value: Any) -> Any:
    """The same lists and dicts with nothing in them: a memory of nothing."""
    if isinstance(value, list):
        if value and isinstance(value[0], list | dict):
            return [emptied(item) for item in value]
        return []
    if isinstance(value, dict):
        nested = {key: emptied(item) for key, item in value.items()}
        return {key: item for key, item in nested.items() if isinstance(item, list | dict)}
    return value


def field_of(content: Mapping[str, Any]) -> Json:
    """A field: `couple: [attached]` and `event|location|item: card`, `shield_until`."""
    couples = [name for name in content if name not in (*SUBTYPES, "shield_until")]
    return {
        "couples": [
            {
                "card": couple,
                "attached": [c for c in TABLE[couple].requirements if c in content[couple]],
            }
            for couple in TABLE.sorted(couples)
        ],
        "free": {kind: content.get(kind) for kind in SUBTYPES},
        "shield_until": content.get("shield_until", -1),
    }


def position(
    fields: Sequence[Mapping[str, Any]],
    play: Mapping[int, str] | None = None,
    *,
    hands: Mapping[int, list[str]] | None = None,
    obstacles: Iterable[tuple[str, str, int, int]] = (),
    top: Sequence[str] = (),
    discard: Sequence[str] = (),
    deck: Sequence[str] | None = None,
    turn: int = 4,
    **changes: Any,
) -> Json:
    """A position in which every decision is asked; all 120 cards are somewhere.

    With `play` (seat: card), cards have been revealed and the first one is about to be resolved;
    others play their Part-time Job, later in case of a tie. Without it, seat 0 is to select.
    Obstacles are (card, couple, by, turns_left). `top` are the first cards of the deck, which has
    all cards that are nowhere else; with `deck` they are on the discard pile instead.
    """
    players = len(fields)
    data: Json = json.loads(_base(players))
    data["fields"] = [field_of(content) for content in fields]
    data["obstacles"] = [
        dict(zip(("card", "couple", "by", "turns_left"), row, strict=True)) for row in obstacles
    ]
    data["turn"], data["half"] = turn, 1 + turn // 10
    for name in ("passed", "taken", "known"):
        data[name] = emptied(data[name])
    hands = hands or {}
    data["hands"] = [TABLE.sorted([*hands.get(seat, []), JOB]) for seat in range(players)]
    if play is not None:
        selected = [play.get(seat, JOB) for seat in range(players)]
        for seat, card in enumerate(selected):
            if card == JOB:
                data["hands"][seat].remove(JOB)
        data["selected"] = selected
        data["priorities"] = [
            max(0, TABLE[card].priority + modifier(data, seat))
            for seat, card in enumerate(selected)
        ]
        data["order"] = sorted(
            range(players), key=lambda s: (-data["priorities"][s], s not in play, s)
        )
        data |= {"stage": "resolve", "cursor": 0, "step": "pre", "decision": "WINDOW"}
        data["seat"] = data["order"][0]
    for row in data["obstacles"]:
        if TABLE[row["card"]].static.get("reveal_hand"):
            owner = next(
                seat
                for seat, own in enumerate(data["fields"])
                if row["couple"] in [couple["card"] for couple in own["couples"]]
            )
            hand = [card for card in data["hands"][owner] if card != JOB]
            for seat in range(players):
                if seat != owner:
                    data["known"][seat][owner] = list(hand)
    options = changes.pop("options", {})
    data["options"] = data["options"] | options
    used = Counter(card for hand in data["hands"] for card in hand if card != JOB)
    used += Counter(card for card in data["selected"] if card and card != JOB)
    for own in data["fields"]:
        used += Counter(card for card in own["free"].values() if card)
        for couple in own["couples"]:
            used += Counter([couple["card"], *couple["attached"]])
    used += Counter(obstacle["card"] for obstacle in data["obstacles"])
    used += Counter([*discard, *top, *(deck or [])])
    missing = used - Counter(TABLE.deck)
    assert not missing, f"{missing} are used twice"
    rest = TABLE.sorted((Counter(TABLE.deck) - used).elements())
    rest = [rest[number] for number in np.random.default_rng(5).permutation(len(rest))]
    if deck is None:
        data["deck"], data["discard"] = [*top, *rest], list(discard)
    else:
        data["deck"], data["discard"] = list(deck), [*discard, *rest]
    data |= changes
    data["vp"] = [worth(data, seat) for seat in range(players)]
    return data


def modifier(data: Json, seat: int) -> int:
    """R8, T2: the priority that a player's cards lose by obstacles."""
    own = [couple["card"] for couple in data["fields"][seat]["couples"]]
    cards = [TABLE[o["card"]] for o in data["obstacles"] if o["couple"] in own]
    return sum(card.static.get("priority_mod", 0) for card in cards)


def worth(data: Json, seat: int) -> int:
    """R26, of a position written by hand."""
    total = sum(card is not None for card in data["fields"][seat]["free"].values())
    for couple in data["fields"][seat]["couples"]:
        needs, has = len(TABLE[couple["card"]].requirements), len(couple["attached"])
        statics = [
            TABLE[o["card"]].static for o in data["obstacles"] if o["couple"] == couple["card"]
        ]
        value = {2: 4, 3: 9}[needs] if has == needs else 1
        if has == needs and any(static.get("vp_halve") for static in statics):
            value //= 2
        total += has + value + sum(static.get("vp", 0) for static in statics)
    return total


def both(*arguments: Any, **keywords: Any) -> Both:
    """A position by hand on both sides."""
    return Both(position(*arguments, **keywords))
