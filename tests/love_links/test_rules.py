"""Love Links against its rules R1-R23, by hand-made cases and in lock-step with the oracle."""

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from linkzoo.record import GameRecord
from tests.driving import first_quick, same
from tests.love_links.helpers import (
    GAME,
    POLICIES,
    SETUPS,
    Policy,
    clone,
    closing,
    ends,
    hoarding,
    legal_list,
    legal_mask,
    legal_texts,
    margins,
    observe,
    payoffs,
    play_random,
    play_text,
    position,
    read,
    score,
    spoiling,
    start,
    uniform,
    walk,
)
from tests.love_links.oracle import (
    FITTING,
    LINKS,
    NUM_ACTIONS,
    ROUNDS,
    TYPES,
    Json,
    Oracle,
    ScoreSheet,
    Setup,
    by_id,
    deck,
    read_move,
)

STANDARD = [setup for setup in SETUPS if not setup.short]
SHORT = [setup for setup in SETUPS if setup.short]
E5_CHAIN = "4-7@-,7-10@A,10-8@A,8-6@A"  # 35 points for closing it with 6-4


def assert_same(state: np.record, oracle: Oracle) -> None:
    """Everything that the game says about a position equals the oracle's answer."""
    before = state.tobytes()
    same(legal_mask(state), oracle.mask())
    assert GAME.to_dict(state) == oracle.to_dict()
    assert state.seat == (-1 if oracle.seat is None else oracle.seat)
    assert state.ply == oracle.ply
    assert state.winners == sum(1 << seat for seat in oracle.winners())
    assert margins(state) == pytest.approx(oracle.margins(), abs=1e-6)
    if oracle.seat is None:
        assert payoffs(state) == pytest.approx(oracle.payoffs(), abs=1e-6)
    assert state.tobytes() == before, "looking at a position must not change it"


def open_links(data: Json) -> list[str]:
    return [link for bracelet in data["bracelets"] for link, _ in bracelet["links"]]


def visible(data: Json) -> Counter[str]:
    """Every link of a position but those of completed bracelets."""
    piles = [*data["hands"], *data["supply"].values(), open_links(data), data["set_aside"]]
    return Counter(link for pile in piles for link in pile)


def final(*, scores: list[int], captured: list[int], **changes: Any) -> Json:
    """A finished game: the last link is placed where it brings nothing."""
    players = 4 if changes.pop("teams", False) else len(scores)
    data = position(
        "4-7@A",
        hands=("2-5", *[""] * (players - 1)),
        scores=scores,
        captured=captured,
        **changes,
    )
    return GAME.to_dict(play_text(read(data), "NEW 2-5"))


def turn(data: Json, *moves: str) -> Json:
    """The position after some moves, which oracle and game agree on."""
    state, oracle = read(data), Oracle.read(data)
    assert_same(state, oracle)
    for text in moves:
        play_text(state, text)
        oracle.apply(read_move(text))
        assert_same(state, oracle)
    return GAME.to_dict(state)


# Lock-step


@pytest.mark.parametrize("policy", first_quick(POLICIES), ids=lambda policy: policy.__name__)
@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_r1_to_r22_games_agree_with_the_oracle(setup: Setup, policy: Policy) -> None:
    """R1-R22 at every ply of games played in four ways."""
    for seed in range(2):
        for state, oracle, _ in walk(setup, seed, policy):
            assert_same(state, oracle)


@pytest.mark.slow
def test_the_games_reach_the_corners_of_the_rules() -> None:
    """The lock-step isn't vacuous: such games pass through every kind of position."""
    seen: Counter[str] = Counter()
    for setup in STANDARD:
        for seed in range(24):
            turns: list[tuple[int, int]] = []  # round and seat
            must_start = False
            for _, oracle, move in walk(setup, seed, POLICIES[seed % 4]):
                seen["forced"] += move is not None and move.verb == "NEW" and not must_start
                must_start = oracle.must_start
                if oracle.seat is None:
                    continue
                hand = oracle.hands[oracle.seat]
                seen["copies"] += len(set(hand)) < len(hand)
                seen["long"] += max(map(len, oracle.board.values())) > 40
                seen["wide"] += len(oracle.board) > 9
                if oracle.move == 1 and not must_start:
                    turns.append((oracle.round, oracle.seat))
            for (before, one), (after, two) in pairwise(turns):
                seen[f"round {after}"] += before != after
                seen["again"] += before == after and one == two
                skipped = two not in (one, (one + 1) % setup.num_players)
                seen["skip"] += before == after and skipped
    wanted = ["skip", "again", "round 1", "round 2", "long", "wide", "forced", "copies"]
    assert all(seen[name] >= 3 for name in wanted), seen


@pytest.mark.parametrize(
    "policy", first_quick([uniform, closing], slow=0), ids=["uniform", "closing"]
)
@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_r15_to_r18_scores_recounted_from_the_record(setup: Setup, policy: Policy) -> None:
    """R15-R18: a second model counts every point from the record's moves alone."""
    for seed in range(40, 44):
        moves = [str(move) for _, _, move in walk(setup, seed, policy) if move is not None]
        written = {
            "format": "linkzoo-record/1",
            "game": "love_links",
            "version": 0,
            "num_players": setup.num_players,
            "options": {"short": setup.short, "skip_forced": False},
            "seed": seed,
            "start": None,
            "moves": moves,
        }
        record = GameRecord.from_dict(written)
        assert record.to_dict() == written
        sheet = ScoreSheet([seat % setup.sides for seat in range(setup.num_players)])
        turns = 0
        before: Json = {}
        for index, state in enumerate(record.replay()):
            data = GAME.to_dict(state)
            if before:
                turns += before["move"] == 1 and not before["must_start"]
                gained = sheet.place(turns, before["seat"], moves[index - 1])
                mover = before["seat"] % setup.sides
                change = np.subtract(data["scores"], before["scores"]).tolist()
                assert change == [gained if side == mover else 0 for side in range(setup.sides)]
            for bracelet in data["bracelets"]:
                if bracelet["slot"] not in sheet.slots:
                    ((link, owner),) = bracelet["links"]
                    assert owner is None
                    sheet.supply(bracelet["slot"], link)
            assert (sheet.points, sheet.captured) == (data["scores"], data["captured"])
            before = data
        assert before["seat"] is None


# R1-R7: components, set-up, rounds


