"""Hidden information: views of a seat don't depend on it, and redealt worlds are fair.

Bounds of chi-square statistics are passed by a fair redeal once in 10^5 or less.
"""

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests.driving import first_quick
from tests.love_formula.helpers import (
    GAME,
    JOB,
    TABLE,
    asked_all,
    both,
    clone,
    legal_list,
    legal_mask,
    midgame,
    observe,
    play_on,
    play_text,
    position,
    read,
    redealt,
    revealed,
    start,
)
from tests.love_formula.oracle import PICKS, Json, Setup

SETUPS = (
    *(Setup(players) for players in (2, 3, 4)),
    *(asked_all(players, voluntary_discards="off") for players in (2, 3, 4)),
)
COUPLE = {"Pen Pals": ["Love Letter"]}


def seen(state: np.record, seat: int) -> dict[str, Any]:
    """Everything that a seat can see."""
    return {
        "observation": observe(state, seat).tobytes(),
        "mask": legal_mask(state).tobytes() if state.seat == seat else b"",
        "text": GAME.drawing.text(state, seat),
        "svg": GAME.draw_svg(state, seat),
        "json": json.dumps(GAME.to_dict(state, seat)),
    }


def same(one: np.record, other: np.record, *seats: int) -> None:
    """No way of looking tells two worlds apart."""
    for seat in seats:
        mine, theirs = seen(one, seat), seen(other, seat)
        for name, expected in mine.items():
            assert theirs[name] == expected, f"seat {seat} sees it in {name}"


def everything(data: Json) -> Counter[str]:
    """All cards but the Part-time Jobs, of a position without a card under way."""
    counts = Counter([*data["deck"], *data["discard"], *data["look"]])
    for name in ("hands", "piles", "packs"):
        counts += Counter(card for cards in data[name] for card in cards)
    counts += Counter(card for card in data["selected"] if card)
    for own in data["fields"]:
        counts += Counter(card for card in own["free"].values() if card)
        for couple in own["couples"]:
            counts += Counter([couple["card"], *couple["attached"]])
    counts += Counter(obstacle["card"] for obstacle in data["obstacles"])
    if data["react"]:
        counts += Counter(reaction["card"] for reaction in data["react"]["pending"])
    if data["limbo"]:
        counts[data["limbo"]] += 1
    del counts[JOB]
    return counts


# Redealt worlds


@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_no_seat_can_tell_its_worlds_apart(setup: Setup) -> None:
    """Observation, mask, text, picture and JSON of every seat, all through a game."""
    state, rng = start(setup, 1), np.random.default_rng(1)
    kinds = Counter[str]()
    while True:
        data = GAME.to_dict(state)
        kinds[data["decision"]] += 1
        frequent = data["decision"] in {"DRAFT", "SELECT", "WINDOW"}
        if not frequent or state.seat < 0 or rng.random() < 0.04:
            seats = range(setup.num_players)
            for seat in [int(seat) for seat in rng.permutation(seats)[:1]]:
                other = redealt(state, seat, int(state.ply))
                same(state, other, seat)
                world = GAME.to_dict(other)
                assert everything(world) == everything(data)
                assert world["seed"] == int(state.ply)
                assert legal_mask(other).any() == (state.seat >= 0)
                assert GAME.from_dict(world).tobytes() == other.tobytes()
        if state.seat < 0:
            break
        play_on(state, rng, 1)
    assert len(kinds) > 8


@pytest.mark.parametrize("players", first_quick([2, 3, 4], slow=0))
def test_redealt_worlds_are_played_on(players: int) -> None:
    """To their ends, with all cards."""
    for plies in (0, 5, 17, 60, 100, 130):
        state = redealt(midgame(Setup(players), 4, plies), plies % players, 3)
        play_on(state, np.random.default_rng(plies))
        assert everything(GAME.to_dict(state)) == Counter(TABLE.deck)


