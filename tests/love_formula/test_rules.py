"""Love Formula's rules, R1-R27: by hand, and whole games beside the oracle."""

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from linkzoo import make
from linkzoo.games.love_formula import decisions
from tests.common.variants import OTHER_CARDS
from tests.driving import first_quick
from tests.love_formula.helpers import (
    GAME,
    JOB,
    TABLE,
    Both,
    asked_all,
    both,
    legal_list,
    legal_mask,
    legal_texts,
    margins,
    payoffs,
    play_random,
    play_text,
    position,
    read,
    start,
    walk,
)
from tests.love_formula.oracle import Json, Oracle, Setup

SETUPS = (
    *(asked_all(players) for players in (2, 3, 4)),
    *(asked_all(players, cards=OTHER_CARDS) for players in (2, 3, 4)),
    *(asked_all(players, voluntary_discards="off") for players in (2, 3, 4)),
)
DEFAULTS = {"voluntary_discards": "windows", "skip_forced": True}
FULL = {"Pen Pals": ["Fireworks Show", "Love Letter"]}
SIX = (
    *("Shrine Heir & Visitor", "Cooking Club Pair", "Band Vocalist & Drummer"),
    *("Childhood Friends", "Idol & Superfan", "Student Council Rivals"),
)
COUPLES: list[Json] = [{"Pen Pals": []}, {"Swim Team Duo": []}, {"Barista & Regular": []}]


# Whole games


@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_games_beside_the_oracle(setup: Setup, request: pytest.FixtureRequest) -> None:
    """R1-R27: positions, legal moves, payoffs and margins at every decision."""
    if "cards" in setup.options:
        request.getfixturevalue("uncompiled")
    kinds = Counter[str]()
    for seed in range(2):
        for game, _ in walk(setup, seed):
            kinds[game.data["decision"]] += 1
            assert game.oracle.everywhere() - Counter({JOB: 4}) == Counter(game.table.deck)
    assert {"DRAFT", "SELECT", "WINDOW", "PLACE", "REACT", "TARGET_COUPLE"} <= set(kinds)


@pytest.mark.parametrize("players", first_quick([2, 3, 4], slow=0))
def test_games_that_throw_everything_away(players: int) -> None:
    """R11: voluntary discards whenever they are offered, beside the oracle."""
    thrown = 0
    for game, move in walk(asked_all(players), 9, quiet=False):
        thrown += move == "OPEN_DISCARD"
        assert game.oracle.everywhere() - Counter({JOB: 4}) == Counter(TABLE.deck)
    assert thrown > 20


@pytest.mark.slow
def test_every_decision_is_met() -> None:
    """All seventeen kinds come up in random games."""
    kinds: set[str] = set()
    for seed in range(12):
        if len(kinds) == 17:
            break
        state, rng = start(Setup(4), seed), np.random.default_rng(seed)
        while state.seat >= 0:
            kinds.add(decisions.NAMES[state.decision])
            play_random(state, rng, 1)
    assert kinds == {
        *("DRAFT", "SELECT", "WINDOW", "MOVE_DEST", "DISCARD_MENU", "PLACE", "TARGET_COUPLE"),
        *("TARGET_PREP", "SWAP_OWN", "TARGET_OBSTACLE", "TARGET_PLAYER", "HAND_DISCARD"),
        *("LOOK_KEEP", "RECOVER", "CHOICE", "REACT", "PAY"),
    }


@pytest.mark.parametrize("players", first_quick([2, 3, 4], slow=0))
@pytest.mark.parametrize("discards", ["windows", "off"])
def test_skip_forced_plays_the_same_game(players: int, discards: str) -> None:
    """Section 6: decisions with one option are taken at once, and nothing else changes."""
    rng = np.random.default_rng(players)
    short = make("love_formula", players, voluntary_discards=discards)
    long = make("love_formula", players, voluntary_discards=discards, skip_forced=False)
    skipped = 0
    for env in (short, long):
        env.reset(seed=players)
    while True:
        while (mask := long.infos[long.agent_selection]["action_mask"]).sum() == 1:
            long.step(int(mask.argmax()))
            skipped += 1
        one, two = short.to_dict(), long.to_dict()
        assert one["options"].pop("skip_forced") is True
        assert two["options"].pop("skip_forced") is False
        assert one.pop("ply") <= two.pop("ply")
        assert one == two
        if one["seat"] is None:
            break
        assert (short.infos[short.agent_selection]["action_mask"] == mask).all()
        assert mask.sum() > 1
        action = int(rng.choice(np.flatnonzero(mask)))
        short.step(action)
        long.step(action)
    assert skipped > 50


