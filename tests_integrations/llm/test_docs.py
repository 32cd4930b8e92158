"""The snippets of the documentation that need a framework run, each by itself."""

from pathlib import Path

import pytest
from tests.snippets import ROOT, blocks

PAGE = ROOT / "docs" / "language_models.md"
FOUND = blocks(PAGE.read_text(encoding="utf-8"), "py")


@pytest.mark.parametrize("block", FOUND, ids=range(len(FOUND)))
def test_snippets_run(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    exec(compile(block, PAGE.name, "exec"), {"__name__": PAGE.stem})
