"""Linkage against its rules R1-R12, by hand-made cases and in lock-step with the oracle."""

from itertools import pairwise

import numpy as np
import pytest

from tests.driving import first_quick, same
from tests.linkage.helpers import (
    GAME,
    SETUPS,
    STANDARD,
    B,
    R,
    W,
    Y,
    clone,
    fitting_pairs,
    legal_list,
    legal_mask,
    margins,
    observe,
    payoffs,
    piece,
    place,
    play,
    play_random,
    play_text,
    start,
)
from tests.linkage.oracle import (
    COLOURS,
    MOVES,
    NUM_ACTIONS,
    Oracle,
    Place,
    PutHole,
    Setup,
    Take,
    count_groups,
    placement_cells,
    room_left,
)

# Found by random search: the first has passes after 18 and 20 pieces, the second one after 23.
TWO_PASSES = (
    "B c3-d3, B a2-b2, Y f3-g3, W d7-e7, W e4-e5, R c1-c2, Y f5-f6, B e2-f2, Y d5-d6, B a1-b1, "
    "W f1-g1, R g4-g5, Y c5-c6, Y d1-e1, W b4-c4, B g6-g7, B b7-c7, Y a4-a5, R a3-b3, W a6-a7, "
    "W b5-b6"
)
FULL_CENTRE_HOLE = (
    "B a4-a5, Y d5-e5, R f6-f7, B c1-c2, W b5-c5, W a2-b2, W c3-d3, B f1-f2, R a6-b6, Y f5-g5, "
    "Y c6-d6, Y b4-c4, W e4-f4, Y g6-g7, Y a3-b3, R c7-d7, R d1-e1, R e3-f3, R a1-b1, W e6-e7, "
    "W d2-e2, B a7-b7, B g3-g4, B g1-g2"
)
FULL_CORNER_HOLE = (
    "B e6-f6, W f1-g1, W b1-c1, Y e2-e3, R b6-c6, B e7-f7, W d1-e1, W a2-b2, B b4-b5, Y g6-g7, "
    "Y f3-g3, Y a4-a5, R f2-g2, B b7-c7, B f5-g5, R c2-d2, Y e4-e5, R c3-c4, R f4-g4, W c5-d5, "
    "B a6-a7, Y d3-d4, W a3-b3, R d6-d7"
)

# The three final boards of section 4: rows, groups, and an order of play that leads there.
FINAL_BOARDS = {
    "twelve groups": (
        "YYYYWYYWW.YWR..RRY.RRBB.XRRRR.BBR.BRYBBRWB.YYY.W.",
        12,
        (
            "W f6-f7, W e1-e2, B a4-b4, R g3-g4, Y d2-d3, R a5-a6, B c6-d6, W a2-b2, B c5-d5, "
            "R f2-f3, B g5-g6, Y b6-b7, Y a1-b1, R b3-c3, R e5-e6, Y f1-g1, Y c1-d1, Y c7-d7, "
            "R e4-f4"
        ),
    ),
    "eleven groups": (
        "YYBB.BBYYWWYB.YYWWYBBRYYXBBBRRRRRWYWWWBBWYWRRRRWW",
        11,
        (
            "Y e2-e3, W a6-a7, Y a1-b1, Y a3-b3, B f2-f3, R b7-c7, Y a2-b2, B g3-g4, W f7-g7, "
            "B e4-f4, R d7-e7, Y b4-c4, W c2-d2, B f1-g1, B c1-d1, R b5-c5, B d6-e6, Y g5-g6, "
            "R d5-e5, R a4-a5, W f5-f6, W b6-c6, W c3-d3"
        ),
    ),
    "full board": (
        "YYYYYBBRRYWYRRBBBWYWWWWBXYWWWWBBYRRWWRBRBYRRRBRBY",
        13,
        (
            "R a2-b2, R e6-e7, W a4-b4, Y e2-e3, B c3-c4, R a7-b7, B f1-g1, B d6-d7, W a5-b5, "
            "W f4-g4, W a6-b6, R f2-g2, R f5-g5, Y a1-b1, W f3-g3, Y d1-e1, Y g6-g7, B c5-d5, "
            "Y c1-c2, B f6-f7, W d2-d3, R c6-c7, B a3-b3, Y e4-e5"
        ),
    ),
}


