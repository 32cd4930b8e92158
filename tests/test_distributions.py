"""The two distributions for a package index, and the one of a clone (`scripts.distributions`)."""

import importlib.metadata
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from packaging.requirements import Requirement
from scripts import distributions, release
from scripts.distributions import Distribution

import linkzoo
import linkzoo_command
from linkzoo.core import installing
from tests.packages import ROOT

BOTH = (distributions.environments(), distributions.training())
CLONE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def names(requirements: list[str]) -> set[str]:
    return {Requirement(text).name for text in requirements}


def source_files(distribution: Distribution) -> set[str]:
    """The files of a wheel, by their paths in it."""
    files = set()
    for target, source in distribution.sources.items():
        for path in (ROOT / source).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                files.add(f"{target}/{path.relative_to(ROOT / source).as_posix()}")
        if target in distribution.modules and (ROOT / source).is_file():
            files.add(target)
    return files


def test_both_have_the_same_version_and_require_each_other() -> None:
    environments, training = (distribution.project for distribution in BOTH)
    assert environments["version"] == training["version"] == linkzoo.__version__
    assert environments["optional-dependencies"]["train"] == [
        f"linkzoo-training=={linkzoo.__version__}"
    ]
    assert f"linkzoo=={linkzoo.__version__}" in training["dependencies"]


def test_together_they_require_what_a_clone_requires() -> None:
    environments, training = (distribution.project for distribution in BOTH)
    assert environments["dependencies"] == CLONE["dependencies"]
    assert "torch" not in names(environments["dependencies"])
    extras = CLONE["optional-dependencies"]
    assert names(training["dependencies"]) == {"linkzoo", *names(extras["train"])}
    offered = environments["optional-dependencies"]
    assert set(extras) - set(offered) == set(distributions.DEVELOPMENT)
    assert all(offered[name] == extras[name] for name in offered if name != "train")


def test_the_script_and_the_loader_are_each_in_one() -> None:
    environments, training = (distribution.project for distribution in BOTH)
    assert environments["scripts"] == CLONE["scripts"]
    assert "scripts" not in training
    assert training["entry-points"] == CLONE["entry-points"]
    assert "entry-points" not in environments


def test_together_they_hold_the_files_of_a_clone() -> None:
    """`pip install .`, from a clone or from its sdist, installs the files of both wheels."""
    wheel = pytest.importorskip("hatchling.builders.wheel")
    sdist = pytest.importorskip("hatchling.builders.sdist")
    environments, training = (source_files(distribution) for distribution in BOTH)
    assert not environments & training
    included = list(wheel.WheelBuilder(str(ROOT)).recurse_included_files())
    assert {file.distribution_path for file in included} == environments | training
    packed = sdist.SdistBuilder(str(ROOT)).recurse_included_files()
    assert {file.path for file in included} <= {file.path for file in packed}


@pytest.mark.parametrize("distribution", BOTH, ids=lambda each: each.project["name"])
def test_a_source_tree(distribution: Distribution, tmp_path: Path) -> None:
    distribution.write_tree(tmp_path)
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")}
    assert {path for path in source_files(distribution) if "." in path} <= written
    assert not [path for path in written if path.endswith(".pyc")]
    text = (tmp_path / "pyproject.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text) == distribution.pyproject()
    assert text == tomli_w.dumps(distribution.pyproject())


def test_a_release_writes_its_version_everywhere(tmp_path: Path) -> None:
    files = {file for file, *_ in release.PLACES}
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    before = {file: (tmp_path / file).read_text(encoding="utf-8") for file in files}
    with pytest.raises(ValueError, match=r"0\.0\.9 isn't newer than"):
        release.write_version(tmp_path, "0.0.9", "2031-02-03")
    (tmp_path / "mkdocs.yml").write_text("site_name: another\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"mkdocs\.yml: 0 places"):
        release.write_version(tmp_path, "7.8.9", "2031-02-03")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path / "mkdocs.yml")
    assert before == {file: (tmp_path / file).read_text(encoding="utf-8") for file in files}
    release.write_version(tmp_path, "7.8.9", "2031-02-03")
    for file, text in before.items():
        written = (tmp_path / file).read_text(encoding="utf-8")
        assert "7.8.9" in written
        added = file == "CITATION.cff" and "date-released" not in text  # before the first release
        assert len(written.splitlines()) == len(text.splitlines()) + added
    assert distributions.version(tmp_path) == "7.8.9"
    assert "## [7.8.9] 2031-02-03\n" in (tmp_path / "CHANGELOG.md").read_text(encoding="utf-8")
    with (tmp_path / "CHANGELOG.md").open("a", encoding="utf-8") as changelog:
        changelog.write("\n## [Unreleased]\n")
    release.write_version(tmp_path, "7.8.10", "2031-02-04")
    citation = (tmp_path / "CITATION.cff").read_text(encoding="utf-8")
    assert "version: 7.8.10\ndate-released: 2031-02-04\nlicense" in citation


def test_pages_of_a_release_link_to_its_tag() -> None:
    """An index shows the README alone, without the files beside it."""
    host = "https://host.example/linkzoo"
    distribution = distributions.environments(host)
    tag = f"v{linkzoo.__version__}"
    assert f"![Linkage]({host}/raw/{tag}/docs/images/linkage_board.png)" in distribution.readme
    assert f"[changelog]({host}/blob/{tag}/CHANGELOG.md)" in distribution.readme
    links = re.findall(r"\]\(([^)\s]+)\)", distribution.readme)
    assert all(link.startswith("https://") for link in links)
    assert distribution.project["urls"]["Repository"] == host
    assert "urls" not in BOTH[0].project


def test_the_page_on_an_index_installs_from_it() -> None:
    installs = re.findall(r"pip install (\S+)", BOTH[0].readme)
    assert {"linkzoo", '"linkzoo[train]"'} <= set(installs)
    others = {install for install in installs if "linkzoo" not in install}
    assert others == {"torch"}  # its build for the CPU
    assert "from a clone" not in BOTH[0].readme


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        ('{"url": "file:///clone", "dir_info": {"editable": true}}', "in a clone of linkzoo, pip "),
        ('{"url": "file:///clone", "dir_info": {}}', "in a clone of linkzoo, pip install '.[web]'"),
        ('{"url": "file:///a.whl", "archive_info": {}}', "pip install 'linkzoo[web]'"),
        (None, "pip install 'linkzoo[web]'"),
    ],
)
def test_messages_name_an_install_that_works(
    origin: str | None, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Installed:
        def read_text(self, name: str) -> str | None:
            assert name == "direct_url.json"
            return origin

    monkeypatch.setattr(installing, "distribution", lambda name: Installed())
    assert installing.install_command("web").startswith(command)


def test_a_source_tree_on_the_path_counts_as_a_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    def distribution(name: str) -> Any:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(installing, "distribution", distribution)
    assert installing.install_command("web") == "in a clone of linkzoo, pip install '.[web]'"


def test_only_one_module_names_an_install() -> None:
    for folder in ("envs", "training"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.name != "installing.py":
                assert "pip install '" not in path.read_text(encoding="utf-8"), path


def test_the_script_names_the_missing_package(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linkzoo_command, "find_spec", lambda name: None)
    with pytest.raises(SystemExit) as stopped:
        linkzoo_command.run()
    assert stopped.value.code == 2
    assert "linkzoo-training, which is not installed: " in capsys.readouterr().err


def test_the_script_imports_nothing_before_the_command() -> None:
    """Ctrl-C is quiet as soon as `linkzoo_training.__main__` runs, so that must be soon."""
    program = "import sys; import linkzoo_command; sys.exit('linkzoo' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
