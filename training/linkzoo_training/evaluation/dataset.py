"""Data sets of games: records, NumPy files or a Minari data set, written part by part."""

import json
import os
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from linkzoo.core.arguments import parse_json
from linkzoo.core.files import write_atomically
from linkzoo_training.evaluation.openings import Openings
from linkzoo_training.evaluation.played_games import GamesPlan, PlayedGames, play_part, shown_to
from linkzoo_training.resources import check_installed
from linkzoo_training.selfplay.executors import Executor, LocalExecutor, TaskWorker, in_order

FORMAT = "linkzoo-dataset/1"
ABOUT = "dataset.json"
_LEVEL = 1  # of compression: higher ones take longer than the games
_ARRAYS = "game seat action observation action_mask agents payoff score".split()


class Format(Protocol):
    """A kind of files. `encode` runs where the games are played, `write` in the first process."""

    def has(self, folder: Path, games: range) -> bool:
        """Returns whether a folder holds a part."""

    def encode(self, plan: GamesPlan, played: PlayedGames) -> Any:
        """Returns what `write` takes."""

    def write(self, folder: Path, games: range, encoded: Any) -> None:
        """Writes a part."""


class Records:
    """A JSON file per game, as of `GameRecord.save`."""

    def has(self, folder: Path, games: range) -> bool:
        """Returns whether the last game of the part is there, which is written last."""
        return _record(folder, games[-1]).is_file()

    def encode(self, plan: GamesPlan, played: PlayedGames) -> list[bytes]:
        """Returns the files."""
        made = (record.to_dict() for record in played.records(plan.rules))
        return [(json.dumps(record, indent=1) + "\n").encode() for record in made]

    def write(self, folder: Path, games: range, encoded: list[bytes]) -> None:
        """Writes `games/00012.json` and so on."""
        for number, data in zip(games, encoded, strict=True):
            write_atomically(_record(folder, number), data)


def _record(folder: Path, number: int) -> Path:
    return folder / "games" / f"{number:06}.json"


class Npz:
    """A compressed `.npz` file per part, with the arrays of `PlayedGames`."""

    def has(self, folder: Path, games: range) -> bool:
        """Returns whether the file is there."""
        return _part(folder, games).is_file()

    def encode(self, plan: GamesPlan, played: PlayedGames) -> bytes:  # noqa: ARG002 - see Format
        """Returns the file, in the format of np.savez."""
        file = BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
            for name in _ARRAYS:
                with archive.open(f"{name}.npy", "w") as entry:
                    np.lib.format.write_array(entry, getattr(played, name), allow_pickle=False)
        return file.getvalue()

    def write(self, folder: Path, games: range, encoded: bytes) -> None:
        """Writes the file."""
        write_atomically(_part(folder, games), encoded)


def _part(folder: Path, games: range) -> Path:
    return folder / f"games-{games.start:06}.npz"


class Minari:
    """A Minari data set: an episode per game and seat, as `SeatEnv` shows the game to the seat."""

    def __init__(self, plan: GamesPlan) -> None:
        check_installed("minari", "minari", "h5py")
        self.plan, self.name = plan, f"linkzoo/{plan.rules.name}/selfplay-v0"

    def has(self, folder: Path, games: range) -> bool:
        """Returns False: a data set that is there is refused."""
        if games.start == 0 and (folder / self.name).exists():
            raise ValueError(f"{folder / self.name} exists: delete it, or choose another folder")
        return False

    def encode(self, plan: GamesPlan, played: PlayedGames) -> list[dict[str, Any]]:
        """Returns the fields of Minari's `EpisodeBuffer` for each seat with a decision."""
        rules, episodes = plan.rules, []
        seats = [np.full(len(played.finals), s, np.int8) for s in range(plan.num_players)]
        last = [shown_to(rules, played.finals, seat) for seat in seats]
        none = np.zeros((1, rules.num_actions), np.int8)
        for index, (number, part) in enumerate(zip(played.games, played.rows, strict=True)):
            rows = np.arange(part.start, part.stop)
            for seat in range(plan.num_players):
                own = rows[played.seat[rows] == seat]
                if not len(own):
                    continue
                rewards, over = np.zeros(len(own), np.float32), np.zeros(len(own), np.bool_)
                rewards[-1], over[-1] = played.payoff[index, seat], True
                masks = np.concatenate([played.action_mask[own], none])
                agent = str(plan.agents[played.agents[index, seat]])
                who = {"game": number, "seat": seat, "agent": agent}
                episodes.append(
                    {
                        "options": who,
                        "observations": np.concatenate(
                            [played.observation[own], last[seat][index : index + 1]]
                        ),
                        "actions": played.action[own],
                        "rewards": rewards,
                        "terminations": over,
                        "truncations": np.zeros(len(own), np.bool_),
                        "infos": {"action_mask": masks},
                    }
                )
        return episodes

    def write(self, folder: Path, games: range, encoded: list[dict[str, Any]]) -> None:
        """Creates the data set with the first part, and adds the others."""
        import minari
        from gymnasium.spaces import Discrete
        from minari.data_collector import EpisodeBuffer

        rules = self.plan.rules
        buffers = [EpisodeBuffer(**episode) for episode in encoded]
        with _datasets_in(folder), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about fields that stay empty
            if games.start:
                minari.load_dataset(self.name).storage.update_episodes(buffers)
                return
            minari.create_dataset_from_buffers(
                self.name,
                buffers,
                observation_space=rules.observation.spec.space(),
                action_space=Discrete(rules.num_actions),
                algorithm_name=", ".join(map(str, self.plan.agents)),
                description=json.dumps(_about(self.plan)),
            )