@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_r1_94_links_at_every_ply(setup: Setup) -> None:
    """R1, R13: a link leaves the table in a completed bracelet only."""
    everything = Counter(link for metal in ROUNDS for link in deck(metal))
    assert everything.total() == 94
    for seed, policy in enumerate(POLICIES):
        gone: Counter[str] = Counter()
        before: Json = {}
        for state, _, move in walk(setup, 70 + seed, policy):
            data = GAME.to_dict(state)
            if move is not None and move.verb == "CLOSE":
                slots = {b["slot"]: b["links"] for b in before["bracelets"]}
                gone.update([move.link, *(link for link, _ in slots[move.slot])])
            assert visible(data) + gone == everything
            before = data


@pytest.mark.parametrize(
    ("players", "supply"), [(2, [20, 30, 29]), (3, [15, 30, 29]), (4, [10, 30, 29])]
)
def test_r5_r6_set_up(players: int, supply: list[int]) -> None:
    """R2, R5, R6: five links each, five neutral bracelets in slots 0..4, seat 0 to move."""
    for seed in range(20):
        state = start(Setup(players), seed)
        data = GAME.to_dict(state)
        assert [len(hand) for hand in data["hands"]] == [5] * players
        assert data["hands"] == [by_id(hand) for hand in data["hands"]]
        assert [b["slot"] for b in data["bracelets"]] == [0, 1, 2, 3, 4]
        assert all(len(b["links"]) == 1 and b["links"][0][1] is None for b in data["bracelets"])
        assert [len(data["supply"][metal]) for metal in ROUNDS] == supply
        everything = Counter(link for metal in ROUNDS for link in deck(metal))
        assert visible(data) == everything
        assert all(LINKS[link].metal == 1 for hand in data["hands"] for link in hand)
        assert {name: data[name] for name in ("seat", "ply", "round", "move", "winners")} == {
            "seat": 0,
            "ply": 0,
            "round": "bronze",
            "move": 1,
            "winners": [],
        }
        sides = 2 if players == 4 else players
        assert data["scores"] == data["captured"] == [0] * sides
        assert not data["matched"]
        assert not data["must_start"]


@pytest.mark.slow
def test_r3_supplies_are_shuffled_uniformly() -> None:
    """R3: the next link of each supply, and a hand, by chi-square; the supplies independently."""
    games = 3000
    first: dict[str, Counter[str]] = {metal: Counter() for metal in ROUNDS}
    ranks = []
    for seed in range(games):
        data = GAME.to_dict(start(seed=seed))
        for metal in ROUNDS:
            first[metal][data["supply"][metal][0]] += 1
        first["bronze"].update(data["hands"][seed % 2])
        ranks.append([data["supply"][m].index(t) for m, t in (("silver", "6-7"), ("gold", "5-M"))])
    for metal in ROUNDS:
        links = deck(metal)
        assert set(first[metal]) == set(links)
        counts = {t: first[metal][t] / LINKS[t].copies for t in set(links)}
        total = first[metal].total() / len(links)
        statistic = sum(LINKS[t].copies * (c - total) ** 2 / total for t, c in counts.items())
        freedom = len(counts) - 1
        assert statistic < freedom + 6 * np.sqrt(2 * freedom)
    correlation = np.corrcoef(np.array(ranks).T)[0, 1]
    assert abs(correlation) < 5 / np.sqrt(games)
    assert np.mean(ranks, axis=0) == pytest.approx([14.5, 14], abs=0.8)


def test_r3_a_seed_is_a_game() -> None:
    """R3: the same seed deals the same, another one doesn't; the seed is in the record."""
    assert start(seed=5).tobytes() == start(seed=5).tobytes()
    assert len({start(seed=seed).tobytes() for seed in range(50)}) == 50
    one, two = start(seed=1), start(seed=2**64 - 1)
    assert (one.seed, two.seed) == (1, 2**64 - 1)
    assert GAME.to_dict(one)["hands"] != GAME.to_dict(two)["hands"]


def test_r3_new_game_forgets_the_game_before() -> None:
    """R3: a record is set up anew, whatever was played in it."""
    for setup in SETUPS:
        state = play_random(start(setup, 3), np.random.default_rng(3), 80)
        GAME.rules.new_game(state, np.uint64(9))
        assert state.tobytes() == start(setup, 9).tobytes()


def test_r4_every_seat_sees_all_but_the_order() -> None:
    """R4: hands and bracelets are public, the supplies' composition too."""
    for setup in SETUPS:
        state = play_random(start(setup, 4), np.random.default_rng(4), 30)
        views = [GAME.to_dict(state, seat) for seat in range(setup.num_players)]
        assert all(view == views[0] for view in views)
        assert views[0]["hands"] == GAME.to_dict(state)["hands"]


def test_r6_round_start_by_hand() -> None:
    """R6, R7: hands from seat 0 on, then bracelets until five are open, in drawing order."""
    silver = by_id(deck("silver"))[::-1]
    data = position(
        *("", "2-7,7-8@A", "2-6", "", "8-2@B"),
        hands=("", "2-5", ""),
        seat=1,
        round="bronze",
        supply={"bronze": [], "silver": silver, "gold": []},
    )
    after = turn(data, "LOCK 2-5 @1")
    assert after["round"] == "silver"
    assert after["seat"] == 2, "R7: the seat after the one that ended the round"
    assert after["hands"] == [by_id(silver[0:4]), by_id(silver[4:8]), by_id(silver[8:12])]
    assert after["bracelets"] == [
        {"slot": 0, "links": [[silver[12], None]]},
        {"slot": 1, "links": [["2-7", None], ["7-8", 0], ["2-5", 1]]},
        {"slot": 2, "links": [["2-6", None]]},
        {"slot": 3, "links": [[silver[13], None]]},
        {"slot": 4, "links": [["8-2", 1]]},
    ]
    assert after["supply"] == {"bronze": [], "silver": silver[14:], "gold": []}
    assert (after["move"], after["matched"], after["must_start"]) == (1, False, False)


@pytest.mark.parametrize("slots", range(8))
def test_r6_top_up_counts(slots: int) -> None:
    """R6: max(0, 5 - open) bracelets are laid."""
    kept = "4-7 4-7 4-8 4-8 4-9 4-9 2-9"
    chains = kept.split()[:slots]
    data = position(
        *chains,
        hands=("9-4", ""),
        round="silver",
        supply={"bronze": [], "silver": [], "gold": deck("gold")},
    )
    state = read(data)
    assert all(text.startswith("NEW") == (slots == 0) for text in legal_texts(state))
    play_text(state, min(legal_texts(state)))
    after = GAME.to_dict(state)
    laid = [b for b in after["bracelets"] if LINKS[b["links"][0][0]].metal == 3]
    assert len(laid) == max(0, 5 - max(slots, 1))
    assert len(after["bracelets"]) == max(5, slots)
    assert len(after["supply"]["gold"]) == 29 - 8 - len(laid)
    assert after["seat"] == 1


