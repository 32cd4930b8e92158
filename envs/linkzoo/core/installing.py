"""The command that installs an extra, for messages about missing packages."""

import json
from importlib.metadata import PackageNotFoundError, distribution


def install_command(extra: str) -> str:
    """Returns how to install an extra in the same way as linkzoo itself.

    Installers record the folder of a clone in `direct_url.json` (PEP 610). A source tree on
    PYTHONPATH counts as a clone.

    Args:
        extra: An extra, or several with commas between.
    """
    if _is_from_clone():
        return f"in a clone of linkzoo, pip install '.[{extra}]'"
    return f"pip install 'linkzoo[{extra}]'"


def _is_from_clone() -> bool:
    try:
        origin = distribution("linkzoo").read_text("direct_url.json")
    except PackageNotFoundError:
        return True
    return origin is not None and "dir_info" in json.loads(origin)
