"""Best responses: on a small board they come up to the exact one, and the report says how."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkzoo import RandomAgent, exact, game_names, get_game
from linkzoo.core.state import Record
from linkzoo_training.agents.baselines import GreedyAgent
from linkzoo_training.agents.policy import load_agent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.algorithms.ppo import PPOTrainer
from linkzoo_training.best_response import (
    BestResponse,
    best_response_config,
    best_response_table,
    exact_value,
    train_best_response,
)
from linkzoo_training.checkpoints.checkpoint import save_checkpoint
from linkzoo_training.commands.cli import main
from linkzoo_training.config.config import PPOConfig, load_config
from linkzoo_training.evaluation.match import play_match
from linkzoo_training.networks.flat import make_network
from linkzoo_training.search.solver import successors
from linkzoo_training.selfplay.rollout import RolloutGames

LINKAGE = get_game("linkage")
SMALL = {"board_size": 3, "threshold": 4}
GAMES = 400
FIELDS = [
    "options={board_size: 3, threshold: 4}",
    "network=flat",
    "width=64",
    "blocks=1",
    "num_envs=128",
    "horizon=16",
    "minibatches=4",
    "learning_rate=[3e-3, 0]",
    "precision=fp32",
    "num_threads=1",
    "symmetric=false",
    "eval.every=1000",
    "eval.blocks=5",
]


def response_value(state: Record, seat: int, known: dict[tuple[bytes, int], float]) -> float:
    """The payoff of `seat`'s best response to uniformly random play, by exhaustive search."""
    key = state.tobytes(), seat
    if key not in known:
        if state.seat < 0:
            out = np.zeros(2, np.float32)
            LINKAGE.payoffs(state, out)
            return float(out[seat])
        after = [response_value(s, seat, known) for s in successors(LINKAGE, state).values()]
        known[key] = max(after) if state.seat == seat else sum(after) / len(after)
    return known[key]


@pytest.fixture(name="config")
def fixture_config() -> PPOConfig:
    return best_response_config(
        AgentSpec("random"), "linkage", steps=60 * 128 * 16, settings=FIELDS
    )


@pytest.mark.nightly  # slow: test_command
def test_a_best_response_is_found(config: PPOConfig, tmp_path: Path) -> None:
    """Random play on 3×3: the response gets nearly the payoff of the exact one."""
    report = train_best_response(config, GAMES, folder=tmp_path)
    assert report is not None
    written = json.loads((tmp_path / "best_response.json").read_text())
    assert written == json.loads(json.dumps(report))
    start = LINKAGE.blank(options=config.options)
    LINKAGE.rules.new_game(start, np.uint64(0))
    best = [response_value(start, seat, {}) for seat in (0, 1)]
    assert best == pytest.approx([-1 / 3, 1])
    (entry,) = report["players"]
    assert entry["openings"] == entry["response"]["openings"] == config.eval.openings == "0"
    gain = entry["gain"]
    assert gain["low"] <= sum(best) / 2 <= gain["high"]
    for side, value in zip(entry["response"]["sides"], best, strict=True):
        assert side["mean_payoff"]["mean"] > value - 0.12
    against_itself = [-1 / 3, 1 / 3]  # random play
    assert entry["exact"]["gains"] == pytest.approx(np.subtract(best, against_itself))
    assert entry["exact"]["exploitability"] == pytest.approx(sum(best) / 2)
    assert entry["fair_share"] == entry["itself"]["win_share"]["mean"] == 0.5
    assert entry["itself"]["mean_payoff"]["mean"] == 0
    assert gain["mean"] == pytest.approx(entry["response"]["mean_payoff"]["mean"])
    assert [side["label"] for side in entry["sides"]] == ["More (seat 0)", "Fewer (seat 1)"]
    mean = sum(side["gain"]["mean"] for side in entry["sides"]) / 2
    assert mean == pytest.approx(gain["mean"])
    budget = report["budget"]
    assert budget["steps"] == config.total_steps
    assert budget["seconds_per_step"] == pytest.approx(budget["seconds"] / budget["steps"], rel=0.1)
    assert (budget["network"], budget["initial_checkpoint"]) == ("flat, 64 × 1", None)
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    agent = load_agent(tmp_path / "checkpoint")
    again = play_match("linkage", agent, agent, 3, options=SMALL)
    assert again.win_share().mean == 0.5


