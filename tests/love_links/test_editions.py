"""Sets of links: fewer links, smaller hands, fewer bracelets at the start, shorter bracelets."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from linkzoo import Game, get_game, make
from linkzoo.games import love_links
from linkzoo.games.love_links.components import TYPES
from linkzoo.games.love_links.links import load_links
from tests.driving import legal_mask, same
from tests.love_links.helpers import GAME, start
from tests.love_links.oracle import Edition, Json, Oracle

FOLDER = Path(love_links.__file__).parent / "link_sets"
EDITIONS = list(GAME.editions)
# Three rounds with hands of different sizes, and bracelets of four.
ROUNDS: Json = {
    "schema": "love-links/1",
    "name": "rounds",
    "links": {"2-4": 2, "2-6": 2, "3-6": 2, "2-8": 2, "2-10": 2, "4-8": 2, "5-10": 2, "6-8": 1},
    "hand_sizes": [3, 2, 1],
    "open_at_start": 1,
    "closed_length": 4,
    "typical_length": 14,
}


def written(data: Json, folder: Path) -> str:
    """A file of links."""
    path = folder / "links.json"
    path.write_text(json.dumps(data))
    return str(path)


def test_the_editions_are_sets_of_links() -> None:
    """Each is one option's value; the standard game isn't among them."""
    assert [GAME.editions[name] for name in EDITIONS] == [{"link_set": name} for name in EDITIONS]
    for name in EDITIONS:
        links = load_links(name)
        assert sum(links.copies) == 8
        assert (set(links.hand_sizes), links.open_at_start, links.closed_length) == ({2}, 2, 3)
    assert "standard" not in EDITIONS


def compare(game: Game, edition: Edition, path: str, games: int) -> None:
    """Plays games on both sides: masks, observations, JSON and records."""
    for seed in range(games):
        players = game.min_players + seed % (game.max_players - 1)
        state = game.blank(players)
        game.rules.new_game(state, np.uint64(seed))
        oracle = Oracle.read(game.to_dict(state), edition)
        rng = np.random.default_rng(seed)
        while oracle.seat is not None:
            data = game.to_dict(state)
            assert game.from_dict(data).tobytes() == state.tobytes()
            data.pop("digest", None)
            expected = oracle.to_dict()
            expected["options"]["link_set"] = path
            assert data == expected
            moves = oracle.moves()
            same(legal_mask(state, game=game), oracle.mask())
            seen = np.empty(game.observation.spec.size, np.int16)
            for seat in range(players):
                game.observation.observe(state, seat, seen)
                for part, values in oracle.observation(seat).items():
                    same(game.observation.spec.view(seen, part), values)
            move = moves[int(rng.integers(len(moves)))]
            game.rules.apply(state, game.notation.text_to_action(state, str(move)))
            oracle.apply(move)
        assert game.to_dict(state)["winners"] == oracle.winners()


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", EDITIONS)
def test_an_edition_plays_as_the_oracle_does(name: str) -> None:
    """R1, R5, R6, R10, R16."""
    edition = Edition.read(json.loads((FOLDER / f"{name}.json").read_text()))
    compare(get_game("love_links", {"link_set": name}), edition, name, 3)


@pytest.mark.usefixtures("uncompiled")
def test_a_users_links_play_as_the_oracle_does(tmp_path: Path) -> None:
    """R5, R6: three rounds, each with hands of another size."""
    path = written(ROUNDS, tmp_path)
    game = get_game("love_links", {"link_set": path})
    assert game.players == (2, 2)
    compare(game, Edition.read(ROUNDS), path, 1)
    state = game.blank()
    game.rules.new_game(state, np.uint64(0))
    assert game.to_dict(state)["digest"] == game.digest


def test_standard_links_are_not_named() -> None:
    """Records and JSON of the standard game are as they were before there were editions."""
    assert get_game("love_links", {"link_set": "standard"}) is GAME
    state = start()
    assert "link_set" not in GAME.to_dict(state)["options"]
    assert "link_set" not in GAME.chosen_options(state)
    assert "digest" not in (GAME.state.names or ())
    assert GAME.digest is None
    assert GAME.to_dict(GAME.blank(2, {"link_set": "standard"})) == GAME.to_dict(GAME.blank(2))
    with pytest.raises(ValueError, match="link_set"):
        GAME.blank(2, {"link_set": "mini8"})


@pytest.mark.usefixtures("uncompiled")
def test_positions_and_records_belong_to_their_links() -> None:
    """The option is part of JSON, of records and of a copy of the environment."""
    env = make("love_links", 2, link_set="mini8", illegal="raise")
    env.reset(seed=3)
    env.step(int(np.flatnonzero(env.infos[env.agent_selection]["action_mask"])[0]))
    assert env.to_dict()["options"]["link_set"] == "mini8"
    assert [state.tobytes() for state in env.record().replay()][-1] == env.get_state()
    record = env.record().to_dict()
    assert record["options"]["link_set"] == "mini8"
    assert type(env.record()).from_dict(record).to_dict() == record
    other = get_game("love_links", {"link_set": "mini8-mixed"})
    with pytest.raises(ValueError, match="link_set"):
        other.from_dict(env.to_dict())
    with pytest.raises(ValueError, match="link_set"):
        other.from_bytes(env.get_state())
    with pytest.raises(ValueError, match="unknown fields"):
        GAME.from_dict(env.to_dict())


@pytest.mark.usefixtures("uncompiled")
def test_links_that_an_edition_lacks_are_refused() -> None:
    """R1: in a hand, in a supply and in a bracelet; nor is a hand larger than the hands are."""
    game = get_game("love_links", {"link_set": "mini8"})
    state = game.blank(2)
    game.rules.new_game(state, np.uint64(1))
    data = game.to_dict(state)
    wrong = json.loads(json.dumps(data))
    wrong["hands"][0] = ["2-3", "2-7"]
    with pytest.raises(ValueError, match="hands"):
        game.from_dict(wrong)
    wrong = json.loads(json.dumps(data))
    wrong["hands"][0].append(wrong["supply"]["bronze"].pop())
    with pytest.raises(ValueError, match="hand"):
        game.from_dict(wrong)
    other = state.copy()
    other.hands[0, 1] = TYPES - 1
    with pytest.raises(ValueError, match="copies"):
        game.from_bytes(other.tobytes())
    for place in (8, -1):  # the places behind its eight links stay empty
        other = state.copy()
        other.supply[place] = 0
        with pytest.raises(ValueError, match="supply: more links than the game has"):
            game.from_bytes(other.tobytes())


def no_schema(data: Json) -> None:
    del data["schema"]


def no_such_link(data: Json) -> None:
    data["links"]["2-2"] = 1


def too_many_copies(data: Json) -> None:
    data["links"]["2-4"] = 3


def hands_of_six(data: Json) -> None:
    data["hand_sizes"][0] = 6


def two_rounds(data: Json) -> None:
    data["hand_sizes"].pop()


def closed_too_early(data: Json) -> None:
    data["closed_length"] = 2


def none_open(data: Json) -> None:
    data["open_at_start"] = 0


def no_bronze(data: Json) -> None:
    data["links"] = {"2-9": 2, "2-10": 2}


def too_few(data: Json) -> None:
    data["hand_sizes"][2] = 2


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (no_schema, "schema"),
        (no_such_link, "2-2"),
        (too_many_copies, "2-4"),
        (hands_of_six, "hand_sizes"),
        (two_rounds, "hand_sizes"),
        (closed_too_early, "closed_length"),
        (none_open, "open_at_start"),
        (no_bronze, "bronze"),
        (too_few, "two full hands"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_broken_links_are_refused(
    change: Callable[[Json], None], named: str, tmp_path: Path
) -> None:
    data = json.loads(json.dumps(ROUNDS))
    change(data)
    with pytest.raises(ValueError, match=named):
        get_game("love_links", {"link_set": written(data, tmp_path)})


def test_no_such_links() -> None:
    """The message names the sets of the package."""
    with pytest.raises(ValueError, match="mini8"):
        get_game("love_links", {"link_set": "mini9"})
