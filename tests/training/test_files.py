"""Files that are damaged, foreign or in use: one line that names them, and nothing is lost."""

import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from linkzoo import Positions, get_game, make_vec
from linkzoo.core.files import PART, write_atomically
from linkzoo_training.agents.policy import PolicyAgent, SearchAgent, load_agent
from linkzoo_training.algorithms import alphazero
from linkzoo_training.algorithms.logger import Logger, read_metrics
from linkzoo_training.algorithms.ppo import PPOTrainer
from linkzoo_training.checkpoints.checkpoint import (
    load_tensors,
    pack,
    save_checkpoint,
    save_tensors,
)
from linkzoo_training.commands.cli import main
from linkzoo_training.networks.flat import make_network
from linkzoo_training.resources import STATE_FILE, find_checkpoint, find_config
from linkzoo_training.runtime import alone_in
from linkzoo_training.selfplay import replay
from linkzoo_training.train import train
from tests.driving import first_quick
from tests.training import test_alphazero, test_ppo
from tests.training.helpers import alphazero_config, ppo_config

CONFIG = ppo_config({**test_ppo.QUICK, "average": 3})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A published checkpoint."""
    game = get_game("linkage")
    card = {"network": {"kind": "flat", "width": 8, "blocks": 1}, "views": 1}
    save_checkpoint(tmp_path / "saved", make_network(game, "flat", 8, 1), game, card)
    return tmp_path / "saved"


@pytest.fixture(scope="module", name="state")
def fixture_state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state of a run after two iterations, in a folder of its own."""
    folder = tmp_path_factory.mktemp("state")
    trainer = PPOTrainer(CONFIG)
    for _ in range(2):
        trainer.iterate()
    trainer.save(folder)
    return folder


@pytest.fixture(scope="module", name="trainer")
def fixture_trainer() -> PPOTrainer:
    return PPOTrainer(CONFIG)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, but for those of the lock."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.stem != "run")
    return {str(path): path.read_bytes() for path in files}


def refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The line that the command says of a checkpoint, which stays as it was."""
    before = contents(folder)
    assert main(["evaluate", str(folder), "random", "--games", "2"]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert str(folder) in captured.err
    assert contents(folder) == before
    return captured.err


def damages(data: bytes, count: int) -> Iterator[bytes]:
    """Bits that flipped, and files that end too early or too late."""
    generator = np.random.Generator(np.random.PCG64(0))
    for bit in generator.integers(0, 8 * len(data), count).tolist():
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        yield bytes(flipped)
    header = 8 + int.from_bytes(data[:8], "little")
    for length in {0, 1, 7, 8, 9, header // 2, header - 1, header, header + 1, len(data) - 1}:
        yield data[:length]
    yield from (data + b"\0", data[:8] + data[9:], b"\xff" * len(data))


def resealed(folder: Path, tensors: dict[str, Tensor]) -> None:
    """Gives a checkpoint other weights, and its card their SHA-256."""
    data = pack(tensors)
    (folder / "model.safetensors").write_bytes(data)
    path = folder / "card.json"
    card = json.loads(path.read_text()) | {"sha256": hashlib.sha256(data).hexdigest()}
    path.write_text(json.dumps(card), encoding="utf-8")


def test_weights_that_are_no_numbers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """NaN or infinity in any tensor is refused in one line that names the file and tensor."""
    network = make_network(get_game("linkage"), "flat", 8, 1)
    for name, tensor in network.state_dict().items():
        for wild in (torch.nan, torch.inf, -torch.inf):
            other = tensor.clone(memory_format=torch.contiguous_format)
            other.view(-1)[-1] = wild
            resealed(folder, network.state_dict() | {name: other})
            with pytest.raises(ValueError, match=rf"model\.safetensors: {name} .*finite"):
                load_agent(folder)
    assert "finite" in refused(folder, capsys)


def test_answers_beyond_all_numbers_are_not_played() -> None:
    """Finite weights with an infinite product: neither the policy nor a search plays."""
    game = get_game("linkage")
    for size in (3e38, 1e30):
        network = make_network(game, "flat", 8, 1)
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.fill_(size)
        agent = PolicyAgent("wild", game, network, {})
        vec = make_vec("linkage", 3)
        vec.reset(1)
        batch = Positions(game, vec.states.copy(), np.arange(3, dtype=np.uint64))
        for one in (agent, SearchAgent(agent, 4)):
            with pytest.raises(ValueError, match=r"wild.*exceed"):
                one.act(batch)


@pytest.mark.slow
def test_damaged_weights(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A SHA-256 that isn't the card's: any bit, any length."""
    path = folder / "model.safetensors"
    for data in damages(path.read_bytes(), 200):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"model\.safetensors is damaged, or not the card's"):
            load_agent(folder)
    assert "SHA-256" in refused(folder, capsys)
    card = folder / "card.json"  # found by `make fuzz`: an error of 15,000 characters
    card.write_text(json.dumps(json.loads(card.read_text()) | {"sha256": "x" * 15_000}))
    assert len(refused(folder, capsys)) < 1000