@pytest.mark.parametrize("players", first_quick([2, 3, 4], slow=0))
def test_redeal_keeps_what_is_public(players: int) -> None:
    """Only hands, piles, packs, deck, face-down cards and the seed change; sizes don't."""
    changed = Counter[str]()
    for plies in (3, 9, 20, 45, 70, 95):
        state = midgame(Setup(players), 2, plies)
        data = GAME.to_dict(state)
        for seat in range(players):
            world = GAME.to_dict(redealt(state, seat, 10))
            for name in ("hands", "piles", "packs"):
                assert world[name][seat] == data[name][seat]
                assert [len(cards) for cards in world[name]] == [len(c) for c in data[name]]
            assert len(world["deck"]) == len(data["deck"])
            public = ("discard", "fields", "obstacles", "turn", "half", "stage", "vp", "seat")
            for name in (*public, "reshuffles", "order", "priorities", "decision"):
                assert world[name] == data[name]
            if data["stage"] == "select":
                assert [c is None for c in world["selected"]] == [
                    c is None for c in data["selected"]
                ]
                assert world["selected"][seat] == data["selected"][seat]
            else:
                assert world["selected"] == data["selected"]
            assert world["passed"][seat] == data["passed"][seat]
            assert world["taken"][seat] == data["taken"][seat]
            assert world["known"][seat] == data["known"][seat]
            for name in ("hands", "piles", "deck"):
                changed[name] += world[name] != data[name]
    assert min(changed.values()) > 2


def contents(data: Json, seat: int) -> list[Counter[str]]:
    """For each pack that a seat has held, its cards at that time."""
    players, step = data["num_players"], 1 if data["half"] == 1 else -1
    made = sum(card is not None for card in data["draft"][0])
    full = sum(card is not None for card in data["draft"][-1])
    packs = []
    for pack in range(players):
        holder = (pack + step * full) % players
        now = list(data["packs"][holder])
        visits = [r for r in range(PICKS) if (pack + step * r) % players == seat and r <= full]
        picks = [card for card in data["draft"][pack][max(visits) :] if card] if visits else []
        packs.append(Counter(now + picks) if visits else Counter())
    assert made >= full
    return packs


@pytest.mark.parametrize("players", first_quick([2, 3, 4], slow=0))
@pytest.mark.parametrize("half", [1, 2])
def test_redeal_in_a_draft(players: int, half: int) -> None:
    """Section 9: own picks stay; packs that a seat has seen keep the seen cards."""
    state = start(Setup(players), 6)
    rng = np.random.default_rng(6)
    while GAME.to_dict(state)["half"] < half:
        play_on(state, rng, 1)
    shuffled = 0
    for _ in range(PICKS * players - players - 1):
        data = GAME.to_dict(state)
        if data["decision"] != "DRAFT":
            break
        if data["seat"] == 0:
            for seat in range(players):
                world = GAME.to_dict(redealt(state, seat, 5))
                assert contents(world, seat) == contents(data, seat)
                assert world["piles"][seat] == data["piles"][seat]
                assert world["packs"][seat] == data["packs"][seat]
                others = [s for s in range(players) if s != seat]
                shuffled += any(world["piles"][s] != data["piles"][s] for s in others)
                # What was drafted is what lies in the piles.
                assert Counter(c for picks in world["draft"] for c in picks if c) == Counter(
                    card for pile in world["piles"] for card in pile
                )
        play_on(state, rng, 1)
    assert shuffled > 5


def test_two_players_know_eleven_picks() -> None:
    """Section 6: a seat knows all of the other's picks but the first."""
    state = start(asked_all(2), 8)
    rng = np.random.default_rng(8)
    while GAME.to_dict(state)["decision"] == "DRAFT":
        play_on(state, rng, 1)
    data = GAME.to_dict(state)
    for seat in (0, 1):
        hand = Counter(card for card in data["hands"][1 - seat] if card != JOB)
        worlds = [GAME.to_dict(redealt(state, seat, seed)) for seed in range(60)]
        hands = [Counter(c for c in w["hands"][1 - seat] if c != JOB) for w in worlds]
        assert all((hand & other).total() >= 11 for other in hands)
        assert len({json.dumps(w["hands"][1 - seat]) for w in worlds}) > 15


@pytest.mark.parametrize("players", first_quick([2, 3], slow=0))
def test_what_is_unknown_is_uniform(players: int) -> None:
    """Another hand of seven out of everything hidden, copies counted."""
    hands = {
        seat: ["Cafe", "Beach", "Beach", "Shrine", "Bullying", "Pen Pals", "Objection!"][:9]
        for seat in (1,)
    }
    data = position([{}] * players, None, hands=hands)
    state = read(data)
    pool = Counter([*data["deck"], *hands[1]])
    counts, worlds = Counter[str](), 500
    for seed in range(worlds):
        world = GAME.to_dict(redealt(state, 0, seed))
        counts += Counter(card for card in world["hands"][1] if card != JOB)
    share = 7 * worlds / pool.total()
    statistic = sum((counts[c] - share * n) ** 2 / (share * n) for c, n in pool.items())
    assert set(counts) == set(pool)
    assert statistic < len(pool) - 1 + 5 * np.sqrt(2 * len(pool))


