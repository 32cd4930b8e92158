"""Builds and checks the two distributions for a package index: `python -m scripts.distributions`.

A clone is one project (`pyproject.toml`). An index gets `linkzoo`, the environments and the script,
and `linkzoo-training`, with presets and trained policies. Both have the same version, and the extra
`train` of the first requires the second. Each sdist is a project of its own, and each wheel is
built from its sdist. With `--repository`, their pages on the index link to it.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[1]
MOST_BYTES = 700_000  # of the wheel with the environments
# Extras for work on a clone.
DEVELOPMENT = ("bench", "browser", "dev", "docs", "release")
TRAINING_README = """\
# linkzoo-training

Self-play training, search, evaluation, presets and trained policies for the games of linkzoo:

    pip install "linkzoo[train]"
"""


@dataclass(frozen=True)
class Distribution:
    """A distribution for an index.

    Attributes:
        project: The table `project` of its `pyproject.toml`.
        modules: The importable files and folders.
        readme: The text of `README.md`.
        sources: Paths in its source tree -> paths in the clone.
    """

    project: dict[str, Any]
    modules: tuple[str, ...]
    readme: str
    sources: dict[str, str]

    def pyproject(self) -> dict[str, Any]:
        """Returns the content of `pyproject.toml`."""
        targets = {"wheel": {"only-include": list(self.modules)}}
        return {
            "build-system": _settings()["build-system"],
            "project": self.project,
            "tool": {"hatch": {"build": {"targets": targets}}},
        }

    def write_tree(self, folder: Path) -> None:
        """Writes the source tree."""
        import tomli_w

        for target, source in self.sources.items():
            path = folder / target
            path.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, path, ignore=_not_source)
            else:
                shutil.copy(ROOT / source, path)
        pyproject = tomli_w.dumps(self.pyproject())
        (folder / "pyproject.toml").write_text(pyproject, encoding="utf-8")
        (folder / "README.md").write_text(self.readme, encoding="utf-8")


def version(root: Path = ROOT) -> str:
    """Returns the version of both distributions of a clone."""
    source = (root / "envs" / "linkzoo" / "__init__.py").read_text(encoding="utf-8")
    match = re.search(r'^__version__ = "(.+)"$', source, re.MULTILINE)
    assert match is not None
    return match[1]


def environments(repository: str | None = None) -> Distribution:
    """Returns the distribution `linkzoo`, with links to a repository if its URL is given."""
    project = _project(repository)
    readme = installs_by_name((ROOT / "README.md").read_text(encoding="utf-8"))
    if repository is not None:
        readme = absolute_links(readme, repository)
    extras = project["optional-dependencies"]
    project["optional-dependencies"] = {
        name: requirements for name, requirements in extras.items() if name not in DEVELOPMENT
    }
    project["optional-dependencies"]["train"] = [f"linkzoo-training=={version()}"]
    project["license-files"] = ["LICENSE", "linkzoo/svg/fonts/LICENSE*"]
    del project["entry-points"]
    return Distribution(
        project,
        ("linkzoo", "linkzoo_command.py"),
        readme,
        {
            "linkzoo": "envs/linkzoo",
            "linkzoo_command.py": "envs/linkzoo_command.py",
            **{name: name for name in ("LICENSE", "CHANGELOG.md", "CITATION.cff")},
        },
    )


def training(repository: str | None = None) -> Distribution:
    """Returns the distribution `linkzoo-training`, as `environments`."""
    project = _project(repository)
    extras = project.pop("optional-dependencies")
    project["name"] = "linkzoo-training"
    project["description"] = "Self-play training and trained policies for the games of linkzoo"
    project["dependencies"] = [f"linkzoo=={version()}", *extras["train"]]
    project["license-files"] = ["LICENSE"]
    del project["scripts"]
    return Distribution(
        project,
        ("linkzoo_training",),
        TRAINING_README,
        {
            "linkzoo_training": "training/linkzoo_training",
            "linkzoo_training/shipped/configs": "configs",
            "linkzoo_training/shipped/checkpoints": "checkpoints",
            "LICENSE": "LICENSE",
        },
    )


def installs_by_name(text: str) -> str:
    """Returns the README with commands that install from an index instead of from a clone."""
    text = text.replace("from a clone, with Python", "with Python")
    text = re.sub(r"pip install \.(?=\s)", "pip install linkzoo", text)
    return text.replace('pip install ".[', 'pip install "linkzoo[')


def absolute_links(text: str, repository: str) -> str:
    """Returns Markdown whose relative links and images lead to the release's tag."""
    tag = f"v{version()}"

    def absolute(match: re.Match[str]) -> str:
        kind = "raw" if match[1] else "blob"
        return f"{match[1]}[{match[2]}]({repository}/{kind}/{tag}/{match[3]})"

    return re.sub(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)\s]+)\)", absolute, text)


def build(out: Path, repository: str | None = None) -> list[Path]:
    """Builds both sdists, and a wheel from each.

    Args:
        out: The folder for the files; it is emptied first.
        repository: The URL of the repository, None without links.

    Returns:
        The files.
    """
    shutil.rmtree(out, ignore_errors=True)
    for distribution in (environments(repository), training(repository)):
        with TemporaryDirectory() as folder:
            distribution.write_tree(Path(folder))
            _run("build", "--no-isolation", "--outdir", str(out.resolve()), folder)
    return sorted(out.iterdir())


def check(files: Sequence[Path]) -> None:
    """Checks built files.

    Raises:
        subprocess.CalledProcessError: A check failed; it has printed the reason.
        ValueError: The wheel with the environments is too large.
    """
    wheels = [path for path in files if path.suffix == ".whl"]
    _run("twine", "check", "--strict", *map(str, files))
    for wheel in wheels:
        modules = (training() if "training" in wheel.name else environments()).modules
        # W002: the licence of the fonts lies beside them and with the licences.
        options = ("--toplevel", ",".join(modules), "--ignore", "W002")
        _run("check_wheel_contents", *options, str(wheel))
        size = wheel.stat().st_size
        sys.stdout.write(f"{wheel.name}: {size:,} bytes\n")
        if "training" not in wheel.name and size > MOST_BYTES:
            raise ValueError(f"{wheel.name}: {size:,} bytes, at most {MOST_BYTES:,} are allowed")


def _project(repository: str | None) -> dict[str, Any]:
    """Returns the clone's table `project`, with the version and the links."""
    project: dict[str, Any] = _settings()["project"]
    del project["dynamic"]
    project["version"] = version()
    if repository is not None:
        files = f"{repository}/blob/v{version()}"
        project["urls"] = {
            "Repository": repository,
            "Documentation": f"{files}/docs/index.md",
            "Changelog": f"{files}/CHANGELOG.md",
            "Issues": f"{repository}/issues",
        }
    return project


def _settings() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def _not_source(_folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "__pycache__"]


def _run(module: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", module, *arguments], check=True)  # noqa: S603


def main() -> None:
    """Builds and checks."""
    parser = argparse.ArgumentParser(description="Builds what a package index gets.")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="FOLDER")
    parser.add_argument("--repository", metavar="URL")
    args = parser.parse_args()
    check(build(args.out, args.repository))


if __name__ == "__main__":
    main()
