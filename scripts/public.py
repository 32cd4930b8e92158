"""Makes docs/reference/public.md from the lists `__all__` (`python -m scripts.reference`)."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = (ROOT / "envs" / "linkzoo", ROOT / "training" / "linkzoo_training")
_PAGE = """\
# Public names and versions

Made from the code by `python -m scripts.reference`.

## Names

A name is public if it is in the list `__all__` of its module; the [Python API](api.md) documents
each. Import it from the module in this table. Every other module, function and attribute can
change in any release.

{names}

Of a public class, the methods and attributes that the [Python API](api.md) shows are public.

Public, too, are

- the ids of environments, `linkzoo/Linkage-v0` in gymnasium and the modules `linkage_v0` and so
  on;
- the script `linkzoo` with its [commands and options](commands.md), and the keys of its `--json`
  output;
- the [fields of a configuration](configuration.md), and the names of presets and of trained
  policies;
- the entry-point groups `linkzoo.games` and `linkzoo.policies`;
- files: game records, positions, runs and checkpoints of one release are read by later ones,
  unless the [version of a game](../concepts.md#versions) says otherwise.

Not public are the wording of messages, drawings and texts for people, `examples/`, `lab/`,
`scripts/` and `tests/`.

## Versions of the packages

`linkzoo` and `linkzoo-training` have one version, and the second requires the first in the same
version. It follows [semantic versioning](https://semver.org/): of `MAJOR.MINOR.PATCH`, a patch
only fixes, a minor release adds, and a major release may remove or change public names. Before
1.0, a minor release may do that, too.

## Deprecations

From 1.0 on, a public name that is to go works for at least one minor release and gives a
`DeprecationWarning` with the new name; the [changelog](../changelog.md) lists it under
*Deprecated*, and later under *Removed*. A removed field of a configuration is refused with an
error that names the new one.

## Versions of environments

The version in `linkage_v0` belongs to the game, not to the package: any change to rules, actions,
observations or rewards raises it, in any release. [Concepts](../concepts.md#versions) has what
that means for results and files. A release that raises it is at least a minor one.

## Versions of Python and of other packages

The ranges in `pyproject.toml` are supported. A minor release may drop a Python that has reached
its end of life, or raise a lower bound.
"""


def public() -> str:
    """Returns the page."""
    rows = ["| module | names |", "|---|---|"]
    for module, names in public_names().items():
        rows.append(f"| `{module}` | {', '.join(f'`{name}`' for name in names)} |")
    return _PAGE.format(names="\n".join(rows))


def public_names() -> dict[str, list[str]]:
    """Returns the lists `__all__` by module."""
    names = {}
    for package in PACKAGES:
        for path in sorted(package.rglob("*.py")):
            parts = path.relative_to(package.parent).with_suffix("").parts
            module = ".".join(part for part in parts if part != "__init__")
            for exported in _exported(path):
                names[module] = exported
    return dict(sorted(names.items()))


def _exported(path: Path) -> Iterator[list[str]]:
    """Yields the list `__all__` of a file, if it has one."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            yield ast.literal_eval(node.value)
