"""Checks the requirements of `make gpu` in seconds: packages, CUDA's libraries, and one kernel.

Names everything that is missing; the exit status is 1 if the kernel doesn't run.
"""

import os
import platform
import sys
import tomllib
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).parents[1]
_LIBRARIES = "nvvm", "nvJitLink", "nvrtc", "cudart"


def packages() -> str:
    """Returns the versions of the packages; ImportError names all that are missing or don't fit."""
    from packaging.requirements import Requirement  # pytest needs it

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras, found, wrong = project["optional-dependencies"], {}, []
    lines = [*project["dependencies"], *extras["train"], *extras["cuda"], "pytest", "hypothesis"]
    for wanted in map(Requirement, lines):
        try:
            found[wanted.name] = version(wanted.name)
        except PackageNotFoundError:
            wrong.append(f"{wanted.name} is not installed")
            continue
        if not wanted.specifier.contains(found[wanted.name], prereleases=True):
            wrong.append(f"{wanted.name} is {found[wanted.name]}, not {wanted.specifier}")
    if wrong:
        raise ImportError("; ".join(wrong))
    return ", ".join(f"{name} {installed}" for name, installed in found.items())


def gpu() -> str:
    """Returns the GPU and the host."""
    from linkzoo.cuda import require

    require()
    import torch

    card, free = torch.cuda.get_device_properties(), torch.cuda.mem_get_info()[0]
    return (
        f"{card.name}, {free / 2**30:,.0f} GiB free, CUDA {torch.version.cuda}; "
        f"{platform.machine()}, {os.cpu_count()} cores; Python {platform.python_version()}"
    )


def libraries() -> str:
    """Returns where CUDA's libraries are."""
    from cuda import pathfinder
    from numba.cuda.cudadrv.libs import get_libdevice

    paths = [pathfinder.load_nvidia_dynamic_lib(name).abs_path for name in _LIBRARIES]
    return ", ".join([*map(str, paths), get_libdevice()])


def kernel() -> str:
    """Compares a kernel of ours with the CPU, on two streams."""
    import numpy as np
    import torch

    from linkzoo.cuda import device
    from linkzoo_training.selfplay.sampling import UNIFORMS

    there, here, seed = torch.zeros(1000, device="cuda"), np.zeros(1000, np.float32), np.uint64(7)
    UNIFORMS(here, seed, 7, 0)
    for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            device.launch(UNIFORMS, there.zero_(), seed, 7, 0)
        stream.synchronize()
        if (there.cpu().numpy() != here).any():
            raise RuntimeError("the GPU's numbers differ from the CPU's")
    return "equal to the CPU's"


CHECKS: dict[str, Callable[[], str]] = {  # the last one decides
    "packages": packages,
    "GPU": gpu,
    "libraries": libraries,
    "a kernel": kernel,
}


def main() -> None:
    works = False
    for what, check in CHECKS.items():
        try:
            print(f"{what}: {check()}", flush=True)
            works = True
        except Exception as error:  # noqa: BLE001 - whatever it is, the other checks say more
            works = False
            print(f"{what}: FAILED, {type(error).__name__}: {error}", flush=True)
    sys.exit(not works)


if __name__ == "__main__":
    main()