def test_r6_top_ups_in_play() -> None:
    """R6: rounds begin with hands of four and at least five bracelets; slots are the lowest."""
    counts: Counter[int] = Counter()
    for setup in STANDARD:
        for seed in range(12):
            earlier = start(setup)
            for state, _, move in walk(setup, 500 + seed, closing if seed % 2 else uniform):
                if state.round_number != earlier.round_number:
                    before = GAME.to_dict(earlier)
                    data = GAME.to_dict(state)
                    size = {"silver": 30, "gold": 29}[data["round"]]
                    assert [len(hand) for hand in data["hands"]] == [4] * setup.num_players
                    assert move is not None
                    kept = {b["slot"] for b in before["bracelets"]}
                    kept -= {move.slot} if move.verb == "CLOSE" else set()
                    if move.verb == "NEW":
                        kept.add(min(set(range(24)) - kept))
                    laid = {b["slot"] for b in data["bracelets"]} - kept
                    assert len(laid) == max(0, 5 - len(kept))
                    assert laid == set(sorted(set(range(24)) - kept)[: len(laid)])
                    supply_size = len(data["supply"][data["round"]])
                    assert supply_size == size - 4 * setup.num_players - len(laid)
                    assert data["seat"] == (before["seat"] + 1) % setup.num_players  # R7
                    counts[len(laid)] += 1
                earlier = clone(state)
    assert set(counts) >= {0, 1}


def test_r6_supplies_that_dont_suffice() -> None:
    """R6: in a position by hand a supply may be short; whoever gets links goes on."""
    short = {"bronze": [], "silver": ["6-7", "9-M", "9-M"], "gold": ["6-8"]}
    data = position("4-7", hands=("", "2-5"), seat=1, round="bronze", supply=short)
    oracle = Oracle.read(data)
    state = read(data)
    rng = np.random.default_rng(6)
    while oracle.seat is not None:
        assert_same(state, oracle)
        move = uniform(oracle.moves(), rng)
        play_text(state, str(move))
        oracle.apply(move)
    assert_same(state, oracle)
    assert oracle.round == 2


def test_r7_the_first_round_starts_with_seat_0() -> None:
    """R7."""
    for setup in SETUPS:
        assert all(start(setup, seed).seat == 0 for seed in range(20))


# R8-R14: turns


@pytest.mark.parametrize("players", first_quick([2, 3, 4], slow=0))
def test_r8_refill_at_the_end_of_the_turn_only(players: int) -> None:
    """R8: two moves, then the hand is filled from the round's supply, and re-sorted."""
    data = position(
        *("4-8", "4-9"),
        hands=("2-5,2-6,3-6,3-7", *["9-M", "9-M", "7-M"][: players - 1]),
        supply={"bronze": ["2-7"], "silver": ["6-7"], "gold": ["10-9", "10-8"]},
    )
    one = turn(data, "LOCK 2-5 @0")
    assert (one["seat"], one["move"], one["hands"][0]) == (0, 2, ["2-6", "3-6", "3-7"])
    assert one["supply"] == data["supply"]
    two = turn(data, "LOCK 2-5 @0", "LOCK 3-6 @1")
    assert (two["seat"], two["move"]) == (1, 1)
    assert two["hands"][0] == by_id(["2-6", "3-7", "10-9", "10-8"])
    assert two["supply"] == {"bronze": ["2-7"], "silver": ["6-7"], "gold": []}


@pytest.mark.parametrize(("metal", "size"), [("bronze", 5), ("silver", 4), ("gold", 4)])
def test_r5_r8_hand_size_of_the_round(metal: str, size: int) -> None:
    """R5, R8: as many links as the round's hand size, the first ones of its supply."""
    supply: dict[str, list[str]] = {m: deck(m)[5:15] for m in ROUNDS}
    data = position("8-2", hands=("2-3,2-4,8-9", "9-M"), round=metal, supply=supply)
    after = turn(data, "LOCK 2-3 @0", "NEW 2-4")
    assert len(after["hands"][0]) == size
    assert after["supply"][metal] == supply[metal][size - 1 :]
    for other in set(ROUNDS) - {metal}:
        assert after["supply"][other] == supply[other]


def test_r8_a_hand_larger_than_the_round_needs_no_refill() -> None:
    """R8: five links in gold (a position by hand) leave three, and one is drawn."""
    data = position("8-2", hands=("2-3,2-4,2-5,2-6,2-7", "9-M"))
    data["supply"] = {"bronze": [], "silver": [], "gold": ["10-9", "10-8"]}
    after = turn(data, "LOCK 2-4 @0", "LOCK 2-5 @0")
    assert after["hands"][0] == ["2-3", "2-6", "2-7", "10-9"]
    assert after["supply"]["gold"] == ["10-8"]


def test_r9_an_empty_hand_ends_the_turn() -> None:
    """R9: after the first move, whatever it was; the refill comes after that."""
    data = position("7-4", "7-9", hands=("4-8", "9-M"))
    assert turn(data, "LOCK 4-8 @0")["seat"] == 1
    data["supply"]["gold"] = ["10-9", "10-8", "7-8", "6-8", "9-6"]
    after = turn(data, "LOCK 4-8 @0")
    assert (after["seat"], after["move"]) == (1, 1)
    assert after["hands"][0] == by_id(["10-9", "10-8", "7-8", "6-8"])
    assert after["supply"]["gold"] == ["9-6"]
    forced = position("7-6", hands=("10-8", "9-M"))
    assert turn(forced, "NEW 10-8")["seat"] == 1


def test_r10_both_ends_of_every_bracelet_whoever_owns_it() -> None:
    """R10: owners, metals and the number of links don't matter for KEY and LOCK."""
    for owner in "-AB":
        data = position(f"4-7@{owner},7-10@{owner}", hands=("2-4,10-8", "9-M"))
        assert legal_texts(read(data)) == {
            "KEY 2-4 @0",
            "LOCK 2-4 @0",
            "KEY 10-8 @0",
            "LOCK 10-8 @0",
        }


def test_r10_closing_is_optional_and_needs_a_link() -> None:
    """R10: with CLOSE legal KEY and LOCK stay; fitting ends alone close nothing."""
    data = position("2-5,5-8,8-4,4-6", hands=("4-8", "9-M"))
    assert legal_texts(read(data)) == {"KEY 4-8 @0"}
    data = position("2-5,5-8,8-4,4-6", hands=("2-8", "9-M"))
    assert legal_texts(read(data)) == {"KEY 2-8 @0", "LOCK 2-8 @0", "CLOSE 2-8 @0"}
    after = turn(data, "KEY 2-8 @0")
    assert (after["completed"], after["scores"]) == (0, [0, 0])
    assert after["bracelets"][0]["links"][0] == ["2-8", 0]