@pytest.mark.parametrize("players", first_quick([2, 3, 4], slow=0))
def test_same_seed_same_game(players: int) -> None:
    """Chance is a function of the seed; masks are never empty before the end."""
    one, two = start(Setup(players), 77), start(Setup(players), 77)
    rng = np.random.default_rng(1)
    while one.seat >= 0:
        moves = legal_list(one)
        assert moves.size
        action = int(rng.choice(moves))
        GAME.rules.apply(one, action)
        GAME.rules.apply(two, action)
        assert one.tobytes() == two.tobytes()
    assert not legal_mask(one).any()
    assert start(Setup(players), 78).tobytes() != start(Setup(players), 77).tobytes()


# Set-up


def test_players_and_actions() -> None:
    """R1, section 6: 2..4 players; 64 + 72 + 12 + 24 + 1 + 18 + 4 + 3 actions."""
    assert (GAME.min_players, GAME.max_players) == (2, 4)
    assert GAME.num_actions == 198
    for players in (1, 5):
        with pytest.raises(ValueError, match="num_players"):
            GAME.blank(players)
    assert GAME.blank().num_players == 2
    chosen = GAME.chosen_options(start())
    assert {name: chosen[name] for name in DEFAULTS} == DEFAULTS
    with pytest.raises(ValueError, match="voluntary_discards"):
        GAME.blank(2, {"voluntary_discards": "never"})


@pytest.mark.parametrize("players", first_quick([2, 3, 4], slow=0))
def test_the_deal(players: int) -> None:
    """R2-R4: twelve each of the 120, in play order; nothing else has happened."""
    for seed in range(20):
        data = GAME.to_dict(start(Setup(players), seed))
        assert [len(pack) for pack in data["packs"]] == [12] * players
        dealt = [card for pack in data["packs"] for card in pack]
        assert Counter([*dealt, *data["deck"]]) == Counter(TABLE.deck)
        assert JOB not in [*dealt, *data["deck"]]
        assert all(pack == TABLE.sorted(pack) for pack in data["packs"])
        assert (data["seat"], data["decision"], data["stage"]) == (0, "DRAFT", "draft")
        assert (data["half"], data["turn"], data["discard"], data["piles"]) == (
            1,
            -1,
            [],
            [[]] * players,
        )
        assert (data["reshuffles"], data["vp"], data["winners"]) == (0, [0] * players, [])


@pytest.mark.parametrize("players", first_quick([2, 3, 4], slow=0))
def test_packs_move_on(players: int) -> None:
    """R5: to the next seat in the first draft, to the previous one in the second."""
    game = Both.begin(asked_all(players, voluntary_discards="off"), 3)
    rng = np.random.default_rng(3)
    rounds = {1: 0, 2: 0}
    while game.data["stage"] != "over":
        data = game.data
        if (data["decision"], data["seat"]) == ("DRAFT", 0) and len(data["packs"][0]) > 1:
            packs = [Counter(pack) for pack in data["packs"]]
            for seat in range(players):
                assert game.asks == (seat, "DRAFT")
                assert game.legal() == {f"CARD {card}" for card in packs[seat]}
                move = sorted(game.legal())[int(rng.integers(len(game.legal())))]
                packs[seat][move.removeprefix("CARD ")] -= 1
                game.one(move)
            step = 1 if data["half"] == 1 else -1
            for seat in range(players):
                assert Counter(game.data["packs"][(seat + step) % players]) == +packs[seat]
            rounds[data["half"]] += 1
            continue
        moves = game.oracle.moves()
        game.one(next((m for m in ("PASS", f"CARD {JOB}") if m in moves), moves[0]))
    assert rounds == {1: 11, 2: 11}


