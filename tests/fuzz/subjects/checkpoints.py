"""Damaged checkpoints and damaged states of training runs."""

import json
import shutil
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from linkzoo import Positions
from linkzoo.registry import NAMES
from linkzoo_training.agents.policy import load_agent
from linkzoo_training.algorithms.logger import Logger
from linkzoo_training.algorithms.trainer import STATE_FILE
from linkzoo_training.checkpoints.checkpoint import load_tensors
from linkzoo_training.config.config import AnyConfig, read_config
from linkzoo_training.resources import shipped
from linkzoo_training.train import learn, make_trainer
from tests.common.play import mask_of
from tests.fuzz import positions
from tests.fuzz.dice import Dice, json_value, mutate_bytes, mutate_json, mutate_text, same, short

_TINY = {
    "name": "tiny",
    "num_envs": 4,
    "horizon": 8,
    "width": 8,
    "blocks": 1,
    "minibatches": 2,
    "precision": "fp32",
    "num_threads": 1,
    "device": "cpu",
    "total_steps": 4 * 8 * 2,
    "save_every": 1000,
    "eval": {
        "every": 1000,
        "opponents": ["random"],
        "blocks": 1,
        "final_opponents": ["random"],
        "final_blocks": 1,
    },
}
_NUMBERS = [float("nan"), float("inf"), float("-inf"), 3e38, -1.0, 1e-42]


@cache
def _folders(game: str) -> list[Path]:
    """The game's shipped checkpoints."""
    cards = sorted(shipped("checkpoints").glob("*/card.json"))
    return [card.parent for card in cards if json.loads(card.read_text())["game"] == game]


def _config(game: str) -> AnyConfig:
    return read_config({**_TINY, "game": game, "num_players": [2], "average": 2})


def warm(game: str, folder: Path) -> None:
    """Loads what is to be damaged; the first game's run is made here, of one iteration of two."""
    positions.warm(game)
    for path in _folders(game):
        load_agent(path)
    run = folder / "run"
    if game == NAMES[0] and not run.exists():
        trainer = make_trainer(_config(game))
        with Logger(run, "tiny", 0) as report:
            report.log(trainer.iterate(), 0.5, 1.0)
        trainer.save(run)


def attempt(dice: Dice, game: str, folder: Path) -> bool:
    """A damaged copy is loaded and, if that succeeds, plays."""
    copy = folder / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    if game == NAMES[0] and dice.chance(0.5):
        shutil.copytree(folder / "run", copy)
        return _run(dice, game, copy)
    shutil.copytree(dice.pick(_folders(game)), copy)
    weights = copy / "model.safetensors"
    before = weights.read_bytes()
    if dice.chance(0.5):
        _damage_json(dice, copy / "card.json")
    else:
        _damage_tensors(dice, weights)
    changed = weights.read_bytes() != before
    try:
        agent = load_agent(copy)
    except (ValueError, OSError) as error:
        _clear(error, copy)
        return False
    assert not changed, "weights that aren't the card's were loaded"
    _plays(dice, game, agent)
    return True


def _clear(error: Exception, folder: Path) -> None:
    """The command prints an error as one line: it has to name the file or its folder."""
    text = str(error)
    assert str(folder) in text, f"the error doesn't name the file: {short(text)}"
    assert len(text) < 2000, f"an error of {len(text)} characters"


def _plays(dice: Dice, game: str, agent: Any) -> None:
    variant, state = positions.position(dice, game, fixed=False)
    if state.seat < 0 or agent.game.key != variant.game.key:
        return
    states = np.zeros(1, variant.game.state)
    states[0] = state
    at = Positions(variant.game, states, np.array([dice.below(2**53)], np.uint64))
    warnings.simplefilter("ignore", UserWarning)  # the card may name other numbers of players
    action = int(agent.act(at)[0])
    assert 0 <= action < variant.game.num_actions, f"action {action}"
    assert mask_of(variant.game, state)[action], f"the illegal action {action}"
    _, values = agent.evaluate(at)
    assert torch.isfinite(values).all(), "values that aren't finite"


