"""A policy outside of its training games says so: once, in every way of using it."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkzoo
from linkzoo import Positions, get_game, make_vec
from linkzoo_training import load_policy, play_match
from linkzoo_training.agents.named import NamedAgent, _cached_agent
from linkzoo_training.agents.policy import SearchAgent, load_agent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.agents.trained_on import TrainedOn, UntrainedWarning
from linkzoo_training.agents.values import values_along
from linkzoo_training.commands.cli import main
from tests.driving import first_quick

THRESHOLD = "was trained for threshold=12..16, not 11"


def card(options: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    config = {"num_players": [], "options": options or {}, "initial_states": {"vary": {}}, **more}
    return {"trained": {"config": config}}


CASES: list[tuple[str, dict[str, Any], int | None, dict[str, Any], list[str]]] = [
    ("linkage", card(), None, {}, []),
    ("linkage", card(), None, {"skip_forced": True}, []),
    ("linkage", card(), None, {"threshold": 13}, ["trained for threshold=12, not 13"]),
    (
        "linkage",
        card({"board_size": 5, "threshold": 7}),
        None,
        {"free_hole": True},
        [
            "trained for free_hole=False, not True",
            "trained for board_size=5, not 7",
            "trained for threshold=7, not 12",
        ],
    ),
    (
        "link_o",
        card(initial_states={"vary": {"target": [0, 2]}}),
        None,
        {"target": 3},
        ["trained for target=0..2, 64, not 3"],
    ),
    ("link_o", card(num_players=[2, 4]), 3, {}, ["trained for [2, 4] players, not 3"]),
    ("love_links", card({"short": True}), 3, {"short": True}, []),
    ("love_formula", card({"skip_forced": True}), 2, {"skip_forced": False}, []),
    (
        "love_formula",
        card(),
        2,
        {"voluntary_discards": "off"},
        ["trained for voluntary_discards=windows, not off"],
    ),
    ("linkage", card(initial_states={"file": "positions.jsonl"}), None, {"threshold": 13}, []),
    ("linkage", {}, None, {"threshold": 13}, []),
    ("linkage", {"trained": {"config": 3}}, None, {"threshold": 13}, []),
    ("linkage", card({"no": 1}), None, {"threshold": 13}, []),
    ("linkage", card(initial_states=[]), None, {"threshold": 13}, []),
]


@pytest.mark.parametrize(("name", "trained", "players", "options", "notes"), CASES)
def test_notes(
    name: str, trained: dict[str, Any], players: int | None, options: Any, notes: list[str]
) -> None:
    game = get_game(name)
    states = np.array([game.blank(players, options)])
    assert TrainedOn.of(game, trained).notes(game, states) == notes


def test_notes_of_many_records() -> None:
    game = get_game("linkage")
    trained = TrainedOn.of(game, card(initial_states={"vary": {"threshold": [8, 10]}}))
    states = np.array([game.blank(None, {"threshold": value}) for value in (9, 11, 8, 13, 11)])
    known = "trained for threshold=8..10, 12, not"
    assert trained.notes(game, states) == [f"{known} 11", f"{known} 13"]


def positions(threshold: int) -> Positions:
    vec = make_vec("linkage", 2, threshold=threshold)
    vec.reset(1)
    return Positions(vec.game, vec.states.copy(), np.zeros(2, np.uint64))


@pytest.mark.parametrize("search", [False, True])
def test_an_agent_warns_once(search: bool) -> None:
    agent: Any = load_agent("linkage_az")
    if search:
        agent = SearchAgent(agent, 2)
    agent.act(positions(12))
    with pytest.warns(UntrainedWarning, match=f"^linkage_az {THRESHOLD}$"):
        agent.act(positions(11))
    agent.act(positions(11))  # warnings are errors here
    agent.distribution(positions(11))


def test_load_policy_warns_of_options_and_predict_of_positions() -> None:
    with pytest.warns(UntrainedWarning, match=THRESHOLD):
        load_policy("linkage_az", options={"threshold": 11})
    policy = load_policy("linkage_az", options={"threshold": 13})
    env = linkzoo.make("linkage", threshold=11)
    env.reset(seed=1)
    with pytest.warns(UntrainedWarning, match=THRESHOLD):
        policy.predict(env)
    policy.predict(env)
    policy.values(env)


def test_a_match_warns_before_its_workers_play() -> None:
    options = {"threshold": [13, 17]}
    agent = NamedAgent(AgentSpec.parse("linkage_az@2"), "linkage", {"threshold": 13})
    with pytest.warns(UntrainedWarning, match=r"threshold=12\.\.16, not 17"):
        play_match("linkage", agent, linkzoo.RandomAgent(), 1, options=options)


@pytest.mark.parametrize(
    "command",
    first_quick(
        [
            "evaluate linkage_az random --games 2 threshold=11",
            "tournament linkage_ppo linkage_az random --games 2 threshold=11 --out {out}",
            "data selfplay linkage_az --games 2 threshold=11 --out {out}",
        ],
        slow=2,
    ),
)
@pytest.mark.parametrize(
    "workers",
    ["", pytest.param(" --executor processes --workers 2", marks=pytest.mark.nightly)],  # quick: ""
)
def test_commands_print_one_note(
    command: str, workers: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    _cached_agent.cache_clear()  # each agent warns once
    assert main((command + workers).format(out=tmp_path / "out").split()) == 0
    lines = [line for line in capfd.readouterr().err.splitlines() if "trained for" in line]
    assert lines == [f"linkzoo: note: linkage_az {THRESHOLD}"]


@pytest.mark.slow
def test_values_along_a_game_name_it() -> None:
    env = linkzoo.make("linkage", threshold=11)
    env.reset(seed=1)
    env.step(int(env.infos[env.agent_selection]["action_mask"].argmax()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UntrainedWarning)
        values = values_along(load_agent("linkage_az"), env.record())
    assert values.to_dict()["notes"] == [f"linkage_az {THRESHOLD}"]
