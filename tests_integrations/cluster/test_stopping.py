"""The end of a stopped run on a Ray of its own, while all its workers hang."""

import signal
from pathlib import Path

from tests.training.test_stopping import check_a_stopped_run_ends


def test_a_run_whose_workers_hang_ends(tmp_path: Path) -> None:
    check_a_stopped_run_ends("ray", signal.SIGINT, tmp_path)
