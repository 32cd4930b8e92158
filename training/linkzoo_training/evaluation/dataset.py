"""Data sets of games: records, NumPy or Parquet files, or a Minari data set, part by part."""

import json
import os
import shutil
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import asdict
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from linkzoo.core.arguments import mapping, parse_json
from linkzoo.core.files import write_atomically
from linkzoo.core.names import gymnasium_id
from linkzoo.registry import id_of
from linkzoo_training.agents.named import NamedAgent
from linkzoo_training.agents.specs import digests_of
from linkzoo_training.agents.trained_on import note_untrained
from linkzoo_training.evaluation.openings import Openings, openings_digest
from linkzoo_training.evaluation.played_games import (
    GamesPlan,
    PlayedGames,
    observations_of,
    play_part,
)
from linkzoo_training.resources import check_installed
from linkzoo_training.selfplay.dispatch import TaskWorker
from linkzoo_training.selfplay.executors import Executor, LocalExecutor

__all__ = ["write_dataset"]

FORMAT = "linkzoo-dataset/1"
ABOUT = "dataset.json"
PARTS = "parts"  # folder of the parts of an unfinished Minari data set
LAST = "last_observation"
_LEVEL = 1  # zlib level: higher levels take longer than the games
_ARRAYS = "game seat action observation action_mask agents payoff score".split()


class Format(Protocol):
    """A kind of files. `encode` runs where the games are played, `write` in the first process."""

    def has(self, folder: Path, games: range) -> bool:
        """Returns whether a folder holds a part."""

    def encode(self, plan: GamesPlan, played: PlayedGames) -> Any:
        """Returns the part as the argument `encoded` of `write`."""

    def write(self, folder: Path, games: range, encoded: Any) -> None:
        """Writes a part."""

    def finish(self, folder: Path) -> None:
        """Completes a folder that has all parts."""


class Records:
    """A JSON file per game, in the format of `GameRecord.save`."""

    def has(self, folder: Path, games: range) -> bool:
        """Returns whether the folder holds the last game of the part, which is written last."""
        return _record(folder, games[-1]).is_file()

    def encode(self, plan: GamesPlan, played: PlayedGames) -> list[bytes]:
        """Returns the files."""
        records = played.records(plan.rules)
        return [(json.dumps(record.to_dict(), indent=1) + "\n").encode() for record in records]

    def write(self, folder: Path, games: range, encoded: list[bytes]) -> None:
        """Writes `games/00012.json` and so on."""
        for number, data in zip(games, encoded, strict=True):
            write_atomically(_record(folder, number), data)

    def finish(self, folder: Path) -> None:
        """The files are complete."""


def _record(folder: Path, number: int) -> Path:
    return folder / "games" / f"{number:06}.json"


class _FilePerPart:
    """A file per part; subclasses encode it."""

    suffix: str

    def has(self, folder: Path, games: range) -> bool:
        """Returns whether the file exists."""
        return self._file(folder, games).is_file()

    def write(self, folder: Path, games: range, encoded: bytes) -> None:
        """Writes the file."""
        write_atomically(self._file(folder, games), encoded)

    def finish(self, folder: Path) -> None:
        """The files are complete."""

    def _file(self, folder: Path, games: range) -> Path:
        return _part(folder, games, self.suffix)


class Npz(_FilePerPart):
    """A compressed `.npz` file per part, with the arrays of `PlayedGames`."""

    suffix = ".npz"

    def encode(self, plan: GamesPlan, played: PlayedGames) -> bytes:  # noqa: ARG002 - see Format
        """Returns the file."""
        return _packed(_arrays(played))


def _arrays(played: PlayedGames) -> dict[str, NDArray[Any]]:
    return {name: getattr(played, name) for name in _ARRAYS}