WILD: list[Any] = [None, True, -1, 0, 10**30, 1e308, "", "x", [], [1], {}, {"x": 1}]


def test_cards_with_wild_fields(folder: Path) -> None:
    """A missing field, or one of another type, is named with the file or does no harm."""
    path = folder / "card.json"
    card = json.loads(path.read_text())
    for name in card:
        path.write_text(json.dumps({k: v for k, v in card.items() if k != name}))
        with pytest.raises(ValueError, match=f"card.json.*{name}|no card of format"):
            load_agent(folder)
    optional: dict[str, Any] = {
        "temperature": 1.0,
        "score_margin_weight": 0.0,
        "min_value_range": None,
        "strength": [],
        "blunder_rate": [],
    }
    network = {f"network.{name}": value for name, value in card["network"].items()}
    for name in [*card, *optional, *network, "network.more"]:
        for value in WILD:
            parent, _, last = name.rpartition(".")
            wild = json.loads(json.dumps(card))
            (wild[parent] if parent else wild)[last] = value
            path.write_text(json.dumps(wild))
            message = str(folder)
            try:
                load_agent(folder)
            except ValueError as error:
                message = str(error)
            assert str(folder) in message or "views" in message, (name, value, message)
            assert "\n" not in message


@pytest.mark.parametrize(
    ("name", "value", "shown"), [("views", 2**31, "views"), ("sha256", "0" * 5000, "0000")]
)
def test_errors_of_a_card_are_short_and_name_its_folder(
    folder: Path, name: str, value: object, shown: str
) -> None:
    """Values that are too large for their fields, or too long to be shown."""
    path = folder / "card.json"
    card = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**card, name: value}), encoding="utf-8")
    with pytest.raises(ValueError, match=shown) as caught:
        load_agent(folder)
    assert str(folder) in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_damaged_cards(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Loading a damaged card gives an error of one line, and the command prints it."""
    path = folder / "card.json"
    for data in (b"", b"{", b"5", b"[]", b"{}", b"null", b"\xff", b"[" * 10**5, b'{"a":' * 10**5):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"card\.json"):
            load_agent(folder)
    path.write_bytes(b'{"format": "linkzoo-checkpoint/1"}')
    assert "no card of format linkzoo-checkpoint/2" in refused(folder, capsys)
    path.write_bytes(b'{"format": "linkzoo-checkpoint/2"}')
    assert "game: Field required" in refused(folder, capsys)


def test_damaged_states(state: Path, trainer: PPOTrainer, tmp_path: Path) -> None:
    """A flipped bit and a missing end are refused."""
    path = tmp_path / STATE_FILE
    for data in damages((state / STATE_FILE).read_bytes(), 20):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=rf"{STATE_FILE} is damaged"):
            trainer.load(tmp_path)


HARMLESS: list[tuple[str, Any]] = [("parts", 0), ("processes", True), ("iteration", 0)]
HARMLESS += [("seconds", number) for number in (0, 10**30, 1e308)]


def test_states_with_wild_data(state: Path, trainer: PPOTrainer, tmp_path: Path) -> None:
    """With a right SHA-256, too: counters of -1 or 10**30, fields of another type."""
    tensors, meta = load_tensors(state / STATE_FILE)
    assert set(meta) == {"config", "iteration", "seconds", "parts", "processes"}
    for name in meta:
        wilds = [{k: v for k, v in meta.items() if k != name}]
        wilds += [meta | {name: value} for value in (*WILD, float("nan"), float("inf"))]
        for wild in wilds:
            if (name, wild.get(name)) in HARMLESS:
                continue
            save_tensors(tmp_path / STATE_FILE, tensors, wild)
            with pytest.raises(ValueError, match=STATE_FILE):
                trainer.load(tmp_path)
    assert trainer.iteration == 0


def mutations(tensor: Tensor) -> Iterator[Tensor]:
    """Tensors of another shape or type, or with numbers that are none."""
    yield tensor.reshape(-1, 1, 1)[:0]
    yield tensor.reshape(-1)[:1].expand(2, 3).clone()
    yield tensor.to(torch.float16 if tensor.dtype != torch.float16 else torch.int8)
    if tensor.is_floating_point():
        yield torch.full_like(tensor, torch.nan)
        yield torch.full_like(tensor, -torch.inf)


@pytest.mark.slow
@pytest.mark.parametrize("step", first_quick([5, 1], slow=0))
def test_states_with_wild_tensors(
    step: int, state: Path, trainer: PPOTrainer, tmp_path: Path
) -> None:
    """Each tensor missing, of another shape or type, or full of NaN."""
    tensors, meta = load_tensors(state / STATE_FILE)
    assert any(name.startswith("adam.0.step") for name in tensors)
    pool = [name for name in tensors if name.startswith("pool.0.")]
    for name in [one for one in tensors if one not in pool[1:]][::step]:
        missing = {k: v for k, v in tensors.items() if k != name}
        others = (tensors | {name: wild} for wild in mutations(tensors[name]))
        for wild in (missing, *others):
            if name in pool and name in wild and wild[name].shape == tensors[name].shape:
                continue  # of another type: it is converted
            save_tensors(tmp_path / STATE_FILE, wild, meta)
            with pytest.raises(ValueError, match=STATE_FILE):
                trainer.load(tmp_path)
    for name in ("adam.0.step", "adam.1.exp_avg_sq"):
        save_tensors(tmp_path / STATE_FILE, tensors | {name: -tensors[name] - 1}, meta)
        with pytest.raises(ValueError, match="below 0"):
            trainer.load(tmp_path)
    trainer.load(state)
    assert trainer.iteration == 2


def test_a_state_without_an_iteration(tmp_path: Path) -> None:
    """A run that was stopped before its first iteration goes on, with AlphaZero too."""
    config = alphazero_config(test_alphazero.TINY)
    alphazero.AlphaZeroTrainer(config).save(tmp_path)
    trainer = alphazero.AlphaZeroTrainer(config)
    trainer.load(tmp_path)
    assert trainer.window == []


@pytest.mark.slow
def test_a_thread_joins_the_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`save` keeps the samples as they are; the file has them, though training goes on."""
    trainer = test_alphazero.run(alphazero_config(test_alphazero.TINY), 2)
    expected = {name: tensor.clone() for name, tensor in trainer.tensors().items()}
    assert "window.states" in expected
    goes_on = threading.Event()
    joining = []
    join = replay.join

    def joined(parts: list[replay.Samples]) -> replay.Samples:
        if threading.current_thread() is not threading.main_thread():
            assert goes_on.wait(60)
            joining.append(len(parts))
        return join(parts)

    monkeypatch.setattr(replay, "join", joined)
    trainer.save(tmp_path, wait=False)
    trainer.iterate()
    goes_on.set()
    assert trainer._writing is not None
    trainer._writing.result()
    assert len(joining) == 1
    saved, _ = load_tensors(tmp_path / STATE_FILE)
    assert all(torch.equal(saved[name], tensor) for name, tensor in expected.items())


def test_states_of_another_optimiser(tmp_path: Path) -> None:
    """A run of AlphaZero whose momentum is missing, or that knew another optimiser."""
    config = alphazero_config(test_alphazero.TINY)
    trainer = test_alphazero.run(config, 1)
    trainer.save(tmp_path)
    tensors, meta = load_tensors(tmp_path / STATE_FILE)
    momentum = "muon.0.momentum"
    without = {name: one for name, one in tensors.items() if not name.startswith("muon.")}
    for wild in (
        without,
        {name: one for name, one in tensors.items() if name != momentum},
        tensors | {momentum: tensors[momentum][:1]},
        tensors | {momentum: torch.full_like(tensors[momentum], torch.nan)},
        tensors | {"muon.0.exp_avg": tensors[momentum].clone()},
    ):
        save_tensors(tmp_path / STATE_FILE, wild, meta)
        with pytest.raises(ValueError, match=rf"{STATE_FILE}.*muon\.\d+\."):
            alphazero.AlphaZeroTrainer(config).load(tmp_path)


def test_a_version_may_add_a_field(state: Path, tmp_path: Path) -> None:
    """A field that the state lacks had its default; all other differences are named."""
    tensors, meta = load_tensors(state / STATE_FILE)
    config = {k: v for k, v in meta["config"].items() if k != "kl_coef"}
    del config["pool"]["size"]
    save_tensors(tmp_path / STATE_FILE, tensors, meta | {"config": config})
    trainer = PPOTrainer(CONFIG)
    trainer.load(tmp_path)
    assert trainer.iteration == 2
    for changes, message in (
        (
            {"seed": 3, "clip": 0.3, "pool": {**config["pool"], "size": 3, "share": 0.1}},
            r"can't have pool\.share=0\.5 \(was 0\.1\), pool\.size=12 \(was 3\): the saved games",
        ),
        ({"gone": 1}, r"training\.safetensors: unknown field gone \(there are name, game"),
        ({"kl_coeff": 1}, r"training\.safetensors: unknown field kl_coeff \(did you mean kl_coef"),
    ):
        save_tensors(tmp_path / STATE_FILE, tensors, meta | {"config": config | changes})
        with pytest.raises(ValueError, match=message):
            PPOTrainer(CONFIG).load(tmp_path)


@pytest.mark.parametrize(
    "line", [b"5", b"[]", b"{}", b"null", b"\xff", b'{"iteration": 1', b"", b"[" * 10**5]
)
def test_metrics_with_a_wild_line(line: bytes, tmp_path: Path) -> None:
    """The error gives the line's number and nothing is written; a cut-off last line is accepted."""
    good = b'{"iteration": 1, "steps": 5, "loss/policy": NaN}\n'
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(good + line)
    assert [row["steps"] for row in read_metrics(tmp_path)] == [5]
    path.write_bytes(good + line + b"\n" + good)
    before = contents(tmp_path)
    with pytest.raises(ValueError, match=r"metrics\.jsonl: line 2 is damaged"):
        Logger(tmp_path, "a run", 1)
    assert contents(tmp_path) == before


def test_a_refused_resume_leaves_everything(state: Path, tmp_path: Path) -> None:
    """A resume from a damaged state or damaged metrics changes no file."""
    data = (state / STATE_FILE).read_bytes()
    for name, wild in ((STATE_FILE, data[:-1]), ("metrics.jsonl", b"5\n")):
        (tmp_path / STATE_FILE).write_bytes(data)
        (tmp_path / "metrics.jsonl").write_bytes(b'{"iteration": 1, "steps": 384}\n')
        (tmp_path / f"{STATE_FILE}.77.part").write_bytes(b"half")
        (tmp_path / name).write_bytes(wild)
        before = contents(tmp_path)
        with pytest.raises(ValueError, match=name):
            train(CONFIG, folder=tmp_path, resume=True)
        assert contents(tmp_path) == before


HOLD = """
import sys, time
from pathlib import Path
from linkzoo_training.runtime import alone_in
from linkzoo_training.selfplay import replay
with alone_in(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.mark.slow
def test_one_run_in_a_folder(tmp_path: Path) -> None:
    """A second run gets the first one's process id; a killed process holds no lock."""
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(ValueError, match=rf"{tmp_path.name} is in use .* {holder.pid}:"):
            train(CONFIG, folder=tmp_path)
        assert contents(tmp_path) == {}
        holder.send_signal(signal.SIGKILL)
    for _ in range(2):
        with alone_in(tmp_path), pytest.raises(ValueError, match=f"process {os.getpid()}:"):
            train(CONFIG, folder=tmp_path)


def test_a_refused_training_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    """No lock and no folder, unless something lay there."""
    (folder / "model.safetensors").write_bytes(b"5")
    config = ppo_config({**test_ppo.QUICK, "initial_checkpoint": str(folder)})
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "note").touch()
    for name in ("new/below", "there"):
        with pytest.raises(ValueError, match=r"model\.safetensors"):
            train(config, folder=tmp_path / name)
    assert {path.name for path in tmp_path.rglob("*")} - {"card.json", "model.safetensors"} <= {
        *("there", "note", folder.name)
    }


