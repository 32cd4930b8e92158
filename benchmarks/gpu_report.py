"""The report of `make gpu` as Markdown."""

import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from math import isfinite
from typing import Any

import torch
from benchmarks.gpu_tasks import ROOT, Bar, Task

from linkzoo_training.algorithms.logger import read_metrics


def report(planned: Sequence[Task], done: Mapping[str, Any], device: torch.device) -> str:
    """Returns the report on the finished tasks, by name."""
    lines = ["# On a GPU", "", f"{machine(device)}. From `make gpu`.", ""]
    lines += ["| what | measured | bar | met |", "|---|---:|---:|---|"]
    for task in planned:
        found = done.get(task.name)
        lines += [f"| {bar.what} | {' | '.join(cells(bar, found))} |" for bar in task.bars]
    lines += ["", "| task | exit status | seconds | date | commit |", "|---|---:|---:|---|---|"]
    for task in planned:
        found = done.get(task.name)
        what = ["not run", "", "", ""]
        if found is not None:
            what = [str(found["rc"]), f"{found['seconds']:,.0f}", found["date"], found["commit"]]
        lines.append(f"| {task.name} | {' | '.join(what)} |")
    for task in planned:
        if task.name not in done:
            continue
        lines += ["", f"## {task.name}", "", f"    {task.command}", ""]
        if task.run is not None:
            lines += ["The last iteration:", "", "| | |", "|---|---:|"]
            rows = read_metrics(task.run)
            last = rows[-1] if rows else {}
            lines += [*(f"| {name} | {value:,.6g} |" for name, value in last.items()), ""]
        lines += ["```text", done[task.name]["printed"], "```"]
    return "\n".join([*lines, ""])


def cells(bar: Bar, found: Mapping[str, Any] | None) -> tuple[str, str, str]:
    """Returns a task's result, its target, and whether it is reached."""
    number = None if found is None or found["rc"] != 0 else bar.measured(found["printed"])
    most = isfinite(bar.most)
    wanted = f"at most {bar.most:,.0f}" if most else f"at least {bar.least:,.0f}"
    if number is None:
        return "not measured", wanted, ""
    return f"{number:,.10g}", wanted, "yes" if bar.least <= number <= bar.most else "no"


def machine(device: torch.device) -> str:
    """Returns the GPU, the host, and the versions of key packages."""
    where = torch.cuda.get_device_name(device) if device.type == "cuda" else "no GPU"
    packages = ", ".join(f"{name} {_version(name)}" for name in ("torch", "numba", "numba-cuda"))
    host = f"{platform.machine()}, {os.cpu_count()} cores; Python {platform.python_version()}"
    return f"{where}, CUDA {torch.version.cuda}; {host}; {packages}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(none)"


def commit() -> str:
    """Returns this working tree's commit, `-dirty` if modified; `?` without git."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12"],  # noqa: S607 - git from the PATH
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "?"
    return done.stdout.strip()
