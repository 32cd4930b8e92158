"""The snippets of the documentation that need a framework run."""

from typing import Any

import pytest
from tests.snippets import ROOT, blocks

# Whether the snippets of a page follow one another, or stand by themselves.
PAGES = {"frameworks.md": False, "tutorials/framework.md": True}


@pytest.mark.parametrize("page", PAGES)
def test_snippets_run(page: str, ray: Any) -> None:
    """As they are printed (RLlib starts a Ray of its own where there is none)."""
    found = blocks((ROOT / "docs" / page).read_text(encoding="utf-8"), "py")
    assert found
    names: dict[str, Any] = {"__name__": page}
    for number, block in enumerate(found):
        space = names if PAGES[page] else names.copy()
        exec(compile(block, f"{page}, block {number}", "exec"), space)