def test_a_face_down_card_is_no_reaction() -> None:
    """Section 9: any non-reaction card of the hand and the face-down card, the job too."""
    hands = {0: ["Objection!", "Guardian Friend", "Cafe"]}
    state = play_text(read(position([{}] * 3, None, hands=hands)), "CARD Cafe")
    chosen = Counter[str]()
    for seed in range(300):
        world = GAME.to_dict(redealt(state, 1, seed))
        card = world["selected"][0]
        assert TABLE[card].type != "reaction"
        assert JOB in [card, *world["hands"][0]]
        chosen["job" if card == JOB else "other"] += 1
    assert 0.15 < chosen["job"] / 300 < 0.45


# Worlds made by hand


@pytest.mark.parametrize("players", first_quick([2, 3, 4], slow=0))
def test_selections_are_invisible(players: int) -> None:
    """R8, T1: whatever was selected before, the others see the same until the reveal."""
    hands = {0: ["Cafe", "Sabotage", "Cold Feet", "Pen Pals", "Objection!"], 1: ["Beach"]}
    gossip = [("Class Gossip", "Swim Team Duo", 1, 2)]
    fields: list[Json] = [{"Swim Team Duo": []}, *[{}] * (players - 1)]
    for rows in ([], gossip):
        data = position(fields, None, hands=hands, obstacles=rows)
        first = play_text(read(data), "CARD Cafe")
        for move in ("CARD Sabotage", "CARD Cold Feet", "CARD Pen Pals", f"CARD {JOB}"):
            other = play_text(read(data), move)
            same(first, other, *range(1, players))
            assert seen(first, 0) != seen(other, 0)
            if players > 2:
                one, two = (play_text(clone(s), "CARD Beach") for s in (first, other))
                same(one, two, *range(1, players))
                assert seen(one, 1) != seen(first, 1)
                two = play_text(clone(other), f"CARD {JOB}")
                same(one, two, *range(2, players))


@pytest.mark.parametrize("players", first_quick([2, 3, 4], slow=0))
def test_draft_picks_are_invisible(players: int) -> None:
    """R5: until the pack comes along."""
    state = start(asked_all(players), 3)
    picks = [int(action) for action in legal_list(state)]
    worlds = []
    for pick in picks[:4]:
        world = clone(state)
        GAME.rules.apply(world, pick)
        worlds.append(world)
        same(worlds[0], world, *range(1, players))
    for step in range(1, players):
        for world in worlds:
            GAME.rules.apply(world, int(legal_list(world)[0]))
        for world in worlds[1:] if step < players - 1 else []:
            same(worlds[0], world, *range(1, players))
    same(worlds[0], worlds[1], *range(2, players))
    assert seen(worlds[0], 1) != seen(worlds[1], 1)


def test_who_is_asked_to_react_is_invisible() -> None:
    """Section 6: it would tell who holds a reaction."""
    worlds = []
    for holder in (1, 2):
        hands = {1: ["Cafe"], 2: ["Cafe"]} | {holder: ["Change of Plans"]}
        worlds.append(both([{}, {}, {}], {0: "Shopping Spree"}, hands=hands).go())
        assert worlds[-1].asks == (holder, "REACT")
    same(worlds[0].state, worlds[1].state, 0)
    assert GAME.to_dict(worlds[0].state, 0)["seat"] is None


def test_the_looked_at_cards_are_private() -> None:
    """Matchmaker's Intuition: only its player sees the cards and the choice."""
    worlds = []
    for top in (["Cafe", "Beach", "Shrine", "Library", "Bouquet"], ["Sabotage"] * 2 + ["Cafe"] * 3):
        data = position([{}, {}, {}], {0: "Matchmaker's Intuition"}, top=top)
        worlds.append(play_text(read(data), "PASS"))
    same(worlds[0], worlds[1], 1, 2)
    assert seen(worlds[0], 0) != seen(worlds[1], 0)
    play_text(worlds[0], "CARD Cafe", "CARD Beach")
    play_text(worlds[1], "CARD Sabotage", "CARD Sabotage")
    same(worlds[0], worlds[1], 1, 2)