def assert_same(state: np.record, oracle: Oracle) -> None:
    """Everything that the game says about a position equals the oracle's answer."""
    before = state.tobytes()
    same(legal_mask(state), oracle.mask())
    assert state.seat == (-1 if oracle.seat is None else oracle.seat)
    assert state.ply == oracle.ply
    assert GAME.to_dict(state) == oracle.to_dict()  # groups, supply, counter, pieces, winner
    winner = oracle.winner()
    assert state.winners == (0 if winner is None else 1 << winner)
    assert margins(state) == pytest.approx(oracle.margins(), abs=1e-6)
    if winner is not None:
        assert payoffs(state) == oracle.payoffs()
    for seat in (0, 1):
        flat = observe(state, seat)
        assert GAME.observation.spec.space().contains(flat.reshape(GAME.observation.spec.shape))
        for name, expected in oracle.observation(seat).items():
            seen = GAME.observation.spec.view(flat, name)
            same(seen, expected, words=f"{name} of seat {seat}")
    assert state.tobytes() == before, "looking at a position must not change it"


def follow(state: np.record, oracle: Oracle, moves: str) -> None:
    """Plays a written game on both sides, comparing at every ply."""
    for text in moves.split(", "):
        assert_same(state, oracle)
        action = GAME.notation.text_to_action(state, text)
        GAME.rules.apply(state, action)
        oracle.apply(action)
    assert_same(state, oracle)


# Lock-step


