"""Every card of the table: its effect, with and without a legal target."""

from collections import Counter

import pytest

from tests.love_formula.helpers import GAME, JOB, TABLE, Both, both, legal_texts, play_text
from tests.love_formula.oracle import Json

EVENTS, PLACES, THINGS = (
    [name for name in TABLE.of("preparation") if TABLE[name].subtype == kind]
    for kind in ("event", "location", "item")
)
FULL = {"Pen Pals": ["Fireworks Show", "Love Letter"]}  # a complete couple
HALF = {"Swim Team Duo": ["Beach"]}  # an incomplete one


# The table


def test_counts() -> None:
    """R1-R3: 124 cards, 120 of them shuffled."""
    copies = Counter[str]()
    for name in TABLE.names:
        copies[TABLE[name].type] += TABLE[name].copies
    assert copies == {"preparation": 57, "couple": 24, "obstacle": 18, "reaction": 8, "action": 17}
    assert (len(TABLE.deck), len(TABLE.names)) == (120, 64)
    assert [TABLE[name].id for name in TABLE.names] == list(range(64))
    assert TABLE[JOB].copies == 4


def test_what_couples_need() -> None:
    """Section 4: twelve couples of three and of two; every name is needed by four couples."""
    needs = [TABLE[name].requirements for name in TABLE.of("couple")]
    assert Counter(map(len, needs)) == {2: 12, 3: 12}
    assert Counter(name for names in needs for name in names) == dict.fromkeys(
        TABLE.of("preparation"), 4
    )
    for kind in (EVENTS, PLACES, THINGS):
        assert sum(TABLE[name].copies for name in kind) == 19
    for names in needs:
        kinds = [TABLE[name].subtype for name in names]
        assert len(set(kinds)) == len(kinds)


# Preparations and couples


@pytest.mark.parametrize("card", TABLE.of("preparation"))
def test_preparation(card: str) -> None:
    """R10, R12: the free slot of its kind, every couple that needs it; else the discard pile."""
    needing = [name for name in TABLE.of("couple") if card in TABLE[name].requirements]
    other = next(name for name in TABLE.of("couple") if card not in TABLE[name].requirements)
    own: dict[str, list[str]] = {name: [] for name in [*needing[:2], other]}
    kind = TABLE[card].subtype
    game = both([own, {needing[2]: []}], {0: card}).go()
    assert game.asks == (0, "PLACE")
    assert game.legal() == {*(f"COUPLE {name}" for name in needing[:2]), "FREE"}
    game.play("FREE")
    assert game.free(0) == {kind: card}
    assert game.data["vp"][0] == 4
    attached = both([own, {}], {0: card}).go().play(f"COUPLE {needing[1]}")
    assert attached.couples(0)[needing[1]] == [card]
    assert attached.data["vp"][0] == 4
    names = {"event": EVENTS, "location": PLACES, "item": THINGS}[kind]
    blocker = next(name for name in names if name != card)
    full = both([{kind: blocker, needing[0]: [card], other: []}, {needing[1]: []}], {0: card})
    full.go()
    assert full.data["discard"] == [card]
    assert full.free(0) == {kind: blocker}
    assert full.data["vp"][0] == 4


@pytest.mark.parametrize("card", TABLE.of("couple"))
def test_couple(card: str) -> None:
    """R9, R26: it goes into the own field; complete it is worth 4 or 9, and its cards 1 each."""
    game = both([{}, {}], {0: card}).go()
    assert (game.couples(0), game.data["vp"]) == ({card: []}, [1, 0])
    needs = list(TABLE[card].requirements)
    last = needs.pop()
    nearly = both([{card: needs}, {}], {0: last}).go()
    assert nearly.data["vp"] == [len(needs) + 1, 0]
    nearly.play(f"COUPLE {card}")
    assert nearly.couples(0) == {card: sorted([*needs, last])}
    assert nearly.data["vp"] == [{1: 2 + 4, 2: 3 + 9}[len(needs)], 0]
    many = both([{name: [] for name in TABLE.of("couple") if name != card}, {}], {0: card}).go()
    assert len(many.couples(0)) == 24


# Obstacles


@pytest.mark.parametrize("card", TABLE.of("obstacle"))
def test_where_obstacles_go(card: str) -> None:
    """R13: opponents' couples; complete ones too, but for the Embarrassing Accident."""
    fields = [{"Barista & Regular": []}, FULL | HALF, {"Shrine Heir & Visitor": []}]
    game = both(fields, {0: card}).go()
    assert game.asks == (0, "TARGET_COUPLE")
    expected = {"COUPLE Swim Team Duo", "COUPLE Shrine Heir & Visitor"}
    complete = set() if card == "Embarrassing Accident" else {"COUPLE Pen Pals"}
    assert game.legal() == expected | complete
    alone = both([HALF, {}, {"event": "Rock Concert"}], {0: card}).go()
    assert (alone.data["discard"], alone.on_table()) == ([card], [])
    shielded = both([{}, FULL | HALF | {"shield_until": 4}], {0: card}).go()
    assert (shielded.data["discard"], shielded.on_table()) == ([card], [])
    twice = both([{}, HALF], {0: card}, obstacles=[("Cold Feet", "Swim Team Duo", 0, 0)])
    if card != "Embarrassing Accident":
        assert twice.go().on_table()[-1] == (card, "Swim Team Duo")


