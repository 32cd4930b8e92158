"""The `linkzoo` command, called as a function: results on stdout, errors as one line on stderr."""

import json
import signal
import subprocess
import sys
from argparse import ArgumentTypeError
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
import torch

import linkzoo
from linkzoo import GameRecord, make_vec
from linkzoo_training import resources
from linkzoo_training.__main__ import main as run_process
from linkzoo_training.commands import common
from linkzoo_training.commands.cli import COMMANDS, main, parse_arguments
from linkzoo_training.commands.tools import bench
from linkzoo_training.commands.tools import compile as compile_command
from linkzoo_training.commands.train import describe
from linkzoo_training.config.config import load_config
from tests.common.play import run_python
from tests.common.variants import CARRIED, Variant
from tests.cuda.installed import skip_without_numba_cuda
from tests.driving import first_quick


def error_line(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    assert captured.out == ""
    # A game that is compiled for the first time says so.
    lines = [line for line in captured.err.splitlines(True) if not line.startswith("compiling ")]
    assert len(lines) == 1
    assert lines[0].startswith("linkzoo: ")
    return lines[0]


def usage_error(arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The last line of argparse's message; the lines above it are the usage."""
    with pytest.raises(SystemExit) as stopped:
        main(arguments.split())
    assert stopped.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("usage: linkzoo")
    return err.splitlines()[-1]


def test_evaluate(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "match.json"
    arguments = ["evaluate", "random", "greedy", "--games", "41", "--seed", "3", "threshold=9"]
    assert main([*arguments, "--openings", "2-4", "--json", str(path)]) == 0
    out = capsys.readouterr().out
    assert "random against greedy" in out
    assert "More (seat 0)" in out
    data = json.loads(path.read_text(encoding="utf-8"))
    assert (data["games"], data["seed"], data["openings"]) == (42, 3, "2-4")
    assert data["options"]["threshold"] == 9


@pytest.mark.slow
def test_a_checkpoint_searches_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "match.json"
    arguments = ["evaluate", "linkage", "random", "--games", "2", "--simulations", "4"]
    assert main([*arguments, "--json", str(path)]) == 0
    assert json.loads(path.read_text(encoding="utf-8"))["agents"] == ["linkage:4", "random"]


def test_a_block_has_a_game_for_each_side(tmp_path: Path) -> None:
    """Four players of Love Links are two teams: 6 games are 3 blocks."""
    path = tmp_path / "match.json"
    arguments = ["evaluate", "random", "random", "--game", "love_links", "--players", "4"]
    assert main([*arguments, "--games", "6", "--json", str(path)]) == 0
    data = json.loads(path.read_text(encoding="utf-8"))
    assert (data["games"], data["blocks"]) == (6, 3)


def test_evaluate_saves_the_games(tmp_path: Path) -> None:
    folder = tmp_path / "some" / "games"
    command = ["evaluate", "random", "greedy", "--games", "3", "--record", str(folder)]
    assert main(command) == 0
    names = ["00000-A0", "00000-A1", "00001-A0", "00001-A1"]
    assert sorted(path.stem for path in folder.iterdir()) == names
    *_, last = GameRecord.load(folder / "00001-A1.json").replay()
    assert last.seat == -1
    with pytest.raises(SystemExit, match="2"):  # the folder isn't empty any more
        main(command)


@pytest.mark.slow
def test_evaluate_on_labels(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    assert (
        main(["evaluate", "random", "--solved-positions", "--seed", "7", "--json", str(path)]) == 0
    )
    out = capsys.readouterr().out
    assert "Blunder rate of random: linkage" in out
    assert "random against" not in out
    alone = json.loads(path.read_text(encoding="utf-8"))
    arguments = [
        "evaluate",
        "random",
        "greedy",
        "--games",
        "2",
        "--solved-positions",
        "--seed",
        "7",
    ]
    path.unlink()
    assert main([*arguments, "--json", str(path)]) == 0
    out = capsys.readouterr().out
    assert "random against greedy" in out
    assert "Blunder rate of random" in out
    both = json.loads(path.read_text(encoding="utf-8"))
    assert both["blunder_rate"] == alone["blunder_rate"]
    assert both["agents"] == ["random", "greedy"]


@pytest.mark.slow
def test_the_blunder_rate_on_the_card(tmp_path: Path) -> None:
    """They take the place of the agent's own, and of no other's."""
    from linkzoo_training.checkpoints.checkpoint import load_card, save_checkpoint
    from linkzoo_training.networks.flat import make_network

    game = linkzoo.get_game("linkage")
    other = {"agent": "mine:9", "note": "stays"}
    card = {"network": {"kind": "flat", "width": 8, "blocks": 1}, "views": 1, "strength": []}
    card["blunder_rate"] = [{"agent": str(tmp_path / "mine"), "note": "goes"}, other]
    save_checkpoint(tmp_path / "mine", make_network(game, "flat", 8, 1), game, card)
    path = tmp_path / "result.json"
    arguments = ["--solved-positions", "--card", "--json", str(path)]
    assert main(["evaluate", str(tmp_path / "mine"), *arguments]) == 0
    kept, new = load_card(tmp_path / "mine")["blunder_rate"]
    assert kept == other
    data = json.loads(path.read_text(encoding="utf-8"))["blunder_rate"]
    assert new["share"] == data["share"]
    assert new["command"] == f"linkzoo evaluate {tmp_path}/mine --solved-positions --seed 0"


@pytest.mark.parametrize(
    "arguments",
    [
        "evaluate --games 2 random greedy threshold=9",
        "evaluate random --games 2 greedy threshold=9",
        "evaluate random greedy --games 2 threshold=9",
        "evaluate random greedy threshold=9 --games 2",
        "evaluate random --games 2 greedy --seed 0 threshold=9",
    ],
)
def test_options_may_stand_between_agents(arguments: str, tmp_path: Path) -> None:
    path = tmp_path / "match.json"
    assert main([*arguments.split(), "--json", str(path)]) == 0
    match = json.loads(path.read_text(encoding="utf-8"))
    assert match["agents"] == ["random", "greedy"]
    assert (match["games"], match["options"]["threshold"]) == (2, 9)


@pytest.mark.parametrize(
    ("arguments", "fields"),
    [
        (
            "train --resume linkage_ppo seed=1 --folder x width=8",
            {"settings": ["seed=1", "width=8"]},
        ),
        ("tournament random --games 2 greedy", {"agents": ["random", "greedy"], "games": 2}),
        ("data solve --limit 9 p.jsonl --out s.jsonl", {"file": Path("p.jsonl"), "limit": 9}),
        ("linear fit a.npz --out s.json b.npz", {"labels": [Path("a.npz"), Path("b.npz")]}),
        ("experiment plot runs/a --x seconds runs/b", {"runs": ["runs/a", "runs/b"]}),
    ],
)
def test_options_may_stand_between_positionals(arguments: str, fields: dict[str, Any]) -> None:
    parsed = vars(parse_arguments(arguments.split()))
    assert {name: parsed[name] for name in fields} == fields


def test_the_top_level_has_few_commands() -> None:
    assert len(COMMANDS) <= 13


def test_options_may_stand_anywhere(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "match.json"
    behind = ["--games", "2", "--json", str(path), "free_hole=true", "threshold=10"]
    assert main(["evaluate", "random", "random", *behind]) == 0
    options = json.loads(path.read_text(encoding="utf-8"))["options"]
    assert (options["free_hole"], options["threshold"]) == (True, 10)
    assert "seat 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("evaluate random nobody", "random, greedy, uct-N"),
        ("evaluate random uct-0", "simulations: 0"),
        ("evaluate random random colour=3", "no option 'colour'"),
        ("evaluate random random threshold=high", "threshold: 'high'"),
        ("evaluate random random threshold", "is not option=value"),
        ("evaluate random random threshold=[", "no valid YAML value"),
        ("evaluate random", "name an opponent B, or --ladder, --solved-positions or"),
        ("evaluate random --ladder --record games", "--record: needs an opponent B"),
        ("evaluate random greedy --ladder", "--ladder: the ladder sets the opponents"),
        ("evaluate random --ladder --sprt 0 10", "--ladder: the ladder sets the opponents"),
        ("evaluate random --ladder --card", "--card: random is not a checkpoint"),
        ("evaluate linkage random --card", "--card: needs --ladder or --solved-positions"),
        ("evaluate linkage --ladder --players 3", "num_players: 3"),
        (
            "evaluate random --solved-positions --game love_links",
            "no solved positions for love_links",
        ),
        ("evaluate random random --solved-positions threshold=9", "the file sets the options"),
        ("evaluate random random --openings 4-2", "openings: '4-2'"),
        ("evaluate random random --players 3", "num_players: 3"),
        ("play linkage --opponent random --seat 5", "seat=5"),
        ("train no_such_config", "no_such_config"),
        ("experiment best-response random --openings 5-2", "openings: '5-2'"),
        (
            "experiment best-response human",
            "pool.fixed_opponents: agent 'human' is asked at the terminal",
        ),
        ("tournament random human", "agent 'human' is asked at the terminal"),
        ("train linkage_ppo --workers 3", "--workers 3: needs --executor"),
        ("replay game.json", "replay: needs --html FILE, --gif FILE or --png FOLDER"),
    ],
)
def test_wrong_values(arguments: str, complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments.split()) == 2
    assert complaint in error_line(capsys)


def test_integers_with_an_exponent() -> None:
    """R8: as in YAML; 2.5e0 is none."""
    read = common.whole(0, 10**9)
    assert [read(text) for text in ("20000", "2e4", "2.5E1", "-0", "1_000")] == [20000] * 2 + [
        25,
        0,
        1000,
    ]
    for text in ("2.5e0", "1e400", "nan", "1e10", "-1e0", "0x10", ""):
        with pytest.raises(ArgumentTypeError, match="is not an integer in 0"):
            read(text)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("play linkage --seed -1", f"--seed: '-1' is not an integer in 0..{2**64 - 1}"),
        (f"evaluate random random --seed {2**64}", "--seed: '18446744073709551616' is not"),
        (f"evaluate random random --seed {'9' * 5000}", "9' is not an integer in 0.."),
        ("evaluate random random --games many", "--games: 'many' is not an integer in 1..10"),
        ("evaluate random random --games -5", "--games: '-5' is not an integer in 1.."),
        ("evaluate random random --games 0", "--games: '0' is not an integer in 1.."),
        ("evaluate random random --games 9999999999999", "--games: '9999999999999' is not an"),
        ("evaluate random random --batch 0", "--batch: '0' is not an integer in 1..1048576"),
        ("evaluate random random --simulations 0", "--simulations: '0' is not an integer in 1.."),
        ("tournament random greedy --simulations -1", "--simulations: '-1' is not an integer"),
        ("play linkage --opponent greedy --simulations -1", "--simulations: '-1' is not an"),
        ("evaluate random random --sprt 0 inf", "--sprt: 'inf' is not a number in -4000..4000"),
        ("evaluate random random --sprt nan 5", "--sprt: 'nan' is not a number in -4000..4000"),
        ("evaluate random random --sprt 0 1e308", "--sprt: '1e308' is not a number in -4000.."),
        ("evaluate random random --sprt much 5", "--sprt: 'much' is not a number in -4000.."),
        ("train linkage_ppo --executor processes --workers 9999999", "--workers: '9999999' is not"),
        ("experiment best-response random --steps 0", "--steps: '0' is not an integer in 1.."),
        ("experiment best-response random --games 0", "--games: '0' is not an integer in 1.."),
        ("serve --port 65536", "--port: '65536' is not an integer in 0..65535"),
        ("replay game.json --width 15", "--width: '15' is not an integer in 16..4096"),
        ("replay game.json --milliseconds 19", "--milliseconds: '19' is not an integer in 20.."),
        ("evaluate random random --json .", "--json: . is a folder"),
        ("evaluate random random --json nowhere/match.json", "there is no folder nowhere"),
        (
            "tools export linkage --onnx nowhere/a.onnx",
            "--onnx: nowhere/a.onnx: there is no folder",
        ),
        ("evaluate random random --json /dev/null", "/dev/null is not a regular file"),
        ("tournament random greedy --output pyproject.toml/x", "pyproject.toml is not a folder"),
        ("serve --record pyproject.toml/x", "pyproject.toml/x: pyproject.toml is not a folder"),
    ],
)
def test_options_out_of_range(
    arguments: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error names the option and its range, before memory is taken."""
    assert complaint in usage_error(arguments, capsys)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("evaluate random uct-2147483647", "simulations: 2147483647 is not in 1..1000000"),
        ("evaluate random cheat-1000001", "simulations: 1000001 is not in 1..1000000"),
        (f"evaluate random uct-{'9' * 5000}", "more than 18 digits"),
        (f"evaluate random linkage:{'9' * 30}", "more than 18 digits"),
        ("evaluate linkage:2147483647 random", "simulations: 2147483647 is not in 1.."),
        ("evaluate linkage~1001 random", "temperature: 1001.0 is not in 0..1000"),
        ("evaluate linkage@999999999 random", "views: 999999999 is not in 1..192"),
        ("evaluate random random --openings 9999999999999", "numbers of plies in 0..26"),
        (f"evaluate random random --openings 0-{'9' * 99}", "numbers of plies in 0..26"),
        ("train linkage_ppo seed=[", "'seed=[' has no valid YAML value"),
        ("train linkage_ppo seed=!!python/name:os.system", "has no valid YAML value"),
        ("train linkage_ppo gae_lambda=.inf", "gae_lambda: "),
        ("experiment best-response random total_steps=0", "total_steps: "),
        ("experiment best-response random --seconds nan", "max_seconds: "),
        ("play chess", "no game 'chess'"),
        ("tools bench --game no_such:GAME", "can't import no_such"),
    ],
)
def test_wild_numbers(arguments: str, complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It is refused in one line with the allowed range, before memory is taken."""
    assert main(arguments.split()) == 2
    assert complaint in error_line(capsys)


def test_a_file_that_can_not_be_written_is_noticed_first(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Checked before the match. Root may write anywhere, so the system's answer is imitated."""

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(common, "TemporaryFile", denied)
    for command in (
        "evaluate random random --json",
        "play linkage --record",
        "tournament random greedy --output",
        "serve --record",
    ):
        line = usage_error(f"{command} {tmp_path / 'file'}", capsys)
        assert f"{tmp_path / 'file'} can't be written: Permission denied" in line
    assert main(["evaluate", "linkage", "--ladder", "--card"]) == 2
    assert "linkage_az can't be written: Permission denied" in error_line(capsys)


QUICK_RUN = """
import os, signal, sys
from linkzoo_training.algorithms import ppo
from linkzoo_training.__main__ import main
iterate = ppo.PPOTrainer.iterate
def asked(trainer):
    metrics = iterate(trainer)
    if trainer.iteration == 2:
        os.kill(os.getpid(), number)
    return metrics
ppo.PPOTrainer.iterate, number = asked, int(sys.argv[1])
sys.argv = ["linkzoo", "train", "run.yaml"]
sys.exit(main())
"""


@pytest.mark.slow  # quick: test_ppo.py, that a run that was stopped goes on
@pytest.mark.last
@pytest.mark.parametrize(
    ("number", "code"), first_quick([(signal.SIGINT, 130), (signal.SIGTERM, 143)], slow=0)
)
def test_a_stopped_run_says_so_by_its_exit_code(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    """The exit status is 128 plus the signal's number, as in a shell."""
    fields = {"name": "tiny", "game": "linkage", "total_steps": 9999, "num_threads": 1}
    fields |= {"num_envs": 4, "horizon": 4, "width": 4, "blocks": 1}
    (tmp_path / "run.yaml").write_text(json.dumps(fields), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", QUICK_RUN, str(int(number))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert "stopped and saved in runs/tiny" in done.stdout
    assert "Traceback" not in done.stderr


INTERRUPTED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from linkzoo_training.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize("module", ["linkzoo_training.commands.cli", "numpy", "linkzoo.core.game"])
def test_an_interruption_of_the_imports_is_quiet(module: str) -> None:
    """Ctrl-C in the first third of a second prints no traceback."""
    command = [sys.executable, "-c", INTERRUPTED, module]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("", "required"),
        ("fly", "invalid choice: 'fly'"),
        ("evaluate", "required: A"),
        ("evaluate random random --gmaes 5", "unrecognized arguments: --gmaes"),
        ("data", "required: COMMAND"),
        ("data fly", "invalid choice: 'fly'"),
        ("bench", "invalid choice: 'bench'"),
        ("tools bench threshold=3", "unrecognized arguments: threshold=3"),
    ],
)
def test_wrong_usage(arguments: str, complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert complaint in usage_error(arguments, capsys)


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"linkzoo {linkzoo.__version__}\n"


@pytest.mark.parametrize("arguments", ["tools bench", "train linkage", "evaluate random random"])
def test_without_the_train_extra(
    arguments: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "find_spec", lambda name: None if name == "torch" else object())
    assert main(arguments.split()) == 2
    assert (
        error_line(capsys)
        == "linkzoo: torch not installed: in a clone of linkzoo, pip install '.[train]'\n"
    )


@pytest.mark.slow
def test_the_module_needs_nothing_of_the_train_extra() -> None:
    code = (
        "import sys; import linkzoo_training.commands.cli as c; "
        "print(set(sys.modules) & {*c._NEEDED} - {'yaml'})"  # numba imports it if it can
    )
    assert run_python("-c", code) == "set()\n"


def test_play(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("help\nW c4-d4\nW a1-b1\nquit\n"))
    path = tmp_path / "game.json"
    assert main(["play", "linkage", "--opponent", "greedy", "--record", str(path)]) == 0
    out = capsys.readouterr().out
    assert "W c4-d4 is not legal here" in out
    assert "Player 1 places a " in out
    assert f"Saved: {path}" in out
    assert GameRecord.load(path).actions[0] == 0


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        ("evaluate greedy random --games 8 --json match.json", "Elo difference +?"),
        ("play linkage --opponent random --record game.json", "Player 0, your move: "),
    ],
)
def test_a_console_that_is_not_utf8(
    arguments: str, printed: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Characters that the encoding lacks are replaced, and no result is lost."""
    monkeypatch.chdir(tmp_path)
    console = TextIOWrapper(BytesIO(), encoding="cp1252")
    monkeypatch.setattr("sys.stdout", console)
    monkeypatch.setattr("sys.stdin", StringIO("quit\n"))
    monkeypatch.setattr("sys.argv", ["linkzoo", *arguments.split()])
    assert run_process() == 0
    console.seek(0)
    assert printed in console.read()
    assert json.loads(Path(arguments.rsplit(maxsplit=1)[-1]).read_text(encoding="utf-8"))


def test_results_are_written_before_they_are_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_: object) -> None:
        raise OSError("no terminal")

    monkeypatch.setattr("rich.console.Console.print", fail)
    path = tmp_path / "match.json"
    assert main(["evaluate", "random", "random", "--games", "2", "--json", str(path)]) == 2
    assert json.loads(path.read_text(encoding="utf-8"))["games"] == 2


@pytest.mark.slow
def test_bench(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "_SECONDS", 0.05)
    assert main(["tools", "bench"]) == 0
    out = capsys.readouterr().out
    assert out.count("steps/s") == 2
    assert out.count("playouts/s") == 1


def test_bench_without_a_gpu(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert main(["tools", "bench", "--device", "cuda"]) == 2
    assert error_line(capsys).startswith("linkzoo: --device cuda: device='cuda'")


@pytest.mark.slow
def test_bench_on_a_gpu(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but the GPU."""
    skip_without_numba_cuda()
    from tests.cuda.without_gpu import build, without_gpu

    monkeypatch.setattr(bench, "_SECONDS", 0.05)
    monkeypatch.setattr(bench, "make_vec", lambda *_, device, **rest: build(CARRIED, 4, **rest))
    monkeypatch.setattr("torch.cuda.synchronize", lambda: None)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda: "none")
    with without_gpu():
        assert main(["tools", "bench", "--device", "cuda"]) == 0
    assert capsys.readouterr().out.count("steps/s") == 1


@pytest.mark.slow
def test_a_gpu_plays_the_same_random_games(monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without_numba_cuda()
    from tests.cuda.without_gpu import build, without_gpu

    made: list[Any] = []

    def make(*arguments: Any, device: str = "cpu", **rest: Any) -> Any:
        games = make_vec(*arguments, **rest)
        variant = Variant(games.game.name, 2, {})
        made.append(games if device == "cpu" else build(variant, games.num_envs, **rest))
        return made[-1]

    monkeypatch.setattr(bench, "make_vec", make)
    monkeypatch.setattr("torch.cuda.synchronize", lambda: None)
    with without_gpu():
        assert (
            bench.vector_steps("love_links", None, 6, device="cuda")()
            == bench.vector_steps("love_links", None, 6)()
        )
    device, host = made
    assert device.states.numpy().tobytes() == host.states.tobytes()


def test_an_interruption_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(bench, "measure", interrupt)
    assert main(["tools", "bench"]) == 130


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            RuntimeError("DefaultCPUAllocator: can't allocate memory: 5 bytes\nat"),
            "5 bytes",
        ),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB"), "9 GiB"),
        (MemoryError("num_envs: 7 games"), "7 games"),
        (MemoryError(), "none is left"),
    ],
)
def test_too_little_memory_is_one_line(
    error: Exception,
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(bench, "measure", fail)
    assert main(["tools", "bench"]) == 2
    line = error_line(capsys)
    assert "too little memory" in line
    assert said in line
    assert "num_envs" in line


def test_other_errors_are_not_taken_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(bench, "measure", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        main(["tools", "bench"])


def test_compile(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of games aren't taken for a number of them, as of `evaluate --games`."""
    monkeypatch.setattr(compile_command, "compile_ahead", lambda names, _: [" ".join(names)])
    assert main(["tools", "compile"]) == 0
    assert main(["tools", "compile", "linkage"]) == 0
    assert capsys.readouterr().out == f"{' '.join(linkzoo.game_names())}\nlinkage\n"
    monkeypatch.undo()
    assert main(["tools", "compile", "chess"]) == 2
    assert "no game 'chess'" in error_line(capsys)


@pytest.mark.parametrize(
    ("settings", "budget"),
    [
        ([], "30 minutes"),
        (["max_seconds=10"], "10 seconds"),
        (["max_seconds=0.5"], "0.5 seconds"),
        (["max_seconds=60"], "1 minute"),
        (["max_seconds=5400"], "90 minutes"),
        (["max_seconds=86400"], "24 hours"),
        (["total_steps=20_000"], "20,000 steps"),
        (["total_steps=20_000", "max_seconds=90"], "1.5 minutes or 20,000 steps"),
        (["max_seconds=null"], "until Ctrl-C"),
    ],
)
def test_the_budget_of_a_picked_configuration(settings: list[str], budget: str) -> None:
    assert f" blocks), {budget}; change fields" in describe(load_config("linkage", settings))
