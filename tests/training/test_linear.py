"""The linear scorer: its scores, its file, and its fit to labels."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import linkzoo
from linkzoo import Positions, RandomAgent, exact, get_game, make_vec
from linkzoo.testing.play import action_features_of
from linkzoo_training.agents.linear import (
    LinearAgent,
    load_scorer,
    save_scorer,
    shipped_file,
)
from linkzoo_training.agents.make import load_policy, make_agent
from linkzoo_training.commands.cli import main
from linkzoo_training.evaluation.labelled_positions import LabelSettings, read_labels, regret
from linkzoo_training.evaluation.match import play_match
from linkzoo_training.linear.fit import fit_linear
from linkzoo_training.linear.labels import make_labels
from linkzoo_training.networks.inputs import context_of
from linkzoo_training.selfplay.executors import LocalExecutor
from tests.driving import first_quick

GAME = get_game("love_links")
SETTINGS = LabelSettings("love_links", {}, (2, 3), "greedy", 4, "random", 0.5, 7)


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("labels") / "labels.npz"
    make_labels(SETTINGS, 1200, path, lambda _: None)
    return path


def positions(count: int = 8) -> Positions:
    vec = make_vec("love_links", count, 3)
    now = vec.reset(3)
    for _ in range(9):
        now = vec.step(now.action_mask.argmax(1))
    return Positions(GAME, vec.states, np.zeros(count, np.uint64))


def test_scores_are_features_times_weights_that_the_context_changes() -> None:
    spec = GAME.observation.action_spec
    assert spec is not None
    agent, given = LinearAgent(), positions()
    weights, context = load_scorer(GAME).weights, context_of(spec)
    values, actions = agent.action_values(given, 0.0), agent.act(given)
    for i, state in enumerate(given.states):
        x = action_features_of(GAME, state).astype(np.float64)
        factors = weights @ np.concatenate([[1], x[0, context]])
        legal = np.flatnonzero(given.action_mask[i])
        np.testing.assert_allclose(values[i, legal], x @ factors, rtol=1e-3, atol=1e-4)
        assert actions[i] == legal[(x @ factors).argmax()]
        assert not values[i, given.action_mask[i] == 0].any()


def test_the_policy_is_the_softmax_of_the_scores_and_the_best_action_is_played() -> None:
    given, agent = positions(), LinearAgent()
    scores, best = agent.scores(given)
    shares, values = agent.distribution(given)
    assert values is None
    legal = given.action_mask == 1
    assert not shares[~legal].any()
    np.testing.assert_allclose(shares.sum(1), 1, rtol=1e-5)
    for row, likely in enumerate(legal):
        expected = np.exp(scores[row, likely].astype(np.float64))
        np.testing.assert_allclose(shares[row, likely], expected / expected.sum(), rtol=1e-4)
    assert isinstance(agent, exact.StochasticAgent)
    played = agent.probabilities(given)
    assert (played.argmax(1) == best).all()
    assert (played.max(1) == played.sum(1)).all()


def test_a_policy_in_any_loop_has_its_probabilities_and_refuses_its_values() -> None:
    env = linkzoo.make("love_links")
    env.reset(seed=1)
    policy = load_policy("linear", "love_links")
    probabilities = policy.probabilities(env)
    assert probabilities.argmax() == policy.predict(env)
    assert probabilities.sum() == pytest.approx(1)
    with pytest.raises(ValueError, match="linear has no values: choose a checkpoint"):
        policy.values(env)


@pytest.mark.parametrize("game", first_quick(["love_links", "link_o", "love_formula"], 0))
def test_the_shipped_scorer_beats_greedy(game: str) -> None:
    result = play_match(game, make_agent("linear", game), make_agent("greedy", game), 100)
    assert result.win_share().low > 0.5


@pytest.mark.nightly  # quick: the labels below; other commands that go on
def test_a_stopped_run_of_labels_goes_on(labelled: Path, tmp_path: Path) -> None:
    path = tmp_path / "labels.npz"
    make_labels(SETTINGS, 1, path, lambda _: None)
    assert len(read_labels(path).states) < 1200
    make_labels(SETTINGS, 1200, path, lambda _: None)
    assert path.read_bytes() == labelled.read_bytes()
    with pytest.raises(ValueError, match="has other settings"):
        make_labels(replace(SETTINGS, playouts=5), 1200, path, lambda _: None)


@pytest.mark.slow
def test_labels_do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    paths = [tmp_path / f"{workers}.npz" for workers in (1, 3)]
    settings = replace(SETTINGS, agent="random", playouts=1, share=0.02)
    for workers, path in zip((1, 3), paths, strict=True):
        labels = make_labels(settings, 150, path, lambda _: None, LocalExecutor(workers))
        assert labels.parts == 2
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.slow  # quick: test_a_fit_learns
def test_labels_have_less_regret_for_better_players(labelled: Path) -> None:
    labels = read_labels(labelled)
    random, greedy, linear = (
        regret(agent, labels).mean
        for agent in (RandomAgent(), make_agent("greedy", "love_links"), LinearAgent())
    )
    assert max(linear, greedy) < random
    assert random == pytest.approx(labels.random_regret(), rel=0.1)
    best = np.maximum.reduceat(labels.values, np.cumsum(labels.counts) - labels.counts)
    assert (labels.values <= np.repeat(best, labels.counts)).all()


@pytest.mark.slow
def test_labels_of_different_values_are_not_mixed(labelled: Path) -> None:
    labels = read_labels(labelled)
    others = replace(labels, settings=replace(labels.settings, score_margin_weight=2.0))
    with pytest.raises(ValueError, match=r"score_margin_weight: .* with \[0\.5, 2\.0\]"):
        fit_linear([labels, others])


@pytest.mark.slow
def test_a_fit_learns(labelled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A thousand cheap labels make a player that beats random."""
    fit = fit_linear([read_labels(labelled)])
    assert [row.positions for row in fit.rows] == sorted({row.positions for row in fit.rows})
    assert fit.rows[-1].regret.high < fit.random
    path = tmp_path / "mine.json"
    assert main(["linear", "fit", str(labelled), "--out", str(path)]) == 0
    assert "regret in held-out positions" in capsys.readouterr().out
    np.testing.assert_allclose(load_scorer(GAME, str(path)).weights, fit.weights, rtol=1e-5)
    agent = make_agent(str(path), "love_links")
    assert agent.name == str(path)
    assert play_match("love_links", agent, RandomAgent(), 40).win_share().low > 0.6


