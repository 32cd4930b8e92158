"""Several trainers as one run, each with games of its own: `torchrun`, data-parallel.

All learn the same weights from the average of their gradients; the first reports, evaluates and
writes. On one process every function here gives back what it was given.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar, cast

import torch
from torch import Tensor
from torch import distributed as dist

from linkzoo_training.config import AnyConfig
from linkzoo_training.selfplay.workers import seed_of_part

C = TypeVar("C", bound=AnyConfig)
T = TypeVar("T")


@contextmanager
def joined() -> Iterator[None]:
    """Joins the processes that torchrun started, if it did."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or dist.is_initialized():
        yield
        return
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
    dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield
    finally:
        dist.destroy_process_group()


def rank() -> int:
    """Which of the processes this is."""
    return dist.get_rank() if dist.is_initialized() else 0


def size() -> int:
    """How many processes there are."""
    return dist.get_world_size() if dist.is_initialized() else 1


def own(config: C) -> C:
    """The configuration of this process's games: as many as everywhere, with their own seed."""
    return config if size() == 1 else replace(config, seed=seed_of_part(config.seed, rank()))


def from_first(value: Callable[[], T]) -> T:
    """What `value` gives in the first process, in all processes."""
    box: list[T | None] = [value() if rank() == 0 else None]
    if size() > 1:
        dist.broadcast_object_list(box)
    return cast(T, box[0])


def gathered(value: T) -> list[T]:
    """The values of all processes, in all of them."""
    if size() == 1:
        return [value]
    values: list[T] = [value] * size()
    dist.all_gather_object(values, value)
    return values


def anywhere(flag: bool) -> bool:
    """Whether it is so in any of the processes."""
    return any(gathered(flag))


def collected(value: T) -> list[T]:
    """The values of all processes, in the first one; none elsewhere."""
    if size() == 1:
        return [value]
    values: list[T] | None = [value] * size() if rank() == 0 else None
    dist.gather_object(value, values)
    return values or []


def dealt(values: Callable[[], list[T]]) -> T:
    """To each process its own of the values, one for each, that the first one has."""
    if size() == 1:
        return values()[0]
    box: list[T | None] = [None]
    dist.scatter_object_list(box, values() if rank() == 0 else None)
    return cast(T, box[0])


def fewest(count: int) -> int:
    """The least of the processes' counts."""
    return min(gathered(count))


def mean_and_std(values: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of the numbers [N] of all processes; 0 of none, or of one."""
    if size() == 1:
        return (
            (values.mean(), values.std()) if len(values) > 1 else (values.sum(), 0 * values.sum())
        )
    double = values.double()
    sums = torch.stack([double.sum(), double.square().sum(), torch.ones_like(double).sum()])
    dist.all_reduce(sums)
    total, squares, count = sums
    mean = total / count.clamp(min=1)
    variance = (squares - count * mean.square()) / (count - 1).clamp(min=1)
    return mean.to(values.dtype), variance.clamp(min=0).sqrt().to(values.dtype)


def minibatches(order: Tensor, count: int) -> tuple[Tensor, ...]:
    """The rows in `order` in `count` parts whose sizes differ by 1 at most, none of them empty.

    They are fewer if any of the processes has fewer rows: as many in all of them.
    """
    parts = min(count, fewest(len(order)))
    return order.tensor_split(parts) if parts else ()


def average(values: Tensor) -> Tensor:
    """The mean of a tensor over all processes."""
    if size() > 1:
        dist.all_reduce(values)
        values = values / size()
    return values


def average_gradients(parameters: Iterable[Tensor], rows: int) -> None:
    """Makes the gradients those of the mean over the rows of all processes.

    They were of the mean over this one's `rows`.
    """
    if size() == 1:
        return
    gradients = [p.grad for p in parameters if p.grad is not None]
    count = gradients[0].new_ones(1)
    flat = rows * torch.cat([*(gradient.flatten() for gradient in gradients), count])
    dist.all_reduce(flat)
    _spread(flat[:-1] / flat[-1], gradients)


def begin_equal(parameters: Iterable[Tensor]) -> None:
    """Gives all processes the first one's weights."""
    if size() == 1:
        return
    weights = [parameter.detach() for parameter in parameters]
    flat = torch.cat([weight.flatten() for weight in weights])
    dist.broadcast(flat, 0)
    _spread(flat, weights)


def _spread(flat: Tensor, tensors: list[Tensor]) -> None:
    """Writes numbers [N] into tensors one after the other, whatever their layout in memory."""
    parts = flat.split([tensor.numel() for tensor in tensors])
    for tensor, part in zip(tensors, parts, strict=True):
        tensor.copy_(part.view_as(tensor))