@pytest.mark.parametrize("length", range(1, 10))
def test_r10_close_from_four_links_on(length: int) -> None:
    """R10: the completed length is at least five; R16: 2 points for each link beyond that."""
    links = "2-9 9-4 4-9 9-8 8-4 4-9 3-9 9-8 4-8".split()[:length]
    data = position(",".join(links), hands=("", "9-M"))
    lock = LINKS[links[-1]].lock
    closer = {9: "3-6", 4: "2-8", 8: "2-6"}[lock]
    data["hands"][0] = [closer]
    texts = legal_texts(read(data))
    assert {f"KEY {closer} @0", f"LOCK {closer} @0"} <= texts
    assert (f"CLOSE {closer} @0" in texts) == (length >= 4)
    if length >= 4:
        chosen = [LINKS[link] for link in [*links, closer]]
        points = sum(link.metal for link in chosen) + 2 * (length - 4) + 10
        assert turn(data, f"CLOSE {closer} @0")["scores"] == [points, 0]


def test_r11_any_join_of_any_link_forbids_a_start() -> None:
    """R11: one link joins, so the others can't start; without it all of them have to."""
    data = position("7-6", "9-4", hands=("10-8,7-2,9-8,6-10", "9-M"))
    assert legal_texts(read(data)) == {"LOCK 6-10 @0"}
    data = position("7-6", "9-4", hands=("10-8,7-2,9-8", "9-M"))
    assert legal_texts(read(data)) == {"NEW 10-8", "NEW 7-2", "NEW 9-8"}


def test_r11_no_open_bracelet() -> None:
    """R11: with nothing open a bracelet is started, by its owner, in slot 0."""
    data = position(hands=("2-3,4-7", "9-M"))
    assert legal_texts(read(data)) == {"NEW 2-3", "NEW 4-7"}
    after = turn(data, "NEW 4-7")
    assert after["bracelets"] == [{"slot": 0, "links": [["4-7", 0]]}]
    assert (after["seat"], after["move"]) == (0, 2)
    assert legal_texts(read(after)) == {"NEW 2-3"}, "2-3 doesn't fit 4-7 at either end"


def test_r12_the_mandatory_start_may_be_a_link_that_joins() -> None:
    """R12: after CLOSE every hand link may start, joins or not, and nothing else may happen."""
    data = position(E5_CHAIN, "9-4", hands=("6-4,2-3,7-2", "9-M"))
    after = turn(data, "CLOSE 6-4 @0")
    assert legal_texts(read(after)) == {"NEW 2-3", "NEW 7-2"}
    assert turn(after, "NEW 2-3")["move"] == 2


def test_r12_closing_on_the_second_move() -> None:
    """R12: the mandatory start belongs to the second move; then the turn is over."""
    data = position(E5_CHAIN, "9-4", hands=("2-9,6-4,2-3,7-2", "9-M"))
    after = turn(data, "LOCK 2-9 @1", "CLOSE 6-4 @0")
    assert (after["seat"], after["move"], after["must_start"]) == (0, 2, True)
    after = turn(after, "NEW 7-2")
    assert (after["seat"], after["move"], after["must_start"]) == (1, 1, False)
    assert after["hands"][0] == ["2-3"]


def test_r12_a_turn_of_one_to_four_links() -> None:
    """R12: in play, turns have one to four placements, and all of these happen."""
    lengths: Counter[int] = Counter()
    for setup in STANDARD:
        for seed in range(6):
            count = 0
            for _, oracle, move in walk(setup, 900 + seed, closing):
                count += move is not None
                if oracle.move == 1 and not oracle.must_start:
                    lengths[count] += 1
                    count = 0
    assert set(lengths) - {0} == {1, 2, 3, 4}


def test_r13_slots_of_completed_bracelets_are_free() -> None:
    """R13: a bracelet keeps its slot, a new one takes the lowest that is free."""
    data = position("9-4", "", E5_CHAIN, "9-10", hands=("6-4,2-3,7-2,10-4", "9-M"))
    assert {b["slot"] for b in data["bracelets"]} == {0, 2, 3}
    after = turn(data, "CLOSE 6-4 @2", "NEW 7-2")
    assert ends(read(after)) == {0: "9-4", 1: "7-2", 3: "9-10"}
    data = position("9-4", "2-9", E5_CHAIN, "9-10", hands=("6-4,2-3,7-2,10-4", "9-M"))
    after = turn(data, "CLOSE 6-4 @2", "NEW 7-2")
    assert ends(read(after)) == {0: "9-4", 1: "2-9", 2: "7-2", 3: "9-10"}


@pytest.mark.parametrize(
    ("hands", "seat", "following"),
    [
        (("2-5", "", "9-M"), 0, 2),
        (("2-5", "", "", "9-M"), 0, 3),
        (("9-M", "2-5", "", ""), 1, 0),
        (("", "9-M", "2-5", ""), 2, 1),
        (("2-5,2-6,2-7", "", ""), 0, 0),
        (("2-5,2-6,2-7", ""), 0, 0),
        (("", "2-5,2-6,2-7", "", ""), 1, 1),
        (("2-5", "9-M"), 0, 1),
    ],
)
def test_r14_seats_without_links_are_skipped(
    hands: tuple[str, ...], seat: int, following: int
) -> None:
    """R14: the first seat after the mover with links; the mover himself comes last."""
    data = position("4-8", "4-10", "4-6", hands=hands, seat=seat)
    moves = ["LOCK 2-5 @0"] + (["LOCK 2-6 @1"] if "2-6" in hands[seat] else [])
    after = turn(data, *moves)
    assert (after["seat"], after["move"]) == (following, 1)


def test_r14_a_lone_player_starts_a_new_turn() -> None:
    """R14, R15: the same seat again, with a fresh turn: its match is a first one."""
    data = position("7-4", "7-9", "9-10", hands=("4-8,9-6,10-4,8-6", ""))
    after = turn(data, "LOCK 4-8 @0", "LOCK 9-6 @1")
    assert (after["scores"], after["seat"], after["matched"]) == ([4, 0], 0, False)
    after = turn(after, "LOCK 10-4 @2")
    assert (after["scores"], after["matched"]) == ([5, 0], True)
    after = turn(after, "LOCK 8-6 @0")
    assert (after["scores"], after["seat"]) == ([8, 0], None)