@pytest.mark.slow
def test_all_games_are_against_the_agent(config: PPOConfig) -> None:
    trainer = PPOTrainer(config)
    play = trainer.play
    assert isinstance(play, RolloutGames)
    for _ in range(3):
        trainer.iterate()
        assert set(play.opponents.slot.tolist()) == set(play.opponents.fixed_slots) == {0}
    assert not trainer.pool.networks


def checkpoint(folder: Path) -> str:
    network = make_network(LINKAGE, "flat", 16, 1)
    card = {"network": {"kind": "flat", "width": 16, "blocks": 1}, "views": 1, "trained": {}}
    save_checkpoint(folder, network, LINKAGE, card)
    return str(folder)


def test_a_response_begins_as_the_checkpoint_it_is_against(tmp_path: Path) -> None:
    source = checkpoint(tmp_path / "old")
    config = best_response_config(
        AgentSpec.parse(f"{source}@2:8"), "linkage", settings=["num_threads=1"]
    )
    assert (config.initial_checkpoint, config.network, config.width, config.blocks) == (
        source,
        "flat",
        16,
        1,
    )
    agent = load_agent(source)
    for one, other in zip(
        PPOTrainer(config).network.parameters(), agent.network.parameters(), strict=True
    ):
        assert (one == other).all()
    assert config.teacher is not None
    assert config.teacher.agent == source
    assert config.teacher_weight(config.teacher.share) > config.teacher_weight(1.0) == 0
    budgets = [
        (config.total_steps, config.max_seconds)
        for config in (
            best_response_config(AgentSpec("random"), "linkage"),
            best_response_config(AgentSpec("random"), "linkage", steps=5),
            best_response_config(AgentSpec("random"), "linkage", steps=5, seconds=7.0),
        )
    ]
    quick = load_config("linkage_ppo_quick")
    assert isinstance(quick, PPOConfig)
    assert budgets == [(quick.total_steps, quick.max_seconds), (5, None), (5, 7.0)]
    settings = ["initial_checkpoint=null", "network=board"]
    fresh = best_response_config(AgentSpec.parse(source), "linkage", settings=settings)
    assert (fresh.initial_checkpoint, fresh.network) == (None, "board")
    assert (fresh.teacher, fresh.learning_rate) == (quick.teacher, quick.learning_rate)
    another = checkpoint(tmp_path / "other")
    settings = [f"initial_checkpoint={another}", "learning_rate=2e-4"]
    chosen = best_response_config(AgentSpec.parse(source), "linkage", settings=settings)
    assert chosen.teacher is not None
    assert (chosen.teacher.agent, chosen.learning_rate_at(1.0)) == (another, 2e-4)


@pytest.mark.parametrize("game", game_names())
def test_every_game_can_be_trained_for(game: str) -> None:
    """The agent is the only opponent, and every number of players is met, or the one asked for."""
    config = best_response_config(AgentSpec("greedy"), game)
    pool = config.pool
    assert (pool.fixed_opponents, pool.size, pool.share) == (("greedy",), 0, 1)
    rules = get_game(game)
    assert config.players == tuple(range(rules.min_players, rules.max_players + 1))
    few = best_response_config(AgentSpec("greedy"), game, players=rules.max_players)
    assert few.players == (rules.max_players,)


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="trains linkage by alphazero"):
        best_response_config(AgentSpec("random"), "linkage", config="linkage_az")
    with pytest.raises(ValueError, match="trains linkage by ppo; a best response in love_links"):
        best_response_config(AgentSpec("random"), "love_links", config="linkage_ppo")
    with pytest.raises(ValueError, match="all games are played against the agent"):
        best_response_config(AgentSpec("random"), "linkage", settings=["pool.share=0.5"])
    with pytest.raises(ValueError, match="nobody"):
        best_response_config(AgentSpec.parse("nobody"), "linkage")
    with pytest.raises(ValueError, match=r"no preset connect_four_ppo_quick: .* \(--config\)"):
        best_response_config(AgentSpec("random"), "connect_four:GAME")


