"""Boards as data: section 2's schema and validator, the shipped boards, and a user's own."""

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkzoo import get_game, make, make_vec
from linkzoo.core.game import Game
from linkzoo.games import link_o
from tests.driving import first_quick, same
from tests.link_o.helpers import game_of, legal_mask, legal_texts, start
from tests.link_o.oracle import LINKS, Board, Json, Oracle, Setup, board_json

BOARDS = Path(link_o.__file__).parent / "boards"
MIXED = board_json("mixed", (10, 12, 14, 16), [(2, 19), (14, 25), (30, 38), (46, 7)])
MINI = json.loads((BOARDS / "mini2x4a-h2.json").read_text())
LONELY = board_json("lonely", (4, 16, 16, 16), [(0, 4), (2, 36), (10, 20), (30, 44), (26, 50)])


def canonical() -> Json:
    """The usual board, as a file has it."""
    size, links = LINKS["ring4x16"]
    return board_json("mine", (size,) * 4, links)


def written(data: Any, folder: Path) -> str:
    """A board file."""
    path = folder / "board.json"
    path.write_text(json.dumps(data))
    return str(path)


def load(path: str) -> Game:
    """The game on a user's board."""
    return get_game("link_o", {"board": path})


# What the validator refuses


def next_astray(data: Json) -> None:
    data["spaces"][3]["next"] = 5


def prev_astray(data: Json) -> None:
    data["spaces"][3]["prev"] = 1


def next_out_of_range(data: Json) -> None:
    data["spaces"][63]["next"] = 64


def next_is_text(data: Json) -> None:
    data["spaces"][3]["next"] = "4"


def two_cycles(data: Json) -> None:
    for first, last in ((0, 7), (8, 15)):
        data["spaces"][last]["next"] = first
        data["spaces"][first]["prev"] = last


def cycle_over_two_circles(data: Json) -> None:
    for first, last in ((0, 31), (16, 15)):
        data["spaces"][last]["next"] = first
        data["spaces"][first]["prev"] = last


def partner_asymmetric(data: Json) -> None:
    data["spaces"][4]["partner"] = 24


def partner_in_the_same_circle(data: Json) -> None:
    for one, two in ((4, 8), (28, 48)):
        data["spaces"][one]["partner"], data["spaces"][two]["partner"] = two, one
    data["links"] = [[4, 8], [24, 32], [44, 52], [28, 48]]


def partner_is_regular(data: Json) -> None:
    data["spaces"][28] |= {"kind": "regular"}


def connector_without_a_partner(data: Json) -> None:
    for space in (4, 28):
        data["spaces"][space]["partner"] = None
    data["links"].remove([4, 28])


def connectors_side_by_side(data: Json) -> None:
    data["spaces"][8] |= {"kind": "regular", "partner": None}
    data["spaces"][5] |= {"kind": "connector", "partner": 48}
    data["spaces"][48]["partner"] = 5
    data["links"] = [[4, 28], [24, 32], [44, 52], [48, 5]]


def ids_with_a_gap(data: Json) -> None:
    data["spaces"][63]["id"] = 64


def ids_twice(data: Json) -> None:
    data["spaces"][63]["id"] = 62


def one_space_of_another_color(data: Json) -> None:
    data["spaces"][3]["color"] = "blue"


def two_circles_of_one_color(data: Json) -> None:
    for space in data["spaces"][16:32]:
        space["color"] = "red"


def unknown_color(data: Json) -> None:
    for space in data["spaces"][16:32]:
        space["color"] = "violet"


def three_colors(data: Json) -> None:
    data["colors"].pop()


def five_pips(data: Json) -> None:
    data["tiles"]["max_pip"] = 5


def three_linkos(data: Json) -> None:
    data["tiles"]["linko_per_color"] = 3


def no_pips(data: Json) -> None:
    data["tiles"]["max_pip"] = 0


def hands_of_nine(data: Json) -> None:
    data["hand"] = 9


def too_many_tiles_in_the_bag(data: Json) -> None:
    data["hand"] = 7


def too_few_tiles(data: Json) -> None:
    data |= copy.deepcopy(MINI)
    data["hand"] = 5


def no_such_option(data: Json) -> None:
    data["options"] = {"rounds": 1}


def option_out_of_range(data: Json) -> None:
    data["options"] = {"target": -1}


def option_of_no_kind(data: Json) -> None:
    data["options"] = {"target": [0]}


def no_length(data: Json) -> None:
    data["typical_length"] = 0


def wrong_schema(data: Json) -> None:
    data["schema"] = "linko-board/2"


def no_schema(data: Json) -> None:
    del data["schema"]


def unknown_kind(data: Json) -> None:
    data["spaces"][3]["kind"] = "bridge"


