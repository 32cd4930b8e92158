"""Natural policy gradient for linear scorers."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from linkzoo import RandomAgent, get_game, make_vec
from linkzoo.testing.play import action_features_of
from linkzoo_training.agents.linear import load_scorer, save_scorer
from linkzoo_training.agents.make import make_agent
from linkzoo_training.commands.cli import main
from linkzoo_training.evaluation.match import play_match
from linkzoo_training.linear import natural_gradient
from linkzoo_training.linear.natural_gradient import ImproveSettings, improve
from linkzoo_training.linear.softmax_policy import sampler
from linkzoo_training.networks.inputs import context_of
from linkzoo_training.search.linear import linear
from tests.training.doubles import Elsewhere

GAME = get_game("love_links")
SETTINGS = ImproveSettings("love_links", {"short": True}, (2,), "", 1.0, 32_000, 20.0, 0.5, 7)


@pytest.fixture(scope="module")
def improved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two steps from a scorer that knows nothing."""
    folder = tmp_path_factory.mktemp("improved")
    save_scorer(GAME, np.zeros_like(load_scorer(GAME).weights), folder / "nothing.json")
    settings = replace(SETTINGS, scorer=str(folder / "nothing.json"))
    steps = list(improve(settings, 2, folder / "mine.json", lambda _: None))
    assert [step.number for step in steps] == [1, 2]
    assert all(step.decisions <= 32_512 and step.games > 100 for step in steps)
    assert steps[0].held_out.low > 0  # games that taught nothing confirm the direction
    return folder


@pytest.mark.slow  # quick: test_linear.py::test_a_fit_learns
def test_two_steps_learn_to_beat_random(improved: Path) -> None:
    agent = make_agent(str(improved / "mine.json"), "love_links")
    result = play_match("love_links", agent, RandomAgent(), 40, options={"short": True})
    assert result.win_share().low > 0.7


@pytest.mark.slow
def test_changes_of_the_margin_teach_as_well(improved: Path, tmp_path: Path) -> None:
    settings = replace(SETTINGS, scorer=str(improved / "nothing.json"), plies=6)
    steps = list(improve(settings, 2, tmp_path / "mine.json", lambda _: None))
    assert steps[0].held_out.low > 0
    agent = make_agent(str(tmp_path / "mine.json"), "love_links")
    result = play_match("love_links", agent, RandomAgent(), 40, options={"short": True})
    assert result.win_share().low > 0.7


def test_a_result_is_how_the_margin_changes() -> None:
    """In one ply it grows by the points of the action; in all plies to the margin at the end."""
    weights = load_scorer(GAME).weights
    settings = replace(SETTINGS, scorer="linear", score_margin_weight=1.0)
    whole, one, all_plies, few = (
        natural_gradient._play_part(replace(settings, plies=plies), weights, 5, 3_000)
        for plies in (None, 1, 10**6, 6)
    )
    assert (one.result >= 0).all()
    assert one.result.max() > 0
    assert len(one.result) > len(few.result) > len(all_plies.result)  # the last plies are open
    np.testing.assert_array_equal(all_plies.game, whole.game)
    _, firsts = np.unique(whole.game, return_index=True)  # margins are 0 there
    payoffs = (whole.result - all_plies.result)[firsts]
    np.testing.assert_allclose(np.abs(payoffs), 1, atol=1e-6)


@pytest.mark.slow  # quick: test_actions_have_the_probabilities_of_a_softmax
def test_a_stopped_run_goes_on_with_its_step(improved: Path, tmp_path: Path) -> None:
    """The file holds the weights after every step; without the last one, it is made again."""
    settings = replace(SETTINGS, scorer=str(improved / "nothing.json"))
    path = tmp_path / "mine.json"
    with np.load(improved / "mine.npz") as file:
        assert file["weights"].shape == (3, *load_scorer(GAME).weights.shape)
        np.savez(path.with_suffix(".npz"), about=file["about"], weights=file["weights"][:2])
    assert [step.number for step in improve(settings, 2, path, lambda _: None)] == [2]
    assert path.read_bytes() == (improved / "mine.json").read_bytes()
    assert list(improve(settings, 2, path, lambda _: None)) == []
    with pytest.raises(ValueError, match="has other settings"):
        next(improve(replace(settings, seed=8), 3, path, lambda _: None))
    path.with_suffix(".npz").write_bytes(b"damaged")
    with pytest.raises(ValueError, match="not a run of `linkzoo linear improve`"):
        next(improve(settings, 3, path, lambda _: None))


