"""Configurations: shipped ones are valid, overrides reach every field, errors name the field."""

import math
import re
from pathlib import Path
from typing import Any, get_type_hints

import pytest
import yaml

from linkzoo import game_names
from linkzoo_training.config.config import (
    AlphaZeroConfig,
    Config,
    EvalConfig,
    InitialStatesConfig,
    PoolConfig,
    PPOConfig,
    TeacherConfig,
    load_config,
    read_config,
)
from linkzoo_training.config.fields import override
from linkzoo_training.resources import find_checkpoint, shipped
from tests.common.play import run_python
from tests.driving import NIGHTLY
from tests.training.helpers import ppo_config

SHIPPED = sorted(path.stem for path in shipped("configs").glob("*.yaml"))


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_configurations_are_valid(name: str) -> None:
    assert load_config(name).game in name


@pytest.mark.parametrize("kind", ["ppo", "ppo_quick", "ppo_gpu"])
@pytest.mark.parametrize("game", game_names())
def test_every_game_has_its_presets(game: str, kind: str) -> None:
    """Within 90 minutes, within minutes, and for a GPU; each run has a folder of its name."""
    config = load_config(f"{game}_{kind}")
    assert (config.game, config.algorithm) == (game, "ppo")
    assert config.name == f"{game}_{kind}"
    assert (config.device == "cuda") == (kind == "ppo_gpu")
    assert (config.max_seconds is not None) == (kind == "ppo_quick")
    assert config.max_seconds is None or config.max_seconds <= 300
    standard = load_config(f"{game}_ppo")
    assert config.options == standard.options


def test_a_configuration_extends_another(tmp_path: Path) -> None:
    base, other, third = tmp_path / "base.yaml", tmp_path / "other.yaml", tmp_path / "third.yaml"
    base.write_text(
        "name: base\ngame: linkage\nwidth: 64\n"
        "initial_states: {midgame: 0.1, vary: {threshold: [8, 15]}}"
    )
    other.write_text(
        f"extends: {base}\nname: other\ninitial_states: {{vary: {{threshold: [10, 12]}}}}"
    )
    third.write_text(f"extends: {other}\nname: third\nblocks: 2")
    config = load_config(third, ["width=32"])
    assert (config.name, config.game, config.width, config.blocks) == ("third", "linkage", 32, 2)
    assert config.initial_states.vary == {"threshold": (10, 12)}
    assert config.initial_states.midgame == (0.1, 0.1)  # of the file below
    base.write_text(f"extends: {third}")
    with pytest.raises(ValueError, match=r"third\.yaml: extends itself"):
        load_config(third)
    base.write_text("extends: nowhere")
    with pytest.raises(ValueError, match="no configuration 'nowhere'"):
        load_config(other)