def test_reading_a_diary_is_private() -> None:
    """LOOK_HAND: only its player sees the hand."""
    worlds = []
    for hand in (["Cafe", "Beach", "Shrine"], ["Cafe", "Bullying", "Objection!"]):
        hands = {1: hand}
        play = {0: "Read the Diary", 1: "Rock Concert", 2: "Christmas Eve"}
        game = both([{}, {}, {}], play, hands=hands).go()
        worlds.append(game)
        game.play("PLAYER 1")
    same(worlds[0].state, worlds[1].state, 2)
    assert seen(worlds[0].state, 0) != seen(worlds[1].state, 0)
    for game in worlds:
        game.play("CARD Cafe")
    same(worlds[0].state, worlds[1].state, 2)
    assert seen(worlds[0].state, 0) != seen(worlds[1].state, 0)
    for seed in range(5):  # the reader knows the rest, the third player doesn't
        world = GAME.to_dict(redealt(worlds[0].state, 0, seed))
        assert world["hands"][1] == worlds[0].data["hands"][1]
    others = {
        json.dumps(GAME.to_dict(redealt(worlds[0].state, 2, seed))["hands"][1]) for seed in range(9)
    }
    assert len(others) > 5


def test_gossip_opens_a_hand_to_all() -> None:
    """reveal_hand: everyone knows the hand while it lasts, and remembers."""
    hands = {1: ["Cafe", "Beach", "Shrine"]}
    rows = [("Class Gossip", "Pen Pals", 0, 1)]
    game = both([{}, {"Pen Pals": []}, {}], {0: JOB}, hands=hands, obstacles=rows)
    closed = both([{}, {"Pen Pals": []}, {}], {0: JOB}, hands=hands)
    game.until("SELECT")
    closed.until("SELECT")
    assert game.on_table() == [("Class Gossip", "Pen Pals")]
    for seat in (0, 2):
        for seed in range(5):
            world = GAME.to_dict(redealt(game.state, seat, seed))
            assert world["hands"][1] == game.data["hands"][1]
    shown_hands = {
        str(GAME.to_dict(redealt(closed.state, 0, seed))["hands"][1]) for seed in range(9)
    }
    assert len(shown_hands) > 5
    game.next_turn()
    assert game.on_table() == []
    kept = Counter(game.hand(1)) & Counter(hands[1])
    for seed in range(5):
        world = GAME.to_dict(redealt(game.state, 2, seed))
        assert not kept - Counter(world["hands"][1])


@pytest.mark.parametrize("card", ["Caught a Cold", "Lost and Found", "Spare Ticket"])
def test_cards_that_come_openly_are_known(card: str) -> None:
    """Section 6: +1 for all when a card comes into a hand openly."""
    if card == "Lost and Found":
        game = both([{}, {}, {}], {1: card}, discard=["Library", "Sabotage"]).go()
        holder, name = 1, "Library"
    elif card == "Spare Ticket":
        game = both([{}, {"item": "Bouquet"}, {}], {0: "Sabotage"}, hands={1: [card]}).go()
        game.play("CARD Spare Ticket")
        holder, name = 1, "Bouquet"
    else:
        rows = [(card, "Pen Pals", 0, 2)]
        game = both([{}, COUPLE, {}], {0: "Swim Team Duo"}, obstacles=rows).until("SELECT")
        holder, name = 1, "Love Letter"
    assert name in game.hand(holder)
    for seat in (0, 2):
        for seed in range(6):
            world = GAME.to_dict(redealt(game.state, seat, seed))
            assert name in world["hands"][holder]


@pytest.mark.parametrize("players", first_quick([2, 3, 4], slow=0))
def test_the_tests_above_have_teeth(players: int) -> None:
    """Two hidden cards swapped: their owner sees it, the critic is told, the others see nothing."""
    hands = {1: ["Cafe", "Beach", "Bullying"]}
    data = position([{}] * players, None, hands=hands, top=["Sabotage"])
    state = read(data)
    swapped = json.loads(json.dumps(data))
    swapped["deck"][0] = "Bullying"
    swapped["hands"][1] = TABLE.sorted(["Cafe", "Beach", "Sabotage", JOB])
    other = read(swapped)
    same(state, other, 0, *range(2, players))
    mine, theirs = seen(state, 1), seen(other, 1)
    for name in ("observation", "text", "svg", "json"):
        assert mine[name] != theirs[name], name
    assert revealed(state, 0).tobytes() != revealed(other, 0).tobytes()


