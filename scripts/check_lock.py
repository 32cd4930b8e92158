"""Compares the installed packages with the lock of this Python: `python -m scripts.check_lock`."""

import sys
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

FOLDER = Path(__file__).parents[1] / "locks"
_NOT_LOCKED = {"linkzoo", "pip"}  # the project itself, and a package of the interpreter


def read_lock(path: Path) -> list[Requirement]:
    """The requirements of a lock, one a line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def differences() -> list[str]:
    """Installed packages that the lock has in another version, or lacks."""
    path = FOLDER / "{}.{}.txt".format(*sys.version_info)
    here = [pin for pin in read_lock(path) if pin.marker is None or pin.marker.evaluate()]
    pins = {canonicalize_name(pin.name): pin.specifier for pin in here}
    installed = {canonicalize_name(each.name): each.version for each in distributions()}
    return [
        f"{name} {version} is installed, {path.name} has {pins.get(name) or 'none'}"
        for name, version in sorted(installed.items())
        if name not in _NOT_LOCKED and (name not in pins or version not in pins[name])
    ]


if __name__ == "__main__":
    sys.exit("\n".join(differences()) or None)