def test_what_a_configuration_extends_lies_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R8: or it is a preset; the working directory has no say."""
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    for folder, width in ((home, 64), (home / "below", 32), (elsewhere, 16)):
        folder.mkdir()
        (folder / "base.yaml").write_text(f"name: a\ngame: linkage\nwidth: {width}")
    monkeypatch.chdir(elsewhere)
    path = home / "run.yaml"
    for base, width in (("base.yaml", 64), ("below/base.yaml", 32), ("linkage_ppo", 32)):
        path.write_text(f"extends: {base}")
        assert load_config(path).width == width
    (home / "base.yaml").unlink()
    path.write_text("extends: base.yaml")
    with pytest.raises(ValueError, match=r"no configuration 'base\.yaml' in .*home: give"):
        load_config(path)
    path.write_text("extends: below/../run.yaml")
    with pytest.raises(ValueError, match=r"run\.yaml: extends itself"):
        load_config(path)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("total_steps=1e6", 1_000_000),
        ("total_steps=1.5e6", 1_500_000),
        ("total_steps=4_000", 4000),
        ("seed=0x1f", 31),
        ("seed=010", 10),
        ("num_players=[2e0]", (2,)),
        ("options.threshold=1e1", 10),
        ("average=0.0", 0),
        ("max_seconds=1e2", 100.0),
        ("learning_rate=1e-3", (1e-3, 1e-3)),
        ("gae_lambda=.5", 0.5),
        ("name=off", "off"),
        ("name=2020-01-01", "2020-01-01"),
        ("symmetric=false", False),
        ("max_seconds=", None),
    ],
)
def test_numbers_are_read_as_people_write_them(setting: str, value: Any) -> None:
    """R8: as YAML 1.2 does; an integer may have an exponent."""
    field = setting.partition("=")[0]
    config: Any = load_config("linkage_ppo", [setting, "initial_states.vary={}"])
    for part in field.split("."):
        config = config[part] if isinstance(config, dict) else getattr(config, part)
    assert (config, type(config)) == (value, type(value)) or tuple(config) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed: 1\nname: a\nseed: 2", "'seed' is set twice, in lines 1 and 3"),
        ("pool:\n  share: 0.1\n  size: 3\n  share: 0.2", "'share' is set twice, in lines 2 and 4"),
        ("extends: a\nextends: b", "'extends' is set twice, in lines 1 and 2"),
        ("pool: {share: 0.1, share: 0.2}", "'share' is set twice, in lines 1 and 1"),
    ],
)
def test_a_key_that_is_set_twice(text: str, message: str, tmp_path: Path) -> None:
    """R8: its last value counted."""
    path = tmp_path / "twice.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"twice\.yaml: not valid YAML \({message}\)"):
        load_config(path)
    if "{" in text:
        with pytest.raises(ValueError, match=message):
            load_config("linkage_ppo", [text.replace(": ", "=", 1)])


INHERITED = r"options\.threshold=7, but games are sampled with 8\.\.15: set initial_states\.vary"


@pytest.mark.parametrize(
    ("preset", "overrides", "message"),
    [
        ("linkage_ppo_quick", ["options={board_size: 5, threshold: 7}"], INHERITED),
        ("linkage_ppo_quick", ["options.threshold=7"], INHERITED),
        (
            "link_o_ppo",
            ["options.target=100"],
            r"target=100, but games are sampled with 0\.\.0: set",
        ),
        (
            "linkage_ppo_quick",
            ["options={board_size: 5, threshold: 9}"],
            r"vary: threshold: with 15 on size 5 Fewer always wins; use 2\.\.12$",
        ),
        (
            "linkage_ppo",
            ["initial_states.vary.threshold=[1, 9]"],
            r"with 1 .* More always wins; use",
        ),
        (
            "linkage_ppo",
            ["initial_states.vary.board_size=[3, 7]"],
            r"with 8 on size 3 Fewer always",
        ),
        (
            "linkage_az",
            ["options.threshold=25", "initial_states.vary={}"],
            r"^.*options: threshold: ",
        ),
    ],
)
def test_options_that_contradict_what_varies(
    preset: str, overrides: list[str], message: str, tmp_path: Path
) -> None:
    """R10: a third of the games was decided at the start. The error names the field to set."""
    with pytest.raises(ValueError, match=message):
        load_config(preset, overrides)
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump({"extends": preset, **override({}, overrides)}))
    if "initial_states.vary={}" not in overrides:  # in a file nothing is taken away
        with pytest.raises(ValueError, match=message):
            load_config(path)


@pytest.mark.parametrize(
    "overrides",
    [
        ["options={board_size: 5, threshold: 7}", "initial_states.vary={}"],
        ["options={board_size: 5, threshold: 7}", "initial_states.vary.threshold=[4, 12]"],
        ["options={board_size: 5, threshold: 7}", "initial_states={}"],
        ["options.threshold=13"],  # within what varies
        ["options.threshold=24", "initial_states.vary.threshold=[2, 24]"],
    ],
)
def test_options_beside_what_varies(overrides: list[str]) -> None:
    config = load_config("linkage_ppo_quick", overrides)
    assert config.options == override({}, overrides)["options"]


def test_overrides() -> None:
    fields = ["learning_rate=1e-4", "options.threshold=10", "initial_states.vary={}", "device=cpu"]
    config = load_config("linkage_ppo", [*fields, "pool.share=0.25", "teacher.agent=greedy"])
    assert isinstance(config, PPOConfig)
    assert config.learning_rate == (1e-4, 1e-4)
    assert (config.pool.share, config.pool.size) == (0.25, 12)
    assert config.teacher == TeacherConfig(agent="greedy")
    assert config.options == {"threshold": 10}
    assert config.initial_states.vary == {}
    assert config.initial_states.midgame == (0.5, 0.5)
    assert read_config(config.to_dict()) == config


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("learning_rat=1e-4", "learning_rat"),
        ("learning_rate=fast", "learning_rate"),
        ("game=chess", "chess"),
        ("num_envs=0", "num_envs"),
        ("pool.share=1.5", "pool.share: Input should be less than or equal to 1, not 1.5"),
        ("pool.shares=1", r"unknown field pool.shares \(did you mean pool.share\?\)"),
        ("threshold=5", r"unknown field threshold \(did you mean options.threshold\?\)"),
        ("num_env=12", r"unknown field num_env \(did you mean num_envs\?\)"),
        ("num_players=3", r"num_players: must be a list, such as \[3\]"),
        ("pool=3", "pool: Input should be a dictionary"),
        ("teacher.share=0.1", "teacher.agent: Field required"),
        ("name.of=1", "'name.of=1': name has no fields"),
        ("entropy=[1, 2, 3]", "entropy: .*(at most 2 items|Unexpected positional argument)"),
        ("entropy=[0.1, -1]", "entropy: Input should be greater than or equal to 0, not -1$"),
        ("seed=true", "seed: must be a number, not True$"),
        ("entropy=[true, 0]", "entropy: must be a number, not True$"),
        ("initial_states.vary.threshold=[8, false]", "threshold: must be a number, not False$"),
        ("options.treshold=3", "treshold"),
        ("initial_states.vary.threshold=[9, 3]", "9..3"),
        ("initial_states.vary.hole=[0, 1]", "hole"),
        ("clip", "field=value"),
        ("clip.low=1", "clip"),
        ("precision=fp8", "precision"),
        ("temperature=-1", "temperature: Input should be greater than or equal to 0, not -1"),
        ("average=-1", "average: Input should be greater than or equal to 0, not -1"),
        ("score_margin_weight=-1", "score_margin_weight: Input .* equal to 0, not -1$"),
    ],
)
def test_wrong_fields_are_named(override: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_config("linkage_ppo", [override])


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["solver_limit=-1"], "solver_limit: Input should be greater than or equal to 0, not -1"),
        (["simulations=[]"], "simulations"),
        (["reuse=3"], "reuse: 3 does not divide"),
    ],
)
def test_wrong_fields_of_alphazero_are_named(overrides: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_config("linkage_az", overrides)


@pytest.mark.parametrize(
    ("game", "fields"),
    [
        ("linkage", ("alphazero", "board", True)),
        ("love_links", ("alphazero", "flat", False)),
        ("link_o", ("ppo", "graph", True)),
        ("love_formula", ("ppo", "flat", False)),
        ("connect_four:GAME", ("alphazero", "board", True)),
        ("leduc:GAME", ("ppo", "flat", False)),
    ],
)
def test_a_game_alone_gets_a_configuration(game: str, fields: tuple[Any, ...]) -> None:
    """Picked by hidden information and the kind of observation; settings come last."""
    config = load_config(game)
    assert (config.algorithm, config.network, config.symmetric) == fields
    assert (config.game, config.max_seconds) == (game, 1800)
    assert getattr(config, "critic", "full") == "full"
    other = load_config(game, ["network=flat", "total_steps=5000", "eval.every=7"])
    assert (other.network, other.total_steps, other.max_seconds) == ("flat", 5000, None)
    assert (other.eval.every, other.eval.blocks) == (7, 100)


def test_a_preset_is_of_its_game() -> None:
    text = "linkage_ppo_quick is a configuration of linkage: `linkzoo train connect_four:GAME`"
    with pytest.raises(ValueError, match=text):
        load_config("linkage_ppo_quick", ["game=connect_four:GAME"])
    with pytest.raises(ValueError, match="no solver for love"):
        load_config("love_links", ["solver_limit=9"])


NUMBER = re.compile(r"\b(int|float)\b")


SECTIONS: dict[str, Any] = {
    "initial_states": InitialStatesConfig,
    "eval": EvalConfig,
    "pool": PoolConfig,
    "teacher": TeacherConfig,
}


def numeric(kind: Any) -> list[str]:
    """The fields of a configuration and of its sections that hold a number, or several."""
    names = []
    for name, hint in get_type_hints(kind).items():
        if name in SECTIONS:
            names += [f"{name}.{field}" for field in numeric(SECTIONS[name])]
        elif NUMBER.search(str(hint)):
            names.append(name)
    return names


SHARED = numeric(Config)
NASTY = [
    *("-1 0 1e308 -1e308 1e-320 .inf -.inf .nan 1e999 null true '' ~ [] {} x 2020-01-01".split()),
    *(str(sign * 10**power + one) for sign in (1, -1) for power in (12, 30, 400) for one in (0, 1)),
    "[1e400]",
    "[-1]",
    "[0]",
    "[.nan, 1]",
]


@pytest.mark.parametrize(
    ("preset", "field"),
    [
        *(("linkage_ppo", name) for name in numeric(PPOConfig)),
        *(("linkage_az", name) for name in numeric(AlphaZeroConfig) if name not in SHARED),
        *(pytest.param("linkage_az", name, marks=NIGHTLY) for name in SHARED),
    ],
)
def test_wild_numbers_are_refused_by_name(preset: str, field: str) -> None:
    """Each number is refused with the field's name, or it is in a harmless range."""
    standard = load_config(preset, ["teacher.agent=greedy"] if "teacher" in field else [])
    for text in NASTY:
        config, message = None, field
        try:
            config = read_config(override(standard.to_dict(), [f"{field}={text}"]))
        except ValueError as error:
            message = str(error)
        assert field in message
        assert "\n" not in message
        assert config is None or text != "true"  # R8: it was 1
        if config is None:
            continue
        value: Any = config
        for part in field.split("."):
            value = getattr(value, part)
        for number in value if isinstance(value, tuple) else (value,):
            assert number is None or number == {} or 0 <= number <= 10**15
            assert not isinstance(number, float) or math.isfinite(number)
        if field == "max_seconds":
            assert value is None or 0 < value <= 1e9


