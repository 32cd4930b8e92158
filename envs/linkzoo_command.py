"""The script `linkzoo`, which `linkzoo` installs and `linkzoo-training` implements.

It is a module outside the packages because `import linkzoo` takes most of a second, and Ctrl-C must
be quiet before (`linkzoo_training.__main__`).
"""

import sys
from importlib.util import find_spec
from typing import NoReturn


def run() -> NoReturn:
    """Runs the command line of linkzoo-training, or exits with the command that installs it."""
    if find_spec("linkzoo_training") is None:
        from linkzoo.core.installing import install_command

        sys.stderr.write(
            "linkzoo: this command is in the package linkzoo-training, which is not installed: "
            f"{install_command('train')}\n"
        )
        sys.exit(2)
    from linkzoo_training.__main__ import run as run_training

    run_training()
