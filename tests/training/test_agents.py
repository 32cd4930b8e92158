"""Agents by name, and the person at the terminal."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from linkzoo import Positions, RandomAgent, get_game
from linkzoo.text import list_moves
from linkzoo_training.agents.baselines import ExactAgent, GreedyAgent, MonteCarloAgent, UctAgent
from linkzoo_training.agents.human import HumanAgent, QuitError
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.policy import PolicyAgent, SearchAgent, load_agent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.commands.play import play
from linkzoo_training.networks.inputs import Inputs
from linkzoo_training.resources import find_checkpoint
from linkzoo_training.search.gumbel import GumbelSearch
from tests.training.helpers import begin, midgame

LINKAGE = get_game("linkage")


class Terminal:
    """Types prepared lines, then signals the end of input; keeps the output."""

    def __init__(self, *lines: str) -> None:
        self.lines = list(lines)
        self.shown: list[str] = []

    def read(self, prompt: str) -> str:
        self.shown.append(prompt)
        if not self.lines:
            raise EOFError
        return self.lines.pop(0)

    def write(self, text: str) -> None:
        self.shown.append(text)

    def human(self) -> HumanAgent:
        return HumanAgent(self.read, self.write)


def test_agents_by_name() -> None:
    assert isinstance(make_agent("random", "linkage"), RandomAgent)
    assert isinstance(make_agent("greedy", "linkage"), GreedyAgent)
    assert isinstance(make_agent("exact", "linkage"), ExactAgent)
    assert isinstance(make_agent("human", "linkage"), HumanAgent)
    agent = make_agent("uct-250", "linkage")
    assert isinstance(agent, UctAgent)
    assert (agent.simulations, agent.sees, agent.name) == (250, "own", "uct-250")
    cheat = make_agent("cheat-9", "linkage")
    assert isinstance(cheat, UctAgent)
    assert (cheat.simulations, cheat.sees, cheat.name) == (9, "all", "cheat-9")
    flat = make_agent("mc-30", "linkage")
    assert isinstance(flat, MonteCarloAgent)
    assert (flat.playouts, flat.name) == (30, "mc-30")


def test_a_checkpoint_with_views_and_a_search() -> None:
    agent = make_agent("linkage@2:8", "linkage")
    assert isinstance(agent, SearchAgent)
    assert (agent.name, agent.simulations, len(agent.policy.views)) == ("linkage@2:8", 8, 2)
    assert isinstance(make_agent("checkpoint", "linkage"), PolicyAgent)
    with pytest.raises(ValueError, match=r"'linkage:0': simulations: 0 is not in 1\.\."):
        make_agent("linkage:0", "linkage")
    drawn = make_agent("linkage~0.5", "linkage")
    assert isinstance(drawn, PolicyAgent)
    assert (drawn.name, drawn.temperature) == ("linkage~0.5", 0.5)
    assert make_agent("linkage~0", "linkage").name == "linkage"


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("random", AgentSpec("random")),
        ("uct-10", AgentSpec("uct", simulations=10)),
        ("mc-3", AgentSpec("mc", simulations=3)),
        ("linkage", AgentSpec("checkpoint", "linkage")),
        ("checkpoint:8", AgentSpec("checkpoint", "checkpoint", simulations=8)),
        ("runs/a@4~0.00001:7", AgentSpec("checkpoint", "runs/a", 4, 0.00001, 7)),
        ("a.py:Agent", AgentSpec("custom", "a.py:Agent")),
        ("linkage~0:64:64", AgentSpec("checkpoint", "linkage~0:64", simulations=64)),
    ],
)
def test_a_name_is_read_and_given_back(text: str, spec: AgentSpec) -> None:
    assert AgentSpec.parse(text) == spec
    assert str(spec) == text


def test_suffixes_come_in_any_order() -> None:
    spec = AgentSpec.parse("linkage_az:64~0@8")
    assert spec == AgentSpec("checkpoint", "linkage_az", 8, 0.0, 64)
    assert str(spec) == "linkage_az@8~0:64"


def test_simulations_are_for_checkpoints_without_any() -> None:
    texts = ["random", "uct-10", "cheat-10", "linkage", "runs/a@4~1", "linkage:7"]
    specs = [AgentSpec.parse(text) for text in texts]
    assert [str(spec.with_simulations(20)) for spec in specs] == [
        "random",
        "uct-10",
        "cheat-10",
        "linkage:20",
        "runs/a@4~1:20",
        "linkage:7",
    ]
    assert [spec.with_simulations(None) for spec in specs] == specs
    sources = [spec.checkpoint("link_o") for spec in specs]
    assert sources == [None, None, None, "linkage", "runs/a", "linkage"]
    assert AgentSpec.parse("checkpoint~0").checkpoint("link_o") == "link_o"


@pytest.mark.parametrize(
    "name", ["step:1000", "step:1000~1", "my run@home", "run:best", "a@2~3:4", "~0"]
)
def test_a_folder_that_exists_goes_before_suffixes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(find_checkpoint("linkage"), tmp_path / name)
    monkeypatch.chdir(tmp_path)
    for source in (name, f"./{name}", str(tmp_path / name)):
        for suffix in ("", "@2", "~0.5", ":7", "@2~0.5:7"):
            spec = AgentSpec.parse(source + suffix)
            assert (spec.kind, spec.source, str(spec)) == ("checkpoint", source, source + suffix)
    agent = make_agent(f"{name}@2~0.5:7", "linkage")
    assert isinstance(agent, SearchAgent)
    assert agent.name == f"{name}@2~0.5:7"


def test_a_shipped_checkpoint_goes_before_a_folder_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(find_checkpoint("linkage_ppo"), tmp_path / "linkage")
    shutil.copytree(find_checkpoint("linkage_ppo"), tmp_path / "linkage:8")
    monkeypatch.chdir(tmp_path)
    named, here = make_agent("linkage", "linkage"), make_agent("./linkage", "linkage")
    assert isinstance(named, PolicyAgent)
    assert isinstance(here, PolicyAgent)
    assert named.card["trained"]["algorithm"] == "alphazero"
    assert here.card["trained"]["algorithm"] == "ppo"
    assert load_agent(Path("linkage")).card == here.card
    assert isinstance(make_agent("linkage:8", "linkage"), SearchAgent)
    assert isinstance(make_agent("./linkage:8", "linkage"), PolicyAgent)
    with pytest.raises(ValueError, match=r"no checkpoint '\./love_links'"):
        make_agent("./love_links", "love_links")


def test_the_checkpoint_of_a_run_is_hinted_at(tmp_path: Path) -> None:
    shutil.copytree(find_checkpoint("linkage"), tmp_path / "run" / "checkpoint")
    with pytest.raises(ValueError, match=r"did you mean .*run/checkpoint\?"):
        make_agent(str(tmp_path / "run"), "linkage")


def finished(game: str) -> dict[str, Any]:
    """Games of which some are over, as the arguments of Positions."""
    rules = get_game(game)
    states = begin(rules, 3).states.copy()
    states["seat"][1:] = -1
    return {"game": rules, "states": states, "seeds": np.arange(3, dtype=np.uint64)}


@pytest.mark.parametrize("game", ["linkage", "love_links"])
@pytest.mark.parametrize(
    "name", ["random", "greedy", "uct-10", "cheat-10", "mc-2", "checkpoint", "checkpoint:4"]
)
def test_no_agent_is_asked_where_a_game_is_over(name: str, game: str) -> None:
    """Compiled searches would read outside their arrays."""
    agent = make_agent(name, game)
    with pytest.raises(ValueError, match="the game is over in position 1 of 3: no seat is to act"):
        agent.act(Positions(**finished(game)))
    if isinstance(agent, PolicyAgent):
        with pytest.raises(ValueError, match="the game is over"):
            agent.evaluate(Positions(**finished(game)))


def test_no_search_begins_where_a_game_is_over() -> None:
    given = finished("linkage")
    with pytest.raises(ValueError, match="the game is over"):
        GumbelSearch(Inputs(LINKAGE), 3, 4).run(given["states"], given["seeds"], None)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_policy_warns_of_numbers_of_players_that_it_never_met(tmp_path: Path) -> None:
    policy, game = load_agent("love_links"), get_game("love_links")
    card = {"trained": {"config": {"num_players": [2, 3]}}}
    agent = PolicyAgent("few", game, policy.network, card)
    for players in (2, 3):
        agent.act(midgame(game, 4, 3, players=players))
    with pytest.warns(UserWarning, match=r"few was trained for \[2, 3\] players, not 4"):
        agent.act(midgame(game, 4, 3, players=4))
    card = {"trained": {"config": {"num_players": [3]}}}
    three = PolicyAgent("three", LINKAGE, load_agent("linkage").network, card)
    with pytest.warns(UserWarning, match=r"three was trained for \[3\] players, not 2"):
        SearchAgent(three, 2).act(midgame(LINKAGE, 4, 3))


def test_values_of_an_analysis_are_payoffs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a network that adds score margins to them."""
    policy = load_agent("linkage")
    assert policy.card["score_margin_weight"] > 0

    def sure(features: NDArray[Any]) -> tuple[Tensor, Tensor]:
        return torch.zeros(len(features), LINKAGE.num_actions), torch.full((len(features), 2), 1.4)

    monkeypatch.setattr(policy, "forward", sure)
    agent = SearchAgent(policy, 2)
    positions = midgame(LINKAGE, 1, 4)
    assert agent.distribution(positions)[1].max() > 1
    assert agent.analyse(positions)[1].tolist() == [1, 1]