def test_a_bound_is_shown_only_where_the_interval_allows_it() -> None:
    """R11: an interval that reaches 0 shows no gain."""
    budget: dict[str, Any] = {"steps": 9, "seconds": 1, "seconds_per_step": 0.1}
    budget |= {"initial_checkpoint": None, "network": "flat"}
    agent = RandomAgent()
    won, itself, late = (
        play_match("linkage", one, agent, 50, openings=openings)
        for one, openings in ((GreedyAgent(), "0"), (agent, "0"), (GreedyAgent(), "2-4"))
    )
    captions = []
    for response in (won, itself):
        report = BestResponse(response, itself, won)
        _, bound, *_, linear = str(best_response_table(report, budget).caption).splitlines()
        captions.append(bound)
        gain = BestResponse(won, itself).gain()
        assert report.linear_gain() == gain
        assert linear.startswith(f"gain of the linear scorer: {gain.mean:+.3f} [")
    assert captions[0].startswith("lower bound on exploitability: +0.")
    assert captions[1].startswith("no gain shown: +0.000 [-0.")
    table = best_response_table(BestResponse(late, itself), budget)
    assert "exploitability of games after 2-4 random plies: +0." in str(table.caption)
    assert str(table.title).endswith("100 games after 2-4 random plies")


@pytest.mark.nightly  # quick: test_command; slow: test_a_best_response_is_found
@pytest.mark.parametrize("agent", ["random", "linear"])
def test_the_bound_is_below_the_exact_value(agent: str, tmp_path: Path) -> None:
    """In an edition with hidden hands; against random play it is most of the exact gain."""
    fields = ["options={board: mini2x4a-h2}", "num_envs=128", "num_threads=1", "eval.every=1000"]
    config = best_response_config(
        AgentSpec.parse(agent), "link_o", players=2, steps=150_000, settings=fields
    )
    report = train_best_response(config, 4000, folder=tmp_path)
    assert report is not None
    (entry,) = report["players"]
    known = entry["exact"]["exploitability"]
    assert not entry["exact"]["sampled"]
    greedy = exact_value(AgentSpec.parse("greedy"), "link_o", 2, config.options)
    assert greedy is not None
    assert greedy.sampled
    assert entry["gain"]["low"] <= known
    if agent == "random":
        assert entry["gain"]["high"] > known / 2
    assert entry["linear_gain"]["low"] <= known


@pytest.mark.slow
def test_no_exact_value_where_it_would_take_long_or_mean_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Large trees, undeclared chance, agents behind a server, and games after random plies."""
    assert exact_value(AgentSpec.parse("llm:nobody"), "linkage", 2, SMALL) is None
    monkeypatch.setattr("linkzoo_training.best_response.MAX_OPEN_NODES", 20)
    assert exact_value(AgentSpec("random"), "linkage", 2, SMALL) is None


@pytest.mark.slow
def test_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The game is that of the checkpoint; a run that is there resumes with --resume alone."""
    monkeypatch.chdir(tmp_path)
    checkpoint(tmp_path / "old" / "checkpoint")
    fields = [field for field in FIELDS if not field.startswith(("network", "width", "blocks"))]
    options = ["--steps", "2000", "--games", "7", "--json", "found.json"]
    command = ["experiment", "best-response", "old/checkpoint", *options, *fields]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "A best response to old/checkpoint: linkage, 2 players, 8 games" in out
    assert "8 games from the start" in " ".join(out.split())
    assert "under this budget: 2,048 steps" in " ".join(out.split())
    data: dict[str, Any] = json.loads((tmp_path / "found.json").read_text())
    assert data["format"] == "linkzoo-best-response/1"
    card = json.loads(
        Path("runs/best_response_linkage_old_checkpoint/checkpoint/card.json").read_text()
    )
    assert main([*card["strength"][0]["command"].split()[1:], "--json", "again.json"]) == 0
    tree = exact.tree("linkage", options=SMALL)
    result = exact.exploitability(load_agent(Path("old/checkpoint")), tree)
    (entry,) = data["players"]
    assert entry["exact"]["nash_conv"] == pytest.approx(result.nash_conv)
    assert entry["gain"]["low"] <= entry["exact"]["exploitability"] == result.exploitability
    shown = f"exact exploitability: {result.exploitability:+.4f}, in a tree of {tree.num_nodes:,}"
    assert shown in " ".join(out.split())
    match = json.loads(Path("again.json").read_text())
    assert match["win_share"] == data["players"][0]["response"]["win_share"]
    Path("found.json").unlink()
    assert main(command) == 2
    assert "--resume" in capsys.readouterr().err
    assert main([*command, "--resume"]) == 0
    again = json.loads((tmp_path / "found.json").read_text())
    assert again["players"][0]["sides"] == data["players"][0]["sides"]
