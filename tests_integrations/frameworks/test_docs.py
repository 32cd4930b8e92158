"""The snippets of the documentation that need a framework run."""

from pathlib import Path
from typing import Any

import pytest
from tests.test_docs import ROOT, blocks

PAGES = [ROOT / "docs" / "frameworks.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_snippets_run(page: Path, ray: Any) -> None:
    """Each by itself, as it is printed (RLlib starts a Ray of its own where there is none)."""
    found = blocks(page.read_text(encoding="utf-8"), "py")
    assert found
    for number, block in enumerate(found):
        exec(compile(block, f"{page.name}, block {number}", "exec"), {"__name__": page.stem})
