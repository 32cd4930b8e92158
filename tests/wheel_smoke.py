"""Checks installed wheels from the outside: `python -I wheel_smoke.py bare|train`.

`bare` expects an environment with `linkzoo` alone, `train` one with `linkzoo[train]`. `.ci/run`
starts it outside the clone, so that nothing but the wheels can be imported.
"""

import importlib.util
import json
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

_BIN = Path(sys.executable).parent
_PRESET = "linkage_ppo_quick"
_TRAIN = ["train", _PRESET, "max_seconds=5", "eval.final_blocks=20"]


def linkzoo_command(*arguments: str, cwd: str | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the `linkzoo` command of this environment."""
    print("$ linkzoo", *arguments, flush=True)
    done = subprocess.run(
        [str(_BIN / "linkzoo"), *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=600,
        check=False,
    )
    print(done.stdout[-2000:], done.stderr[-2000:], flush=True)
    assert "Traceback" not in done.stderr, "the command crashed"
    return done


def play_games() -> None:
    """Plays every game at random through the PettingZoo interface."""
    import linkzoo

    for name in linkzoo.game_names():
        env = linkzoo.make(name)
        env.reset(seed=1)
        actions = 0
        for agent in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                env.step(None)
                continue
            assert isinstance(observation, dict)
            env.step(env.action_space(agent).sample(observation["action_mask"]))
            actions += 1
        assert 10 < actions <= env.game.facts.max_length, actions
        print(f"played a game of {name}: {actions} actions")


def check_bare() -> None:
    """The environments alone: no torch, a game, and a command that names the missing package."""
    for name in ("torch", "linkzoo_training"):
        assert importlib.util.find_spec(name) is None, f"{name} is installed without the extra"
    started = time.perf_counter()
    import linkzoo

    print(f"import linkzoo: {time.perf_counter() - started:.2f} s, version {version('linkzoo')}")
    assert (files(linkzoo) / "py.typed").is_file()
    assert (files(linkzoo) / "games" / "linkage" / "RULES.md").is_file()
    play_games()
    done = linkzoo_command("train", _PRESET)
    assert done.returncode == 2
    assert "linkzoo-training" in done.stderr, "the command doesn't say what is missing"
    assert "pip install 'linkzoo[train]'" in done.stderr, "the command doesn't say what to install"


def check_train() -> None:
    """Training for some seconds, evaluation, and the policies that ship with the package."""
    import linkzoo

    assert not [name for name in sys.modules if name.split(".")[0] == "torch"]
    assert version("linkzoo") == version("linkzoo-training") == linkzoo.__version__
    assert (files(linkzoo) / "py.typed").is_file()
    import linkzoo_training

    package = files(linkzoo_training)
    assert (package / "py.typed").is_file()
    assert (package / "shipped" / "configs" / f"{_PRESET}.yaml").is_file()
    checkpoints = package / "shipped" / "checkpoints"
    best = json.loads((checkpoints / "best.json").read_text())
    for policy in best.values():
        assert (checkpoints / policy / "model.safetensors").is_file(), policy
    with tempfile.TemporaryDirectory() as folder:
        assert linkzoo_command(*_TRAIN, cwd=folder).returncode == 0
        models = sorted(Path(folder).rglob("model.safetensors"))
        assert models, "training wrote no checkpoint"
        card = json.loads(models[-1].with_name("card.json").read_text())
        assert card["game"] == "linkage"
        model = str(models[-1].parent)
        done = linkzoo_command(
            "evaluate",
            model,
            "--ladder",
            "--games",
            "2",
            "--solved-positions",
            "--card",
            cwd=folder,
        )
        assert done.returncode == 0
    for game in best:
        linkzoo_training.load_agent(game)
        assert linkzoo.load_policy(game).name
    print("the best policy of each game loads:", best)


if __name__ == "__main__":
    {"bare": check_bare, "train": check_train}[sys.argv[1]]()
