"""Hidden information: a seat sees nothing that it can't know; determinized worlds are fair.

Bounds of chi-square statistics are mean + 5.5 standard deviations: with fixed seeds and at these
degrees of freedom fair worlds exceed one with a chance below 10^-5.
"""

import json
from collections import Counter, defaultdict
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from linkzoo.core.game import Game
from tests.driving import first_quick
from tests.link_o.helpers import (
    GAME,
    clone,
    determinized,
    fill,
    game_of,
    legal_mask,
    legal_texts,
    midgame,
    observe,
    play_random,
    play_text,
    position,
    read,
    start,
)
from tests.link_o.oracle import (
    ALL_TILES,
    ORDER,
    Json,
    Oracle,
    Setup,
    by_type,
    type_of,
)

SETUPS = (
    *(Setup(players) for players in range(2, 7)),
    Setup(3, {"redeal_inference": True}),
    Setup(5, {"redeal_inference": True}),
    Setup(4, {"dig": "one", "open_connectors": "adjacent_only"}),
    Setup(3, {"board": "ring4x12"}),
    Setup(6, {"board": "ring4x16x2", "redeal_inference": True}),
)
PLIES = (0, 1, 2, 5, 9, 14, 20, 28, 37, 60, 110)


def game_for(setup: Setup) -> Game:
    return game_of(setup.options.get("board", "ring4x16"))


def seen(state: np.record, seat: int, game: Game = GAME) -> dict[str, Any]:
    """Everything that a seat can see."""
    mask = legal_mask(state, game=game).tobytes() if state.seat == seat else b""
    return {
        "observation": observe(state, seat, game=game).tobytes(),
        "mask": mask,
        "text": game.drawing.text(state, seat),
        "svg": game.draw_svg(state, seat),
        "json": json.dumps(game.to_dict(state, seat)),
    }


def revealed(state: np.record, seat: int, game: Game = GAME) -> bytes:
    """The privileged observation of a seat's critic."""
    spec, reveal = game.observation.privileged_spec, game.observation.reveal
    assert spec is not None
    assert reveal is not None
    out = np.full(spec.size, 77, spec.dtype)
    reveal(state, seat, out)
    assert spec.space().contains(out.reshape(spec.shape))
    return out.tobytes()


def everything(data: Json) -> Counter[str]:
    """All tiles of a position."""
    tiles = [*data["bag"], *(tile for hand in data["hands"] for tile in hand)]
    return Counter([*tiles, *(type_of(cell["tile"]) for cell in data["board"].values())])


def shuffled(data: Json, seat: int, seed: int) -> Json:
    """The position with hidden tiles dealt anew, by hand; the seat to act keeps a legal move."""
    rng = np.random.default_rng(seed)
    first = data["seat"]
    oracle = Oracle.read(data)
    keep = []
    if first is not None and first != seat:
        can = oracle.placeable_types(first)
        keep = [next(tile for tile in data["hands"][first] if tile in can)]
    others = [other for other in range(data["num_players"]) if other != seat]
    pool = [*data["bag"], *(tile for other in others for tile in data["hands"][other])]
    for tile in keep:
        pool.remove(tile)
    pool = [pool[number] for number in rng.permutation(len(pool))]
    made = json.loads(json.dumps(data))
    for other in others:
        mine = list(keep) if other == first else []
        missing = len(data["hands"][other]) - len(mine)
        made["hands"][other] = by_type(mine + pool[:missing])
        del pool[:missing]
    made["bag"] = pool
    made["seed"] = 1000 + seed
    return dict(made)


@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_no_seat_can_tell_its_worlds_apart(setup: Setup) -> None:
    """Observation, mask, text, picture and JSON of the seat are the same in determinized worlds."""
    game = game_for(setup)
    for plies in PLIES:
        state = midgame(setup, 1, plies)
        data = game.to_dict(state)
        for seat in range(setup.num_players):
            expected = seen(state, seat, game)
            for seed in (3, 4):
                other = determinized(state, seat, seed, game=game)
                assert seen(other, seat, game) == expected
                world = game.to_dict(other)
                assert everything(world) == Counter(ALL_TILES)
                assert world["seed"] == seed
                assert [len(hand) for hand in world["hands"]] == [
                    len(hand) for hand in data["hands"]
                ]
                assert all(hand == by_type(hand) for hand in world["hands"])
                assert legal_mask(other, game=game).any() == (state.seat >= 0)
                assert game.from_dict(world).tobytes() == other.tobytes()
            if state.seat >= 0:
                by_hand = game.from_dict(shuffled(data, seat, plies))
                assert seen(by_hand, seat, game) == expected


