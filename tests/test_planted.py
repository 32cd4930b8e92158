"""The faults that `python -m tests.planted` plants: their lines are still there to be changed."""

import pytest

from tests.planted import FAULTS, ROOT, Planted


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: str(fault.name))
def test_the_line_is_there_once(fault: Planted) -> None:
    text = (ROOT / fault.file).read_text(encoding="utf-8")
    assert text.count(fault.old) == 1
    for word in fault.tests.split():
        assert not word.endswith(".py") or (ROOT / word).is_file()
