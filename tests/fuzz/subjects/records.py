"""Records of games: their JSON as text and as data, and records made by hand."""

import dataclasses
import json
from functools import cache
from pathlib import Path
from typing import Any

from linkzoo import GameRecord
from tests.fuzz import positions
from tests.fuzz.dice import Dice, any_value, mutate_bytes, mutate_json, mutate_text, same, short

_RECORDS = 4  # of each variant


def warm(game: str, folder: Path) -> None:
    """Compiles the rules."""
    positions.warm(game)
    _record(game, 0, 0)


@cache
def _record(game: str, variant: int, seed: int) -> GameRecord:
    """A random game; of odd seeds one that goes on from a position in its middle."""
    chosen = positions.variants(game)[variant]
    env = chosen.env()
    env.reset(seed=seed)
    states = positions.trajectory(game, variant, seed)
    if seed % 2:
        env.set_state(states[len(states) // 2].tobytes())
    while not env.terminations[env.agent_selection]:
        legal = env.infos[env.agent_selection]["action_mask"].nonzero()[0]
        env.step(int(legal[(seed * 7919 + len(env.record().actions) * 31) % len(legal)]))
    return env.record()


def attempt(dice: Dice, game: str, folder: Path) -> bool:
    """A changed file is loaded, or changed fields are replayed."""
    choices = positions.variants(game)
    usual = [i for i, variant in enumerate(choices) if variant.game is choices[0].game]
    variant = dice.pick(usual) if dice.chance(0.9) else dice.below(len(choices))
    record = _record(game, variant, dice.below(_RECORDS))
    if dice.chance(0.2):
        return _by_hand(dice, record)
    data = record.to_dict()
    path = folder / "record.json"
    _write(dice, path, data)
    try:
        loaded = GameRecord.load(path)
    except ValueError:
        return False
    read, told = json.loads(path.read_text(encoding="utf-8")), loaded.to_dict()
    assert same(read, json.loads(json.dumps(told))), "the record says something else now"
    _use(dice, loaded)
    return True


def _write(dice: Dice, path: Path, data: dict[str, Any]) -> None:
    """A changed file of the record."""
    kind = dice.below(10)
    if kind < 5:
        mutant = mutate_json(dice, data, {**data, "moves": data["moves"][::-1]})
        dice.note(
            short({key: mutant[key] for key in mutant if mutant[key] != data.get(key)})
            if isinstance(mutant, dict)
            else short(mutant)
        )
        try:
            text = json.dumps(mutant, ensure_ascii=False)
        except RecursionError:
            text = "[" * 100_000
    else:
        text = json.dumps(data, indent=1, ensure_ascii=False)
    if 5 <= kind < 9:
        text = mutate_text(dice, text)
    raw = text.encode("utf-8", "surrogatepass")
    path.write_bytes(mutate_bytes(dice, raw) if kind == 9 else raw)


def _by_hand(dice: Dice, record: GameRecord) -> bool:
    """Fields that no `from_dict` has checked; `replay` and `to_dict` find what is wrong."""
    fields = {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}
    del fields["comments"]  # no argument
    name, value = dice.pick(list(fields)), any_value(dice)
    if name == "actions" and dice.chance(0.7):
        value = list(record.actions)
        value[dice.below(len(value))] = any_value(dice)
    elif name == "options" and dice.chance(0.7):
        value = {**record.options, dice.pick(list(record.options)): any_value(dice)}
    dice.note(f"{name} = {short(value)}")
    made = GameRecord(**{**fields, name: value})
    try:
        list(made.replay())
        made.to_dict()
    except ValueError:
        return False
    return True


def _use(dice: Dice, record: GameRecord) -> None:
    """Every position of the game that was loaded; one of them thoroughly."""
    from linkzoo import get_game

    states = list(record.replay())
    assert len(states) == len(record.actions) + 1
    game = get_game(record.game, record.options)
    positions.use(dice, game, dice.pick(states))