@pytest.mark.parametrize("players", first_quick([2, 3, 4], slow=0))
def test_hands_after_the_draft(players: int) -> None:
    """R5, R7: the twelve picks and the Part-time Job; the draft's memory has every pick."""
    game = Both.begin(asked_all(players), 5)
    rng = np.random.default_rng(5)
    picks = [Counter({JOB: 1}) for _ in range(players)]
    while game.data["decision"] == "DRAFT":
        seat, moves = game.data["seat"], game.oracle.moves()
        move = moves[int(rng.integers(len(moves)))]
        picks[seat][move.removeprefix("CARD ")] += 1
        game.one(move)
    assert game.asks == (0, "SELECT")
    assert [Counter(hand) for hand in game.data["hands"]] == picks
    assert (game.data["turn"], game.data["half"]) == (0, 1)


# Turns


def test_turns_of_a_game() -> None:
    """R3, R7: turns 0..9 and 10..19; fields and obstacles carry over, jobs too."""
    seen, before = [], None
    for game, _ in walk(asked_all(3), 21):
        data = game.data
        if data["decision"] == "SELECT" and data["seat"] == 0:
            seen.append((data["half"], data["turn"]))
            assert all(hand.count(JOB) == 1 for hand in data["hands"])
        if data["decision"] == "DRAFT":
            if data["half"] == 2:
                before = before or data
                assert data["fields"] == before["fields"]
                assert data["obstacles"] == before["obstacles"]
                assert data["turn"] == 9
            else:
                assert data["turn"] == -1
    assert seen == [(1 + turn // 10, turn) for turn in range(20)]


def test_selection_is_hidden_and_in_seat_order() -> None:
    """R8, T1: any non-reaction card, one after the other."""
    hands = {0: ["Cafe", "Guardian Friend", "Cafe"], 1: ["Objection!"], 2: ["Pen Pals", "Bullying"]}
    game = both([{}, {}, {}], {0: "Shrine Heir & Visitor"}, hands=hands).until("SELECT")
    drawn = [set(game.data["hands"][seat]) for seat in range(3)]
    for seat in range(3):
        assert game.asks == (seat, "SELECT")
        able = {card for card in drawn[seat] if TABLE[card].type != "reaction"}
        assert game.legal() == {f"CARD {card}" for card in able}
        assert game.data["priorities"] == []
        game.one(f"CARD {JOB}")
    assert game.data["stage"] == "resolve"
    assert game.data["selected"] == [JOB] * 3


def test_higher_priorities_first() -> None:
    """R8, T2."""
    play = {0: "Cold Feet", 1: "Bouquet", 2: "Beach", 3: "Good Luck Charm"}
    game = both([{}, {}, {}, {}], play)
    assert game.data["order"] == [3, 1, 2, 0]
    seats = [game.asks[0]]
    while game.data["stage"] == "resolve":
        assert game.asks[0] is not None
        if seats[-1] != game.asks[0]:
            seats.append(game.asks[0])
        game.one(game.oracle.moves()[0])
    assert seats == [3, 1, 2, 0]


@pytest.mark.parametrize("players", first_quick([2, 3, 4], slow=0))
def test_ties_are_any_order(players: int) -> None:
    """R8, T2: uniform over the permutations; a fair order fails once in 10^5 (chi-square)."""
    jobs = f"CARD {JOB}"
    orders: Counter[tuple[int, ...]] = Counter()
    data = position([{}] * players, None, turn=7)
    count = 40 * len(list(permutations(range(players))))
    for seed in range(count):
        state = read(data | {"seed": seed})
        play_text(state, *[jobs] * players)
        after = GAME.to_dict(state)
        assert after["priorities"] == [1] * players
        orders[tuple(after["order"])] += 1
    expected = count / len(list(permutations(range(players))))
    statistic = sum((orders[p] - expected) ** 2 / expected for p in permutations(range(players)))
    assert statistic < {2: 19.6, 3: 31, 4: 66}[players]


def test_ties_within_an_order() -> None:
    """R8, T2: ties are broken among equals only, both ways."""
    orders = Counter[tuple[int, ...]]()
    hands = {0: ["Cafe"], 1: ["Bouquet"], 2: ["Beach"]}
    data = position([{}, {}, {}], None, hands=hands)
    for seed in range(200):
        state = read(data | {"seed": seed})
        play_text(state, "CARD Cafe", "CARD Bouquet", "CARD Beach")
        orders[tuple(GAME.to_dict(state)["order"])] += 1
    assert set(orders) == {(1, 0, 2), (1, 2, 0)}
    assert min(orders.values()) > 60  # below that once in 10^8


def test_the_order_differs_by_turn() -> None:
    """R8, T2: a new permutation every turn of one seed."""
    orders = set()
    for turn in range(10):
        state = read(position([{}] * 4, None, turn=turn))
        play_text(state, *[f"CARD {JOB}"] * 4)
        orders.add(tuple(GAME.to_dict(state)["order"]))
    assert len(orders) > 4


def test_obstacles_act_in_order_of_attachment() -> None:
    """R8, T0 (A14), for every player."""
    rows = [
        ("Caught a Cold", "Swim Team Duo", 0, 2),
        ("Caught a Cold", "Pen Pals", 0, 2),
        ("Bullying", "Barista & Regular", 2, 4),
    ]
    fields = [
        {"Barista & Regular": ["Cafe"]},
        {"Pen Pals": ["Fireworks Show", "Love Letter"]},
        {"Swim Team Duo": ["Christmas Eve", "Beach"]},
    ]
    play = {0: "Idol & Superfan", 1: "Childhood Friends", 2: "Student Council Rivals"}
    asked = []
    game = both(fields, play, obstacles=rows, hands={0: ["Shrine"]})
    while game.data["decision"] != "SELECT":
        if game.data["decision"] == "CHOICE":
            asked.append(game.asks[0])
        game.one(game.oracle.moves()[0])
    assert asked == [2, 1, 0]


def test_an_obstacle_that_left_is_skipped() -> None:
    """R8, T4 (R15): a couple that leaves takes the obstacles behind it along."""
    rows = [
        ("Moving Away", "Pen Pals", 0, 1),
        ("Sudden Downpour", "Pen Pals", 0, 1),
        ("Nasty Rumor", "Swim Team Duo", 0, 1),
    ]
    fields: list[Json] = [{}, {"Pen Pals": [], "Swim Team Duo": []}]
    game = both(fields, {0: JOB}, obstacles=rows).until("SELECT")
    assert [row["turns_left"] for row in game.data["obstacles"]] == [0, 0, 0]
    game.next_turn()
    assert game.on_table() == []
    assert game.data["discard"][-1] == "Nasty Rumor"
    assert Counter(game.data["discard"]) == Counter(
        ["Moving Away", "Pen Pals", "Sudden Downpour", "Nasty Rumor"]
    )


# Couples, preparations, windows


def test_windows_around_every_card() -> None:
    """R11: before and after, also if the card was cancelled or had no effect."""
    hands = {1: ["Change of Plans"]}
    cancelled = both([{}, {}], {0: "Shopping Spree"}, hands=hands)
    assert (cancelled.asks, cancelled.data["step"]) == ((0, "WINDOW"), "pre")
    cancelled.go().play("CARD Change of Plans")
    assert (cancelled.asks, cancelled.data["step"]) == ((0, "WINDOW"), "post")
    nothing = both([{}, {}], {0: "Sabotage"}).go()
    assert (nothing.asks, nothing.data["step"]) == ((0, "WINDOW"), "post")


def test_one_move_a_resolution() -> None:
    """R11: before or after, not both."""
    own: Json = {
        "Pen Pals": [],
        "Librarian & Night Reader": [],
        "item": "Love Letter",
    }
    game = both([own, {}], {0: JOB})
    assert game.legal() == {"PASS", "POS 0/item"}
    game.one("POS 0/item")
    assert game.asks == (0, "MOVE_DEST")
    assert game.legal() == {"COUPLE Pen Pals", "COUPLE Librarian & Night Reader"}
    game.one("COUPLE Pen Pals")
    assert game.legal() == {"PASS"}
    game.go()
    assert game.data["step"] == "post"
    assert game.legal() == {"PASS"}
    later = both([own, {}], {0: JOB}).go()
    assert later.legal() == {"PASS", "POS 0/item"}
    later.one("POS 0/item")
    later.one("COUPLE Librarian & Night Reader")
    assert later.legal() == {"PASS"}
    assert later.couples(0)["Librarian & Night Reader"] == ["Love Letter"]


def test_moves_between_couples_and_slots() -> None:
    """R10, R11: couple to couple, couple to slot; one copy of a name a couple."""
    own = {"Pen Pals": ["Love Letter"], "Librarian & Night Reader": [], "item": None}
    game = both([own, {}], {0: JOB})
    game.one("POS Pen Pals/Love Letter")
    assert game.legal() == {"COUPLE Librarian & Night Reader", "FREE"}
    game.one("FREE")
    assert (game.free(0), game.couples(0)["Pen Pals"]) == ({"item": "Love Letter"}, [])
    twice = {"Pen Pals": ["Love Letter"], "Librarian & Night Reader": ["Love Letter"]}
    taken = both([twice | {"item": "Bouquet"}, {}], {0: JOB})
    assert taken.legal() == {"PASS"}


def test_a_players_own_field_only() -> None:
    """R10: nothing of a card goes to another field."""
    game = both([{}, {"Pen Pals": []}], {0: "Love Letter"}).go()
    assert game.free(0) == {"item": "Love Letter"}


def test_voluntary_discards() -> None:
    """R11: any number, one after the other; closed by PASS until the window ends."""
    windows = {"voluntary_discards": "windows"}
    own = {"Pen Pals": ["Love Letter"], "event": "Rock Concert", "item": "Bouquet"}
    game = both([own, {}], {0: JOB}, options=windows)
    menu = {"COUPLE Pen Pals", "POS Pen Pals/Love Letter", "POS 0/event", "POS 0/item", "PASS"}
    assert game.legal() == {"PASS", "OPEN_DISCARD"}
    game.one("OPEN_DISCARD")
    assert game.asks == (0, "DISCARD_MENU")
    assert game.legal() == menu
    game.one("POS 0/item")
    assert game.legal() == {"PASS", "OPEN_DISCARD", "POS Pen Pals/Love Letter"}
    game.one("OPEN_DISCARD")
    game.one("PASS")
    assert game.legal() == {"PASS", "POS Pen Pals/Love Letter"}
    game.one("POS Pen Pals/Love Letter")
    game.one("FREE")
    assert game.legal() == {"PASS"}
    game.go()
    assert game.legal() == {"PASS", "OPEN_DISCARD"}
    game.one("OPEN_DISCARD")
    game.one("COUPLE Pen Pals")
    assert game.data["discard"] == ["Bouquet", "Pen Pals"]
    game.one("OPEN_DISCARD")
    assert game.legal() == {"POS 0/event", "POS 0/item", "PASS"}
    off = both([own, {}], {0: JOB})
    assert "OPEN_DISCARD" not in off.legal()
    bare = both([{}, own], {0: JOB}, options=windows)
    assert bare.legal() == {"PASS"}


def test_targets_are_chosen_at_resolution() -> None:
    """R13: a couple that came first this turn can be hit."""
    game = both([{}, {}], {1: "Pen Pals", 0: "Cold Feet"})
    game.go()
    assert game.couples(1) == {"Pen Pals": []}
    game.play("PASS")
    assert game.on_table() == [("Cold Feet", "Pen Pals")]


# Reactions


def test_who_is_asked_and_when() -> None:
    """R20: from the source's left, the source last, and again after every reaction."""
    hands = {
        0: ["Objection!"],
        1: ["Change of Plans"],
        3: ["Change of Plans", "Objection!"],
    }
    game = both([{}] * 4, {2: "Shopping Spree"}, hands=hands).go()
    assert game.asks == (3, "REACT")
    assert game.legal() == {"CARD Change of Plans", "PASS"}
    game.one("CARD Change of Plans")
    assert game.asks == (0, "REACT")
    assert game.legal() == {"CARD Objection!", "PASS"}
    game.one("PASS")
    assert game.asks == (1, "REACT")
    assert game.legal() == {"CARD Change of Plans", "PASS"}
    game.one("CARD Change of Plans")
    # 2 holds nothing; 3 may object to 1's.
    assert game.asks == (3, "REACT")
    assert game.legal() == {"CARD Objection!", "PASS"}
    game.one("CARD Objection!")
    pending = game.data["react"]["pending"]
    assert [(r["card"], r["by"], r["answers"]) for r in pending] == [
        ("Change of Plans", 3, -1),
        ("Change of Plans", 1, -1),
        ("Objection!", 3, 1),
    ]
    assert game.asks == (0, "REACT")
    game.play("PASS")
    assert len(game.hand(2)) == 0  # 3's own Change of Plans still holds


def test_both_copies_of_one_player() -> None:
    """The later copy resolves first, and the earlier one has no effect."""
    hands = {1: ["Change of Plans", "Change of Plans"]}
    game = both([{}, {}], {0: "Shopping Spree"}, hands=hands).go()
    game.one("CARD Change of Plans")
    assert game.asks == (1, "REACT")
    game.play("CARD Change of Plans")
    assert Counter(game.data["discard"]) == Counter(["Change of Plans"] * 2 + ["Shopping Spree"])


def test_an_objection_refers_to_the_latest_of_another() -> None:
    """R20, R21: two Objections to the same card; the second finds nothing."""
    hands = {0: ["Objection!"], 1: ["Guardian Friend"], 2: ["Objection!"]}
    game = both([{}, {"Pen Pals": []}, {}], {0: "Cold Feet"}, hands=hands).go()
    game.play("CARD Guardian Friend")
    assert game.asks == (2, "REACT")
    game.play("CARD Objection!")
    assert game.asks == (0, "REACT")
    game.play("CARD Objection!")  # answers 2's Objection
    assert game.on_table() == []  # the Guardian Friend stands


def test_objections_of_one_player_to_one_card() -> None:
    """R21: the reaction it answers is cancelled already."""
    hands = {0: ["Objection!", "Objection!"], 1: ["Guardian Friend"]}
    game = both([{}, {"Pen Pals": []}], {0: "Cold Feet"}, hands=hands).go()
    game.play("CARD Guardian Friend", "CARD Objection!", "CARD Objection!")
    assert game.on_table() == [("Cold Feet", "Pen Pals")]
    assert Counter(game.data["discard"]) == Counter(["Objection!"] * 2 + ["Guardian Friend"])


def test_guardian_then_wrong_person_reversed() -> None:
    """R21: the event is cancelled before the redirection comes up."""
    hands = {1: ["Guardian Friend", "Wrong Person!"]}
    fields: list[Json] = [{}, {"Pen Pals": []}, {"Swim Team Duo": []}]
    game = both(fields, {0: "Cold Feet"}, hands=hands).go()
    game.play("COUPLE Pen Pals", "CARD Wrong Person!", "CARD Guardian Friend")
    assert game.on_table() == []
    assert game.asks == (0, "WINDOW")


def test_a_redirected_obstacle_is_guarded_by_its_new_player() -> None:
    """R22: a fresh window for the new couple."""
    hands = {1: ["Wrong Person!"], 2: ["Guardian Friend"]}
    game = both([{}, *COUPLES[:2]], {0: "Cold Feet"}, hands=hands).go()
    game.play("COUPLE Pen Pals", "CARD Wrong Person!")
    assert game.asks == (2, "REACT")
    game.play("CARD Guardian Friend")
    assert game.on_table() == []
    assert Counter(game.data["discard"]) == Counter(
        ["Wrong Person!", "Guardian Friend", "Cold Feet"]
    )


def test_a_played_reaction_is_no_card_of_the_turn() -> None:
    """R18: its player still resolves his own card."""
    hands = {1: ["Change of Plans"]}
    game = both([{}, {}], {0: "Shopping Spree", 1: "Idol & Superfan"}, hands=hands)
    # Couples come first; then the action.
    game.go().play("PASS", "CARD Change of Plans")
    assert "Idol & Superfan" in game.couples(1)
    assert game.hand(1) == []


# The end of a half and of the game


def last_turn(turn: int, fields: Any, hands: dict[int, list[str]], **changes: Any) -> Both:
    """The last turn of a half; everyone plays a couple that nobody needs, where he can."""
    return both(fields, {0: JOB}, hands=hands, turn=turn, top=["Shrine"] * 2, **changes)


def test_end_of_the_first_half() -> None:
    """R17: hands are discarded, but the Part-time Job; the second draft begins."""
    game = last_turn(9, [{"Pen Pals": []}, {}], {0: ["Cafe", "Guardian Friend"], 1: ["Beach"]})
    game.until("DRAFT")
    data = game.data
    assert Counter(data["discard"]) == Counter(
        ["Cafe", "Guardian Friend", "Beach", "Shrine", "Shrine"]
    )
    assert (data["half"], data["turn"], data["seat"]) == (2, 9, 0)
    assert data["hand_sizes_at_end"] is None
    assert game.couples(0) == {"Pen Pals": []}


def over(fields: Any, hands: dict[int, list[str]] | None = None, **changes: Any) -> Json:
    """The end of a game."""
    game = last_turn(19, fields, hands or {}, **changes)
    while game.oracle.seat is not None:
        moves = game.oracle.moves()
        game.one("PASS" if "PASS" in moves else moves[0])
    return game.data


def test_end_of_the_game() -> None:
    """R17, R26: hand sizes are noted before the hands go."""
    data = over([FULL, {}], {0: ["Cafe"]})
    assert (data["stage"], data["seat"], data["decision"]) == ("over", None, None)
    assert data["hand_sizes_at_end"] == [3, 2]
    assert data["winners"] == [0]
    assert data["vp"] == [6, 0]
    state = read(data)
    assert payoffs(state) == [1, -1]
    assert margins(state) == pytest.approx([6 / 30, -6 / 30])
    assert not legal_mask(state).any()


@pytest.mark.parametrize(
    ("fields", "hands", "rows", "winners"),
    [
        # Most points.
        ([FULL, {"event": "Rock Concert"}, {}], {2: ["Cafe"]}, [], [0]),
        # 2 points each: preparations, then couples.
        (
            [{"event": "Rock Concert", "item": "Bouquet"}, {"Swim Team Duo": ["Beach"]}, {}],
            {1: ["Cafe"]},
            [],
            [0],
        ),
        # 3 points and no preparation each: a couple more under Cold Feet.
        (
            [
                {"Swim Team Duo": [], "Pen Pals": [], "Barista & Regular": []},
                {couple: [] for couple in SIX},
                {},
            ],
            {0: ["Cafe"]},
            [("Cold Feet", "Idol & Superfan", 0, 0)],
            [1],
        ),
        # Fewest obstacles.
        (
            [{"Swim Team Duo": []}, {"Pen Pals": []}, {}],
            {0: ["Cafe"]},
            [("Parental Disapproval", "Swim Team Duo", 1, 0)],
            [1],
        ),
        # Most cards in hand.
        ([{"Swim Team Duo": []}, {"Pen Pals": []}, {}], {1: ["Cafe"], 2: ["Beach"] * 3}, [], [1]),
        # Nothing tells two of them apart.
        ([{"Swim Team Duo": []}, {"Pen Pals": []}, {}], {2: ["Beach"] * 3}, [], [0, 1]),
        ([{}, {}, {}], {}, [], [0, 1, 2]),
    ],
)
def test_who_wins(fields: Any, hands: Any, rows: Any, winners: list[int]) -> None:
    """R27: the chain of ties."""
    data = over(fields, hands, obstacles=rows)
    assert data["winners"] == winners
    payoff = payoffs(read(data))
    share = (1 / len(winners) - 1 / 3) * 1.5
    assert [payoff[seat] for seat in winners] == pytest.approx([share] * len(winners))
    assert sum(payoff) == pytest.approx(0, abs=1e-6)


def test_negative_points() -> None:
    """R26: below zero, and still a winner."""
    rows = [("Cold Feet", "Pen Pals", 1, 0), ("Cold Feet", "Swim Team Duo", 0, 0)]
    data = over([{"Pen Pals": []}, {"Swim Team Duo": []}, {}], obstacles=rows)
    assert data["vp"] == [-2, -2, 0]
    assert data["winners"] == [2]
    assert margins(read(data)) == pytest.approx([-1 / 30, -1 / 30, 2 / 30])


def test_cards_played_by_text() -> None:
    """The oracle's moves are those of the texts: a sanity check of the tests themselves."""
    state = start(Setup(2), 5)
    oracle = Oracle.read(GAME.to_dict(start(asked_all(2), 5)), TABLE)
    assert legal_texts(state) == set(oracle.moves())
