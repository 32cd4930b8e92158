"""Files of results go on only for the same agents, by content: a name isn't enough."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkzoo import get_game, make_vec
from linkzoo_training.agents.linear import load_scorer, save_scorer
from linkzoo_training.agents.specs import digests_of
from linkzoo_training.algorithms.resume import contents_of, find_changes
from linkzoo_training.commands.cli import main
from linkzoo_training.config.config import read_config
from linkzoo_training.config.fields import merged
from linkzoo_training.evaluation.labelled_positions import LabelSettings
from linkzoo_training.evaluation.openings import openings_digest
from linkzoo_training.linear import labels, natural_gradient
from linkzoo_training.linear.labels import make_labels
from linkzoo_training.linear.natural_gradient import ImproveSettings, improve
from linkzoo_training.sweep import SweepRun
from linkzoo_training.train import make_trainer
from tests.training import test_ppo

LOVE_LINKS = get_game("love_links")
SMALL = {"board_size": 3, "threshold": 4}
AGENT = """
class First:
    name = "first"

    def act(self, positions):
        return positions.action_mask.argmax(1)
"""


@pytest.fixture(name="file")
def fixture_file(tmp_path: Path) -> Path:
    """A file with the agent `First`."""
    file = tmp_path / "agents.py"
    file.write_text(AGENT)
    return file


def change(file: Path) -> None:
    file.write_text(AGENT.replace(".argmax(1)", "[:, ::-1].argmax(1) * 0 + 1"))


def scorer(folder: Path, weight: float) -> str:
    """A file of a scorer with equal weights."""
    weights = np.full_like(load_scorer(LOVE_LINKS).weights, weight)
    save_scorer(LOVE_LINKS, weights, folder / "scorer.json")
    return str(folder / "scorer.json")


def test_agents_with_weights_or_code_have_a_digest(file: Path, tmp_path: Path) -> None:
    names = ["random", "uct-5", "linear", "linear:4", f"{file}:First", scorer(tmp_path, 1.0)]
    before = digests_of("love_links", names)
    assert list(before) == names[2:]
    assert before["linear"] == before["linear:4"]
    change(file)
    scorer(tmp_path, 2.0)
    after = digests_of("love_links", names)
    assert [name for name in names[2:] if before[name] != after[name]] == names[4:]


@pytest.mark.slow
def test_labels_go_on_for_the_same_agent_and_rollout(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labels, "_GAMES", 1)
    rollout = scorer(tmp_path, 1.0)
    settings = LabelSettings("love_links", {}, (2,), f"{file}:First", 1, rollout, 0.5, 7, 1.0)
    out = tmp_path / "labels.npz"
    count = len(make_labels(settings, 1, out, lambda _: None).states)
    assert len(make_labels(settings, count, out, lambda _: None).states) == count
    changes: list[Callable[[], Any]] = [
        lambda: change(file),
        lambda: file.write_text(AGENT) and scorer(tmp_path, 2.0),
    ]
    data = out.read_bytes()
    for changed in changes:
        changed()
        with pytest.raises(ValueError, match="its agents have changed"):
            make_labels(settings, count, out, lambda _: None)
        assert out.read_bytes() == data


@pytest.mark.slow
def test_labels_end_where_nothing_is_labelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a share of 0, or in a game without choices."""
    monkeypatch.setattr(labels, "_GAMES", 1)
    settings = LabelSettings("linkage", SMALL, (2,), "random", 1, "random", 0.5, 7)
    out = tmp_path / "labels.npz"
    for share, message in ((0.0, "share: 0.0 is not above 0"), (1e-15, "labelled in 50 games")):
        with pytest.raises(ValueError, match=message):
            make_labels(replace(settings, share=share), 1, out, lambda _: None)
    assert main(["linear", "labels", "linkage", "--share", "0", "--out", str(out)]) == 2


IMPROVE = ImproveSettings("love_links", {"short": True}, (2,), "", 1.0, 500, 1.0, 0.5, 7)


def test_an_improved_scorer_goes_on_from_the_same_scorer(tmp_path: Path) -> None:
    """And takes the place of no other file."""
    settings = replace(IMPROVE, scorer=scorer(tmp_path, 0.0))
    out = tmp_path / "better.json"
    assert list(improve(settings, 0, out, lambda _: None)) == []
    assert list(improve(settings, 0, out, lambda _: None)) == []
    scorer(tmp_path, 1.0)
    with pytest.raises(ValueError, match="began with other weights"):
        next(improve(settings, 1, out, lambda _: None))
    data = Path(settings.scorer).read_bytes()
    with pytest.raises(ValueError, match=r"scorer\.json exists, and .*scorer\.npz doesn't"):
        next(improve(settings, 1, Path(settings.scorer), lambda _: None))
    assert Path(settings.scorer).read_bytes() == data