@pytest.mark.slow  # quick: test_one_network_plays_with_every_number_of_players
def test_values_of_absent_seats_are_0() -> None:
    policy, game = load_agent("love_links"), get_game("love_links")
    for players in (2, 3, 4):
        _, values = policy.evaluate(midgame(game, 5, 4, players=players))
        assert (values[:, players:] == 0).all()
        assert (values[:, :players] != 0).all()


@pytest.mark.parametrize("spec", ["uct", "uct-", "uct-1.5", "uct-x", "Greedy", "best", ""])
def test_a_wrong_name_says_what_is_allowed(spec: str) -> None:
    allowed = "human, random, greedy, uct-N, hands-N, cheat-N, mc-N, exact, linear"
    with pytest.raises(ValueError, match=allowed):
        make_agent(spec, "linkage")


def test_wrong_games_and_empty_searches_are_refused() -> None:
    with pytest.raises(ValueError, match="no game 'chess'"):
        make_agent("random", "chess")
    with pytest.raises(ValueError, match="simulations: 0 is not in"):
        make_agent("uct-0", "linkage")


def test_a_folder_without_a_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=tmp_path.name):
        make_agent(str(tmp_path), "linkage")


@pytest.mark.parametrize("text", ["W a1-b1", "w A1-B1", "  W   a1-b1 "])
def test_a_person_plays_notation(text: str) -> None:
    terminal = Terminal(text)
    assert terminal.human().act(begin(LINKAGE, 1)).tolist() == [0]
    assert "·   ·   ·   ●" in terminal.shown[0]


