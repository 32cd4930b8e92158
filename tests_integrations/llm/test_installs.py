"""The extras fit together after they were installed one after the other, as the Makefile does."""

from importlib.metadata import distribution

import pytest
from packaging.requirements import Requirement

EXTRAS = ["train", "dev", "openenv", "textarena", "verifiers", "trl", "mcp", "kaggle"]


def misfits(package: str, extra: str) -> list[str]:
    """The requirements of a package with an extra that the installed packages don't meet.

    Extras of the packages that it requires count, which `pip check` leaves out: fastmcp asks for
    its release of mcp only in an extra of another package.
    """
    found = []
    known = {(package, extra)}
    unread = [(package, extra)]
    while unread:
        package, extra = unread.pop()
        for text in distribution(package).requires or []:
            requirement = Requirement(text)
            marker = requirement.marker
            if marker is not None and not marker.evaluate({"extra": extra}):
                continue
            version = distribution(requirement.name).version
            if not requirement.specifier.contains(version, prereleases=True):
                found.append(f"{package}[{extra}] requires {requirement}, not {version}")
            required = {(requirement.name, name) for name in ("", *requirement.extras)}
            unread += required - known
            known |= required
    return found


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_fits_after_the_others(extra: str) -> None:
    assert misfits("linkzoo", extra) == []