@pytest.mark.parametrize(
    "override",
    [
        "seed=[",
        "seed=!!python/object/apply:os.getcwd []",
        "seed=" + "9" * 5000,
        pytest.param("seed=" + "[" * 2000, marks=NIGHTLY),
        "seed={[1]: 2}",
        "seed=2020-13-45",
        "seed=\x00",
        "seed=&a [*a]",
    ],
)
def test_no_yaml_is_one_line(override: str, tmp_path: Path) -> None:
    """Errors of a setting and of a file are one line; tags of Python objects are refused."""
    with pytest.raises(ValueError, match="seed") as caught:
        load_config("linkage_ppo", [override])
    assert len(str(caught.value)) < 300
    path = tmp_path / "wild.yaml"
    path.write_text(override.replace("=", ": ", 1), encoding="utf-8")
    with pytest.raises(ValueError, match=r"wild\.yaml"):
        load_config(path)


def test_wild_files(tmp_path: Path) -> None:
    path = tmp_path / "wild.yaml"
    for data in (b"\xff\xfe\x00", b"extends: [1]", b"- 1", b"1: 2", b"extends: wild"):
        path.write_bytes(data)
        with pytest.raises(ValueError, match="wild"):
            load_config(path)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("name=../elsewhere", "name"),
        ("name=''", "name"),
        ("views=193", r"views: 193 is not in 1\.\.192"),
        ("initial_checkpoint=nowhere", "no checkpoint 'nowhere'"),
        ("teacher.agent=nobody", "teacher.agent: agent 'nobody'"),
        ("pool.fixed_opponents=[greedy, uct-0]", "pool.fixed_opponents: simulations: 0"),
        ("eval.opponents=[uct-99999999]", "eval.opponents: simulations: 99999999 is not in 1"),
        ("eval.final_opponents=[nobody]", "eval.final_opponents: agent 'nobody'"),
        *(
            (f"{field}={value}", f"{field}: agent 'human' is asked at the terminal")
            for field, value in (
                ("teacher.agent", "human"),
                ("pool.fixed_opponents", "[greedy, human]"),
                ("eval.opponents", "[human]"),
                ("eval.final_opponents", "[human]"),
            )
        ),
    ],
)
def test_names_are_checked_when_they_are_read(override: str, message: str) -> None:
    """A run would end by them after hours; a view too many ended one as it was published."""
    with pytest.raises(ValueError, match=message):
        load_config("linkage_ppo", [override])


