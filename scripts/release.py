"""Prepares a release, all but the upload: `python -m scripts.release 0.2.0 --repository URL`.

Writes the version and the date, builds and checks both distributions, tests them in empty
environments, commits and tags. Then it prints the commands that publish. Run it on a clean clone;
a failure leaves the changes uncommitted.
"""

import argparse
import os
import re
import subprocess
import sys
import venv
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.version import Version
from scripts import distributions

ROOT = Path(__file__).parents[1]
_DATED = "{version}\ndate-released: {date}"
# The places of the version: file, the text before it, what it replaces, new text.
PLACES = (
    ("envs/linkzoo/__init__.py", '^__version__ = "', '[^"]+', "{version}"),
    ("CITATION.cff", "^version: ", r".+(?:\ndate-released: .+)?", _DATED),
    ("CHANGELOG.md", "^## ", r"\[Unreleased\].*", "[{version}] {date}"),
    ("README.md", "version = {", "[^}]+", "{version}"),
    ("README.md", "year = {", "[^}]+", "{year}"),
    ("mkdocs.yml", "^site_name: linkzoo ", r"\S+", "{version}"),
)


def write_version(root: Path, version: str, date: str) -> None:
    """Writes the version and the date of a release into all files that name them.

    Args:
        root: The clone.
        version: The version, `MAJOR.MINOR.PATCH`.
        date: The date, `YYYY-MM-DD`.

    Raises:
        ValueError: A place is missing, such as the section `[Unreleased]` of the changelog, or the
            version isn't newer.
    """
    before = Version(distributions.version(root))
    after = Version(version)
    unreleased = "## [Unreleased]" in (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if after < before or (after == before and not unreleased):
        raise ValueError(f"version {version} isn't newer than {before}")
    texts: dict[str, str] = {}
    for file, before_it, old, new in PLACES:
        text = texts.get(file) or (root / file).read_text(encoding="utf-8")
        pattern = re.compile(f"({before_it}){old}", re.MULTILINE)
        value = new.format(version=version, date=date, year=date[:4])
        texts[file], count = pattern.subn(rf"\g<1>{value}", text)
        if count != 1:
            raise ValueError(f"{file}: {count} places match {pattern.pattern!r}, not 1")
    for file, text in texts.items():
        (root / file).write_text(text, encoding="utf-8")


def smoke(folder: Path, version: str, index: str | None = None) -> None:
    """Installs a release into empty environments and tests it there (`tests/wheel_smoke.py`).

    Args:
        folder: The folder of the built files.
        version: The version.
        index: The URL of an index that has the release, instead of the folder.
    """
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    constraints = ROOT / "locks" / f"{python}.txt"
    source = ["--extra-index-url", index] if index else ["--find-links", str(folder.resolve())]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for name, extra in (("bare", ""), ("train", "[train]")):
        with TemporaryDirectory() as work:
            venv.create(work, with_pip=True)
            interpreter = str(Path(work) / "bin" / "python")
            wanted = f"linkzoo{extra}=={version}"
            pip = [interpreter, "-m", "pip", "install", "--quiet", "-c", str(constraints)]
            script = str(ROOT / "tests" / "wheel_smoke.py")
            for command in ([*pip, *source, wanted], [interpreter, "-I", script, name]):
                subprocess.run(command, check=True, cwd=work, env=clean)  # noqa: S603


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S603
    return done.stdout


def main() -> None:
    """Prepares a release."""
    parser = argparse.ArgumentParser(description="Prepares a release, everything but the upload.")
    parser.add_argument("version", help="MAJOR.MINOR.PATCH")
    parser.add_argument("--repository", required=True, metavar="URL", help="https://…, of the tag")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="FOLDER")
    parser.add_argument("--smoke-index", metavar="URL", help="only test the release of this index")
    args = parser.parse_args()
    if args.smoke_index:
        smoke(args.out, args.version, args.smoke_index)
        return
    if changes := _git("status", "--porcelain"):
        parser.error(f"the clone has changes:\n{changes}")
    write_version(ROOT, args.version, datetime.now(UTC).date().isoformat())
    files = distributions.build(args.out, args.repository)
    distributions.check(files)
    smoke(args.out, args.version)
    _git("commit", "--all", "--message", f"release: Add version {args.version}")
    _git("tag", "--annotate", f"v{args.version}", "--message", f"linkzoo {args.version}")
    names = " ".join(str(path) for path in files)
    sys.stdout.write(
        f"\nTo publish:\n    git push --follow-tags\n    python -m twine upload {names}\n"
    )


if __name__ == "__main__":
    main()