def test_r14_refilled_before_the_next_seat_is_sought() -> None:
    """R8, R14: the mover's own refill keeps him in the round."""
    data = position("7-4", hands=("4-8", ""), supply={"bronze": [], "silver": [], "gold": ["6-8"]})
    after = turn(data, "LOCK 4-8 @0")
    assert (after["seat"], after["hands"]) == (0, [["6-8"], []])


def test_r7_r14_round_start_after_a_skip() -> None:
    """R7: the seat after the one that placed last, even if it was skipped before."""
    silver = deck("silver")
    for mover in range(3):
        hands = tuple("2-5,2-6,2-7" if seat == mover else "" for seat in range(3))
        supply = {"bronze": [], "silver": silver, "gold": []}
        data = position("2-8", "2-4", "4-6", hands=hands, seat=mover, supply=supply)
        data["round"] = "bronze"
        after = turn(data, "LOCK 2-5 @0", "LOCK 2-6 @1")
        assert (after["seat"], after["round"]) == (mover, "bronze")
        after = turn(after, "LOCK 2-7 @2")
        assert (after["seat"], after["round"]) == ((mover + 1) % 3, "silver")


# R15-R19: scores


@pytest.mark.slow
def test_r15_every_junction() -> None:
    """R10, R15: all pairs of types, at both ends; equal numbers bring a point."""
    type_pairs = link_pairs = 0
    for base in TYPES:
        for link in TYPES:
            if base == link and LINKS[link].copies < 2:
                continue
            other = "4-7" if "9-M" in (base, link) else "9-M"
            state = read(position(base, hands=(link, other)))
            texts = legal_texts(state)
            for verb, lock, key in (("KEY", link, base), ("LOCK", base, link)):
                pair = (key.split("-")[0], lock.split("-")[1])
                assert (f"{verb} {link} @0" in texts) == (pair in FITTING)
                if pair in FITTING:
                    after = play_text(clone(state), f"{verb} {link} @0")
                    assert score(after) == (pair[0] == pair[1])
            if f"LOCK {link} @0" in texts:
                type_pairs += 1
                link_pairs += LINKS[base].copies * (LINKS[link].copies - (base == link))
    assert type_pairs == 992 - 1, "5-M fits itself, but there is only one"
    assert link_pairs == 2830


@pytest.mark.parametrize(
    ("moves", "points"),
    [
        (["KEY 3-7 @0", "LOCK 4-8 @0"], [1, 4]),
        (["LOCK 2-4 @0", "LOCK 4-8 @0"], [0, 1]),
        (["LOCK 4-8 @0", "LOCK 2-4 @1"], [1, 1]),
        (["LOCK 4-8 @0", "LOCK 2-5 @0"], [1, 1]),
    ],
)
def test_r15_first_and_second_match(moves: list[str], points: list[int]) -> None:
    """R15: 1, then 3; a non-match before or after changes nothing."""
    after = position("7-4", "9-6", hands=("3-7,4-8,2-4,2-5", "9-M"))
    for text, expected in zip(moves, points, strict=True):
        after = turn(after, text)
        assert after["scores"] == [expected, 0]


def test_r15_new_never_scores_or_matches() -> None:
    """R15."""
    after = turn(position("7-6", "9-4", hands=("10-8,7-2,9-8", "9-M")), "NEW 10-8")
    assert (after["scores"], after["matched"]) == ([0, 0], False)


@pytest.mark.parametrize(
    ("text", "hand", "points", "captured"),
    [
        ("2-5,5-8,8-4,4-6", "2-8", 1 + 2 + 2 + 1 + 1 + 10, 0),  # neutral links don't spoil
        ("2-5@A,5-8@A,8-4@A,4-6@A", "2-8", 1 + 2 + 2 + 1 + 1 + 10, 0),
        ("2-5@B,5-8@A,8-4,4-6", "2-8", 1 + 2 + 2 + 1 + 1 + 1, 1),
        ("2-5@B,5-8@B,8-4@B,4-6@B", "2-8", 1 + 2 + 2 + 1 + 1 + 4, 4),
        ("2-5,5-8,8-4,4-6", "6-8", 1 + 2 + 2 + 1 + 3 + 10 + 4, 0),  # key matches lock 6
        ("3-5,5-8,8-4,4-6", "2-3", 1 + 2 + 2 + 1 + 1 + 10 + 4, 0),  # lock matches key 3
        ("8-4,4-5,5-8,8-6", "6-8", 2 + 1 + 2 + 3 + 3 + 10 + 8, 0),  # both
        ("5-8,8-4,4-5,5-2", "2-10", 2 + 2 + 1 + 1 + 2 + 10 + 4, 0),
        ("2-7,7-2,2-4,4-6", "2-8", 1 + 1 + 1 + 1 + 1 + 10 + 10, 0),  # diamond
        ("2-5,5-3,3-4,4-6", "2-8", 5 + 10 + 5, 0),  # ruby
        ("2-5,5-8,8-2,2-6", "2-8", 1 + 2 + 1 + 1 + 1 + 10 + 5, 0),  # sapphire
        ("4-7,7-6,6-8,8-2", "2-8", 2 + 2 + 3 + 1 + 1 + 10 + 5 + 5 + 4, 0),  # emerald, sapphire
        ("2-7@B,7-2@B,2-4@B,4-6@B", "2-8", 5 + 4 + 10, 4),  # stones whoever placed them
    ],
)
def test_r16_points_by_component(text: str, hand: str, points: int, captured: int) -> None:
    """R16: metal, capture or domination, stones, matches."""
    after = turn(position(text, hands=(f"{hand}", "9-M")), f"CLOSE {hand} @0")
    assert after["scores"] == [points, 0]
    assert after["captured"] == [captured, 0]
    assert (after["completed"], after["bracelets"]) == (1, [])


@pytest.mark.parametrize(
    ("text", "link", "points"),
    [
        ("2-5,5-9,9-4,4-10", "10-M", 9 + 2 + 10 + 4 - 4),
        ("2-5,5-9,9-4,4-10", "5-M", 9 + 3 + 10 - 4),
        ("2-4@B,4-6,6-4,2-10", "5-M", 5 + 3 + 1 - 4),
    ],
)
def test_r16_master_lock_of_the_closing_link(text: str, link: str, points: int) -> None:
    """R16: 4 off, and the lock M is no match; the key may be one."""
    after = turn(position(text, hands=(link, "8-2")), f"CLOSE {link} @0")
    assert after["scores"] == [points, 0]