@pytest.mark.parametrize(
    "seeds", first_quick([range(2), range(2, 24)], slow=0), ids=["few", "more"]
)
@pytest.mark.parametrize("setup", first_quick(SETUPS), ids=str)
def test_r1_to_r12_random_games_agree_with_the_oracle(setup: Setup, seeds: range) -> None:
    """R1-R12 in uniform random games, compared at every ply."""
    rng = np.random.default_rng([setup.board_size, setup.free_hole, setup.threshold or 0])
    for seed in seeds:
        state, oracle = start(setup, seed), Oracle(setup, seed)
        assert_same(state, oracle)
        while oracle.seat is not None:
            actions = np.flatnonzero(oracle.mask())
            if seed % 2:  # one colour after the other: big groups
                actions = actions[actions // 84 == actions[0] // 84]
            action = int(rng.choice(actions))
            GAME.rules.apply(state, action)
            oracle.apply(action)
            assert_same(state, oracle)


def test_r6_small_boards_reach_passes_in_lock_step() -> None:
    """R6, R7: the lock-step above isn't vacuous; 4x4 games with passes agree as well."""
    setup, rng, passes = Setup(board_size=4, threshold=6), np.random.default_rng(6), 0
    for _ in range(24):
        state, oracle = start(setup), Oracle(setup)
        while oracle.seat is not None:
            action = int(rng.choice(np.flatnonzero(oracle.mask())))
            before = oracle.passes
            GAME.rules.apply(state, action)
            oracle.apply(action)
            if oracle.passes > before:
                assert_same(state, oracle)
        passes += oracle.passes
    assert passes >= 10


def test_observation_has_the_pieces_of_section_5() -> None:
    """Section 5: eighteen planes of small integers, in this order."""
    assert [(p.name, p.shape) for p in GAME.observation.spec.parts] == [
        ("colours", (4, 7, 7)),
        ("empty", (7, 7)),
        ("blocked", (7, 7)),
        ("counter", (7, 7)),
        ("forbidden", (7, 7)),
        ("supply", (4, 7, 7)),
        ("groups", (7, 7)),
        ("threshold", (7, 7)),
        ("pieces", (7, 7)),
        ("role", (7, 7)),
        ("to_act", (7, 7)),
        ("phase", (7, 7)),
    ]
    assert GAME.observation.spec.shape == (18, 7, 7)
    assert np.dtype(GAME.observation.spec.dtype) == np.int8


# R1-R3: the start


def test_r1_empty_board() -> None:
    """R1, section 3: 80 placements miss the centre hole, in four colours each."""
    state = start()
    mask = legal_mask(state)
    assert mask[:84].sum() == 80
    assert mask.sum() == 320
    blocked = piece(state, "blocked")
    assert blocked[3, 3] == 1
    assert blocked.sum() == 1


def test_r1_no_placement_covers_the_hole() -> None:
    """R1: exactly the four placements over the centre are missing, in each colour."""
    missing = np.flatnonzero(legal_mask(start())[:336] == 0)
    assert [action % 84 for action in missing] == [20, 21, 42 + 17, 42 + 24] * 4
    assert all((3, 3) in placement_cells(int(action) % 84) for action in missing)


def test_r2_supply() -> None:
    """R2: six of each colour, shared by both seats."""
    state = start()
    assert GAME.num_actions == NUM_ACTIONS
    for seat in (0, 1):
        assert (piece(state, "supply", seat) == 6).all()
    play(state, [place(R, (0, 0), (0, 1))])
    for seat in (0, 1):
        assert piece(state, "supply", seat)[:, 0, 0].tolist() == [6, 6, 5, 6]


def test_r3_more_moves_first() -> None:
    """R3: seat 0 is More and begins, then the seats alternate."""
    state = start()
    assert state.seat == 0
    assert GAME.to_dict(state)["more"] == 0
    assert (piece(state, "role", 0) == 1).all()
    assert (piece(state, "role", 1) == 2).all()
    play_text(state, "W a1-b1")
    assert state.seat == 1
    play_text(state, "W f7-g7")
    assert state.seat == 0


# R4-R5: the counter


@pytest.mark.parametrize(
    ("first", "second", "legal", "fitting"),
    [
        ((0, 0), (0, 1), 70, 76),
        ((0, 2), (0, 3), 66, 75),
        ((1, 1), (1, 2), 60, 73),
        ((2, 2), (2, 3), 61, 74),
        ((3, 1), (3, 2), 62, 74),
    ],
)
def test_r4_counts_after_one_piece(
    first: tuple[int, int], second: tuple[int, int], legal: int, fitting: int
) -> None:
    """R4, R5, section 4: the counter's neighbours are closed to every colour alike."""
    for colour in (W, B, R, Y):
        state = play(start(), [place(colour, first, second)])
        mask = legal_mask(state)
        assert mask.sum() == 4 * legal
        for other in (W, B, R, Y):
            same(mask[84 * other : 84 * other + 84], mask[:84])
        assert mask[:84].sum() == legal
        assert fitting_pairs(state) == fitting


def test_r4_diagonal_contact_is_allowed() -> None:
    """R4: only edges count, for either cell of either piece."""
    mask = legal_mask(play(start(), [place(W, (0, 0), (0, 1))]))
    assert mask[place(W, (1, 2), (2, 2))] == 1
    assert mask[place(W, (1, 1), (1, 2))] == 0
    assert mask[place(W, (0, 2), (1, 2))] == 0
    assert mask[place(W, (1, 0), (2, 0))] == 0


def test_r4_only_the_last_piece_restricts() -> None:
    """R4, R5: the counter moves on, and contact with older pieces is free."""
    state = play_text(start(), "W a1-b1, B f7-g7")
    mask = legal_mask(state)
    assert mask[place(W, (0, 2), (0, 3))] == 1
    assert mask[place(R, (1, 0), (1, 1))] == 1
    assert mask[place(R, (5, 5), (5, 6))] == 0
    assert mask[place(R, (6, 3), (6, 4))] == 0
    assert mask[place(R, (5, 3), (5, 4))] == 1
    assert np.argwhere(piece(state, "counter")).tolist() == [[6, 5], [6, 6]]
    assert np.argwhere(piece(state, "forbidden")).tolist() == [[5, 5], [5, 6], [6, 4]]


def test_r4_counter_beside_the_hole_and_the_edge() -> None:
    """R4: the hole is a missing cell; it neither touches nor counts as forbidden."""
    state = play(start(), [place(Y, (3, 1), (3, 2))])
    forbidden = np.argwhere(piece(state, "forbidden")).tolist()
    assert forbidden == [[2, 1], [2, 2], [3, 0], [4, 1], [4, 2]]
    assert legal_mask(state)[place(W, (3, 4), (3, 5))] == 1


def test_r4_exhausted_colour() -> None:
    """R4, section 2: six white pieces down, white is masked and the others are as before."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        state, oracle = start(), Oracle()
        for _ in range(6):
            whites = legal_list(state)
            action = int(rng.choice(whites[whites < 84]))
            GAME.rules.apply(state, action)
            oracle.apply(action)
        mask = legal_mask(state)
        expected = [
            oracle.fits(cells) and not set(cells) & oracle.forbidden()
            for cells in map(placement_cells, range(84))
        ]
        assert mask[:84].sum() == 0
        assert sum(expected) > 0
        for colour in (B, R, Y):
            same(mask[84 * colour : 84 * colour + 84], expected)
        assert piece(state, "supply")[:, 3, 3].tolist() == [0, 6, 6, 6]


# R6-R7: passes


def test_r6_r7_pass_on_a_small_board() -> None:
    """R6, R7: two pieces leave only touching room on 3x3, so seat 1 places twice running."""
    state = play_text(start(Setup(board_size=3, threshold=3)), "W a1-b1")
    assert state.seat == 1
    play_text(state, "B b3-c3")
    assert state.seat == 1, "seat 0 can't place: it passes"
    assert piece(state, "counter").sum() == 0
    assert piece(state, "forbidden").sum() == 0
    assert (piece(state, "to_act", 1) == 1).all()
    assert (piece(state, "to_act", 0) == 0).all()
    assert state.ply == 2, "a pass is no action"
    assert [GAME.notation.action_to_text(state, int(action)) for action in legal_list(state)] == [
        "R c1-c2",
        "R a2-a3",
        "Y c1-c2",
        "Y a2-a3",
    ]
    play_text(state, "R a2-a3")
    assert state.seat == 0, "the one who passed is next"
    assert np.argwhere(piece(state, "counter")).tolist() == [[1, 0], [2, 0]]
    play_text(state, "Y c1-c2")
    assert state.seat == -1
    assert GAME.to_dict(state)["groups"] == 4


def test_r6_never_voluntary_and_only_then() -> None:
    """R6: a seat moves twice running exactly where the counter leaves the other no placement."""
    rng, passes = np.random.default_rng(66), 0
    for _ in range(120):
        state, last = start(), None
        while state.seat >= 0:
            mover = state.seat
            action = int(rng.choice(legal_list(state)))
            before = piece(state, "empty")
            GAME.rules.apply(state, action)
            if state.seat < 0:
                continue
            last = placement_cells(action % 84)
            open_cells = {(int(r), int(c)) for r, c in np.argwhere(before)} - set(last)
            near = {
                c for c in open_cells if any(abs(c[0] - r) + abs(c[1] - k) == 1 for r, k in last)
            }
            stuck = not room_left(open_cells - near)
            assert (state.seat == mover) == stuck
            assert (piece(state, "counter").sum() == 0) == stuck
            passes += stuck
    assert passes >= 5


def test_r6_two_passes_in_one_game() -> None:
    """R6: a game with two passes, one for each seat."""
    state, seats = start(), []
    for text in TWO_PASSES.split(", "):
        seats.append(int(state.seat))
        play_text(state, text)
    twice = [index for index, (one, two) in enumerate(pairwise(seats), 1) if one == two]
    assert twice == [18, 20]
    assert [seats[index] for index in twice] == [1, 0]
    assert state.seat == -1
    follow(start(), Oracle(), TWO_PASSES)


def test_r6_full_board_after_a_pass() -> None:
    """R6, section 3: a 24th piece can follow a pass."""
    state, seats = start(), []
    for text in FULL_CENTRE_HOLE.split(", "):
        seats.append(int(state.seat))
        play_text(state, text)
    assert seats[-2:] == [0, 0]
    assert seats[:-1] == [0, 1] * 11 + [0]
    assert state.seat == -1
    assert piece(state, "pieces")[0, 0] == 24
    assert piece(state, "empty").sum() == 0
    assert piece(state, "supply").sum() == 0
    follow(start(), Oracle(), FULL_CENTRE_HOLE)


# R8-R10: the end


@pytest.mark.parametrize(("rows", "groups", "moves"), FINAL_BOARDS.values(), ids=FINAL_BOARDS)
def test_r8_r9_r10_final_boards(rows: str, groups: int, moves: str) -> None:
    """R8-R10: the boards of section 4 end the game with these groups and this winner."""
    *earlier, last = moves.split(", ")
    state = play_text(start(), ", ".join(earlier))
    assert state.seat >= 0
    assert state.winners == 0
    play_text(state, last)
    data = GAME.to_dict(state)
    assert "".join(data["board"]) == rows
    assert data["groups"] == groups
    assert (piece(state, "groups") == groups).all()
    assert state.seat == -1
    assert data["seat"] is None
    assert legal_mask(state).sum() == 0
    more_wins = groups >= 12
    assert data["winner"] == (0 if more_wins else 1)
    assert state.winners == (1 if more_wins else 2)
    assert payoffs(state) == ([1.0, -1.0] if more_wins else [-1.0, 1.0])
    score = (groups - 11.5) / 12.5
    assert margins(state) == pytest.approx([score, -score], abs=1e-6)
    follow(start(), Oracle(), moves)


@pytest.mark.parametrize(("rows", "groups", "moves"), FINAL_BOARDS.values(), ids=FINAL_BOARDS)
def test_r8_r9_oracle_on_the_final_boards(rows: str, groups: int, moves: str) -> None:
    """R8, R9: the oracle itself gives the printed values, from the cells alone."""
    cells = {divmod(index, 7): letter for index, letter in enumerate(rows)}
    coloured = {cell: COLOURS.index(k) for cell, k in cells.items() if k in COLOURS}
    assert count_groups(coloured) == groups
    assert not room_left({cell for cell, letter in cells.items() if letter == "."})
    assert len(coloured) == 2 * len(moves.split(", "))


def test_r8_ends_only_when_no_two_empty_cells_adjoin() -> None:
    """R8: checked on the board that the JSON shows, at every ply."""
    rng = np.random.default_rng(8)
    for _ in range(40):
        state = start()
        while state.seat >= 0:
            assert legal_mask(state).any()
            play(state, [int(rng.choice(legal_list(state)))])
            board = GAME.to_dict(state)["board"]
            empty = {(r, c) for r in range(7) for c in range(7) if board[r][c] == "."}
            assert (state.seat == -1) == (not room_left(empty))


@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_r8_ends_within_the_bound(setup: Setup) -> None:
    """R8: at most one piece per two cells, so at most 24 placements."""
    rng = np.random.default_rng(24)
    for _ in range(30):
        state = play_random(start(setup), rng)
        placed = int(piece(state, "pieces")[0, 0])
        assert state.seat == -1
        assert placed <= setup.board_size**2 // 2 <= 24
        assert state.ply == placed + (2 if setup.free_hole else 0)
        assert state.ply <= GAME.facts.max_length


def test_r9_joining_pieces() -> None:
    """R9: equal colours merge over edges, not over corners or the hole."""
    state = start()
    expected = 0
    for move, change in [
        ("W a1-b1", 1),
        ("W g6-g7", 1),
        ("W c1-d1", 0),  # extends the first
        ("W e6-f6", 0),  # extends the second
        ("R b2-c2", 1),  # touches white only
        ("B c4-c5", 1),
        ("R d3-e3", 1),  # only a corner of the other red piece
        ("Y a6-a7", 1),
        ("B e4-e5", 1),  # the hole lies between it and the other blue piece
        ("Y g1-g2", 1),
        ("B d5-d6", -1),  # joins both blue groups below the hole
    ]:
        play_text(state, move)
        expected += change
        assert GAME.to_dict(state)["groups"] == expected, move


@pytest.mark.parametrize(
    "moves",
    [
        "W a2-b2, W f1-g1, W c2-d2, Y a7-b7, W e1-e2",
        "W a1-a2, W g1-g2, W b1-c1, W f1-f2, Y a7-b7, W d1-e1",
    ],
)
def test_r9_groups_do_not_wrap_around(moves: str) -> None:
    """R9: g1 and a2 are no neighbours; the last piece joins two white groups, not one."""
    *earlier, last = moves.split(", ")
    state = play_text(start(), ", ".join(earlier))
    assert GAME.to_dict(state)["groups"] == 3
    play_text(state, last)
    assert GAME.to_dict(state)["groups"] == 2


@pytest.mark.parametrize("threshold", [1, 8, 12, 13, 14, 25, 30, 32767])
def test_r10_threshold_is_inclusive(threshold: int) -> None:
    """R10, section 6: More wins with exactly the threshold; the plane stops at 25."""
    _, groups, moves = FINAL_BOARDS["full board"]
    state = play_text(start(Setup(threshold=threshold)), moves)
    assert groups == 13
    assert GAME.to_dict(state)["winner"] == (0 if threshold <= 13 else 1)
    assert (piece(state, "threshold") == min(threshold, 25)).all()
    score = (13 - threshold + 0.5) / 12.5
    assert margins(state) == pytest.approx([score, -score], rel=1e-6)


# R11: the free hole


def test_r11_hole_then_role() -> None:
    """R11: seat 0 has the 49 cells and nothing else, seat 1 the two roles."""
    state = start(Setup(free_hole=True))
    assert state.seat == 0
    assert legal_list(state).tolist() == list(range(336, 385))
    assert (piece(state, "phase") == 1).all()
    assert piece(state, "blocked").sum() == 0
    play(state, [336])
    assert state.seat == 1
    assert legal_list(state).tolist() == [385, 386]
    assert (piece(state, "phase") == 2).all()
    assert (piece(state, "role", 0) == 0).all()
    assert (piece(state, "role", 1) == 0).all()
    assert np.argwhere(piece(state, "blocked")).tolist() == [[0, 0]]


@pytest.mark.parametrize("more", [0, 1])
def test_r11_more_moves_first_and_is_paid(more: int) -> None:
    """R11: whoever is More begins; if seat 1 took it, it acts twice running."""
    state = play(start(Setup(free_hole=True)), [336, 385 if more == 1 else 386])
    assert state.seat == more
    assert GAME.to_dict(state)["more"] == more
    for seat in (0, 1):
        assert (piece(state, "role", seat) == (1 if seat == more else 2)).all()
    play_text(state, FULL_CORNER_HOLE)
    groups = GAME.to_dict(state)["groups"]
    assert state.seat == -1
    assert groups >= 12
    assert payoffs(state) == ([1.0, -1.0] if more == 0 else [-1.0, 1.0])
    assert state.winners == 1 << more
    assert margins(state)[more] == pytest.approx((groups - 11.5) / 12.5, abs=1e-6)
    assert margins(state)[1 - more] == -margins(state)[more]


def test_r11_placements_by_hole() -> None:
    """R11, section 3: 82 placements with a corner hole, 81 with another border hole, else 80."""
    for hole in range(49):
        state = play(start(Setup(free_hole=True)), [336 + hole, 386])
        row, column = divmod(hole, 7)
        borders = (row in (0, 6)) + (column in (0, 6))
        assert legal_mask(state)[:84].sum() == 80 + borders
        assert legal_mask(state).sum() == 4 * (80 + borders)


def test_r11_masked_without_the_option() -> None:
    """Section 5: hole and role actions are numbered, but never legal in the standard game."""
    rng = np.random.default_rng(11)
    state = start()
    while state.seat >= 0:
        assert legal_mask(state)[336:].sum() == 0
        GAME.rules.apply(state, int(rng.choice(legal_list(state))))


def test_r11_odd_hole_leaves_at_most_23_pieces() -> None:
    """Section 3: with the hole on an odd cell one cell more is even than odd."""
    rng = np.random.default_rng(23)
    most = 0
    for hole in [cell for cell in range(49) if sum(divmod(cell, 7)) % 2 == 1]:
        for _ in range(12):
            state = play(start(Setup(free_hole=True)), [336 + hole, 386])
            most = max(most, int(piece(play_random(state, rng), "pieces")[0, 0]))
    assert most == 23


def test_r11_corner_hole_can_be_filled() -> None:
    """Section 3: an even hole allows 24 pieces, as in this game without a pass."""
    state = play_text(start(Setup(free_hole=True)), "hole a1, take fewer, " + FULL_CORNER_HOLE)
    assert state.seat == -1
    assert piece(state, "pieces")[0, 0] == 24
    oracle = Oracle(Setup(free_hole=True))
    follow(start(oracle.setup), oracle, "hole a1, take fewer, " + FULL_CORNER_HOLE)
    assert oracle.passes == 0


# R12: no chance


def test_r12_the_seed_changes_nothing() -> None:
    """R12: games differ in the stored seed only."""
    one, two = start(seed=1), start(seed=2)
    assert one.tobytes() != two.tobytes()
    two["seed"] = 1
    assert one.tobytes() == two.tobytes()


def test_r12_determinize_keeps_the_position() -> None:
    """R12: there is nothing to determinize; only the seed is new."""
    state = play_text(start(seed=1), "W a1-b1, B f7-g7")
    other = clone(state)
    GAME.determinize(other, 0, np.uint64(9))
    assert other.seed == 9
    other["seed"] = 1
    assert other.tobytes() == state.tobytes()


# Sections 5 and 6: numbers, options


def test_section_5_action_numbers() -> None:
    """Section 5: the corners of the table, written out."""
    assert MOVES[0] == Place(W, ((0, 0), (0, 1)))
    assert MOVES[41] == Place(W, ((6, 5), (6, 6)))
    assert MOVES[42] == Place(W, ((0, 0), (1, 0)))
    assert MOVES[83] == Place(W, ((5, 6), (6, 6)))
    assert MOVES[84 + 6] == Place(B, ((1, 0), (1, 1)))
    assert MOVES[335] == Place(Y, ((5, 6), (6, 6)))
    assert MOVES[336 + 10] == PutHole((1, 3))
    assert MOVES[385:] == (Take(True), Take(False))
    state = play(start(), [84 + 6])
    assert np.argwhere(piece(state, "colours")).tolist() == [[B, 1, 0], [B, 1, 1]]


@pytest.mark.parametrize(
    ("size", "placements", "supply", "holes"),
    [(3, 8, 1, 1), (4, 24, 2, 0), (5, 36, 3, 1), (6, 60, 5, 0), (7, 80, 6, 1)],
)
def test_section_6_small_boards(size: int, placements: int, supply: int, holes: int) -> None:
    """Section 6: the hole of odd sizes is in the middle, even sizes have none."""
    state = start(Setup(board_size=size, threshold=5))
    assert legal_mask(state).sum() == 4 * placements
    assert (piece(state, "supply") == supply).all()
    blocked = piece(state, "blocked")
    assert blocked[:size, :size].sum() == holes
    assert blocked.sum() == 49 - size * size + holes
    if holes:
        assert blocked[size // 2, size // 2] == 1
    free = start(Setup(free_hole=True, board_size=size, threshold=5))
    cells = [336 + 7 * row + column for row in range(size) for column in range(size)]
    assert legal_list(free).tolist() == cells
    assert (piece(free, "supply") == supply).all()


@pytest.mark.parametrize("size", [3, 4, 5, 6])
def test_section_6_colours_never_block(size: int) -> None:
    """R8, section 6: wherever two cells are open, some colour is left."""
    rng = np.random.default_rng(size)
    fullest = 0
    for _ in range(200):
        state = play_random(start(Setup(board_size=size, threshold=5)), rng)
        assert fitting_pairs(state) == 0
        fullest = max(fullest, int(piece(state, "pieces")[0, 0]))
    assert fullest == size * size // 2


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"board_size": 2, "threshold": 3}, "board_size"),
        ({"board_size": 8, "threshold": 3}, "board_size"),
        ({"board_size": 5}, "threshold"),
        ({"board_size": 5, "threshold": None}, "threshold"),
        ({"threshold": 0}, "threshold"),
        ({"threshold": 2.5}, "threshold"),
        ({"free_hole": 1}, "free_hole"),
        ({"colours": 5}, "colours"),
    ],
)
def test_section_6_bad_options(options: dict[str, object], name: str) -> None:
    """Section 6: an option outside its range is refused by name."""
    with pytest.raises(ValueError, match=rf"\b{name}\b"):
        GAME.blank(options=options)


def test_two_players_only() -> None:
    """R3: a game for two."""
    assert (GAME.min_players, GAME.max_players) == (2, 2)
    with pytest.raises(ValueError, match="players"):
        GAME.blank(3, STANDARD.kwargs())