def no_spaces(data: Json) -> None:
    del data["spaces"]


def no_partner_field(data: Json) -> None:
    del data["spaces"][3]["partner"]


def links_astray(data: Json) -> None:
    data["links"].pop()


def ring_of_three(data: Json) -> None:
    data |= board_json("small", (3, 16, 16, 16), [(0, 3), (12, 20), (28, 40)])


def too_many_spaces(data: Json) -> None:
    data |= board_json("large", (17, 16, 16, 16), [(4, 29)])


def five_circles(data: Json) -> None:
    data |= board_json("five", (12, 12, 12, 12), [(3, 21)])
    for pos, space in enumerate(data["spaces"][44:48]):
        space |= {"circle": 4, "prev": 44 + (pos - 1) % 4, "next": 44 + (pos + 1) % 4}
    data["spaces"][36]["prev"], data["spaces"][43]["next"] = 43, 36


def three_circles(data: Json) -> None:
    data |= board_json("three", (16, 16, 16, 16), [(4, 28), (24, 32)])
    del data["spaces"][48:]


BROKEN: list[tuple[Callable[[Json], None], str]] = [
    (next_astray, "next|prev"),
    (prev_astray, "next|prev"),
    (next_out_of_range, "next"),
    (next_is_text, "next"),
    (two_cycles, "cycle|circle|ring|next|prev"),
    (cycle_over_two_circles, "cycle|circle|ring|next|prev"),
    (partner_asymmetric, "partner"),
    (partner_in_the_same_circle, "partner"),
    (partner_is_regular, "partner|connector|kind"),
    (connector_without_a_partner, "partner"),
    (connectors_side_by_side, "connector"),
    (ids_with_a_gap, "id"),
    (ids_twice, "id"),
    (one_space_of_another_color, "colou?r"),
    (two_circles_of_one_color, "colou?r"),
    (unknown_color, "colou?r|violet"),
    (three_colors, "circle|colou?rs"),
    (five_pips, "max_pip"),
    (three_linkos, "linko_per_color"),
    (no_pips, "max_pip"),
    (hands_of_nine, "hand"),
    (too_many_tiles_in_the_bag, "hand"),
    (too_few_tiles, "hand"),
    (no_such_option, "rounds"),
    (option_out_of_range, "target"),
    (option_of_no_kind, "target"),
    (no_length, "typical_length"),
    (wrong_schema, "schema"),
    (no_schema, "schema"),
    (unknown_kind, "kind"),
    (no_spaces, "spaces"),
    (no_partner_field, "partner"),
    (links_astray, "links?"),
    (ring_of_three, "ring|circle|size|4"),
    (too_many_spaces, "64"),
    (five_circles, "circles?|colou?rs?"),
    (three_circles, "circles?|colou?rs?"),
]


@pytest.mark.parametrize(
    ("change", "named"), BROKEN, ids=lambda value: getattr(value, "__name__", "")
)
def test_broken_boards_are_refused(
    change: Callable[[Json], None], named: str, tmp_path: Path
) -> None:
    """Section 2: the ValueError names the fault."""
    data = canonical()
    load(written(copy.deepcopy(data), tmp_path))
    change(data)
    (tmp_path / "broken").mkdir()
    path = written(data, tmp_path / "broken")
    with pytest.raises(ValueError, match=rf"(?i)\b({named})\b"):
        load(path)
    with pytest.raises(ValueError, match=rf"(?i)\b({named})\b"):
        make("link_o", board=path)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3"])
def test_files_that_are_no_boards(text: str, tmp_path: Path) -> None:
    path = tmp_path / "board.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="board"):
        load(str(path))


def test_no_such_board() -> None:
    """Neither a shipped name nor a file: the message names the shipped ones."""
    with pytest.raises(ValueError, match="ring4x12"):
        load("/no/such/file.json")
    with pytest.raises(ValueError, match="ring4x12"):
        load("ring4x13")


# What it accepts


@pytest.mark.parametrize(
    "data", first_quick([MIXED, canonical(), LONELY], 0, 1), ids=lambda data: data["name"]
)
def test_a_users_board_plays(data: Json, tmp_path: Path) -> None:
    """From a path, beside the oracle on the same file, a match with each number of players."""
    path = written(data, tmp_path)
    game, board = load(path), Board.read(data)
    assert game.num_actions == 26 * len(data["spaces"])
    for players in range(2, 7):
        state = game.blank(players, {"board": path, "max_rounds": 2})
        game.rules.new_game(state, np.uint64(players))
        oracle, rng = Oracle.begin(game.to_dict(state), board), np.random.default_rng(players)
        while not oracle.over:
            same(legal_mask(state, game=game), oracle.mask())
            moves = oracle.moves()
            move = moves[int(rng.integers(len(moves)))]
            game.rules.apply(state, game.notation.text_to_action(state, move))
            oracle.follow(move, game.to_dict(state))
            shown = game.to_dict(state)
            assert shown.pop("digest") == f"{game.fixed.digest:012x}"
            assert shown == oracle.to_dict()
            if oracle.ply % 16 == 0:
                assert game.from_dict(game.to_dict(state)).tobytes() == state.tobytes()