def test_r16_master_lock_takes_no_7_9_10() -> None:
    """R10: these keys don't open M, at either end."""
    for base in ("7-4", "9-4", "10-4"):
        state = read(position(base, hands=("10-M,5-M", "9-M")))
        assert legal_texts(state) == {"NEW 10-M", "NEW 5-M"}
    assert legal_texts(read(position("7-M", hands=("7-2,9-8,10-9", "9-M")))) == {
        "NEW 7-2",
        "NEW 9-8",
        "NEW 10-9",
    }


def test_r16_three_players_capture_from_both() -> None:
    """R16: links of both opponents count, and domination needs neither."""
    text = "2-5@B,5-8@C,8-4@A,4-6"
    after = turn(position(text, hands=("2-8", "9-M", "9-M")), "CLOSE 2-8 @0")
    assert (after["scores"], after["captured"]) == ([9, 0, 0], [2, 0, 0])
    data = position(text, hands=("9-M", "9-M", "2-8"), seat=2)
    after = turn(data, "CLOSE 2-8 @0")
    assert (after["scores"], after["captured"]) == ([0, 0, 9], [0, 0, 2])


def test_r2_r16_four_players_are_two_teams() -> None:
    """R2, R16, R18: a partner's links are one's own; score and captures are the team's."""
    data = position("2-5@A,5-8@C,8-4@A,4-6", hands=("9-M", "9-M", "2-8", "7-M"), seat=2)
    after = turn(data, "CLOSE 2-8 @0")
    assert (after["scores"], after["captured"]) == ([17, 0], [0, 0])
    data = position("2-5@A,5-8@C,8-4@D,4-6", hands=("9-M", "9-M", "7-M", "2-8"), seat=3)
    after = turn(data, "CLOSE 2-8 @0")
    assert (after["scores"], after["captured"]) == ([0, 9], [0, 2])
    data = position("2-5@B,5-8@C,8-4@D,4-6", hands=("9-M", "2-8", "7-M", "9-M"), seat=1)
    data["captured"], data["scores"] = [1, 5], [3, 4]
    after = turn(data, "CLOSE 2-8 @0")
    assert (after["scores"], after["captured"]) == ([3, 12], [1, 6])
    assert after["seat"] == 2


def test_r17_completing_neither_earns_nor_consumes_the_bonus() -> None:
    """R17: match, CLOSE: 1 stays; CLOSE, match: 1; the matches inside CLOSE don't set the flag."""
    data = position(E5_CHAIN, "9-10", hands=("6-4,2-3,10-7,2-5", "9-M"))
    after = turn(data, "LOCK 10-7 @1", "CLOSE 6-4 @0")
    assert (after["scores"], after["matched"]) == ([36, 0], True)
    after = turn(data, "CLOSE 6-4 @0")
    assert (after["scores"], after["matched"]) == ([35, 0], False)
    after = turn(after, "NEW 2-3", "LOCK 10-7 @1")
    assert after["scores"] == [36, 0]


@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_r19_scores_never_fall_and_only_the_mover_scores(setup: Setup) -> None:
    """R19, R18: at every ply; captures don't fall either."""
    for seed, policy in enumerate([uniform, closing] * 4):
        before: Json = {}
        for state, _, _ in walk(setup, 1900 + seed, policy):
            data = GAME.to_dict(state)
            if before:
                change = np.subtract(data["scores"], before["scores"])
                taken = np.subtract(data["captured"], before["captured"])
                others = np.arange(setup.sides) != before["seat"] % setup.sides
                assert (change >= 0).all()
                assert (taken >= 0).all()
                assert not change[others].any()
                assert not taken[others].any()
                if data["completed"] > before["completed"]:
                    assert change.sum() >= 2
            before = data


# R20-R23: the end


@pytest.mark.parametrize("setup", first_quick(STANDARD, slow=0), ids=str)
def test_r20_ends_when_every_link_is_played(setup: Setup) -> None:
    """R20: 94 - 5 - top-ups placements; no hand, no supply; the bound holds."""
    for seed in range(20):
        state = play_random(start(setup, seed), np.random.default_rng(seed))
        data = GAME.to_dict(state)
        assert data["hands"] == [[]] * setup.num_players
        assert data["supply"] == {"bronze": [], "silver": [], "gold": []}
        assert (data["seat"], data["round"]) == (None, "gold")
        assert 85 <= state.ply <= 89 <= GAME.facts.max_length
        assert legal_list(state).size == 0
        assert (data["matched"], data["must_start"]) == (False, False)
    assert GAME.facts.typical_length == pytest.approx(89, abs=1)


@pytest.mark.parametrize("setup", first_quick(STANDARD, slow=0), ids=str)
def test_r20_one_bracelet_is_never_completed(setup: Setup) -> None:
    """R20: ten seven-keys and nine seven-locks leave an open key 7 at the end, always."""
    mask = np.zeros(GAME.num_actions, np.int8)
    rng = np.random.default_rng(16)
    for seed in range(80):
        state = start(setup, seed)
        while state.seat >= 0:
            GAME.rules.legal_actions(state, mask)
            actions = np.flatnonzero(mask)
            closes = actions[(actions < 360) & (actions % 3 == 2)]
            actions = closes if seed % 2 and len(closes) else actions
            GAME.rules.apply(state, int(actions[rng.integers(len(actions))]))
        keys = [
            bracelet["links"][0][0].split("-")[0] for bracelet in GAME.to_dict(state)["bracelets"]
        ]
        assert "7" in keys


@pytest.mark.parametrize(
    ("scores", "captured", "winners"),
    [
        ([50, 49], [0, 9], [0]),
        ([49, 50], [9, 0], [1]),
        ([50, 50], [2, 3], [1]),
        ([50, 50], [3, 2], [0]),
        ([50, 50], [3, 3], [0, 1]),
        ([50, 60, 60], [9, 1, 2], [2]),
        ([50, 60, 60], [9, 2, 2], [1, 2]),
        ([60, 60, 60], [1, 1, 1], [0, 1, 2]),
        ([60, 60, 10], [1, 1, 30], [0, 1]),
    ],
)
def test_r20_winners(scores: list[int], captured: list[int], winners: list[int]) -> None:
    """R20: score, then captures, else shared."""
    assert final(scores=scores, captured=captured)["winners"] == winners


@pytest.mark.parametrize(
    ("scores", "captured", "winners"),
    [
        ([50, 49], [0, 9], [0, 2]),
        ([50, 51], [5, 0], [1, 3]),
        ([50, 50], [2, 1], [0, 2]),
        ([50, 50], [1, 1], [0, 1, 2, 3]),
    ],
)
def test_r20_winning_teams(scores: list[int], captured: list[int], winners: list[int]) -> None:
    """R2, R20: both seats of the team win."""
    data = final(scores=scores, captured=captured, teams=True)
    assert data["winners"] == winners
    state = read(data)
    assert state.winners == sum(1 << seat for seat in winners)


