"""The report of `make gpu` as Markdown."""

from collections.abc import Mapping, Sequence
from math import isfinite

from lab.gpu_tasks import PREFLIGHT, Bar, Task

_SHOWN = 25  # last lines of a task's output


def report(
    planned: Sequence[Task], states: Mapping[str, str], printed: Mapping[str, str], title: str
) -> str:
    """Returns the report on all tasks: their states and outputs by name."""
    lines = ["# On a GPU", "", f"From `make gpu`: {title}.", ""]
    lines += ["```text", printed.get(PREFLIGHT, "").strip(), "```", ""]
    lines += ["| what | measured | target | |", "|---|---:|---:|---|"]
    for task in planned:
        found = printed.get(task.name, "")
        lines += [f"| {bar.what} | {' | '.join(cells(bar, found))} |" for bar in task.bars]
    lines += ["", "| task | state |", "|---|---|"]
    lines += [f"| {task.name} | {states[task.name]} |" for task in planned]
    for task in planned:
        if task.name in printed and task.name != PREFLIGHT:
            last = "\n".join(printed[task.name].splitlines()[-_SHOWN:])
            lines += ["", f"## {task.name}", "", f"    python -m {' '.join(task.arguments)}"]
            lines += ["", "```text", last, "```"]
    return "\n".join([*lines, ""])


def cells(bar: Bar, printed: str) -> tuple[str, str, str]:
    """Returns a result, its target, and whether it is met."""
    number = bar.measured(printed)
    wanted = f"at most {bar.most:,.0f}" if isfinite(bar.most) else f"at least {bar.least:,.0f}"
    if number is None:
        return "not measured", wanted, ""
    return f"{number:,.10g}", wanted, "met" if bar.least <= number <= bar.most else "missed"
