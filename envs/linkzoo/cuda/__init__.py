"""CUDA backend, one thread per game: the loops of `linkzoo.core.kernels` as CUDA kernels.

`make_vec(…, device="cuda")` (extra `cuda`) makes a `CudaVecEnv` (`vector`). Everything that depends
on numba-cuda is in `device`. These modules and torch are imported on first use of the device only.
"""

from importlib import import_module

_NEEDED = ("numba_cuda", "torch")


def require() -> None:
    """Raises ImportError or RuntimeError with the missing requirement of `device="cuda"`."""
    for name in _NEEDED:
        try:
            import_module(name)
        except ImportError as error:
            raise ImportError(
                f"device='cuda' needs numba-cuda and torch: pip install 'linkzoo[cuda]' ({error})"
            ) from error
    import torch
    from numba import cuda

    if not torch.cuda.is_available():
        raise RuntimeError("device='cuda': torch finds no CUDA GPU (torch.cuda.is_available())")
    if not cuda.is_available():
        raise RuntimeError(f"device='cuda': numba-cuda finds no CUDA GPU ({cuda.cuda_error()})")
