"""Leagues: runs that share a folder of snapshots, and play against each other's latest ones.

The folder has a folder per run, and in it a checkpoint per snapshot, named by its iteration:
`link_o-1/00000050`. Runs need not begin together, nor on one machine.
"""

import shutil
import weakref
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp

from torch import nn

from linkzoo import Game
from linkzoo.core.urls import is_url
from linkzoo_training.checkpoints.checkpoint import load_card, load_weights
from linkzoo_training.checkpoints.fingerprints import fingerprints
from linkzoo_training.networks.policy_value import PolicyValueNet
from linkzoo_training.resources import is_checkpoint
from linkzoo_training.selfplay.opponent_pool import OpponentPool
from linkzoo_training.storage import Storage

Snapshots = Mapping[str, Mapping[int, Path]]  # by run and iteration


def find_snapshots(folder: Path) -> Snapshots:
    """Returns the snapshots in a league's folder, by run and in order."""
    snapshots: dict[str, dict[int, Path]] = {}
    for path in sorted(folder.glob("*/" + "[0-9]" * 8)):
        if is_checkpoint(path):
            snapshots.setdefault(path.parent.name, {})[int(path.name)] = path
    return snapshots


class League:
    """One run in a league.

    Args:
        folder: The league's folder, or its URL: then the run works with a copy in a folder of its
            own, and a thread exchanges snapshots.
        name: The name of the run's folder.
    """

    def __init__(self, folder: str, name: str) -> None:
        self.folder = Path(folder)
        self.name = name
        self._storage: Storage | None = None
        if is_url(folder):
            self.folder = Path(mkdtemp(prefix="linkzoo-league-"))
            weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
            self._storage = Storage(folder, self.folder)
            self._storage.fetch()
        self._met: dict[str, Path] = {}  # the last snapshot taken of each rival
        self._slots: dict[str, int] = {}  # of these in the pool

    def check_name(self) -> None:
        """Raises ValueError if the league has a run of this name already."""
        home = self.folder / self.name
        if home.exists():
            raise ValueError(
                f"pool.league: {home} exists: continue that run with --resume and its own folder, "
                "delete it if that run is gone, or choose another name, seed or league"
            )

    def own(self, iteration: int) -> Path:
        """Returns the folder of the run's own snapshot."""
        return self.folder / self.name / f"{iteration:08}"

    def exchange(self) -> None:
        """Begins to send the run's snapshots and to fetch those of its rivals, from a URL."""
        if self._storage is not None:
            self._storage.exchange()

    def newer(self, turn: int) -> tuple[str, Path] | None:
        """Looks at one rival, in turn; returns its name and its latest snapshot if that is new."""
        self.exchange()
        rivals = find_snapshots(self.folder)
        names = [name for name in rivals if name != self.name]
        if not names:
            return None
        name = names[turn % len(names)]
        latest = rivals[name][max(rivals[name])]
        if self._met.get(name) == latest:
            return None
        self._met[name] = latest
        return name, latest

    def added(self, slot: int, name: str | None = None) -> None:
        """Notes that a slot of the pool has a rival's snapshot; None: the run's own snapshot."""
        self._slots = {rival: used for rival, used in self._slots.items() if used != slot}
        if name is not None:
            self._slots[name] = slot

    def win_rates(self, pool: OpponentPool) -> dict[str, float]:
        """Returns the recent score against each rival's snapshot in the pool, as metrics."""
        rates = pool.win_rates()
        return {f"league/{name}": float(rates[slot]) for name, slot in self._slots.items()}


def load_snapshot(network: PolicyValueNet, game: Game, folder: Path) -> nn.Module:
    """Loads a rival's snapshot into a network; ValueError if it is of another game or network."""
    if load_card(folder)["fingerprints"] != fingerprints(game):
        raise ValueError(f"pool.league: {folder} is of another game, or of other rules")
    try:
        load_weights(network, folder)
    except ValueError as error:
        raise ValueError(f"pool.league: all runs need the same network: {error}") from error
    return network