@pytest.mark.parametrize(
    ("card", "turns"),
    [
        ("Bullying", 4),
        ("Moving Away", 5),
        ("Sudden Downpour", 3),
        ("Caught a Cold", 2),
        ("Nasty Rumor", 3),
        ("Class Gossip", 2),
        ("Parental Disapproval", None),
        ("Cold Feet", None),
    ],
)
def test_how_long_obstacles_stay(card: str, turns: int | None) -> None:
    """R8: N further turns, or for good."""
    game = both([{}, {"Pen Pals": []}], {0: card}, turn=3).go()
    assert game.on_table() == [(card, "Pen Pals")]
    lasted = 0
    while game.on_table() and game.data["turn"] < 9:
        if game.data["decision"] in {"CHOICE", "HAND_DISCARD"}:
            game.one(game.oracle.moves()[0])
        else:
            moves = game.oracle.moves()
            game.one(next((m for m in ("PASS", f"CARD {JOB}") if m in moves), moves[0]))
        lasted = game.data["turn"] - 3
    # Those that act at a start of a turn go there, others at a turn's end.
    expected = {None: 6, 4: 4, 2: 2 if card == "Caught a Cold" else 3}.get(turns, (turns or 0) + 1)
    assert lasted == expected
    assert bool(game.on_table()) == (turns is None)


def test_bullying() -> None:
    """A hand card or a preparation attached to the couple, the affected player's choice."""
    fields = [
        {},
        {"Pen Pals": ["Love Letter"], "Swim Team Duo": ["Beach"], "event": "Rock Concert"},
    ]
    hands = {1: ["Cafe", "Guardian Friend"]}
    obstacle = ("Bullying", "Pen Pals", 0, 4)
    data = (fields, {0: "Childhood Friends", 1: "Idol & Superfan"})
    game = both(*data, hands=hands, obstacles=[obstacle]).until("CHOICE")
    assert game.asks == (1, "CHOICE")
    assert game.legal() == {"CARD Cafe", "CARD Guardian Friend", "POS Pen Pals/Love Letter"}
    game.one("CARD Guardian Friend")
    assert game.data["discard"] == ["Guardian Friend"]
    assert game.hand(1) == ["Cafe"]
    assert game.data["obstacles"][0]["turns_left"] == 3
    other = both(*data, hands=hands, obstacles=[obstacle]).until("CHOICE")
    other.one("POS Pen Pals/Love Letter")
    assert other.couples(1)["Pen Pals"] == []
    assert other.hand(1) == ["Cafe", "Guardian Friend"]
    done = both(*data, hands=hands, obstacles=[("Bullying", "Pen Pals", 0, 1)]).until("CHOICE")
    done.one("CARD Cafe")
    assert done.on_table() == []
    assert done.data["discard"] == ["Cafe", "Bullying"]


def test_bullying_of_a_complete_couple() -> None:
    """It may break up a complete couple."""
    data = ([{}, FULL], {0: "Childhood Friends", 1: "Idol & Superfan"})
    game = both(*data, obstacles=[("Bullying", "Pen Pals", 0, 4)]).until("CHOICE")
    game.one("POS Pen Pals/Fireworks Show")
    assert game.couples(1)["Pen Pals"] == ["Love Letter"]


def test_parental_disapproval() -> None:
    """R24, R26: half of 4 or 9, rounded down; two cards from hand get rid of it."""
    nine = {"Childhood Friends": ["School Festival", "Cafe", "Box of Chocolates"]}
    for own, before, after in ((FULL, 6, 4), (nine, 12, 7), (HALF, 2, 2)):
        couple = next(iter(own))
        plain = both([own, {}], {0: JOB})
        assert plain.data["vp"][0] == before
        rows = [("Parental Disapproval", couple, 1, 0)] * 2
        for count in (1, 2):
            assert both([own, {}], {0: JOB}, obstacles=rows[:count]).data["vp"][0] == after
    data = ([{}, FULL], {0: "Kendo Captain & Manager", 1: "Idol & Superfan"})
    row = ("Parental Disapproval", "Pen Pals", 0, 0)
    hands = {1: ["Cafe", "Beach", "Shrine"]}
    game = both(*data, hands=hands, obstacles=[row]).until("PAY")
    assert game.asks == (1, "PAY")
    assert game.legal() == {"YES", "PASS"}
    game.one("YES")
    assert game.asks == (1, "HAND_DISCARD")
    assert game.legal() == {"CARD Cafe", "CARD Beach", "CARD Shrine"}
    game.one("CARD Shrine")
    assert game.legal() == {"CARD Cafe", "CARD Beach"}
    game.one("CARD Cafe")
    assert game.data["discard"] == ["Shrine", "Cafe", "Parental Disapproval"]
    assert game.hand(1) == ["Beach"]
    kept = both(*data, hands=hands, obstacles=[row]).until("PAY")
    kept.one("PASS")
    assert kept.on_table() == [("Parental Disapproval", "Pen Pals")]
    poor = both(*data, hands={1: ["Cafe"]}, obstacles=[row]).until("SELECT")
    assert poor.data["turn"] == 5
    assert poor.on_table() == [("Parental Disapproval", "Pen Pals")]


