"""CUDA backend, one thread per game: the loops of `linkzoo.core.kernels` as CUDA kernels.

`make_vec(…, device="cuda")` (extra `cuda`) makes a `CudaVecEnv` (`vector`). Everything that depends
on numba-cuda is in `compiler`. These modules and torch are imported on first use of the device.
"""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from linkzoo.core.installing import install_command

# Module to import -> distribution. numba-cuda replaces `numba.cuda` and loads most of itself late:
# only `device` shows whether it works.
_NEEDED = {"torch": "torch", "numba_cuda": "numba-cuda", "linkzoo.cuda.device": "numba-cuda"}


def require_packages() -> None:
    """Imports numba-cuda and torch.

    Raises:
        ImportError: One of them is missing or can't be imported; the message names the error, the
            versions and the command to install them.
    """
    for module, package in _NEEDED.items():
        try:
            import_module(module)
        except Exception as error:  # with NumPy 2.5 numba-cuda raises AttributeError
            raise ImportError(_cause(module, package, error)) from error


def require() -> None:
    """Raises ImportError or RuntimeError with the missing requirement of `device="cuda"`."""
    require_packages()
    import torch
    from numba import cuda

    if not torch.cuda.is_available():
        raise RuntimeError("device='cuda': torch finds no CUDA GPU (torch.cuda.is_available())")
    if not cuda.is_available():
        raise RuntimeError(f"device='cuda': numba-cuda finds no CUDA GPU ({cuda.cuda_error()})")


def _cause(module: str, package: str, error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name == module:
        needed = f"device='cuda' needs numba-cuda and torch: {install_command('cuda')}"
        return f"{needed} ({package} is not installed)"
    versions = ", ".join(f"{name} {_version(name)}" for name in (package, "numba", "numpy"))
    return (
        f"device='cuda': {package} can't be imported ({type(error).__name__}: {error}; {versions})"
        f": {install_command('cuda')} installs versions that work together"
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