@pytest.mark.parametrize("players", first_quick(range(2, 7), slow=0))
def test_determinize_keeps_what_is_public(players: int) -> None:
    """Only other hands, the bag's order and the seed change."""
    for plies in PLIES:
        state = midgame(Setup(players), 2, plies)
        data = GAME.to_dict(state)
        for seat in range(players):
            world = GAME.to_dict(determinized(state, seat, 9))
            assert world["hands"][seat] == data["hands"][seat]
            for name in data.keys() - {"hands", "bag", "seed"}:
                assert world[name] == data[name]


@pytest.mark.parametrize("players", first_quick(range(2, 7), slow=0))
def test_the_tests_above_have_teeth(players: int) -> None:
    """Two hidden tiles swapped: their owner sees it, the critic is told, the seat sees nothing."""
    swaps = 0
    for plies in (1, 6, 15, 30):
        state = midgame(Setup(players), 3, plies)
        data = GAME.to_dict(state)
        seat = data["seat"]
        if seat is None:
            continue
        other = (seat + 1) % players
        before, owner, critic = seen(state, seat), seen(state, other), revealed(state, seat)
        hand = data["hands"][other]
        fresh = next((t for t in data["bag"] if t not in [*hand, *data["lacks"][other]]), None)
        if fresh is None:
            continue
        held = hand.pop()
        data["bag"][data["bag"].index(fresh)] = held
        data["hands"][other] = by_type([*hand, fresh])
        changed = GAME.from_dict(data)
        assert seen(changed, seat) == before
        mine = seen(changed, other)
        for name in ("observation", "text", "svg", "json"):
            assert mine[name] != owner[name], name
        assert revealed(changed, seat) != critic
        swaps += 1
    assert swaps >= 2


@pytest.mark.parametrize("players", first_quick(range(2, 7), slow=0))
def test_reveal_and_observation_determine_the_hands(players: int) -> None:
    """Worlds with other hands or another bag differ in the hidden part alone."""
    state = midgame(Setup(players), 4, 7)
    assert state.seat >= 0
    seat, hands_of = int(state.seat), dict[bytes, str]()
    for seed in range(60):
        other = determinized(state, seat, seed)
        hands = json.dumps(GAME.to_dict(other)["hands"])
        kept = hands_of.setdefault(revealed(other, seat), hands)
        assert kept == hands
    assert len(hands_of) > 50


def test_reveal_tells_the_bag() -> None:
    """Section 6: all hands and the bag's order; a swap in the bag alone is told."""
    state = midgame(Setup(3), 4, 7)
    data = GAME.to_dict(state)
    one = next(number for number, tile in enumerate(data["bag"]) if tile != data["bag"][0])
    data["bag"][0], data["bag"][one] = data["bag"][one], data["bag"][0]
    assert revealed(GAME.from_dict(data), int(state.seat)) != revealed(state, int(state.seat))


@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_determinize_does_not_look_at_the_truth(setup: Setup) -> None:
    """Two worlds that a seat can't tell apart become one world under the same seed."""
    game = game_for(setup)
    for plies in (1, 9, 20, 37):
        state = midgame(setup, 5, plies)
        if state.seat < 0:
            continue
        for seat in range(setup.num_players):
            for seed in range(3):
                twin = determinized(state, seat, 1000 + seed, game=game)
                one = determinized(state, seat, seed, game=game)
                assert determinized(twin, seat, seed, game=game).tobytes() == one.tobytes()


def test_determinize_is_a_function_of_its_seed() -> None:
    """Equal seeds equal worlds, others differ."""
    state = midgame(Setup(4), 2, 10)
    worlds = [determinized(state, 1, seed).tobytes() for seed in range(50)]
    assert [determinized(state, 1, seed).tobytes() for seed in range(50)] == worlds
    hands = {json.dumps(GAME.to_dict(GAME.from_bytes(world))["hands"]) for world in worlds}
    assert len(hands) > 45


# Distribution

OFF = ["red 3-4", "green 1-2", "yellow 0-1", "blue LINK-O"]


def small(seat: int, holders: list[int], off: list[str] = OFF, **changes: Any) -> Json:
    """A full board without four spaces: seat 0 holds one tile, the others and the bag the rest.

    `holders` are the sizes of the other hands; the first of them has a tile that can be placed.
    """
    full = fill(range(64), off)
    gone = [full.pop(space) for space in (2, 18, 40, 60)]
    tiles = [type_of(tile) for tile in gone]
    pool = [tiles[1], tiles[2], tiles[3], *off[1:]]
    hands = [[tiles[0], off[0]], *([pool.pop(0) for _ in range(size)] for size in holders)]
    return position(full, hands, seat=seat, bag=pool, **changes)