@pytest.mark.slow  # quick: test_labels in test_other_boards.py
def test_labels_command_writes_what_fit_reads(tmp_path: Path) -> None:
    path = tmp_path / "few.npz"
    options = ["--positions", "1", "--playouts", "1", "--players", "2", "--rollout", "linear"]
    assert main(["linear", "labels", "love_links", "short=true", "--out", str(path), *options]) == 0
    labels = read_labels(path)
    assert labels.settings.options == {"short": True}
    assert labels.settings.players == (2,)
    assert (labels.states["short"] == 1).all()
    assert set(labels.position.tolist()) == set(range(len(labels.states)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "x"}, "format"),
        ({"game": "linkage"}, "game"),
        ({"version": 99}, "version"),
        ({"features": ["points"]}, "weights"),
        ({"features": ["points", "points"]}, "features: one is named twice"),
        ({"features": ["luck"]}, "features='luck' is not one of .'points'"),
        ({"weights": [[1.0]]}, "weights"),
        ({"weights": "none"}, "could not convert"),
    ],
)
def test_a_file_of_something_else_is_refused(
    change: dict[str, object], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "scorer.json"
    save_scorer(GAME, load_scorer(GAME).weights, path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ValueError, match=message):
        load_scorer(GAME, str(path))


def test_the_improved_scorer_sees_the_next_turn_and_beats_the_one_it_began_as() -> None:
    improved = load_scorer(GAME, "improved")
    spec = GAME.observation.action_spec
    assert spec is not None
    next_turn = spec.starts().next_turn
    assert improved.weights[next_turn, 0] < 0
    assert not load_scorer(GAME, "linear").weights[next_turn].any()
    better = LinearAgent(str(shipped_file(GAME, "improved")))
    result = play_match("love_links", better, LinearAgent(), blocks=100, num_players=2, seed=9)
    assert result.win_share().low > 0.5


def test_features_that_a_file_does_not_know_weigh_nothing(tmp_path: Path) -> None:
    path = tmp_path / "scorer.json"
    weights = load_scorer(GAME).weights
    save_scorer(GAME, weights, path)
    data = json.loads(path.read_text())
    spec = GAME.observation.action_spec
    assert spec is not None
    names = [part.name for part in spec.parts]
    lead = 1 + [names[k] for k in context_of(spec)].index("lead")  # its column
    for row in data["weights"]:
        del row[lead]
    for name in ("points", "lead"):
        del data["weights"][names.index(name)]
    data["features"] = [name for name in names if name not in ("points", "lead")]
    path.write_text(json.dumps(data))
    expected = weights.copy()
    expected[[names.index("points"), names.index("lead")]] = 0
    expected[:, lead] = 0
    loaded = load_scorer(GAME, str(path)).weights
    np.testing.assert_allclose(loaded, expected, rtol=1e-5)


def test_games_without_features_have_no_scorer() -> None:
    with pytest.raises(ValueError, match="no scorer ships for linkage"):
        make_agent("linear", "linkage")
    settings = replace(SETTINGS, game="linkage", players=(2,), rollout="linear")
    with pytest.raises(ValueError, match="no scorer ships for linkage"):
        make_labels(settings, 1, Path("never.npz"), lambda _: None)
    with pytest.raises(ValueError, match="not a file of labels"):
        read_labels(Path("never.npz"))