@pytest.mark.slow
def test_improving_ends_in_a_game_without_choices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Forced:
        """A vector environment whose masks allow one action."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            self._vec = make_vec(*arguments, **options)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._vec, name)

        def reset(self, seed: int) -> Any:
            return self._forced(self._vec.reset(seed))

        def step(self, actions: Any) -> Any:
            return self._forced(self._vec.step(actions))

        def _forced(self, now: Any) -> Any:
            first = now.action_mask.argmax(1)
            now.action_mask[:] = 0
            now.action_mask[np.arange(len(first)), first] = 1
            return now

    monkeypatch.setattr(natural_gradient, "make_vec", Forced)
    monkeypatch.setattr(natural_gradient, "_GAMES", 4)
    monkeypatch.setattr(natural_gradient, "_MAX_GAMES_WITHOUT_CHOICE", 2)
    settings = replace(IMPROVE, scorer=scorer(tmp_path, 0.0))
    with pytest.raises(ValueError, match=r"love_links: .* games without a choice"):
        next(improve(settings, 1, tmp_path / "better.json", lambda _: None))


def test_a_data_set_goes_on_for_the_same_agents_and_openings(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "games"
    command = ["data", "selfplay", f"{file}:First", "--game", "linkage", "--out", str(folder)]
    command += ["--games", "2", "board_size=3", "threshold=4", "--openings", "0"]
    assert main(command) == main(command) == 0
    assert "2 games of linkage from the start" in capsys.readouterr().out
    change(file)
    assert main(command) == 2
    assert "(agent_digests differ)" in capsys.readouterr().err
    book = tmp_path / "book.jsonl"
    book.write_text("1")
    first = openings_digest(str(book))
    book.write_text("2")
    assert first != openings_digest(str(book)) is not None
    assert openings_digest("2-4") is openings_digest(None) is None


def test_a_benchmark_goes_on_for_the_same_agent(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "b.json"
    command = ["llm", "benchmark", f"{file}:First", "--game", "linkage", "--positions", "2"]
    command += ["--games", "0", "--json", str(path)]
    assert main(command) == 0
    data = path.read_bytes()
    assert main(command) == 0
    assert path.read_bytes() == data
    change(file)
    assert main(command) == 2
    assert "have changed since: name another file" in capsys.readouterr().err
    command[4] = "love_links"  # the table would have parts of both
    assert main(command) == 2
    assert path.read_bytes() == data


def test_a_run_goes_on_against_the_same_agents(file: Path, tmp_path: Path) -> None:
    """An opponent in the saved games can't change; of others the run says that they have."""
    agent = f"{file}:First"
    pool = {"fixed_opponents": [agent]}
    fields = merged(test_ppo.QUICK, {"pool": pool, "eval": {"opponents": [agent]}})
    fields = merged(fields, {"teacher": {"agent": agent, "share": 0.1}})
    config = read_config(fields)
    before = contents_of(config)
    names = ["pool.fixed_opponents", "eval.opponents", "teacher.agent"]
    assert list(before) == [f"{name}.{agent}" for name in names]
    make_trainer(config).save(tmp_path)
    assert not make_trainer(config).load(tmp_path)
    change(file)
    with pytest.raises(ValueError, match="saved games are against this pool"):
        make_trainer(config).load(tmp_path)
    now = contents_of(config)
    free = [f"{name}.{agent}" for name in names[1:]]
    assert list(find_changes({n: before[n] for n in free}, {n: now[n] for n in free})) == free


def test_a_sweep_repeats_runs_of_other_agents(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = read_config(merged(test_ppo.QUICK, {"eval": {"opponents": [f"{file}:First"]}}))
    run = SweepRun("single", {}, config, tmp_path)
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "card.json").write_text("{}")
    contents = contents_of(config)
    trained: dict[str, Any] = {"config": config.to_dict(), "contents": contents}
    monkeypatch.setattr("linkzoo_training.sweep.load_card", lambda _: {"trained": trained})
    assert run.finished
    change(file)
    assert [run.finished, contents == contents_of(config)] == [False, False]
    trained.pop("contents")  # as in cards of earlier versions
    assert bool(run.finished)
