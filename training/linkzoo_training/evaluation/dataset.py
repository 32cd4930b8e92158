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

from linkzoo.core.arguments import mapping, parse_json
from linkzoo.core.files import write_atomically
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
from linkzoo_training.selfplay.executors import Executor, LocalExecutor, TaskWorker, in_order

FORMAT = "linkzoo-dataset/1"
ABOUT = "dataset.json"
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


def _record(folder: Path, number: int) -> Path:
    return folder / "games" / f"{number:06}.json"


class Npz:
    """A compressed `.npz` file per part, with the arrays of `PlayedGames`."""

    def has(self, folder: Path, games: range) -> bool:
        """Returns whether the file exists."""
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
        self.plan = plan
        self.name = f"linkzoo/{plan.rules.name}/selfplay-v0"

    def has(self, folder: Path, games: range) -> bool:
        """Returns False.

        Raises:
            ValueError: The data set exists.
        """
        if games.start == 0 and (folder / self.name).exists():
            raise ValueError(f"{folder / self.name} exists: delete it, or choose another folder")
        return False

    def encode(self, plan: GamesPlan, played: PlayedGames) -> list[dict[str, Any]]:
        """Returns the fields of Minari's `EpisodeBuffer` for each seat with a decision."""
        count = len(played.finals)
        last_observations = [
            observations_of(plan.rules, played.finals, np.full(count, seat, np.int8))
            for seat in range(plan.num_players)
        ]
        last_mask = np.zeros((1, plan.rules.num_actions), np.int8)
        episodes = []
        for index, (number, part) in enumerate(zip(played.games, played.rows, strict=True)):
            game_rows = np.arange(part.start, part.stop)
            for seat in range(plan.num_players):
                rows = game_rows[played.seat[game_rows] == seat]
                if not len(rows):
                    continue
                rewards = np.zeros(len(rows), np.float32)
                rewards[-1] = played.payoff[index, seat]
                terminations = np.zeros(len(rows), np.bool_)
                terminations[-1] = True
                agent = plan.agents[played.agents[index, seat]]
                last_observation = last_observations[seat][index : index + 1]
                masks = np.concatenate([played.action_mask[rows], last_mask])
                episodes.append(
                    {
                        "options": {"game": number, "seat": seat, "agent": str(agent)},
                        "observations": np.concatenate(
                            [played.observation[rows], last_observation]
                        ),
                        "actions": played.action[rows],
                        "rewards": rewards,
                        "terminations": terminations,
                        "truncations": np.zeros(len(rows), np.bool_),
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
    """Plays the games that are missing in a folder, and writes them.

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
    for games, encoded in zip(missing, in_order(executor.play(None, tasks)), strict=True):
        files.write(folder, games, encoded)
        done += len(games)
        progress(done, plan.games)


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
