"""Data-parallel training with `torchrun`: one policy, several ranks, each with its own games.

Gradients are averaged over the ranks; rank 0 logs, evaluates and saves. On a single process every
function here returns its input.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar, cast

import torch
from torch import Tensor
from torch import distributed as dist

from linkzoo_training.config.config import AnyConfig
from linkzoo_training.selfplay.workers import seed_of_part

C = TypeVar("C", bound=AnyConfig)
T = TypeVar("T")


@contextmanager
def joined() -> Iterator[None]:
    """Joins the process group if torchrun started this process."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or dist.is_initialized():
        yield
        return
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
        dist.init_process_group("cpu:gloo,cuda:nccl")
    else:
        dist.init_process_group("gloo")
    try:
        yield
    finally:
        dist.destroy_process_group()


def rank() -> int:
    """Returns the rank of this process."""
    return dist.get_rank() if dist.is_initialized() else 0


def size() -> int:
    """Returns the number of processes."""
    return dist.get_world_size() if dist.is_initialized() else 1


def per_rank(config: C) -> C:
    """Returns the configuration of this rank's games: the same, with its own seed."""
    if size() == 1:
        return config
    return replace(config, seed=seed_of_part(config.seed, rank()))


def broadcast(value: Callable[[], T]) -> T:
    """Returns rank 0's result of `value()` on all ranks."""
    box: list[T | None] = [None]
    if rank() == 0:
        box[0] = value()
    if size() > 1:
        dist.broadcast_object_list(box)
    return cast(T, box[0])


def all_gather(value: T) -> list[T]:
    """Returns the values of all ranks, on every rank."""
    values = [value] * size()
    if size() > 1:
        dist.all_gather_object(values, value)
    return values


def any_rank(flag: bool) -> bool:
    """Returns whether the flag is set on any rank."""
    return any(all_gather(flag))


def all_ranks(flag: bool) -> bool:
    """Returns whether the flag is set on all ranks."""
    return all(all_gather(flag))


def gather(value: T) -> list[T]:
    """Returns the values of all ranks on rank 0, an empty list elsewhere."""
    if size() == 1:
        return [value]
    if rank() > 0:
        dist.gather_object(value)
        return []
    values = [value] * size()
    dist.gather_object(value, values)
    return values


def scatter(values: Callable[[], list[T]]) -> T:
    """Scatters rank 0's list `values()`, one value to each rank."""
    if size() == 1:
        return values()[0]
    box: list[T | None] = [None]
    parts = values() if rank() == 0 else None
    dist.scatter_object_list(box, parts)
    return cast(T, box[0])


def mean_and_std(values: Tensor) -> tuple[Tensor, Tensor]:
    """Returns mean and standard deviation of values [N] over all ranks; 0 where undefined."""
    if size() == 1:
        if len(values) > 1:
            return values.mean(), values.std()
        total = values.sum()
        return total, torch.zeros_like(total)
    double = values.double()
    sums = torch.stack([double.sum(), double.square().sum(), torch.ones_like(double).sum()])
    dist.all_reduce(sums)
    total, squares, count = sums
    mean = total / count.clamp(min=1)
    variance = (squares - count * mean.square()) / (count - 1).clamp(min=1)
    return mean.to(values.dtype), variance.clamp(min=0).sqrt().to(values.dtype)


def minibatches(order: Tensor, count: int) -> tuple[Tensor, ...]:
    """Splits the rows in `order` into `count` nonempty parts whose sizes differ by at most 1.

    Every rank gets the same number of parts: fewer than `count` if any rank has fewer rows.
    """
    parts = min(count, *all_gather(len(order)))
    if not parts:
        return ()
    return order.tensor_split(parts)


def average_metrics(names: Sequence[str], values: list[Tensor]) -> dict[str, float]:
    """Returns the means of metrics [K] over batches and ranks, by name; 0 without batches."""
    if not values:
        return dict.fromkeys(names, 0.0)
    means = torch.stack(values).mean(0)
    if size() > 1:
        dist.all_reduce(means)
        means = means / size()
    return dict(zip(names, means.tolist(), strict=True))


def average_gradients(parameters: Iterable[Tensor], rows: int) -> None:
    """Averages gradients in place over the rows of all ranks.

    This rank's gradients are means over its `rows` rows.
    """
    if size() == 1:
        return
    gradients = [p.grad for p in parameters if p.grad is not None]
    count = gradients[0].new_ones(1)
    flat = rows * torch.cat([*(gradient.flatten() for gradient in gradients), count])
    dist.all_reduce(flat)
    _copy_parts(flat[:-1] / flat[-1], gradients)


def broadcast_weights(parameters: Iterable[Tensor]) -> None:
    """Copies rank 0's weights to all ranks, in place."""
    if size() == 1:
        return
    weights = [parameter.detach() for parameter in parameters]
    flat = torch.cat([weight.flatten() for weight in weights])
    dist.broadcast(flat, 0)
    _copy_parts(flat, weights)


def _copy_parts(flat: Tensor, tensors: list[Tensor]) -> None:
    """Copies numbers [N] into consecutive tensors of any memory layout."""
    parts = flat.split([tensor.numel() for tensor in tensors])
    for tensor, part in zip(tensors, parts, strict=True):
        tensor.copy_(part.view_as(tensor))