def worlds_of(data: Json) -> dict[Any, float]:
    """Section 6: each world that seat 0 may be in, with its chance."""
    oracle, acting = Oracle.read(data), data["seat"]
    sizes = [len(hand) for hand in data["hands"][1:]]
    pool = [*data["bag"], *(tile for hand in data["hands"][1:] for tile in hand)]
    starts: list[tuple[list[str], list[str]]] = [([], pool)]
    if acting != 0:
        can = oracle.placeable_types(acting)
        starts = []
        for number, tile in enumerate(pool):
            if tile in can:
                starts.append(([tile], pool[:number] + pool[number + 1 :]))
    probabilities: defaultdict[Any, float] = defaultdict(float)
    for given, rest in starts:
        orders = list(permutations(rest))
        for order in orders:
            remaining, hands = list(order), []
            for seat, size in enumerate(sizes, 1):
                mine = list(given) if seat == acting else []
                missing = size - len(mine)
                hands.append(tuple(by_type(mine + remaining[:missing])))
                del remaining[:missing]
            probabilities[tuple(hands), tuple(remaining)] += 1 / len(orders) / len(starts)
    return dict(probabilities)


def check_uniform(data: Json, per_world: int) -> None:
    expected = worlds_of(data)
    state = read(data)
    count = per_world * len(expected)
    counts: Counter[Any] = Counter()
    for seed in range(count):
        world = GAME.to_dict(determinized(state, 0, seed))
        counts[tuple(tuple(hand) for hand in world["hands"][1:]), tuple(world["bag"])] += 1
    assert set(counts) <= set(expected)
    statistic = sum(
        (counts[world] - count * chance) ** 2 / (count * chance)
        for world, chance in expected.items()
    )
    freedom = len(expected) - 1
    assert statistic < freedom + 5.5 * np.sqrt(2 * freedom)


@pytest.mark.parametrize("holders", first_quick([[1, 3], [2, 2], [1, 1, 2]], slow=0))
def test_uniform_when_the_observer_acts(holders: list[int]) -> None:
    """All deals of the hidden tiles are equally likely, the bag's order included."""
    check_uniform(small(0, holders), 5)


@pytest.mark.parametrize("holders", first_quick([[1, 3], [2, 2], [1, 1, 2]], slow=0))
def test_uniform_when_another_seat_acts(holders: list[int]) -> None:
    """First one tile that it can place, uniform over the tiles; then the rest uniformly."""
    check_uniform(small(1, holders), 5)


def test_two_equal_tiles_count_twice() -> None:
    """Uniform over tiles, not types: two unseen LINK-Os of a colour are two of the first tiles."""
    off = ["red 3-4", "blue LINK-O", "blue LINK-O", "green 1-2", "yellow 0-1"]
    full = fill([space for space in range(64) if space not in (17, 18, 19)], off)
    on_board = Counter(type_of(tile) for tile in full.values())
    one, two = by_type((Counter(ALL_TILES) - on_board - Counter(off)).elements())
    data = position(full, [off[:1], off[1:3], off[3:4]], seat=1, bag=[one, off[4], two])
    check_uniform(data, 5)


@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_whoever_acts_can_place_in_every_world(setup: Setup) -> None:
    """Also where hardly anything fits."""
    game = game_for(setup)
    for plies in range(0, 45, 4):
        state = midgame(setup, 8, plies)
        if state.seat < 0:
            continue
        for seat in range(setup.num_players):
            for seed in range(4):
                assert legal_mask(determinized(state, seat, seed, game=game), game=game).any()


# What others certainly lack


def breaches(world: Json, seat: int) -> int:
    """Tiles of other hands that `lacks` says aren't there; a tile just dug is no breach."""
    count = 0
    for other in range(world["num_players"]):
        if other == seat:
            continue
        wrong = [t for t in world["hands"][other] if t in world["lacks"][other]]
        exempt = other == world["seat"] and world["dug"][other] > 0
        count += max(0, len(wrong) - exempt)
    return count


@pytest.mark.parametrize("players", first_quick(range(2, 7), slow=0))
def test_determinize_inference(players: int) -> None:
    """With the option no hand holds a type that it certainly lacks; without it some do."""
    counts = {True: 0, False: 0}
    for inference in counts:
        setup = Setup(players, {"redeal_inference": inference, "max_rounds": 1, "target": 400})
        for plies in range(6, 46, 3):
            state = midgame(setup, 9, plies)
            if state.seat < 0:
                continue
            assert breaches(GAME.to_dict(state), -1) == 0
            for seat in range(players):
                for seed in range(4):
                    counts[inference] += breaches(
                        GAME.to_dict(determinized(state, seat, seed)), seat
                    )
    assert counts[True] == 0
    assert counts[False] > 0