def test_a_disk_too_full_for_a_run(tmp_path: Path) -> None:
    with full_disk(0), pytest.raises(OSError, match=r"run\.pid"), alone_in(tmp_path / "run"):
        pass
    assert not (tmp_path / "run").exists()


BESIDE = """
import sys, time
from pathlib import Path
from linkzoo_training.runtime import alone_in
from linkzoo_training.selfplay import replay
end, held = time.monotonic() + 2, 0
while time.monotonic() < end:
    try:
        with alone_in(Path(sys.argv[1])):
            with Path(sys.argv[2]).open("x"):
                held += 1
            Path(sys.argv[2]).unlink()
    except ValueError:
        pass
print(held)
"""


@pytest.mark.nightly  # quick: that a refused training leaves nothing
def test_a_lock_that_is_removed_is_held_by_one(tmp_path: Path) -> None:
    """Processes that start and end at once; two in the folder together would be seen."""
    command = [sys.executable, "-c", BESIDE, str(tmp_path / "run"), str(tmp_path / "one")]
    several = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)
    ]
    held = 0
    for process in several:
        out, error = process.communicate(timeout=120)
        assert error == b""
        held += int(out)
    assert held > 0
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_folder_that_another_process_removes_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`mkdir` found the folder, and it was gone when `mkdir` asked whether it is one."""
    mkdir, failures = Path.mkdir, [FileExistsError, FileNotFoundError]

    def other_process(self: Path, *args: Any, **kwargs: Any) -> None:
        if failures:
            raise failures.pop()
        mkdir(self, *args, **kwargs)

    monkeypatch.setattr(Path, "mkdir", other_process)
    with alone_in(tmp_path / "run"):
        assert (tmp_path / "run" / "run.pid").is_file()
    assert not failures


def test_a_run_in_a_place_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "run").touch()
    with pytest.raises(NotADirectoryError, match=r"run"), alone_in(tmp_path / "run"):
        pass


def test_writers_do_not_share_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The temporary file of another process stays untouched."""
    seen: list[Path] = []
    monkeypatch.setattr(os, "fsync", lambda _: seen.extend(tmp_path.iterdir()))
    for pid in (1, 2):
        monkeypatch.setattr(os, "getpid", lambda pid=pid: pid)
        write_atomically(tmp_path / "file", b"data")
    parts = [path.name for path in seen if path.suffix == PART]
    assert parts == ["file.1.part", "file.2.part"]


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """Lets no file grow beyond `size` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk(tmp_path: Path) -> None:
    """The error names the path, the new file is removed and the old one is kept."""
    path = tmp_path / "file"
    write_atomically(path, b"before")
    with full_disk(1000), pytest.raises(OSError, match=f"'{path}'"):
        write_atomically(path, bytes(10**6))
    assert contents(tmp_path) == {str(path): b"before"}
    report = Logger(tmp_path, "a run", 0)
    metrics: dict[str, Any] = {"iteration": 1, "steps": 5, "x" * 2000: 0.5}
    with report, full_disk(1000), pytest.raises(OSError, match=r"metrics\.jsonl"):
        report.log(metrics, 0.1, 1.0)


def test_only_regular_files_are_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--json /dev/null` replaced the device, for root; and a link stays one."""
    pipe, file, link = tmp_path / "pipe", tmp_path / "file", tmp_path / "link"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match=f"not a regular file: '{pipe}'"):
        write_atomically(pipe, b"data")
    arguments = ["evaluate", "random", "random", "--game", "linkage", "--json", str(pipe)]
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert f"{pipe} is not a regular file" in capsys.readouterr().err
    assert pipe.is_fifo()
    link.symlink_to(file)
    write_atomically(link, b"data")
    assert link.is_symlink()
    assert file.read_bytes() == b"data"