@pytest.mark.slow
def test_reading_loads_and_compiles_nothing() -> None:
    """Reading imports no torch, reads no checkpoint and compiles no function of a game."""
    code = (
        "import sys\nfrom numba.core import event\n"
        "timer = event.TimingListener()\nevent.register('numba:compile', timer)\n"
        "from linkzoo_training.config.config import load_config\n"
        "for name in sys.argv[1:]:\n    load_config(name, ['eval.opponents=[checkpoint]'])\n"
        "print(timer.done, 'torch' in sys.modules)"
    )
    assert run_python("-c", code, *SHIPPED) == "False False\n"


@pytest.mark.parametrize(
    ("given", "numbers"), [([3.0, 1.0], [3.0, 2.5, 1.0]), (0.5, [0.5, 0.5, 0.5])]
)
def test_schedules_follow_the_run(given: Any, numbers: list[float]) -> None:
    config = ppo_config({"name": "a", "game": "linkage", "score_margin_weight": given})
    assert [config.score_margin_weight.at(part) for part in (0.0, 0.25, 1.0)] == numbers
    assert config.to_dict()["score_margin_weight"] == given


def test_missing_and_broken_files(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="linkage_ppo"):
        load_config("no_such_preset")
    broken = tmp_path / "broken.yaml"
    broken.write_text("game: [linkage", encoding="utf-8")
    with pytest.raises(ValueError, match="not valid YAML"):
        load_config(broken)
    broken.write_text("linkage", encoding="utf-8")
    with pytest.raises(ValueError, match="not a mapping"):
        load_config(broken)
    with pytest.raises(ValueError, match=r"card\.json"):
        find_checkpoint(tmp_path)