def test_moving_away() -> None:
    """A complete couple stays, an incomplete one goes with all that is on it."""
    rows = [("Moving Away", "Pen Pals", 0, 1), ("Cold Feet", "Pen Pals", 0, 0)]
    play = {0: "Kendo Captain & Manager", 1: "Idol & Superfan"}
    stays = both([{}, FULL], play, obstacles=rows).until("SELECT")
    stays.next_turn()
    assert stays.couples(1)["Pen Pals"] == ["Fireworks Show", "Love Letter"]
    assert stays.data["discard"] == ["Moving Away"]
    goes = both([{}, {"Pen Pals": ["Love Letter"]}], play, obstacles=rows).until("SELECT")
    goes.next_turn()
    assert list(goes.couples(1)) == ["Idol & Superfan"]
    assert Counter(goes.data["discard"]) == Counter(
        ["Pen Pals", "Love Letter", "Moving Away", "Cold Feet"]
    )
    assert goes.on_table() == []


def test_sudden_downpour() -> None:
    """R10, R12: no preparation comes onto the couple."""
    row = ("Sudden Downpour", "Pen Pals", 1, 2)
    own: dict[str, list[str]] = {"Pen Pals": [], "Librarian & Night Reader": []}
    game = both([own, {}], {0: "Love Letter"}, obstacles=[row]).go()
    assert game.legal() == {"COUPLE Librarian & Night Reader", "FREE"}


def test_embarrassing_accident() -> None:
    """R13: a preparation of an incomplete couple, its controller's choice; then it is gone."""
    couple = "Class President & Delinquent"
    hit = {couple: ["School Festival", "Love Letter"], "event": "Rock Concert"}
    game = both([{}, hit], {0: "Embarrassing Accident"}).go()
    assert game.asks == (1, "CHOICE")
    assert game.legal() == {f"POS {couple}/School Festival", f"POS {couple}/Love Letter"}
    game.play(f"POS {couple}/Love Letter")
    assert game.couples(1) == {couple: ["School Festival"]}
    assert game.data["discard"] == ["Love Letter", "Embarrassing Accident"]
    assert game.on_table() == []
    bare = both([{}, {couple: []}], {0: "Embarrassing Accident"}).go()
    assert bare.data["discard"] == ["Embarrassing Accident"]
    complete = both([{}, FULL], {0: "Embarrassing Accident"}).go()
    assert complete.data["discard"] == ["Embarrassing Accident"]
    assert complete.couples(1) == {"Pen Pals": ["Fireworks Show", "Love Letter"]}


def test_caught_a_cold() -> None:
    """A preparation of the couple comes back to hand, twice; E3 doesn't open."""
    play = {0: "Kendo Captain & Manager", 1: "Idol & Superfan"}
    row = ("Caught a Cold", "Pen Pals", 0, 2)
    game = both([{}, FULL], play, obstacles=[row], hands={1: ["Spare Ticket"]}).until("CHOICE")
    assert game.legal() == {"POS Pen Pals/Fireworks Show", "POS Pen Pals/Love Letter"}
    game.one("POS Pen Pals/Love Letter")
    assert game.hand(1) == ["Love Letter", "Spare Ticket"]
    assert game.data["decision"] == "SELECT"
    game.next_turn().until("SELECT")
    assert game.couples(1)["Pen Pals"] == []
    assert "Fireworks Show" in game.hand(1)
    assert game.on_table() == []
    bare = both([{}, {"Pen Pals": []}], play, obstacles=[row]).until("SELECT")
    assert bare.data["turn"] == 5


def test_nasty_rumor() -> None:
    """R8: -2 for all cards of the player, -4 with two of them, never below 0."""
    rows = [("Nasty Rumor", "Pen Pals", 0, 3), ("Nasty Rumor", "Swim Team Duo", 0, 3)]
    own: dict[str, list[str]] = {"Pen Pals": [], "Swim Team Duo": []}
    for count, expected in ((0, 4), (1, 2), (2, 0)):
        play = {0: "Kendo Captain & Manager", 1: "Idol & Superfan"}
        game = both([{}, own], play, hands={1: ["Bouquet"]}, obstacles=rows[:count])
        game.until("SELECT")
        game.one(f"CARD {JOB}")
        game.one("CARD Bouquet")
        assert game.data["priorities"] == [1, expected]