def _packed(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Returns a file in the format of np.savez_compressed."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)
    return file.getvalue()


def _part(folder: Path, games: range, suffix: str = ".npz") -> Path:
    return folder / f"games-{games.start:06}{suffix}"


class Parquet(_FilePerPart):
    """A Parquet file per part: a row per decision, with the results of its seat."""

    suffix = ".parquet"

    def __init__(self) -> None:
        check_installed("parquet", "pyarrow")

    def encode(self, plan: GamesPlan, played: PlayedGames) -> bytes:
        """Returns the file."""
        import pyarrow
        from pyarrow import parquet

        def lists(array: NDArray[Any]) -> Any:
            """Returns the rows of [T, *shape] as a column of lists of one length."""
            rows = array.reshape(len(played.game), -1)
            return pyarrow.FixedSizeListArray.from_arrays(rows.ravel(), rows.shape[1])

        row = played.game - played.games.start
        columns = {
            "game": played.game,
            "seat": played.seat,
            "action": played.action,
            "observation": lists(played.observation),
            "action_mask": lists(played.action_mask),
            "agent": played.agents[row, played.seat],
            "payoff": played.payoff[row, played.seat],
            "score": played.score[row, played.seat],
        }
        about = {"linkzoo": json.dumps(_about(plan))}
        file = BytesIO()
        parquet.write_table(pyarrow.table(columns, metadata=about), file, compression="zstd")
        return file.getvalue()


class Minari:
    """A Minari data set: an episode per game and seat, as `SeatEnv` shows the game to the seat.

    Parts are `.npz` files until all games are played; then they become the data set.
    """

    def __init__(self, plan: GamesPlan) -> None:
        check_installed("minari", "minari", "h5py")
        self.plan = plan
        self.name = f"linkzoo/{plan.rules.name}/selfplay-v0"

    def has(self, folder: Path, games: range) -> bool:
        """Returns whether the part's file or the data set exists."""
        return (folder / self.name).exists() or _part(folder / PARTS, games).is_file()

    def encode(self, plan: GamesPlan, played: PlayedGames) -> bytes:
        """Returns the file of a part, with the last observations [G, P, *shape] of the seats."""
        count = len(played.finals)
        seats = range(plan.num_players)
        last = [
            observations_of(plan.rules, played.finals, np.full(count, seat, np.int8))
            for seat in seats
        ]
        return _packed({**_arrays(played), LAST: np.stack(last, axis=1)})

    def write(self, folder: Path, games: range, encoded: bytes) -> None:
        """Writes the file of a part."""
        write_atomically(_part(folder / PARTS, games), encoded)

    def finish(self, folder: Path) -> None:
        """Makes the data set in a folder of its own, moves it to its place, and deletes the parts.

        A data set that wasn't completed is made anew.
        """
        unfinished = folder / "unfinished"
        home = Path(self.name).parts[0]
        if not (folder / home).exists():
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            with _datasets_in(unfinished), warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # about fields that stay empty
                self._write_dataset(folder / PARTS)
            (unfinished / home).rename(folder / home)
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.rmtree(folder / PARTS, ignore_errors=True)

    def _write_dataset(self, parts: Path) -> None:
        """Writes the data set in the folder of Minari's data sets."""
        import minari
        from gymnasium.spaces import Discrete
        from minari.data_collector import EpisodeBuffer

        rules = self.plan.rules
        for games in self.plan.parts:
            with np.load(_part(parts, games)) as arrays:
                episodes = episodes_of(self.plan, games, arrays)
            buffers = [EpisodeBuffer(**episode) for episode in episodes]
            if games.start:
                minari.load_dataset(self.name).storage.update_episodes(buffers)
                continue
            minari.create_dataset_from_buffers(
                self.name,
                buffers,
                env=seat_env_spec(self.plan),
                observation_space=rules.observation.spec.space(),
                action_space=Discrete(rules.num_actions),
                algorithm_name=", ".join(map(str, self.plan.agents)),
                description=json.dumps(_about(self.plan)),
            )


def seat_env_spec(plan: GamesPlan) -> EnvSpec:
    """Returns the environment whose episodes the data set has: a seat drawn for each game."""
    rules = plan.rules
    spec = deepcopy(gymnasium.spec(gymnasium_id(rules.name, rules.version)))
    spec.kwargs = {
        "game": id_of(rules),
        "num_players": plan.num_players,
        "seat": None,
        **plan.options,
    }
    return spec


def episodes_of(
    plan: GamesPlan, games: range, arrays: Mapping[str, NDArray[Any]]
) -> list[dict[str, Any]]:
    """Returns the fields of Minari's `EpisodeBuffer` for each seat with a decision, by game.

    Args:
        plan: The settings.
        games: The numbers of the games.
        arrays: The arrays of the file of a part.
    """
    game = arrays["game"]
    seat_to_act = arrays["seat"]
    actions = arrays["action"]
    observations = arrays["observation"]
    masks = arrays["action_mask"]
    last_observations = arrays[LAST]
    payoffs = arrays["payoff"]
    agents = arrays["agents"]
    last_mask = np.zeros((1, plan.rules.num_actions), np.int8)
    episodes = []
    for index, number in enumerate(games):
        first, end = np.searchsorted(game, [number, number + 1])
        for seat in range(plan.num_players):
            rows = first + np.flatnonzero(seat_to_act[first:end] == seat)
            if not len(rows):
                continue
            rewards = np.zeros(len(rows), np.float32)
            rewards[-1] = payoffs[index, seat]
            terminations = np.zeros(len(rows), np.bool_)
            terminations[-1] = True
            agent = plan.agents[agents[index, seat]]
            last_observation = last_observations[index, seat][None]
            episodes.append(
                {
                    "options": {"game": number, "seat": seat, "agent": str(agent)},
                    "observations": np.concatenate([observations[rows], last_observation]),
                    "actions": actions[rows],
                    "rewards": rewards,
                    "terminations": terminations,
                    "truncations": np.zeros(len(rows), np.bool_),
                    "infos": {"action_mask": np.concatenate([masks[rows], last_mask])},
                }
            )
    return episodes


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
    "parquet": lambda _: Parquet(),
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
    """Plays the games that are missing in a folder, and writes them.

    Args:
        plan: The games.
        form: `records`, `npz`, `parquet` or `minari`.
        folder: The folder.
        progress: Called as `progress(finished, games)` after each part.
        executor: Plays the parts; None for this process.

    Raises:
        ValueError: The folder holds other games, an agent doesn't exist or plays an illegal action,
            or a package is missing.
    """
    files = FORMATS[form](plan)
    openings = plan.read_openings()
    about = folder / ABOUT
    data = {**_about(plan), "files": form}
    if about.is_file():
        before = mapping(str(about), parse_json(about.read_bytes()))
        now = json.loads(json.dumps(data))
        if before.get("version") in plan.rules.compatible_versions:
            now["version"] = before["version"]
        names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
        if names:
            raise ValueError(
                f"{about} describes other games: choose another folder ({', '.join(names)} differ)"
            )
    elif folder.is_dir() and any(folder.iterdir()):
        raise ValueError(f"{folder} isn't empty, and has no {ABOUT}")
    for spec in plan.agents:
        note_untrained(NamedAgent(spec, plan.game, plan.options), np.array([plan.blank]))
    missing = [games for games in plan.parts if not files.has(folder, games)]
    write_atomically(about, (json.dumps(data, indent=1) + "\n").encode())
    if executor is None:
        executor = LocalExecutor()
    executor.start(TaskWorker)
    tasks = [partial(_play_encoded, files, plan, openings, games) for games in missing]
    done = plan.games - sum(map(len, missing))
    names = [f"games {games.start + 1} to {games.stop}" for games in missing]
    with executor.play_in_order(tasks, names) as results:
        for games, encoded in zip(missing, results, strict=True):
            files.write(folder, games, encoded)
            done += len(games)
            progress(done, plan.games)
    files.finish(folder)


def _about(plan: GamesPlan) -> dict[str, Any]:
    """Returns the description of a data set as JSON data."""
    rules = plan.rules
    spec = rules.observation.spec
    names = ("name", "shape", "low", "high", "meaning")
    return {
        "format": FORMAT,
        "version": rules.version,
        "digest": rules.digest,
        **asdict(plan),
        "agents": list(map(str, plan.agents)),
        "agent_digests": digests_of(plan.game, plan.agents),
        "openings_digest": openings_digest(plan.openings),
        "options": rules.chosen_options(plan.blank),
        "num_actions": rules.num_actions,
        "observation": {
            "shape": list(spec.shape),
            "dtype": np.dtype(spec.dtype).name,
            "parts": [{name: getattr(part, name) for name in names} for part in spec.parts],
        },
    }