@pytest.mark.parametrize("before", [85, 88, 89])
def test_r21_target_of_the_short_game(before: int) -> None:
    """R21: 90 is enough, and one point from a join ends it with a move outstanding."""
    options = {"short": True, "skip_forced": False}
    data = position("7-4", "9-10", hands=("4-10,10-7,2-3", "9-M"), options=options)
    data["scores"] = [before, 3]
    after = turn(data, "LOCK 4-10 @0")
    assert after["scores"] == [before + 1, 3]
    if before == 89:
        assert (after["seat"], after["winners"], after["move"]) == (None, [0], 1)
        assert after["hands"] == [["2-3", "10-7"], ["9-M"]]
        assert after["matched"] is False
    else:
        assert (after["seat"], after["winners"], after["move"]) == (0, [], 2)


def test_r21_second_move_of_the_short_game() -> None:
    """R21: `move` is that of the last placement, nothing is drawn any more."""
    options = {"short": True, "skip_forced": False}
    data = position(
        *("7-4", "9-10"),
        hands=("4-10,10-7,2-3", "9-M"),
        options=options,
        supply={"bronze": [], "silver": [], "gold": ["6-8", "10-8"]},
        scores=[86, 0],
    )
    after = turn(data, "LOCK 4-10 @0", "LOCK 10-7 @1")
    assert (after["scores"], after["seat"], after["move"]) == ([90, 0], None, 2)
    assert after["supply"]["gold"] == ["6-8", "10-8"]
    assert after["hands"] == [["2-3"], ["9-M"]]


def test_r21_teams_reach_the_target_together() -> None:
    """R2, R21: seat 2 scores for the side of seat 0."""
    data = position("7-4", hands=("9-M", "9-M", "4-10,2-3", "7-M"), seat=2, scores=[89, 70])
    data["options"]["short"] = True
    after = turn(data, "LOCK 4-10 @0")
    assert (after["seat"], after["winners"]) == (None, [0, 2])
    assert payoffs(read(after)) == [1, -1, 1, -1]


@pytest.mark.parametrize("setup", first_quick(SHORT, slow=0), ids=str)
def test_r21_short_games_end_at_once_or_in_full(setup: Setup) -> None:
    """R21: below 90 all the time; the first score of 90 or more ends it. Otherwise as R20."""
    reached = 0
    for seed in range(12):
        policy = hoarding if seed % 4 == 3 else closing
        previous: list[int] = []
        for state, _, _ in walk(setup, 2100 + seed, policy):
            data = GAME.to_dict(state)
            if max(data["scores"]) >= 90:
                assert data["seat"] is None
                assert max(previous) < 90
                assert all(data["scores"][w % setup.sides] >= 90 for w in data["winners"])
                reached += 1
            elif data["seat"] is None:
                assert not any(data["hands"])
            previous = data["scores"]
    assert reached >= 8


def test_r21_the_standard_game_has_no_target() -> None:
    """R20, R21: without the option scores pass 90 and the game goes on."""
    beyond = 0
    for state, oracle, _ in walk(Setup(2), 5, closing):
        beyond += max(oracle.scores) >= 90 and state.seat >= 0
    assert beyond > 5


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([9, 5], [1, -1]),
        ([5, 9], [-1, 1]),
        ([7, 7], [0, 0]),
        ([9, 5, 3], [1, -0.5, -0.5]),
        ([3, 9, 9], [-0.5, 0.25, 0.25]),
        ([9, 9, 9], [0, 0, 0]),
    ],
)
def test_r22_payoffs(scores: list[int], expected: list[float]) -> None:
    """R22: shares of the win, scaled so that a sole winner has 1; zero-sum."""
    state = read(final(scores=scores, captured=[0] * len(scores)))
    assert payoffs(state) == pytest.approx(expected, abs=1e-6)
    assert sum(payoffs(state)) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [([9, 5], [1, -1, 1, -1]), ([5, 9], [-1, 1, -1, 1]), ([7, 7], [0, 0, 0, 0])],
)
def test_r22_payoffs_of_teams(scores: list[int], expected: list[float]) -> None:
    """R22: n counts sides, so a team wins 1 and loses 1."""
    state = read(final(scores=scores, captured=[0, 0], teams=True))
    assert payoffs(state) == pytest.approx(expected, abs=1e-6)


def test_r22_margins() -> None:
    """R22: own score less the mean of the other sides', in hundreds, at any ply."""
    assert margins(read(final(scores=[30, 75], captured=[0, 0]))) == pytest.approx([-0.45, 0.45])
    three = position("4-7", hands=("2-3", "9-M", "9-M"), scores=[10, 40, 60])
    assert margins(read(three)) == pytest.approx([-0.4, 0.05, 0.35], abs=1e-6)
    four = position("4-7", hands=("2-3", "9-M", "9-M", "7-M"), scores=[10, 40])
    assert margins(read(four)) == pytest.approx([-0.3, 0.3, -0.3, 0.3], abs=1e-6)


def test_r23_every_action_is_a_placement() -> None:
    """R23: one link leaves the mover's hand with each action; ply counts them."""
    for setup in SETUPS:
        rng = np.random.default_rng(23)
        state = start(setup, 23)
        while state.seat >= 0:
            before = GAME.to_dict(state)
            action = int(rng.choice(legal_list(state)))
            text = GAME.notation.action_to_text(state, action)
            GAME.rules.apply(state, action)
            after = GAME.to_dict(state)
            assert after["ply"] == before["ply"] + 1
            hand = Counter(before["hands"][before["seat"]])
            hand[text.split()[1]] -= 1
            assert not hand - Counter(after["hands"][before["seat"]])
            assert sum(hand.values()) == len(before["hands"][before["seat"]]) - 1


# Actions, slots, options