def test_rumours_of_this_turn_change_nothing() -> None:
    """R8, T2: priorities are fixed when cards are revealed."""
    game = both([{}, {"Pen Pals": []}], {0: "Nasty Rumor", 1: "Cafe"}).go()
    assert game.on_table() == [("Nasty Rumor", "Pen Pals")]
    assert game.data["priorities"] == [4, 3]


def test_cold_feet() -> None:
    """R26: -3 each, below zero too."""
    rows = [("Cold Feet", "Pen Pals", 0, 0)] * 2
    for count in (0, 1, 2):
        data = both([{}, {"Pen Pals": []}], {0: JOB}, obstacles=rows[:count]).data
        assert data["vp"] == [0, 1 - 3 * count]


def test_class_gossip() -> None:
    """Two random cards go, never the Part-time Job; fewer if there are fewer."""
    hand = ["Cafe", "Cafe", "Beach", "Guardian Friend"]
    play = {0: "Class Gossip", 1: "Rock Concert"}
    game = both([{}, {"Pen Pals": []}], play, hands={1: hand}).go().play("PASS")
    assert len(game.hand(1)) == 2
    assert Counter(game.hand(1)) + Counter(game.data["discard"]) == Counter(hand)
    assert game.data["hands"][1].count(JOB) == 1
    one = both([{}, {"Pen Pals": []}], play, hands={1: ["Cafe"]}).go()
    assert (one.data["hands"][1], one.data["discard"]) == ([JOB], ["Cafe"])
    none = both([{}, {"Pen Pals": []}], play).go()
    assert (none.data["hands"][1], none.data["discard"]) == ([JOB], [])


def test_class_gossip_lasts_into_the_second_half() -> None:
    """R7, section 6: the obstacle carries over; the hand is open while it is there."""
    rows = [("Class Gossip", "Pen Pals", 0, 2)]
    game = both([{}, {"Pen Pals": []}, {}], {0: JOB}, obstacles=rows, turn=9)
    game.until("DRAFT")
    while game.data["decision"] == "DRAFT":
        # On the game alone: the oracle is compared where the hands are open.
        play_text(game.state, min(legal_texts(game.state)))
        game.data = GAME.to_dict(game.state)
    assert (game.data["turn"], game.data["decision"]) == (10, "SELECT")
    assert [row["turns_left"] for row in game.data["obstacles"]] == [1]
    for seat in (0, 2):
        assert game.data["known"][seat][1] == game.hand(1)


# Actions


def test_part_time_job() -> None:
    """It draws one card, and comes back to the hand."""
    game = both([{}, {}], {0: JOB}, top=["Sabotage", "Cafe"]).go()
    assert game.data["hands"][0] == [JOB, "Sabotage"]
    assert game.data["deck"][0] == "Cafe"
    assert game.data["discard"] == []


def test_shopping_spree() -> None:
    """Three cards."""
    game = both([{}, {}], {0: "Shopping Spree"}, top=["Cafe", "Beach", "Cafe", "Shrine"]).go()
    assert game.hand(0) == ["Beach", "Cafe", "Cafe"]
    assert game.data["deck"][0] == "Shrine"
    assert game.data["discard"] == ["Shopping Spree"]


@pytest.mark.parametrize("left", [0, 1, 2])
def test_draws_reshuffle(left: int) -> None:
    """R23: the rest of the deck, then the discard pile as a new deck."""
    deck = ["Cafe", "Beach"][:left]
    game = both([{}, {}], {0: "Shopping Spree"}, deck=deck).go()
    pile = 120 - 1 - left
    assert len(game.hand(0)) == 3
    assert not Counter(deck) - Counter(game.hand(0))
    assert len(game.data["deck"]) == pile - (3 - left)
    assert (game.data["discard"], game.data["reshuffles"]) == (["Shopping Spree"], 1)


