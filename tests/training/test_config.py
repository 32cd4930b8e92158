"""Configurations: what ships is valid, overrides reach every field, errors name the field."""

from pathlib import Path

import pytest

from linkzoo import games
from linkzoo_training.config import load_config, read_config
from linkzoo_training.resources import find_checkpoint, shipped
from tests.training.helpers import ppo_config

SHIPPED = sorted(path.stem for path in shipped("configs").glob("*.yaml"))


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_configurations_are_valid(name: str) -> None:
    assert load_config(name).game in name


@pytest.mark.parametrize("kind", ["ppo", "ppo_quick", "ppo_gpu"])
@pytest.mark.parametrize("game", games)
def test_every_game_has_its_presets(game: str, kind: str) -> None:
    """Within 90 minutes, within minutes, and for a GPU; each run has a folder of its own."""
    config = load_config(f"{game}_{kind}")
    assert (config.game, config.algorithm) == (game, "ppo")
    assert config.name == game + kind.removeprefix("ppo")
    assert (config.device == "cuda") == (kind == "ppo_gpu")
    assert (config.max_seconds is not None) == (kind == "ppo_quick")
    assert config.max_seconds is None or config.max_seconds <= 300
    standard = load_config(f"{game}_ppo")
    assert config.options == standard.options


def test_a_configuration_extends_another(tmp_path: Path) -> None:
    base, other, third = tmp_path / "base.yaml", tmp_path / "other.yaml", tmp_path / "third.yaml"
    base.write_text("name: base\ngame: linkage\nwidth: 64\nvary: {threshold: [8, 15]}")
    other.write_text(f"extends: {base}\nname: other\nvary: {{threshold: [10, 12]}}")
    third.write_text(f"extends: {other}\nname: third\nblocks: 2")
    config = load_config(third, ["width=32"])
    assert (config.name, config.game, config.width, config.blocks) == ("third", "linkage", 32, 2)
    assert config.vary == {"threshold": (10, 12)}
    base.write_text(f"extends: {third}")
    with pytest.raises(ValueError, match=r"third\.yaml: extends itself"):
        load_config(third)
    base.write_text("extends: nowhere")
    with pytest.raises(ValueError, match="no configuration 'nowhere'"):
        load_config(other)


def test_overrides() -> None:
    config = load_config(
        "linkage_ppo", ["learning_rate=1e-4", "options.threshold=10", "vary={}", "device=cpu"]
    )
    assert config.learning_rate == 1e-4
    assert config.options == {"threshold": 10}
    assert config.vary == {}
    assert read_config(config.to_dict()) == config


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("learning_rat=1e-4", "learning_rat"),
        ("learning_rate=fast", "learning_rate"),
        ("game=chess", "chess"),
        ("num_envs=0", "num_envs"),
        ("pool_share=1.5", "pool_share"),
        ("options.treshold=3", "treshold"),
        ("vary.threshold=[9, 3]", "9..3"),
        ("vary.hole=[0, 1]", "hole"),
        ("clip", "field=value"),
        ("clip.low=1", "clip"),
        ("precision=fp8", "precision"),
        ("temperature=-1", "temperature: -1.0 is not 0 or more"),
        ("average=-1", "average: -1 is not 0 or more"),
        ("teacher_final=-1", "teacher_final: -1.0 is not 0 or more"),
    ],
)
def test_wrong_fields_are_named(override: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_config("linkage_ppo", [override])


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["solver_limit=-1"], "solver_limit: -1 is not 0 or more"),
        (["game=love_links", "vary={}", "symmetric=false", "solver_limit=9"], "no solver for love"),
        (["simulations=[]"], "simulations"),
        (["reuse=3"], "reuse: 3 does not divide"),
    ],
)
def test_wrong_fields_of_alphazero_are_named(overrides: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_config("linkage_az", overrides)


def test_the_weight_of_the_margin_follows_the_run() -> None:
    config = ppo_config({"name": "a", "game": "linkage", "margin_weight": 3.0, "margin_final": 1.0})
    assert [config.margin(part) for part in (0.0, 0.25, 1.0)] == [3.0, 2.5, 1.0]


def test_missing_and_broken_files(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="linkage_ppo"):
        load_config("no_such_preset")
    broken = tmp_path / "broken.yaml"
    broken.write_text("game: [linkage", encoding="utf-8")
    with pytest.raises(ValueError, match="no YAML"):
        load_config(broken)
    broken.write_text("linkage", encoding="utf-8")
    with pytest.raises(ValueError, match="not a mapping"):
        load_config(broken)
    with pytest.raises(ValueError, match=r"card\.json"):
        find_checkpoint(tmp_path)


def test_learning_rates_follow_the_run() -> None:
    """With a teacher from its rate to the learner's, then linear to 0; its own weight likewise."""
    given = {"name": "a", "game": "linkage", "learning_rate": 2e-4}
    alone = ppo_config(given)
    assert [alone.rate(part) for part in (0.0, 0.5, 1.0)] == pytest.approx([2e-4, 1e-4, 0.0])
    taught = ppo_config({**given, "teacher": "greedy", "teacher_share": 0.2, "teacher_rate": 1e-3})
    rates = [taught.rate(part) for part in (0.0, 0.1, 0.2, 0.6, 1.0)]
    assert rates == pytest.approx([1e-3, 6e-4, 2e-4, 1e-4, 0.0])
    assert [taught.is_taught(part) for part in (0.0, 0.19, 0.2)] == [True, True, False]
    assert not alone.is_taught(0.0)
    beside = ppo_config({**given, "teacher": "greedy", "teacher_share": 0.2, "teacher_weight": 0.5})
    assert [beside.teaching(part) for part in (0.0, 0.2, 0.6, 1.0)] == [1.0, 0.5, 0.25, 0.0]
    stays = ppo_config({**beside.to_dict(), "teacher_final": 0.25})
    assert [stays.teaching(part) for part in (0.0, 0.2, 0.6, 1.0)] == [1.0, 0.5, 0.375, 0.25]
    assert [taught.teaching(0.1), taught.teaching(0.2), alone.teaching(0.0)] == [1.0, 0.0, 0.0]