def test_a_person_plays_the_number_of_a_listed_move() -> None:
    positions, terminal = begin(get_game("love_links"), 1), Terminal("?", "2")
    _, second, *_ = np.flatnonzero(positions.action_mask[0])
    assert terminal.human().act(positions).tolist() == [second]
    text = positions.game.notation.action_to_text(positions.states[0], int(second))
    assert f"2. {text}" in terminal.shown[2].splitlines()


def test_a_person_is_asked_in_every_position() -> None:
    terminal = Terminal("W a1-b1", "R c3-c4")
    actions = terminal.human().act(begin(LINKAGE, 2))
    assert actions.dtype == np.int64
    expected = LINKAGE.notation.text_to_action(LINKAGE.blank(), "R c3-c4")
    assert actions.tolist() == [0, expected]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("G a1-b1", "states no move: 'G a1-b1'"),
        ("W c4-d4", "W c4-d4 is not legal here"),
        ("336", "states no move: '336'"),
        ("hello", "states no move: 'hello'"),
    ],
)
def test_a_wrong_move_is_explained_and_asked_again(text: str, complaint: str) -> None:
    terminal = Terminal(text, "W a1-b1")
    assert terminal.human().act(begin(LINKAGE, 1)).tolist() == [0]
    assert any(complaint in shown for shown in terminal.shown)


def test_help_and_the_list_of_moves() -> None:
    positions, terminal = begin(LINKAGE, 1), Terminal("help", "?", "W a1-b1")
    terminal.human().act(positions)
    _, _, helped, _, listed, _ = terminal.shown
    assert helped.startswith("Type a move")
    assert listed == list_moves(LINKAGE, positions.states[0])


@pytest.mark.parametrize("lines", [("quit",), ("QUIT",), ("?", "q"), ()])
def test_a_person_can_stop(lines: tuple[str, ...]) -> None:
    with pytest.raises(QuitError):
        Terminal(*lines).human().act(begin(LINKAGE, 1))


SMALL = {"board_size": 3, "threshold": 3}


def test_a_whole_game_in_the_terminal() -> None:
    texts = [LINKAGE.notation.action_to_text(LINKAGE.blank(), action) for action in range(336)]
    terminal = Terminal(*[text for text in texts if set(text) <= set("WRYB abc123-")] * 4)
    record = play(
        "linkage",
        GreedyAgent(),
        terminal.human(),
        seat=1,
        seed=4,
        options=SMALL,
    )
    final = list(record.replay())[-1]
    assert final.seat == -1
    assert terminal.shown[-1] == get_game("linkage", SMALL).guide.outcome(final)
    assert any(shown.startswith("Player 0 places a ") for shown in terminal.shown)


def test_a_stopped_game_is_kept() -> None:
    terminal = Terminal("W a1-b1")
    record = play("linkage", RandomAgent(), terminal.human())
    assert len(record.actions) == 2
    assert "Stopped before the end." in terminal.shown


def test_a_wrong_seat_is_refused_before_the_game() -> None:
    with pytest.raises(ValueError, match=r"seat=2 is not in 0\.\.1"):
        play("linkage", RandomAgent(), HumanAgent(), seat=2)