def test_the_critic_is_told_the_deck_and_face_down_cards() -> None:
    """`reveal`: everything that a seat can't see."""
    hands = {0: ["Cafe", "Beach"]}
    data = position([{}, {}, {}], None, hands=hands, top=["Sabotage", "Bullying"])
    one, two = (play_text(read(data), move) for move in ("CARD Cafe", "CARD Beach"))
    assert revealed(one, 1).tobytes() != revealed(two, 1).tobytes()
    deck = ["Bullying", "Sabotage", *data["deck"][2:]]
    assert revealed(read(data | {"deck": deck}), 0).tobytes() != revealed(read(data), 0).tobytes()
    first = start(asked_all(3), 3)
    assert revealed(first, 0).tobytes() != revealed(redealt(first, 0, 1), 0).tobytes()


@pytest.mark.parametrize("players", first_quick([2, 3, 4], slow=0))
def test_reveal_is_within_its_bounds(players: int) -> None:
    """All through a game."""
    assert GAME.observation.privileged_spec is not None
    space = GAME.observation.privileged_spec.space()
    state, rng = start(Setup(players), 2), np.random.default_rng(2)
    while state.seat >= 0:
        for seat in range(players):
            assert space.contains(
                revealed(state, seat).reshape(GAME.observation.privileged_spec.shape)
            )
        play_on(state, rng, 7)


# The future


def test_the_future_is_fresh() -> None:
    """The order of a tie, the deck and the second draft are those of the new seed."""
    state = read(position([{}] * 3, None))
    orders, decks = set(), set()
    for seed in range(30):
        world = redealt(state, 0, seed)
        decks.add(json.dumps(GAME.to_dict(world)["deck"]))
        play_text(world, *[f"CARD {JOB}"] * 3)
        orders.add(str(GAME.to_dict(world)["order"]))
    assert len(orders) > 4
    assert len(decks) == 30


# The JSON of a seat


@pytest.mark.parametrize("players", first_quick([2, 3, 4], slow=0))
def test_a_seats_json(players: int) -> None:
    """Sections 6, 9: no ply or seed, counts of hidden cards, the decision for its seat alone."""
    state, rng = start(Setup(players), 11), np.random.default_rng(11)
    while state.seat >= 0:
        data = GAME.to_dict(state)
        for seat in range(players):
            view = GAME.to_dict(state, seat)
            assert "ply" not in view
            assert "seed" not in view
            assert view["deck"] == len(data["deck"])
            assert view["discard"] == data["discard"]
            assert view["hands"][seat] == data["hands"][seat]
            assert view["piles"][seat] == data["piles"][seat]
            acts = data["seat"] == seat
            assert view["seat"] == (seat if acts else None)
            assert view["decision"] == (data["decision"] if acts else None)
            for other in range(players):
                if other == seat:
                    continue
                covered = data["stage"] == "select" and data["selected"][other] is not None
                held = [*data["hands"][other], *([data["selected"][other]] if covered else [])]
                gossip = any(
                    obstacle["card"] == "Class Gossip"
                    and obstacle["couple"] in [c["card"] for c in data["fields"][other]["couples"]]
                    for obstacle in data["obstacles"]
                )
                assert view["hands"][other] == (TABLE.sorted(held) if gossip else len(held))
                if data["stage"] == "select":
                    assert view["selected"][other] is None or view["selected"][other] is True
            if not acts:
                assert not view["look"]
                assert not view["window"]
            for name in ("fields", "obstacles", "vp", "turn", "half", "stage"):
                assert view[name] == data[name]
        play_on(state, rng, 5)


def test_a_seats_view_is_no_position() -> None:
    """It lacks the other hands, so it can't be read back."""
    with pytest.raises(ValueError, match=r"\b(hands|deck|ply|seed|piles|packs)\b"):
        GAME.from_dict(GAME.to_dict(start(), 0))


@pytest.mark.parametrize("plies", first_quick([60, 9, 95], slow=0))
def test_a_shuffle_of_the_deck_alone_leaves_the_rest(plies: int) -> None:
    """`hands-N` keeps all hands in other worlds: only the order of the deck changes."""
    state = midgame(Setup(3), 2, plies)
    other, again = clone(state), redealt(state, int(state.seat), 5)
    for world in (other, again):
        assert GAME.rules.reshuffle is not None
        GAME.rules.reshuffle(world, int(state.seat), np.uint64(5))
    shuffled, data = GAME.to_dict(other), GAME.to_dict(state)
    deck = shuffled["deck"], data["deck"]
    assert deck[0] != deck[1]
    assert sorted(deck[0]) == sorted(deck[1])
    assert {**shuffled, "deck": data["deck"], "seed": data["seed"]} == data
    assert GAME.to_dict(again)["hands"] != shuffled["hands"] or plies < 10