@pytest.mark.slow  # quick: test_executors.py
def test_steps_do_not_depend_on_the_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(natural_gradient, "_PARTS", 3)
    monkeypatch.setattr(natural_gradient, "_GAMES", 8)
    settings = replace(SETTINGS, scorer="linear", decisions=1500)
    here = list(improve(settings, 1, tmp_path / "here.json", lambda _: None))
    done: list[int] = []
    assert list(improve(settings, 1, tmp_path / "there.json", done.append, Elsewhere(3))) == here
    assert done == [500, 1000, 1500]
    assert here[0].games >= 3 * 8
    files = [(tmp_path / f"{name}.json").read_bytes() for name in ("here", "there")]
    assert files[0] == files[1]


@pytest.mark.slow
def test_actions_have_the_probabilities_of_a_softmax() -> None:
    """And a gradient is the chosen action's features less their mean."""
    vec = make_vec("love_links", 4000, 3)
    now = vec.reset(5)
    states = np.repeat(vec.states[:1], len(vec.states))
    states["seed"] = np.arange(len(states))  # the actions' randomness
    masks, scorer = np.repeat(now.action_mask[:1], len(states), 0), load_scorer(GAME)
    features = action_features_of(GAME, states[0]).astype(np.float64)
    context = context_of(GAME.observation.action_spec)  # type: ignore[arg-type]  # it has some
    actions, probabilities = (
        np.empty(len(states), np.int64),
        np.empty((len(states), len(context)), "f4"),
    )
    gradients = np.empty((len(states), features.shape[1]), np.float32)
    sampler(GAME)(states, masks, scorer, actions, probabilities, gradients)
    scores, _ = np.empty(masks.shape, np.float32), linear
    linear(GAME)(states[:1], scorer, masks[:1].copy(), scores[:1], actions[:1].copy())
    legal = np.flatnonzero(masks[0])
    chances = np.exp(scores[0, legal] - scores[0, legal].max())
    chances /= chances.sum()
    counts = np.array([(actions == action).sum() for action in legal])
    expected = chances * len(actions)
    assert counts.sum() == len(actions)
    assert (np.abs(counts - expected) < 4.5 * np.sqrt(expected) + 1).all()
    chosen = np.searchsorted(legal, actions)
    np.testing.assert_allclose(gradients, features[chosen] - chances @ features, atol=1e-3)
    np.testing.assert_array_equal(probabilities, np.repeat(features[:1, context], len(states), 0))


@pytest.mark.slow  # quick: test_actions_have_the_probabilities_of_a_softmax
def test_the_command_prints_steps(
    improved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--scorer", str(improved / "nothing.json"), "--decisions", "32000", "--players", "2"]
    options += ["--steps", "1", "--learning-rate", "20", "--seed", "7"]
    path = tmp_path / "mine.json"
    assert (
        main(["linear", "improve", "love_links", "short=true", "--out", str(path), *options]) == 0
    )
    out = capsys.readouterr().out
    assert "of it in other games" in out
    assert out.endswith(f"{path}\n")
    with np.load(improved / "mine.npz") as file:
        np.testing.assert_allclose(
            load_scorer(GAME, str(path)).weights, file["weights"][1], rtol=1e-5
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"game": "linkage", "options": {}}, "no scorer ships for linkage"),
        ({"scorer": "never.json"}, "there is no file never.json"),
        ({"temperature": 0.0}, "temperature: 0.0 is not above 0"),
        pytest.param(
            {"decisions": 10},
            "decisions: in 10 no result is known: play more",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_cannot_be_improved_is_named(
    change: dict[str, object], message: str, tmp_path: Path
) -> None:
    settings = replace(SETTINGS, **{"scorer": "linear", **change})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=message):
        next(improve(settings, 1, tmp_path / "mine.json", lambda _: None))