@pytest.mark.slow
def test_what_a_killed_writer_left_goes(tmp_path: Path) -> None:
    """The next run in the folder removes the temporary files."""
    (tmp_path / f"{STATE_FILE}.77.part").write_bytes(bytes(99))
    train(ppo_config({**test_ppo.QUICK, "total_steps": 384}), folder=tmp_path)
    assert not list(tmp_path.rglob("*.part"))


def test_a_run_that_has_not_ended_has_no_checkpoint(tmp_path: Path) -> None:
    (tmp_path / STATE_FILE).touch()
    for path in (tmp_path, tmp_path / "checkpoint"):
        with pytest.raises(ValueError, match=f"the run {tmp_path} hasn't ended: .* --resume"):
            find_checkpoint(path)


@pytest.mark.parametrize("find", [find_config, find_checkpoint])
def test_names_that_no_file_can_have(find: Callable[[str], Path]) -> None:
    """Found by `make fuzz`: OSError for a name that is too long."""
    for name in ("x" * 5000, "a\0b"):
        with pytest.raises(ValueError, match=r"^no c|null byte") as error:
            find(name)
        assert len(str(error.value)) < 500


def test_views_of_a_card_that_the_game_lacks(tmp_path: Path) -> None:
    """Found by `make fuzz`: the error named no file."""
    game = get_game("love_formula")
    card = {"network": {"kind": "flat", "width": 8, "blocks": 1}, "views": 2}
    save_checkpoint(tmp_path, make_network(game, "flat", 8, 1), game, card)
    with pytest.raises(ValueError, match=f"^{re.escape(str(tmp_path))}: .*symmetries"):
        load_agent(tmp_path)
