"""Small editions: some of the cards, fewer picks or none, fewer turns, one play phase."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from linkzoo import get_game, make
from linkzoo.games import love_formula
from linkzoo.games.love_formula.cards import STANDARD, Course, load_cards
from tests.love_formula.helpers import CARDS, GAME, JOB, Both, asked_all
from tests.love_formula.oracle import Json, read_edition

FOLDER = Path(love_formula.__file__).parent / "editions"
EDITIONS = list(GAME.editions)


def data_of(name: str) -> Json:
    """The file of an edition."""
    data: Json = json.loads((FOLDER / f"{name}.json").read_text())
    return data


def test_the_editions_are_tables() -> None:
    """Each is one option's value: 8 cards and the Part-time Job, of every kind."""
    assert [GAME.editions[name] for name in EDITIONS] == [{"cards": name} for name in EDITIONS]
    courses = {}
    for name in EDITIONS:
        cards = load_cards(name)
        assert {card.kind for card in cards.cards} == set(range(5))
        assert sum(card.copies for card in cards.cards if not card.job) == 8
        courses[name] = cards.course
    assert courses == {
        "mini8": Course(2, False, 1, 1, 11),
        "mini8-draft": Course(2, True, 1, 1, 17),
    }
    assert load_cards(STANDARD).course == Course()


@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", EDITIONS)
def test_an_edition_plays_as_the_oracle_does(name: str) -> None:
    """R3, R4, R5, R7: from every deal to the end, with every decision asked."""
    game = get_game("love_formula", {"cards": name})
    table = read_edition(data_of(name), CARDS)
    for seed in range(4):
        players = game.min_players + seed % (game.max_players - 1)
        both = Both.begin(asked_all(players, cards=name), seed, game, table)
        rng = np.random.default_rng(seed)
        while both.oracle.seat is not None:
            moves = both.oracle.moves()
            both.one(moves[int(rng.integers(len(moves)))])
            assert game.from_dict(both.data).tobytes() == both.state.tobytes()
        assert both.data["turn"] == 0
        assert both.data["half"] == 1


@pytest.mark.usefixtures("uncompiled")
def test_without_drafts_hands_are_dealt() -> None:
    """R4, R5: the game begins with a selection, and each seat has two cards and its job."""
    for seed in range(4):
        env = make("love_formula", cards="mini8", skip_forced=False)
        env.reset(seed=seed)
        data = env.to_dict()
        assert (data["stage"], data["decision"], data["turn"]) == ("select", "SELECT", 0)
        assert [len(hand) for hand in data["hands"]] == [3, 3]
        assert all(JOB in hand for hand in data["hands"])
        assert len(data["deck"]) == 4
        assert "digest" not in data
        wrong = json.loads(json.dumps(data))
        wrong["stage"] = "draft"
        with pytest.raises(ValueError, match="stage"):
            env.game.from_dict(wrong)


@pytest.mark.usefixtures("uncompiled")
def test_halves_and_couples_that_an_edition_lacks_are_refused() -> None:
    """R3: a second half; and couples beyond the table's, in the record."""
    game = get_game("love_formula", {"cards": "mini8"})
    state = game.blank()
    game.rules.new_game(state, np.uint64(2))
    other = state.copy()
    other.half = 2
    other.turn = 2
    with pytest.raises(ValueError, match="half"):
        game.from_bytes(other.tobytes())
    other = state.copy()
    other.owner[2] = 0
    with pytest.raises(ValueError, match="couple"):
        game.from_bytes(other.tobytes())
    texts = {game.notation.action_to_text(state, action) for action in range(game.num_actions)}
    assert len(texts) == game.num_actions


@pytest.mark.usefixtures("uncompiled")
def test_two_halves_without_drafts(tmp_path: Path) -> None:
    """R3, R17: hands are discarded and dealt anew; R23: the discard pile is shuffled."""
    data = data_of("mini8") | {"halves": 2, "turns": 1}
    path = written(data, tmp_path)
    game = get_game("love_formula", {"cards": path})
    assert game.players == (2, 2)
    state = game.blank(2, {"skip_forced": False})
    game.rules.new_game(state, np.uint64(0))
    rng = np.random.default_rng(0)
    halves = set()
    mask = np.zeros(game.num_actions, np.int8)
    while state.seat >= 0:
        halves.add(int(state.half))
        assert game.from_bytes(state.tobytes()) == state
        game.rules.legal_actions(state, mask)
        game.rules.apply(state, int(rng.choice(np.flatnonzero(mask))))
    assert halves == {1, 2}
    assert game.to_dict(state)["digest"] == game.digest


def written(data: Json, folder: Path) -> str:
    """A file of an edition."""
    path = folder / "edition.json"
    path.write_text(json.dumps(data))
    return str(path)


def no_schema(data: Json) -> None:
    del data["schema"]


def no_such_card(data: Json) -> None:
    data["cards"]["Picnic"] = 1


def too_many_copies(data: Json) -> None:
    data["cards"]["Sabotage"] = 3


def no_reaction(data: Json) -> None:
    del data["cards"]["Guardian Friend"]


def lacking_requirement(data: Json) -> None:
    del data["cards"]["Stuffed Animal"]


def thirteen_picks(data: Json) -> None:
    data["picks"] = 13


def no_turns(data: Json) -> None:
    data["turns"] = 0


def three_halves(data: Json) -> None:
    data["halves"] = 3


def drafted_twice(data: Json) -> None:
    data["drafted"] = 2


def too_few_cards(data: Json) -> None:
    data["picks"] = 5


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (no_schema, "schema"),
        (no_such_card, "Picnic"),
        (too_many_copies, "Sabotage"),
        (no_reaction, "reaction"),
        (lacking_requirement, "Stuffed Animal"),
        (thirteen_picks, "picks"),
        (no_turns, "turns"),
        (three_halves, "halves"),
        (drafted_twice, "drafted"),
        (too_few_cards, "too few"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_broken_editions_are_refused(
    change: Callable[[Json], None], named: str, tmp_path: Path
) -> None:
    data = data_of("mini8-draft")
    change(data)
    with pytest.raises(ValueError, match=named):
        get_game("love_formula", {"cards": written(data, tmp_path)})


def test_no_such_edition() -> None:
    """The message names the tables of the package."""
    with pytest.raises(ValueError, match="mini8-draft"):
        get_game("love_formula", {"cards": "mini9"})