def _damage_json(dice: Dice, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    kind = dice.below(10)
    if kind < 6:
        data = json.loads(text)
        mutant = mutate_json(dice, data, data)
        if isinstance(mutant, dict) and dice.chance(0.5):
            name = dice.pick(["format", "game", "version", "fixed", "fingerprints", "views"])
            name = dice.pick([name, "temperature", "score_margin_weight", "network"])
            if dice.chance(0.3):
                mutant.pop(name, None)
            else:
                mutant[name] = mutate_json(dice, data[name]) if name in data else json_value(dice)
            dice.note(f"{name} = {short(mutant.get(name, ...))}")
        try:
            text = json.dumps(mutant)
        except RecursionError:
            text = "[" * 100_000
    elif kind < 9:
        text = mutate_text(dice, text)
    raw = text.encode("utf-8", "surrogatepass")
    path.write_bytes(mutate_bytes(dice, raw) if kind == 9 else raw)


def _damage_tensors(dice: Dice, path: Path) -> None:
    """Bytes anywhere, the header's JSON, or tensors."""
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    kind = dice.below(10)
    if kind < 2:
        raw = mutate_bytes(dice, raw)
        dice.note("bytes")
    elif kind < 4:
        at = 8 + size + dice.below(len(raw) - 8 - size)
        raw = raw[:at] + bytes([raw[at] ^ (1 << dice.below(8))]) + raw[at + 1 :]
        dice.note(f"a bit of byte {at}")
    elif kind < 7:
        header = json.loads(raw[8 : 8 + size])
        if "__metadata__" in header and dice.chance(0.8):
            meta = header["__metadata__"]
            inside = json.loads(meta.get("json", "{}"))
            mutant = mutate_json(dice, inside, inside)
            if inside and isinstance(mutant, dict) and dice.chance(0.5):
                name = dice.pick([name for name in inside if name != "config"])
                mutant[name] = json_value(dice)
            dice.note(
                short({k: v for k, v in mutant.items() if v != inside.get(k)})
                if isinstance(mutant, dict)
                else short(mutant)
            )
            try:
                meta["json"] = json.dumps(mutant)
            except RecursionError:
                meta["json"] = "[" * 100_000
        else:
            header = mutate_json(dice, header, header)
            dice.note("header")
        try:
            text = json.dumps(header).encode("utf-8", "surrogatepass")
        except RecursionError:
            text = b"[" * 100_000
        text += b" " * (-len(text) % 8)
        raw = len(text).to_bytes(8, "little") + text + raw[8 + size :]
    else:
        _change_tensors(dice, path)
        return
    path.write_bytes(raw)


def _change_tensors(dice: Dice, path: Path) -> None:
    tensors, kind = load_file(path), dice.below(6)
    meta = json.loads(path.read_bytes()[8:][: int.from_bytes(path.read_bytes()[:8], "little")])
    name = dice.pick(sorted(tensors))
    tensor = tensors[name]
    if kind < 3:
        number = dice.pick(_NUMBERS)
        if tensor.is_floating_point():
            flat = tensor.reshape(-1)
            flat[dice.below(max(1, len(flat))) if dice.chance(0.5) else slice(None)] = number
        dice.note(f"{name} holds {number}")
        tensors[name] = tensor
    elif kind == 3:
        del tensors[name]
        dice.note(f"without {name}")
    elif kind == 4:
        tensors[dice.pick(["", "extra", f"{name}.0", "adam.0.step"])] = torch.zeros(dice.below(3))
        dice.note("with another tensor")
    else:
        types = [torch.int64, torch.float64, torch.bfloat16, torch.bool]
        other = tensor.to(dice.pick(types)) if dice.chance(0.5) else tensor.reshape(-1)[:1].clone()
        tensors[name] = other
        dice.note(f"{name} is {other.dtype} {list(other.shape)}")
    save_file(tensors, path, metadata=meta.get("__metadata__"))


def _run(dice: Dice, game: str, folder: Path) -> bool:
    """A damaged state or damaged metrics of a run that is to go on."""
    config, state, metrics = _config(game), folder / STATE_FILE, folder / "metrics.jsonl"
    whole, rows = load_tensors(state), metrics.read_bytes()
    if dice.chance(0.9):  # the others run to the end and draw their curve
        _damage_tensors(dice, state)
    else:
        lines = [b"", b"5", b"[]", b"{}", b"null", b'"x"', b"{", b'{"iteration": "1"}', b"\xff"]
        kind = dice.below(3)
        if kind == 0:
            metrics.write_bytes(rows + dice.pick(lines) + dice.pick([b"", b"\n"]))
        elif kind == 1:
            metrics.write_bytes(dice.pick(lines) + b"\n" + rows)
        else:
            metrics.write_bytes(mutate_bytes(dice, rows))
        dice.note(f"metrics.jsonl = {short(metrics.read_bytes())}")
    before = {path.name: path.read_bytes() for path in (state, metrics)}
    try:
        trainer = make_trainer(config)
        trainer.load(folder)
        trainer.iterate()
        if metrics.read_bytes() != rows:
            learn(config, folder, resume=True)
    except (ValueError, OSError) as error:
        _clear(error, folder)
        assert {path.name: path.read_bytes() for path in (state, metrics)} == before, (
            "files changed"
        )
        return False
    (tensors, meta), (others, other) = whole, _loaded(state, before)
    counters, saved = ({**one, "config": None} for one in (meta, other))  # fields may change
    assert same(counters, saved), "counters that weren't saved so were accepted"
    assert tensors.keys() == others.keys(), "other tensors were accepted"
    for name, tensor in tensors.items():
        one, two = (t.contiguous().reshape(-1).view(torch.uint8) for t in (tensor, others[name]))
        assert torch.equal(one, two), f"damaged tensors were accepted: {name}"
    return True


def _loaded(state: Path, before: dict[str, bytes]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The state as it was damaged, which the run has written over since."""
    state.write_bytes(before[state.name])
    return load_tensors(state)