def test_learning_rates_follow_the_run() -> None:
    """With a teacher from its rate to the learner's, then linear to 0; its own weight likewise."""
    given = {"name": "a", "game": "linkage", "learning_rate": [2e-4, 0]}
    greedy = {"agent": "greedy", "share": 0.2}
    alone = ppo_config(given)
    assert [alone.learning_rate_at(part) for part in (0.0, 0.5, 1.0)] == pytest.approx(
        [2e-4, 1e-4, 0.0]
    )
    taught = ppo_config({**given, "teacher": greedy})
    rates = [taught.learning_rate_at(part) for part in (0.0, 0.1, 0.2, 0.6, 1.0)]
    assert rates == pytest.approx([1e-3, 6e-4, 2e-4, 1e-4, 0.0])
    assert [taught.only_imitates(part) for part in (0.0, 0.19, 0.2)] == [True, True, False]
    assert not alone.only_imitates(0.0)
    beside = ppo_config({**given, "teacher": {**greedy, "weight": [0.5, 0]}})
    assert [beside.teacher_weight(part) for part in (0.0, 0.2, 0.6, 1.0)] == [1.0, 0.5, 0.25, 0.0]
    stays = ppo_config({**given, "teacher": {**greedy, "weight": [0.5, 0.25]}})
    assert [stays.teacher_weight(part) for part in (0.0, 0.2, 0.6, 1.0)] == [1.0, 0.5, 0.375, 0.25]
    assert [taught.teacher_weight(0.1), taught.teacher_weight(0.2), alone.teacher_weight(0.0)] == [
        1.0,
        0.0,
        0.0,
    ]