@contextmanager
def _datasets_in(folder: Path) -> Iterator[None]:
    """Sets the folder of Minari's data sets."""
    before = os.environ.get("MINARI_DATASETS_PATH")
    os.environ["MINARI_DATASETS_PATH"] = str(folder.resolve())
    try:
        yield
    finally:
        if before is None:
            del os.environ["MINARI_DATASETS_PATH"]
        else:
            os.environ["MINARI_DATASETS_PATH"] = before


FORMATS: dict[str, Callable[[GamesPlan], Format]] = {
    "records": lambda _: Records(),
    "npz": lambda _: Npz(),
    "minari": Minari,
}


def _play_encoded(files: Format, plan: GamesPlan, openings: Openings, games: range) -> Any:
    return files.encode(plan, play_part(plan, games, openings))


def write_dataset(
    plan: GamesPlan,
    form: str,
    folder: Path,
    progress: Callable[[int, int], None] = lambda *_: None,
    executor: Executor | None = None,
) -> None:
    """Plays the games that a folder doesn't have yet, and writes them.

    Args:
        plan: The games.
        form: `records`, `npz` or `minari`.
        folder: The folder.
        progress: Called as `progress(finished, games)` after each part.
        executor: Plays the parts; None for this process.

    Raises:
        ValueError: The folder holds other games, an agent doesn't exist or plays an illegal action,
            or a package is missing.
    """
    files, openings, about = FORMATS[form](plan), plan.read_openings(), folder / ABOUT
    data = {**_about(plan), "files": form}
    if about.is_file():
        if parse_json(about.read_bytes()) != json.loads(json.dumps(data)):
            raise ValueError(f"{about} is of other games: choose another folder")
    elif folder.is_dir() and any(folder.iterdir()):
        raise ValueError(f"{folder} isn't empty, and has no {ABOUT}")
    left = [games for games in plan.parts if not files.has(folder, games)]
    write_atomically(about, (json.dumps(data, indent=1) + "\n").encode())
    executor = LocalExecutor() if executor is None else executor
    executor.start(TaskWorker)
    tasks = [partial(_play_encoded, files, plan, openings, games) for games in left]
    done = plan.games - sum(map(len, left))
    for games, encoded in zip(left, in_order(executor.play(None, tasks)), strict=True):
        files.write(folder, games, encoded)
        done += len(games)
        progress(done, plan.games)


def _about(plan: GamesPlan) -> dict[str, Any]:
    """Returns what a data set holds, as JSON data."""
    rules, spec = plan.rules, plan.rules.observation.spec
    names = ("name", "shape", "low", "high", "meaning")
    return {
        "format": FORMAT,
        "version": rules.version,
        "digest": rules.digest,
        **asdict(plan),
        "agents": list(map(str, plan.agents)),
        "options": rules.chosen_options(plan.blank),
        "num_actions": rules.num_actions,
        "observation": {
            "shape": list(spec.shape),
            "dtype": np.dtype(spec.dtype).name,
            "parts": [{name: getattr(part, name) for name in names} for part in spec.parts],
        },
    }