def test_copies_are_offered_once() -> None:
    """The lowest place of identical links, for joins and for NEW."""
    data = position("4-8", "7-2,2-4,4-6,6-4", hands=("2-5,2-5,2-7,2-7,2-8", "9-M"))
    state = read(data)
    offered = legal_list(state)
    assert set((offered // 72).tolist()) == {0, 2, 4}
    assert_same(state, Oracle.read(data))
    data = position(hands=("2-5,2-5,2-7,2-7,2-8", "9-M"))
    assert legal_list(read(data)).tolist() == [360, 362, 364]
    after = turn(position(E5_CHAIN, hands=("2-5,2-5,6-4,2-3,2-3", "9-M")), "CLOSE 6-4 @0")
    assert legal_list(read(after)).tolist() == [360, 362]


def test_action_numbers() -> None:
    """(place * 24 + slot) * 3 + mode, and 360 + place."""
    assert GAME.num_actions == NUM_ACTIONS
    chains = [""] * 24
    chains[3], chains[23] = E5_CHAIN, "9-4"
    state = read(position(*chains, hands=("2-3,2-5,6-4", "9-M")))
    texts = {
        int(action): GAME.notation.action_to_text(state, int(action))
        for action in legal_list(state)
    }
    index_of = {"2-3": 0, "2-5": 1, "6-4": 2}
    assert texts == {
        (index_of["6-4"] * 24 + 3) * 3: "KEY 6-4 @3",
        (index_of["6-4"] * 24 + 3) * 3 + 1: "LOCK 6-4 @3",
        (index_of["6-4"] * 24 + 3) * 3 + 2: "CLOSE 6-4 @3",
        (index_of["2-3"] * 24 + 3) * 3 + 1: "LOCK 2-3 @3",
        (index_of["2-5"] * 24 + 3) * 3 + 1: "LOCK 2-5 @3",
        (index_of["2-3"] * 24 + 23) * 3 + 1: "LOCK 2-3 @23",
        (index_of["2-5"] * 24 + 23) * 3 + 1: "LOCK 2-5 @23",
    }
    assert texts.keys() == {72 * 2 + 9, 72 * 2 + 10, 72 * 2 + 11, 10, 82, 70, 142}


def test_places_are_sorted_again() -> None:
    """Places have no gaps, after a placement and after a refill."""
    supply = {"bronze": [], "silver": [], "gold": ["4-10", "10-9"]}
    data = position("4-8", "4-10", hands=("2-5,2-6,4-7,6-10", "9-M"), supply=supply)
    after = turn(data, "LOCK 2-5 @0")
    assert after["hands"][0] == ["2-6", "4-7", "6-10"]
    after = turn(after, "LOCK 2-6 @1")
    assert after["hands"][0] == ["4-7", "4-10", "6-10", "10-9"]


def test_set_aside_counts_as_move() -> None:
    """With 24 bracelets open a forced start leaves play, twice in this turn."""
    full = (
        "3-2 3-4 3-4 3-5 3-5 3-6 3-6 3-7 3-7 3-8 3-8 3-10 3-10 "
        "5-2 5-3 5-4 5-4 5-6 5-6 5-7 5-8 5-8 5-10 5-10"
    )
    data = position(*full.split(), hands=("9-4,9-8,9-8", "7-M"))
    state = read(data)
    assert legal_texts(state) == {"NEW 9-4", "NEW 9-8"}
    play_text(state, "NEW 9-8")
    after = GAME.to_dict(state)
    assert (after["seat"], after["move"], after["ply"]) == (0, 2, 61)
    assert after["set_aside"] == ["9-8"]
    play_text(state, "NEW 9-4")
    after = GAME.to_dict(state)
    assert (after["seat"], after["move"], after["ply"]) == (1, 1, 62)
    assert sorted(after["set_aside"]) == ["9-4", "9-8"]
    assert read(after).tobytes() == state.tobytes()
    assert (after["scores"], after["bracelets"]) == ([0, 0], data["bracelets"])
    assert visible(after) == visible(data)


def test_closing_with_24_open_frees_a_slot() -> None:
    """R12: the new bracelet goes where the completed one was."""
    ones = (
        "3-2 3-4 3-4 3-5 3-5 3-6 3-6 3-7 3-7 3-8 3-8 3-10 3-10 5-2 5-3 5-4 5-4 5-6 5-6 5-7 5-8 5-8"
    )
    data = position(*ones.split(), E5_CHAIN, "5-10", hands=("6-4,9-4", "7-M"))
    after = turn(data, "CLOSE 6-4 @22", "NEW 9-4")
    assert ends(read(after))[22] == "9-4"
    assert len(after["bracelets"]) == 24
    assert after["set_aside"] == []


def test_long_chains_are_kept_whole() -> None:
    """Nobody closes and everybody feeds one bracelet; bytes and JSON still agree."""
    longest = 0
    for seed in range(6):
        for state, oracle, _ in walk(Setup(2), seed, hoarding):
            length = max(map(len, oracle.board.values()))
            if length % 10 == 0 or oracle.seat is None:
                assert_same(state, oracle)
            longest = max(longest, length)
    assert longest > 60


def test_wide_tables() -> None:
    """More than ten bracelets open at once, in lock-step."""
    widest = 0
    for seed in range(20, 32):
        for state, oracle, _ in walk(Setup(4), seed, spoiling):
            if len(oracle.board) > widest:
                widest = len(oracle.board)
                assert_same(state, oracle)
    assert widest > 9


@pytest.mark.parametrize(
    ("players", "options", "name"),
    [
        (1, {}, "num_players"),
        (5, {}, "num_players"),
        (2, {"short": 1}, "short"),
        (2, {"short": None}, "short"),
        (2, {"target": 90}, "target"),
        (2, {"skip_forced": "no"}, "skip_forced"),
    ],
)
def test_bad_options(players: int, options: Json, name: str) -> None:
    """Two to four players, two options."""
    with pytest.raises(ValueError, match=rf"\b{name}\b"):
        GAME.blank(players, options)
    assert (GAME.min_players, GAME.max_players) == (2, 4)


def test_nothing_outside_the_record() -> None:
    """Two games played in turn don't disturb each other."""
    one, two = start(seed=1), start(Setup(4, short=True), seed=2)
    alone = [play_random(clone(s), np.random.default_rng(9), 50).tobytes() for s in (one, two)]
    rngs = [np.random.default_rng(9), np.random.default_rng(9)]
    for _ in range(50):
        for state, rng in zip((one, two), rngs, strict=True):
            play_random(state, rng, 1)
    assert [one.tobytes(), two.tobytes()] == alone


def test_observing_changes_nothing() -> None:
    """The contract: only new_game, apply and determinize write into a record."""
    for setup in SETUPS:
        state = play_random(start(setup, 1), np.random.default_rng(1), 40)
        before = state.tobytes()
        for seat in range(setup.num_players):
            observe(state, seat)
        assert state.tobytes() == before


def test_turn_order() -> None:
    """R2: seats in order while everybody has links."""
    for setup in STANDARD:
        seats: list[int] = []
        for _, oracle, _ in walk(setup, 3):
            begins = oracle.move == 1 and not oracle.must_start
            if oracle.seat is not None and begins and oracle.supply["bronze"]:
                seats.append(oracle.seat)
        assert all(two == (one + 1) % setup.num_players for one, two in pairwise(seats))
        assert len(seats) >= 4
