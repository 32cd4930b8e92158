"""R2: policies and games with another board than the standard one, in every command."""

import json
import re
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkzoo import GameRecord, RandomAgent, get_game
from linkzoo_training.agents.human import HumanAgent
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.policy import PolicyAgent, SearchAgent, load_agent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.agents.values import values_along
from linkzoo_training.best_response import best_response_config
from linkzoo_training.checkpoints.checkpoint import save_checkpoint
from linkzoo_training.commands.cli import main
from linkzoo_training.commands.play import play
from linkzoo_training.config.config import read_config
from linkzoo_training.evaluation.labelled_positions import read_labels
from linkzoo_training.evaluation.ladder import Ladder
from linkzoo_training.evaluation.match import play_match
from linkzoo_training.networks.flat import make_network
from linkzoo_training.train import train
from linkzoo_training.web.offers import read_agent
from linkzoo_training.web.players import Player
from tests.common.variants import OTHER_CARDS
from tests.training.helpers import midgame

pytestmark = pytest.mark.slow  # quick: tests/link_o/test_boards.py

BOARD: dict[str, Any] = {"board": "ring4x12"}
GAME = get_game("link_o", BOARD)
OTHER = r"it plays link_o \(board=ring4x12\), not link_o \(board=ring4x16\)"


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of an untrained policy of the smaller board."""
    folder = tmp_path_factory.mktemp("small")
    card = {"network": {"kind": "flat", "width": 8, "blocks": 1}, "views": 1}
    save_checkpoint(folder, make_network(GAME, "flat", 8, 1), GAME, card)
    return str(folder)


@pytest.fixture
def run(policy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], int]:
    """Runs a command in a folder of its own; SMALL is the policy."""
    monkeypatch.chdir(tmp_path)
    return lambda line: main(line.replace("SMALL", policy).split())


@pytest.mark.parametrize(
    "line",
    [
        "evaluate random greedy --game link_o board=ring4x12",
        "evaluate random greedy board=ring4x12 --game link_o",
        pytest.param(
            "evaluate random random --game link_o board=ring4x12 target=[0,1]",
            marks=pytest.mark.slow,
        ),
        "evaluate SMALL random",
        pytest.param("evaluate SMALL SMALL:2 --openings 0", marks=pytest.mark.nightly),
        "evaluate random SMALL --game link_o",
    ],
)
def test_matches(line: str, run: Callable[[str], int]) -> None:
    assert run(f"{line} --games 2 --players 2 --json match.json") == 0
    data = json.loads(Path("match.json").read_text())
    assert data["options"]["board"] == "ring4x12"
    assert data["games"] == (4 if "target" in line else 2)


@pytest.mark.parametrize(
    "line", ["random --ladder board=ring4x12", "random board=ring4x12 --ladder", "SMALL --ladder"]
)
def test_ladders(line: str, run: Callable[[str], int], monkeypatch: pytest.MonkeyPatch) -> None:
    ladder = Ladder("link_o", 1, 5, "0", {AgentSpec("greedy"): 2})
    monkeypatch.setattr("linkzoo_training.commands.evaluate.read_ladder", lambda _: ladder)
    assert run(f"evaluate {line} --game link_o --players 2 --json ladder.json") == 0
    (match,) = json.loads(Path("ladder.json").read_text())["ladder"]
    assert match["options"]["board"] == "ring4x12"


def test_tournaments(run: Callable[[str], int]) -> None:
    for number, line in enumerate(("random greedy board=ring4x12", "greedy SMALL")):
        out = Path(f"out{number}")
        assert run(f"tournament {line} --game link_o --games 2 --output {out}") == 0
        assert json.loads((out / "ratings.json").read_text())["options"] == BOARD
        (match,) = (out / "matches").iterdir()
        assert json.loads(match.read_text())["options"]["board"] == "ring4x12"


@pytest.mark.nightly  # quick: labels of link_o, in test_linear.py
def test_labels(run: Callable[[str], int]) -> None:
    assert run("linear labels link_o --agent SMALL --positions 1 --playouts 1 --out a.npz") == 0
    fewer = "--positions 1 --playouts 1 --share 0.03 --out b.npz"
    assert run(f"linear labels link_o board=ring4x12 {fewer}") == 0
    many, few = (read_labels(Path(name)) for name in ("a.npz", "b.npz"))
    assert many.game is few.game is GAME
    assert len(few.states) < len(many.states) / 2


def test_a_game_in_the_terminal_and_its_replay(
    run: Callable[[str], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO("quit\n"))
    assert run("play link_o --opponent SMALL --seed 0 --record game.json") == 0
    record = GameRecord.load("game.json")
    assert record.options["board"] == "ring4x12"
    assert len(record.actions) >= 1
    assert run("replay game.json --html game.html --agent SMALL") == 0
    assert run("replay game.json --html other.html --agent link_o") == 2


def test_best_responses(policy: str) -> None:
    config = best_response_config(AgentSpec.parse(policy), "link_o", settings=["options.target=9"])
    assert config.options == {"skip_forced": True, "target": 9, **BOARD}
    assert config.initial_checkpoint == policy


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("evaluate SMALL random board=ring4x16", OTHER),
        (
            "evaluate link_o SMALL",
            r"it plays link_o \(board=ring4x16\), not link_o \(board=ring4x12",
        ),
        ("evaluate linkage random --game link_o", r"it plays linkage, not link_o \(board=ring4x16"),
        ("tournament SMALL link_o --game link_o", r"'link_o': it plays .*16\), not .*ring4x12"),
        ("play link_o board=ring4x12", r"'checkpoint': it plays .*16\), not .*ring4x12"),
        ("train link_o_ppo_quick eval.final_opponents=[SMALL]", OTHER),
        ("train link_o_ppo_quick pool.fixed_opponents=[SMALL]", OTHER),
        ("train link_o_ppo_quick teacher.agent=SMALL network=flat", OTHER),
    ],
)
def test_another_board_is_refused(
    line: str, message: str, run: Callable[[str], int], capsys: pytest.CaptureFixture[str]
) -> None:
    """Before the first game; the message names both boards."""
    small = " width=8 blocks=1 num_envs=4 num_threads=1" if line.startswith("train") else ""
    assert run(line + small) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(message, " ".join(err.split()))


def test_a_page_refuses_it_where_it_is_chosen(policy: str) -> None:
    with pytest.raises(ValueError, match=r"link_o with \{'board': 'ring4x12'\}, not with these"):
        read_agent(policy, get_game("link_o"), 2, {}, {policy: AgentSpec.parse(policy)})


def test_agents_of_any_board_can_be_made(policy: str) -> None:
    assert load_agent(policy).game is GAME
    assert make_agent(policy, "link_o").game is GAME  # type: ignore[attr-defined]
    assert make_agent(policy, "link_o", BOARD).game is GAME  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=OTHER):
        make_agent(policy, "link_o", {})
    with pytest.raises(ValueError, match=r"it plays link_o .*, not linkage"):
        make_agent(policy, "linkage")


@pytest.mark.slow  # quick: its parts, above
def test_training_on_it_from_start_to_card(tmp_path: Path, policy: str) -> None:
    fields: dict[str, Any] = {
        "name": "a",
        "game": "link_o",
        "options": BOARD,
        "num_players": [2],
        "width": 8,
    }
    fields |= {"blocks": 1, "num_envs": 4, "horizon": 4, "minibatches": 1, "total_steps": 16}
    fields |= {"device": "cpu", "num_threads": 1, "initial_checkpoint": policy}
    fields["eval"] = {"every": 9, "blocks": 1, "final_opponents": ["random", policy]}
    fields["eval"]["final_blocks"] = 1
    train(read_config(fields), folder=tmp_path)
    card = json.loads((tmp_path / "checkpoint" / "card.json").read_text())
    assert card["fixed"] == BOARD
    assert [match["options"]["board"] for match in card["strength"]] == ["ring4x12"] * 2
    assert card["strength"][0]["command"].endswith('board="ring4x12"')


@pytest.mark.slow  # quick: other boards; another table of cards compiles for a minute
@pytest.mark.nightly
def test_own_cards_of_love_formula(run: Callable[[str], int]) -> None:
    command = f"evaluate random greedy --game love_formula cards={OTHER_CARDS} --games 2 --json m"
    assert run(command) == 0
    assert json.loads(Path("m").read_text())["options"]["cards"] == OTHER_CARDS


@pytest.mark.nightly  # quick: the warning of a policy, in test_agents.py
def test_every_path_warns_of_numbers_of_players_that_were_not_trained() -> None:
    """R15: a policy for two and three players, with four."""
    game = get_game("love_links")
    card = {"trained": {"config": {"num_players": [2, 3]}}}
    agent = PolicyAgent("few", game, make_network(game, "flat", 8, 1), card)
    three, four = (midgame(game, 2, 3, players=players) for players in (3, 4))
    search = SearchAgent(agent, 2)
    settings: dict[str, Any] = {"num_players": 4}
    record = play("love_links", RandomAgent(), HumanAgent(end_of_input), seat=1, **settings)

    player = Player(AgentSpec.parse("few"), game)
    vars(player)["agent"] = agent  # a cached property
    paths: list[Callable[[], object]] = [
        lambda: agent.act(four),
        lambda: agent.evaluate(four),
        lambda: search.act(four),
        lambda: search.analyse(four),
        lambda: values_along(agent, record),
        lambda: play_match("love_links", agent, RandomAgent(), 1, **settings),
        lambda: play("love_links", agent, HumanAgent(end_of_input), seat=1, **settings),
        lambda: player.act(four.states[0], 5),
    ]
    for path in paths:
        agent._warned.clear()  # it warns once
        with pytest.warns(UserWarning, match=r"was trained for \[2, 3\] players, not 4"):
            path()
    assert np.asarray(agent.act(three)).shape == (2,)  # without a warning


def end_of_input(_: str) -> str:
    raise EOFError