def test_determinize_inference_leaves_every_other_world() -> None:
    """All worlds that respect `lacks` come, and no other."""
    data = small(0, [1, 3], options={"redeal_inference": True})
    unseen = [*data["bag"], *data["hands"][1], *data["hands"][2]]
    never = [tile for tile in by_type(unseen) if tile not in data["hands"][2]][:1]
    data["lacks"] = [[], [], never]
    expected = {world for world in worlds_of(data) if never[0] not in world[0][1]}
    state = read(data)
    worlds = set()
    for seed in range(40 * len(expected)):
        world = GAME.to_dict(determinized(state, 0, seed))
        worlds.add((tuple(tuple(hand) for hand in world["hands"][1:]), tuple(world["bag"])))
    assert worlds == expected


# Chance to come


def test_the_future_is_fresh() -> None:
    """In a determinized world the next round's bag is that of the new seed."""
    hands = [["red 2-2"], ["yellow 3-4"], ["yellow 1-2"]]
    board = fill([s for s in range(16, 48) if s != 28], hands[1] + hands[2], {28: "blue 2-2"})
    state = read(position(board, hands))
    futures = set()
    for seed in range(20):
        after = GAME.to_dict(play_text(determinized(state, 0, seed), "@4 red 2-2"))
        assert after["round"] == 2
        futures.add(json.dumps(after["hands"]))
    assert len(futures) == 20


def test_random_starters_are_fresh() -> None:
    """R3: who starts the next round isn't known either."""
    hands = [["red 2-2"], ["yellow 3-4"], ["yellow 1-2"]]
    board = fill([s for s in range(16, 48) if s != 28], hands[1] + hands[2], {28: "blue 2-2"})
    state = read(position(board, hands, options={"next_starter": "random"}))
    starters = {
        GAME.to_dict(play_text(determinized(state, 0, seed), "@4 red 2-2"))["starter"]
        for seed in range(40)
    }
    assert starters == {0, 1, 2}


def test_the_determinized_world_is_played_on() -> None:
    """The next tiles dug are those of the determinized bag."""
    digs = 0
    for seed in range(12):
        state = determinized(midgame(Setup(2), 1, 4), 0, seed)
        before = GAME.to_dict(state)
        rng = np.random.default_rng(seed)
        while state.seat >= 0:
            play_random(state, rng, 1)
            after = GAME.to_dict(state)
            if state.seat < 0 or after["round"] != before["round"]:
                break
            used = len(before["bag"]) - len(after["bag"])
            assert after["bag"] == before["bag"][used:]
            came = sum((Counter(hand) for hand in after["hands"]), Counter())
            gone = sum((Counter(hand) for hand in before["hands"]), Counter())
            assert not came - gone - Counter(before["bag"][:used])
            digs += used
            before = after
    assert digs > 20


def test_seats_views_hide_what_they_should() -> None:
    """Section 6: other hands and the bag are counts; no seed, no ply."""
    for players in range(2, 7):
        state = midgame(Setup(players), 1, 13)
        whole = GAME.to_dict(state)
        for seat in range(players):
            view = GAME.to_dict(state, seat)
            assert view["bag"] == len(whole["bag"])
            for other, hand in enumerate(whole["hands"]):
                assert view["hands"][other] == (hand if other == seat else len(hand))
            assert set(whole) - set(view) == {"seed", "ply"}
            text = GAME.drawing.text(state, seat)
            assert isinstance(text, str)
            assert GAME.draw_svg(state, seat).lstrip().startswith("<svg")


def test_legal_moves_follow_from_the_seats_view() -> None:
    """A seat's own hand and the board give its moves."""
    for players in range(2, 7):
        state = midgame(Setup(players), 6, 21)
        if state.seat < 0:
            continue
        view = GAME.to_dict(state, int(state.seat))
        hands = [hand if isinstance(hand, list) else [] for hand in view["hands"]]
        oracle = Oracle.read(view | {"hands": hands, "bag": [], "seed": 0, "ply": 0})
        assert set(oracle.moves()) == legal_texts(state)
        assert clone(state).tobytes() == state.tobytes()
        assert all(tile in ORDER for tile in view["hands"][int(state.seat)])
    assert start().seat >= 0