def test_nothing_to_draw() -> None:
    """R23: both piles empty."""
    hand = list((Counter(TABLE.deck) - Counter(["Cafe", "Shopping Spree"])).elements())
    half = len(hand) // 2
    # A hand holds 53 at most, so everything else is spread over four.
    parts = [hand[seat * half // 2 : (seat + 1) * half // 2] for seat in range(4)]
    parts[3] = hand[3 * half // 2 :]
    assert max(map(len, parts)) <= 53
    game = both(
        [{}, {}, {}, {}], {1: "Shopping Spree"}, hands=dict(enumerate(parts)), deck=["Cafe"]
    )
    while game.data["decision"] == "REACT" or game.data["step"] != "post":
        game.one("PASS")
    assert Counter(game.hand(1)) == Counter([*parts[1], "Cafe"])
    assert (game.data["deck"], game.data["discard"]) == ([], ["Shopping Spree"])
    assert game.data["reshuffles"] == 0


def test_matchmakers_intuition() -> None:
    """Two of five to hand, the others under the deck in their order."""
    top = ["Cafe", "Beach", "Cafe", "Shrine", "Library", "Bouquet"]
    game = both([{}, {}], {0: "Matchmaker's Intuition"}, top=top)
    rest = game.data["deck"][6:]
    game.go()
    assert game.asks == (0, "LOOK_KEEP")
    assert game.data["look"] == top[:5]
    assert game.legal() == {"CARD Cafe", "CARD Beach", "CARD Shrine", "CARD Library"}
    game.one("CARD Cafe")
    assert game.data["look"] == ["Beach", "Cafe", "Shrine", "Library"]
    game.play("CARD Shrine")
    assert game.hand(0) == ["Cafe", "Shrine"]
    assert game.data["deck"] == ["Bouquet", *rest, "Beach", "Cafe", "Library"]
    assert game.data["look"] == []


def test_matchmakers_intuition_with_a_short_deck() -> None:
    """R23: three cards are looked at; an empty deck is shuffled anew."""
    game = both([{}, {}], {0: "Matchmaker's Intuition"}, deck=["Cafe", "Beach", "Shrine"]).go()
    assert game.data["look"] == ["Cafe", "Beach", "Shrine"]
    game.play("CARD Cafe", "CARD Beach")
    assert game.data["deck"] == ["Shrine"]
    assert game.data["reshuffles"] == 0
    one = both([{}, {}], {0: "Matchmaker's Intuition"}, deck=["Cafe"]).go()
    assert (one.hand(0), one.data["deck"]) == (["Cafe"], [])
    empty = both([{}, {}], {0: "Matchmaker's Intuition"}, deck=[])
    while empty.data["decision"] != "LOOK_KEEP":
        empty.one("PASS")
    assert len(empty.data["look"]) == 5
    assert (len(empty.data["deck"]), empty.data["discard"]) == (114, [])
    assert empty.data["reshuffles"] == 1


OPEN = {"POS Swim Team Duo/Beach", "POS 1/item", "POS 2/event"}
AROUND = [
    {"Barista & Regular": ["Cafe"], "location": "Shrine"},
    FULL | HALF | {"item": "Bouquet"},
    {"event": "Rock Concert"},
]


def test_sabotage() -> None:
    """An opponent's preparation, free or of an incomplete couple."""
    game = both(AROUND, {0: "Sabotage"}).go()
    assert game.asks == (0, "TARGET_PREP")
    assert game.legal() == OPEN
    game.play("POS Swim Team Duo/Beach")
    assert game.couples(1)["Swim Team Duo"] == []
    assert game.data["discard"] == ["Beach", "Sabotage"]
    nothing = both([AROUND[0], FULL], {0: "Sabotage"}, hands={1: ["Change of Plans"]}).go()
    assert nothing.data["discard"] == ["Sabotage"]
    assert nothing.asks == (0, "WINDOW")


def test_date_crasher() -> None:
    """Only a card with a free position, to which it goes."""
    game = both(AROUND, {0: "Date Crasher"}).go()
    assert game.legal() == {"POS 1/item", "POS 2/event"}  # the Shrine is in the way of the Beach
    game.play("POS 2/event")
    assert (game.free(0), game.free(2)) == ({"event": "Rock Concert", "location": "Shrine"}, {})
    assert game.data["discard"] == ["Date Crasher"]
    mine: dict[str, list[str]] = {"Surfer & Guitarist": [], "Kendo Captain & Manager": []}
    choice = both([mine, AROUND[1], {}], {0: "Date Crasher"}).go()
    choice.play("POS Swim Team Duo/Beach")
    assert choice.asks == (0, "PLACE")
    assert choice.legal() == {"COUPLE Surfer & Guitarist", "COUPLE Kendo Captain & Manager", "FREE"}
    choice.play("COUPLE Surfer & Guitarist")
    assert choice.couples(0)["Surfer & Guitarist"] == ["Beach"]
    assert choice.couples(1)["Swim Team Duo"] == []
    full = {"event": "School Festival", "location": "Shrine", "item": "Love Letter"}
    stuck = both([full, AROUND[1], AROUND[2]], {0: "Date Crasher"}).go()
    assert stuck.data["discard"] == ["Date Crasher"]
    assert stuck.asks == (0, "WINDOW")


def test_mix_up() -> None:
    """Mine for one of the same kind; each goes where the other was, or to the free slot."""
    game = both(AROUND, {0: "Mix-Up"}).go()
    assert game.legal() == {"POS Barista & Regular/Cafe", "POS 0/location"}
    assert game.asks == (0, "SWAP_OWN")  # the Beach is the only location of another
    game.play("POS 0/location")
    assert game.couples(1)["Swim Team Duo"] == []
    assert (game.free(0), game.free(1)) == (
        {"location": "Beach"},
        {"item": "Bouquet", "location": "Shrine"},
    )
    assert game.data["discard"] == ["Mix-Up"]
    other = both(AROUND, {0: "Mix-Up"}).go().play("POS Barista & Regular/Cafe")
    # The Beach doesn't fit the couple, and the Shrine is in the slot.
    assert other.data["discard"] == ["Beach", "Mix-Up"]
    assert (other.couples(0), other.free(0)) == (
        {"Barista & Regular": []},
        {"location": "Shrine"},
    )
    assert other.free(1) == {"item": "Bouquet", "location": "Cafe"}
    none = both([{"event": "Rock Concert"}, {"item": "Bouquet"}], {0: "Mix-Up"}).go()
    assert none.data["discard"] == ["Mix-Up"]
    assert none.asks == (0, "WINDOW")


def test_mix_up_into_couples() -> None:
    """The position of the card that was lost, if the new card is wanted there."""
    fields = [
        {"Surfer & Guitarist": ["Beach"]},
        {"Swim Team Duo": ["Beach"], "location": "Shrine"},
    ]
    game = both(fields, {0: "Mix-Up"}).go()
    assert game.asks == (0, "TARGET_PREP")
    assert game.legal() == {"POS Swim Team Duo/Beach", "POS 1/location"}
    game.play("POS Swim Team Duo/Beach")
    assert game.couples(0) == {"Surfer & Guitarist": ["Beach"]}
    assert game.couples(1) == {"Swim Team Duo": ["Beach"]}
    rain = [("Sudden Downpour", "Surfer & Guitarist", 1, 3)]
    wet = both(fields, {0: "Mix-Up"}, obstacles=rain).go().play("POS Swim Team Duo/Beach")
    assert (wet.couples(0), wet.free(0)) == ({"Surfer & Guitarist": []}, {"location": "Beach"})


def test_mix_up_of_a_complete_couple() -> None:
    """A preparation in your field: of a complete couple of mine too."""
    game = both([FULL, {"item": "Bouquet"}], {0: "Mix-Up"}).go()
    assert game.couples(0) == {"Pen Pals": ["Fireworks Show"]}
    assert (game.free(0), game.free(1)) == ({"item": "Bouquet"}, {"item": "Love Letter"})


def test_heart_to_heart_talk() -> None:
    """An obstacle on a couple of mine."""
    rows = [
        ("Cold Feet", "Pen Pals", 1, 0),
        ("Moving Away", "Swim Team Duo", 0, 5),
        ("Cold Feet", "Barista & Regular", 1, 0),
    ]
    fields: list[Json] = [{"Pen Pals": [], "Barista & Regular": []}, {"Swim Team Duo": []}]
    game = both(fields, {0: "Heart-to-Heart Talk"}, obstacles=rows).go()
    assert game.asks == (0, "TARGET_OBSTACLE")
    assert game.legal() == {"OBSTACLE Cold Feet#1", "OBSTACLE Cold Feet#2"}
    game.play("OBSTACLE Cold Feet#2")
    assert game.on_table() == [("Cold Feet", "Pen Pals"), ("Moving Away", "Swim Team Duo")]
    assert game.data["discard"] == ["Cold Feet", "Heart-to-Heart Talk"]
    none = both(fields, {0: "Heart-to-Heart Talk"}, obstacles=rows[1:2]).go()
    assert none.data["discard"] == ["Heart-to-Heart Talk"]
    rows = [rows[0], ("Cold Feet", "Swim Team Duo", 0, 0)]
    ranks = both(fields, {1: "Heart-to-Heart Talk"}, obstacles=rows).go()
    assert ranks.on_table() == [("Cold Feet", "Pen Pals")]


def test_good_luck_charm() -> None:
    """The rest of this turn and three more."""
    game = both([{"Pen Pals": []}, {}], {0: "Good Luck Charm", 1: "Cold Feet"}).go()
    assert game.data["fields"][0]["shield_until"] == 7
    game.until("SELECT")
    assert (game.on_table(), game.data["discard"]) == ([], ["Good Luck Charm", "Cold Feet"])
    for turn in (5, 6, 7, 8):
        shielded = {"Pen Pals": [], "shield_until": 7}
        later = both([shielded, {}], {1: "Cold Feet"}, turn=turn).go()
        assert bool(later.on_table()) == (turn == 8)


def test_lost_and_found() -> None:
    """A preparation or couple of the discard pile; nothing else."""
    pile = ["Cafe", "Sabotage", "Pen Pals", "Cold Feet", "Cafe", "Guardian Friend"]
    game = both([{}, {}], {0: "Lost and Found"}, discard=pile).go()
    assert game.asks == (0, "RECOVER")
    assert game.legal() == {"CARD Cafe", "CARD Pen Pals"}
    game.play("CARD Cafe")
    assert game.hand(0) == ["Cafe"]
    oldest_gone = ["Sabotage", "Pen Pals", "Cold Feet", "Cafe", "Guardian Friend"]
    assert game.data["discard"] == [*oldest_gone, "Lost and Found"]
    none = both([{}, {}], {0: "Lost and Found"}, discard=["Sabotage", "Cold Feet"]).go()
    assert none.data["discard"] == ["Sabotage", "Cold Feet", "Lost and Found"]
    assert none.asks == (0, "WINDOW")


def test_pop_quiz() -> None:
    """Two cards each, the opponents' choice, from my left on; never the Part-time Job."""
    hands = {0: ["Shrine"], 1: ["Cafe", "Beach", "Bouquet"], 2: ["Cafe"], 3: []}
    game = both([{}, {}, {}, {}], {2: "Pop Quiz"}, hands=hands).go()
    assert game.asks == (1, "HAND_DISCARD")  # 3 has nothing, 0 no choice
    assert game.data["discard"] == ["Shrine"]
    assert game.legal() == {"CARD Cafe", "CARD Beach", "CARD Bouquet"}
    game.play("CARD Bouquet", "CARD Cafe")
    assert [game.hand(seat) for seat in range(4)] == [[], ["Beach"], ["Cafe"], []]
    assert game.data["discard"] == ["Shrine", "Bouquet", "Cafe", "Pop Quiz"]


def test_read_the_diary() -> None:
    """I choose a player, see the hand, and choose the card."""
    hands = {1: ["Cafe", "Beach"], 2: ["Shrine"]}
    play = {0: "Read the Diary", 1: "Rock Concert", 2: "Christmas Eve"}
    game = both([{}, {}, {}], play, hands=hands).go()
    assert game.asks == (0, "TARGET_PLAYER")
    assert game.legal() == {"PLAYER 1", "PLAYER 2"}
    game.play("PLAYER 1")
    assert game.asks == (0, "HAND_DISCARD")
    assert game.legal() == {"CARD Cafe", "CARD Beach"}  # not the Part-time Job
    game.play("CARD Cafe")
    assert game.hand(1) == ["Beach"]
    assert game.data["discard"] == ["Cafe", "Read the Diary"]
    job_only = both([{}, {}, {}], play).go()
    job_only.play("PLAYER 2")
    assert job_only.data["discard"] == ["Read the Diary"]


# Reactions


def asked_to_react(game: Both) -> set[str]:
    """The reactions that are offered next, if any."""
    game.go()
    return game.legal() - {"PASS"} if game.data["decision"] == "REACT" else set()


def test_guardian_friend() -> None:
    """OBSTACLE_ON_ME: only for obstacles of others on own couples."""
    hands = {1: ["Guardian Friend"], 2: ["Guardian Friend"]}
    game = both([{}, {"Pen Pals": []}, {}], {0: "Moving Away"}, hands=hands).go()
    assert game.asks == (1, "REACT")
    game.play("CARD Guardian Friend")
    assert game.on_table() == []
    assert sorted(game.data["discard"]) == ["Guardian Friend", "Moving Away"]
    assert not asked_to_react(both([{}, {}, {}], {0: "Shopping Spree"}, hands=hands))
    assert not asked_to_react(both([{}, {}, {"location": "Beach"}], {0: "Sabotage"}, hands=hands))


def test_wrong_person() -> None:
    """Another couple of another player, the sender's own included."""
    hands = {1: ["Wrong Person!"]}
    fields = [{"Barista & Regular": []}, {"Pen Pals": [], "Swim Team Duo": []}, FULL_2]
    game = both(fields, {0: "Cold Feet"}, hands=hands).go()
    game.play("COUPLE Pen Pals", "CARD Wrong Person!")
    assert game.asks == (1, "TARGET_COUPLE")
    assert game.legal() == {"COUPLE Barista & Regular", "COUPLE Cooking Club Pair"}
    assert game.data["discard"] == ["Wrong Person!"]
    game.play("COUPLE Barista & Regular")
    assert game.on_table() == [("Cold Feet", "Barista & Regular")]
    assert game.data["obstacles"][0]["by"] == 0  # R13
    accident = both(fields, {0: "Embarrassing Accident"}, hands=hands).go()
    accident.play("COUPLE Pen Pals")
    accident.play("CARD Wrong Person!")
    assert accident.data["discard"] == ["Wrong Person!", "Embarrassing Accident"]
    assert accident.couples(0) == {"Barista & Regular": []}


FULL_2 = {"Cooking Club Pair": ["School Festival", "Box of Chocolates"]}


@pytest.mark.parametrize(
    "fields",
    [
        [{}, {"Pen Pals": [], "Swim Team Duo": []}],
        [{"Barista & Regular": [], "shield_until": 9}, {"Pen Pals": []}],
    ],
)
def test_wrong_person_with_nowhere_to_go(fields: list[dict[str, list[str]]]) -> None:
    """Unplayable: there is no couple of another player that may be chosen."""
    game = both(fields, {0: "Cold Feet"}, hands={1: ["Wrong Person!"]}).go()
    if game.data["decision"] == "TARGET_COUPLE":
        game.play("COUPLE Pen Pals")
    assert game.asks == (0, "WINDOW")
    assert game.on_table() == [("Cold Feet", "Pen Pals")]


def test_redirected_accident_of_ones_own() -> None:
    """R19: no E3 if the card's player owns the preparation."""
    hands = {0: ["Spare Ticket"], 1: ["Wrong Person!"]}
    fields = [{"Barista & Regular": ["Cafe"]}, {"Pen Pals": []}]
    game = both(fields, {0: "Embarrassing Accident"}, hands=hands).go()
    game.play("CARD Wrong Person!")
    assert game.asks == (0, "WINDOW")
    assert game.couples(0) == {"Barista & Regular": []}
    assert game.data["discard"] == ["Wrong Person!", "Cafe", "Embarrassing Accident"]


def test_objection() -> None:
    """REACTION_PLAYED: of another player only."""
    hands = {0: ["Change of Plans", "Objection!"], 1: ["Objection!"]}
    game = both([{}, {}, {}], {2: "Shopping Spree"}, hands=hands).go()
    assert game.asks == (0, "REACT")
    assert game.legal() == {"CARD Change of Plans", "PASS"}
    game.play("CARD Change of Plans")
    assert game.asks == (1, "REACT")
    game.play("CARD Objection!")
    assert game.asks == (0, "REACT")
    assert game.legal() == {"CARD Objection!", "PASS"}
    game.play("PASS")
    assert len(game.hand(2)) == 3
    assert sorted(game.data["discard"]) == ["Change of Plans", "Objection!", "Shopping Spree"]


def test_change_of_plans() -> None:
    """OPP_ACTION: any action of another player, the Part-time Job too; not one's own."""
    hands = {0: ["Change of Plans"], 1: ["Change of Plans"]}
    game = both([{}, {}, {"item": "Bouquet"}], {0: "Sabotage"}, hands=hands).go()
    assert game.asks == (1, "REACT")  # though it doesn't concern him
    game.play("CARD Change of Plans")
    assert game.free(2) == {"item": "Bouquet"}
    assert sorted(game.data["discard"]) == ["Change of Plans", "Sabotage"]
    assert not asked_to_react(both([{}, {}], {0: "Cafe"}, hands={1: ["Change of Plans"]}))
    fields: list[Json] = [{}, {"Pen Pals": []}]
    assert not asked_to_react(both(fields, {0: "Cold Feet"}, hands={1: ["Change of Plans"]}))


@pytest.mark.parametrize("source", ["Sabotage", "Embarrassing Accident", "Bullying"])
def test_spare_ticket(source: str) -> None:
    """E3 opens for these three."""
    hands = {1: ["Spare Ticket"]}
    fields = [{}, {"Pen Pals": ["Love Letter"]}]
    if source == "Bullying":
        play = {0: "Kendo Captain & Manager", 1: "Idol & Superfan"}
        row = ("Bullying", "Pen Pals", 0, 1)
        game = both(fields, play, hands=hands, obstacles=[row]).until("CHOICE")
        game.one("POS Pen Pals/Love Letter")
    else:
        game = both(fields, {0: source}, hands=hands).go()
    assert game.asks == (1, "REACT")
    assert game.legal() == {"CARD Spare Ticket", "PASS"}
    game.one("CARD Spare Ticket")
    game.until("SELECT", "WINDOW")
    assert game.hand(1) == ["Love Letter"]
    assert "Love Letter" not in game.data["discard"]


def test_spare_ticket_stays_in_hand() -> None:
    """R19: no E3 for couples that leave, cards taken or swapped, and own discards."""
    hands = {1: ["Spare Ticket"]}
    crashed = both([{}, {"item": "Bouquet"}], {0: "Date Crasher"}, hands=hands).go()
    assert (crashed.free(0), crashed.hand(1)) == ({"item": "Bouquet"}, ["Spare Ticket"])
    row = ("Moving Away", "Pen Pals", 0, 1)
    play = {0: "Kendo Captain & Manager", 1: "Idol & Superfan"}
    gone = both([{}, {"Pen Pals": ["Love Letter"]}], play, hands=hands, obstacles=[row])
    gone.until("SELECT").next_turn()
    assert "Love Letter" in gone.data["discard"]
    assert "Spare Ticket" in gone.hand(1)
    blocked = {"Barista & Regular": ["Cafe"], "location": "Shrine"}
    swapped = both([blocked, {"location": "Beach"}], {1: "Mix-Up"}, hands={0: ["Spare Ticket"]})
    swapped.go().play("POS Barista & Regular/Cafe")
    assert swapped.data["discard"] == ["Beach", "Mix-Up"]
    assert swapped.hand(0) == ["Spare Ticket"]
    windows = {"voluntary_discards": "windows"}
    own = both([{"item": "Bouquet"}, {}], {0: JOB}, hands={0: ["Spare Ticket"]}, options=windows)
    own.one("OPEN_DISCARD")
    own.one("POS 0/item")
    assert own.asks == (0, "WINDOW")
    assert own.data["discard"] == ["Bouquet"]


def test_spare_ticket_is_objected_to() -> None:
    """R20: E4 in an E3 window."""
    hands = {0: ["Objection!"], 1: ["Spare Ticket"]}
    game = both([{}, {"item": "Bouquet"}], {0: "Sabotage"}, hands=hands).go()
    game.play("CARD Spare Ticket", "CARD Objection!")
    assert game.hand(1) == []
    assert Counter(game.data["discard"]) == Counter(
        ["Bouquet", "Objection!", "Spare Ticket", "Sabotage"]
    )
