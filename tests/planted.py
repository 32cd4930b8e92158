"""Plants faults, one at a time, in a copy of the sources, and says which test finds each.

`python -m tests.planted [WORD...]` plants those whose names contain one of the words, or all of
them, and runs the tests of the part that each concerns, most of them interpreted: compiling every
copy would take longer. The tests are quick ones but for a few. Exit 1 if a fault isn't found, or if
its line is no longer there.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
COPIED = ("envs", "training", "tests")


class Planted(NamedTuple):
    """A fault: in `file`, `old` becomes `new`; `tests` are pytest's arguments."""

    name: str
    file: str
    old: str
    new: str
    tests: str
    compiled: bool = False  # where whole trainings would take too long interpreted
    slow: bool = False  # whether slow tests find it


FAULTS = [
    Planted(
        "rule of linkage: the threshold itself wins for Fewer",
        "envs/linkzoo/games/linkage/rules.py",
        "return more if state.groups >= state.threshold",
        "return more if state.groups > state.threshold",
        "tests/linkage/test_rules.py -k r10",
    ),
    Planted(
        "rule of love_links: the second match of a turn pays 2",
        "envs/linkzoo/games/love_links/rules.py",
        "+= 3 if state.matched else 1",
        "+= 2 if state.matched else 1",
        "tests/love_links/test_rules.py -k 'every_junction or second_match'",
    ),
    Planted(
        "rule of link_o: the first seat gets every bonus for a circle",
        "envs/linkzoo/games/link_o/rules/turns.py",
        "state.scores[seat] += state.circle_bonus  # R23",
        "state.scores[0] += state.circle_bonus  # R23",
        "tests/link_o/test_rules.py -k circle",
    ),
    Planted(
        "rule of love_formula: priorities may fall below 0",
        "envs/linkzoo/games/love_formula/rules/turns.py",
        "max(0, CARDS.priority[card] + change)",
        "CARDS.priority[card] + change",
        "tests/love_formula/test_rules.py tests/love_formula/test_cards.py",
    ),
    Planted(
        "leak: a view in JSON shows another hand",
        "envs/linkzoo/games/link_o/positions.py",
        "hands = [hand if other == seat else len(hand) for",
        "hands = [hand if other >= seat else len(hand) for",
        "tests/common/test_rules_common.py -k redeal_keeps_what",
    ),
    Planted(
        "leak: an observation shows the next seat's hand",
        "envs/linkzoo/games/love_formula/observation.py",
        "_copy(state.piles[me], out, at.pile)",
        "_copy(state.piles[(me + 1) % players], out, at.pile)",
        "tests/common/test_rules_common.py -k redeal_keeps_what",
    ),
    Planted(
        "seed: a reset without one plays the same game again",
        "envs/linkzoo/envs/aec.py",
        "self._episode += 1",
        "self._episode = 1",
        "tests/common/test_aec.py -k without_a_seed",
    ),
    Planted(
        "chance: ties are broken by the numbers that shuffled the deck",
        "envs/linkzoo/games/love_formula/state.py",
        "TIES_STREAM = 1",
        "TIES_STREAM = 0",
        "tests/training/test_randomness.py -k of_a_game",
    ),
    Planted(
        "resume: the moments of the optimisers are forgotten",
        "training/linkzoo_training/algorithms/trainer.py",
        "self.optimizers.load(tensors)",
        "pass",
        "tests/training/test_ppo.py -k resumed_run",
        compiled=True,
    ),
    Planted(
        "notation: two actions swap their texts on the way back",
        "envs/linkzoo/games/linkage/notation.py",
        "return _ACTIONS[text]",
        "return _ACTIONS[text] ^ 1",
        "tests/common/test_state.py -k names_each_action",
    ),
    Planted(
        "validation: the winners of a finished game are not checked",
        "envs/linkzoo/games/love_links/validation.py",
        "if state.winners != scratch.winners or state.matched",
        "if state.matched",
        "tests/love_links/test_notation.py -k finished_game",
    ),
    Planted(
        "JSON reader: the plies are forgotten",
        "envs/linkzoo/core/positions.py",
        'state.ply = integer("ply", data["ply"], 0, 2**15',
        'integer("ply", data["ply"], 0, 2**15',
        "tests/common/test_state.py -k love_links",
    ),
    Planted(
        "mask and apply: the pass isn't forced, a player without a move is asked",
        "envs/linkzoo/games/linkage/rules.py",
        "        state.counter = NONE  # R6",
        "        state.seat = 1 - state.seat  # R6",
        "tests/common/test_rules_common.py -k linkage",
    ),
    Planted(
        "AEC: the rewards of the end go to the seats in reverse",
        "envs/linkzoo/envs/aec.py",
        "zip(self.agents, rewards, strict=True)",
        "zip(self.agents[::-1], rewards, strict=True)",
        "tests/common/test_aec.py -k end_reaches",
    ),
    Planted(
        "vector: after the end the same game again",
        "envs/linkzoo/core/kernels.py",
        "episodes[i] += 1",
        "episodes[i] += 0",
        "tests/common/test_vector.py -k linkage",
        compiled=True,
    ),
    Planted(
        "vector: the observation of the game that ended",
        "envs/linkzoo/core/kernels.py",
        "            observe(state, state.seat, row(observations, i))\n",
        "            if not done[i]:\n"
        "                observe(state, state.seat, row(observations, i))\n",
        "tests/common/test_vector.py -k linkage",
        compiled=True,
    ),
    Planted(
        "payoffs: a shared win pays like a sole one",
        "envs/linkzoo/core/defaults.py",
        "np.float32(share) / np.float32(won * (count - 1))",
        "np.float32(share) / np.float32(count - 1)",
        "tests/common/test_rules_common.py tests/love_formula/test_rules.py -k 'payoff or r27'",
    ),
    Planted(
        "search: every seat maximises the payoff of the first",
        "training/linkzoo_training/search/uct.py",
        "score = tree.totals[child, seat] / visits",
        "score = tree.totals[child, 0] / visits",
        "tests/training/test_uct.py",
        compiled=True,
    ),
    Planted(
        "statistics: half the width of an interval",
        "training/linkzoo_training/evaluation/statistics.py",
        "_Z = 1.959964",
        "_Z = 0.979982",
        "tests/training/test_match.py -k 'interval or block'",
    ),
    Planted(
        "copies: a clone shares the agents that are left",
        "envs/linkzoo/envs/aec.py",
        "copy.agents = list(self.agents)",
        "copy.agents = self.agents",
        "tests/common/test_state.py -k linkage",
        compiled=True,
    ),
    # Faults that `make fuzz` once found.
    Planted(
        "input: a time difference is an action",
        "envs/linkzoo/core/arguments.py",
        "isinstance(value, bool | np.timedelta64)",
        "isinstance(value, bool)",
        "tests/fuzz/test_positions.py -k 'action_numbers and linkage' --minutes 1",
        compiled=True,
    ),
    Planted(
        "input: a record's digest may be null",
        "envs/linkzoo/record.py",
        'digest = arguments.string("digest", data["digest"])',
        'digest = data["digest"]',
        "tests/fuzz/test_records.py -k 'test_files and link_o and not ring' --minutes 1",
        compiled=True,
    ),
    Planted(
        "input: a seat is drawn before a position is refused",
        "envs/linkzoo/envs/gym.py",
        "            self.env.clone().set_state(start)",
        "            pass",
        "tests/fuzz/test_environments.py -k 'seat and linkage' --minutes 1",
        compiled=True,
    ),
    Planted(
        "input: more captured links than play can carry",
        "envs/linkzoo/games/love_links/validation.py",
        "if used > gone.sum():",
        "if used > 10**6:",
        "tests/fuzz/test_positions.py -k 'bytes and love_links' --minutes 1",
        compiled=True,
    ),
    Planted(
        "input: a card's views don't fit 32 bits",
        "training/linkzoo_training/checkpoints/checkpoint.py",
        "Field(ge=1, le=2**31 - 1)",
        "Field(ge=1)",
        "tests/training/test_files.py -k errors_of_a_card",
    ),
    Planted(
        "input: a card's wrong digest is shown whole",
        "training/linkzoo_training/checkpoints/checkpoint.py",
        'needed = shown(card["sha256"])',
        'needed = repr(card["sha256"])',
        "tests/training/test_files.py -k errors_of_a_card",
    ),
    Planted(
        "input: a training of no steps",
        "training/linkzoo_training/commands/experiment/best_response.py",
        "common.whole(1, 10**15)",
        "common.whole(0, 10**15)",
        "tests/training/test_cli.py -k out_of_range",
    ),
    Planted(
        "input: a key of a file may be set twice",
        "envs/linkzoo/core/arguments.py",
        "json.loads(text, object_pairs_hook=_object)",
        "json.loads(text)",
        "tests/training/test_positions.py -k wrong_line",
    ),
    Planted(
        "input: a damaged state of a run is resumed",
        "training/linkzoo_training/checkpoints/checkpoint.py",
        "if digest.encode() != seal or not isinstance(meta, dict):",
        "if not isinstance(meta, dict):",
        "tests/fuzz/test_checkpoints.py -k states --minutes 1",
        compiled=True,
        slow=True,
    ),
]