@pytest.mark.slow  # quick: a user's board plays as the oracle does
def test_a_copy_of_the_usual_board_is_the_same_game(tmp_path: Path) -> None:
    """Equal data, equal play: only the name of the board differs."""
    path = written(canonical(), tmp_path)
    mine, usual = load(path), game_of()
    one, two = mine.blank(3, {"board": path}), usual.blank(3)
    mine.rules.new_game(one, np.uint64(4))
    usual.rules.new_game(two, np.uint64(4))
    rng = np.random.default_rng(4)
    while two.seat >= 0:
        assert legal_texts(one, game=mine) == legal_texts(two, game=usual)
        here, there = mine.to_dict(one), usual.to_dict(two)
        del here["options"]["board"], there["options"]["board"], here["digest"]
        assert here == there
        action = int(rng.choice(np.flatnonzero(legal_mask(two))))
        mine.rules.apply(one, action)
        usual.rules.apply(two, action)
    assert one.seat < 0


@pytest.mark.slow  # quick: a user's board plays, and environments on it are copied
@pytest.mark.parametrize("name", first_quick(["ring4x12", "ring4x16x2"], 1, 0))
@pytest.mark.parametrize("players", first_quick(range(2, 7), slow=0))
def test_shipped_boards_play_whole_matches(name: str, players: int) -> None:
    """Through the environments, one and many."""
    env = make("link_o", players, board=name, illegal="raise")
    env.reset(seed=players)
    rng = np.random.default_rng(players)
    plies = 0
    while not all(env.terminations.values()):
        mask = env.infos[env.agent_selection]["action_mask"]
        assert mask.shape == (game_of(name).num_actions,)
        env.step(int(rng.choice(np.flatnonzero(mask))))
        plies += 1
    assert plies > 20
    assert sum(env.rewards.values()) == pytest.approx(0, abs=1e-6)
    vec = make_vec("link_o", 4, players, board=name, target=0)
    step, done = vec.reset(1), 0
    for _ in range(80):
        step = vec.step([int(rng.choice(np.flatnonzero(mask))) for mask in step.action_mask])
        done += int(step.done.sum())
    assert done >= 4


@pytest.mark.nightly  # quick: the usual board, in tests/common/test_state.py
def test_environments_on_a_users_board_can_be_copied(tmp_path: Path) -> None:
    """Pickle, clone and record keep the board and the position."""
    env = make("link_o", 3, board=written(MIXED, tmp_path))
    env.reset(seed=2)
    rng = np.random.default_rng(2)
    for _ in range(20):
        mask = env.infos[env.agent_selection]["action_mask"]
        env.step(int(rng.choice(np.flatnonzero(mask))))
    for other in (pickle.loads(pickle.dumps(env)), env.clone()):
        assert other.to_dict() == env.to_dict()
        for both in (env, other):
            assert both.get_state() == env.get_state()
        assert other.game.num_actions == env.game.num_actions == 26 * 52
        mask = env.infos[env.agent_selection]["action_mask"]
        action = int(np.flatnonzero(mask)[-1])
        mine = env.clone()
        mine.step(action)
        other.step(action)
        assert mine.get_state() == other.get_state()
    end = env.record().replay()
    assert [state.tobytes() for state in end][-1] == env.get_state()


def test_positions_belong_to_their_board() -> None:
    """A position of another board is refused, and the message names the board."""
    data = game_of("ring4x16").to_dict(start(Setup(2)))
    with pytest.raises(ValueError, match="board"):
        game_of("ring4x12").from_dict(data)


@pytest.mark.usefixtures("uncompiled")
def test_a_position_on_a_board_of_52_spaces(tmp_path: Path) -> None:
    """Spaces that the board hasn't are refused."""
    path = written(MIXED, tmp_path)
    game = load(path)
    state = game.blank(2, {"board": path})
    game.rules.new_game(state, np.uint64(1))
    data = game.to_dict(state)
    tile = next(t for t in data["bag"] if t.startswith("yellow"))
    data["bag"].remove(tile)
    data["board"]["52"] = {"tile": tile, "by": 0}
    with pytest.raises(ValueError, match="52"):
        game.from_dict(data)