def copy_of_the_sources(folder: Path) -> None:
    """Copies the folders in which faults are planted, and links the rest."""
    for path in ROOT.iterdir():
        if path.name in COPIED:
            shutil.copytree(path, folder / path.name, ignore=shutil.ignore_patterns("__pycache__"))
        elif not path.name.startswith("."):
            (folder / path.name).symlink_to(path)


@contextmanager
def planted(fault: Planted, folder: Path) -> Iterator[None]:
    """A fault in a copy of the sources, which is as before afterwards."""
    file = folder / fault.file
    text = file.read_text(encoding="utf-8")
    if text.count(fault.old) != 1:
        sys.exit(f"{fault.file} has {text.count(fault.old)} of {fault.old!r}")
    file.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
    yield
    file.write_text(text, encoding="utf-8")


def found_by(fault: Planted, folder: Path) -> str | None:
    """The first test that fails with this fault in a copy of the sources, None if all pass."""
    suite = "slow and not nightly" if fault.slow else "not slow"
    options = f"-x -q -p no:cacheprovider -m '{suite}'"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(str(folder / part) for part in ("envs", "training", "")),
        "NUMBA_DISABLE_JIT": str(int(not fault.compiled)),
    }
    with planted(fault, folder):
        done = subprocess.run(
            ["sh", "-c", f"exec {sys.executable} -m pytest {options} {fault.tests}"],  # noqa: S607
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode not in (0, 1):
        sys.exit(done.stdout + done.stderr)
    failed = re.search(r"^FAILED (\S.*?)(?: - |$)", done.stdout, re.MULTILINE)
    return failed.group(1) if failed else None


def main(words: list[str]) -> int:
    """The number of faults that no test found.

    All are planted in the same copy, which finds compiled again what a fault doesn't concern.
    """
    missed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_of_the_sources(folder)
        for fault in FAULTS:
            if not words or any(word in fault.name for word in words):
                test = found_by(fault, folder)
                missed += test is None
                print(f"{fault.name}: {test or 'NOT FOUND'}", flush=True)
    return missed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
