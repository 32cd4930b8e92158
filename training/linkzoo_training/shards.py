"""Rows of a batch in shards, one for each thread: how networks use a CPU.

Torch would share every single operation among threads that wait for one another at its end: on a
busy machine, again and again for one that isn't running. In training each operation is one
thread's, and threads wait for one another when all shards are done. Gradients are added in the
order of the shards: as many threads give the same weights again.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import TypeVar

import torch
from torch import Tensor

LEAST = 32  # rows for each thread, or fewer threads
_STEP = 16  # sizes are multiples: for a shape that is new, convolutions are prepared anew

T = TypeVar("T")
_threads = 1


def use(threads: int, of_torch: int = 1) -> None:
    """How many threads take shards in this process from now on, and how many torch itself uses.

    Until then, batches aren't split.
    """
    global _threads  # noqa: PLW0603 - one number for the process, as torch's
    _threads = threads
    torch.set_num_threads(of_torch)


def answers(network: Callable[..., tuple[Tensor, ...]], *rows: Tensor) -> list[Tensor]:
    """What a network says of tensors of N rows each, without gradients: tensors of N rows.

    Shards don't know the caller's `torch.autocast`.
    """

    def ask(shard: slice) -> tuple[Tensor, ...]:
        with torch.no_grad():
            return network(*(tensor[shard] for tensor in rows))

    found = _each(ask, split(len(rows[0]), rows[0].device))
    if len(found) == 1:
        return list(found[0])
    return [torch.cat(parts) for parts in zip(*found, strict=True)]


def learn(
    loss: Callable[[slice], tuple[Tensor, Tensor]], rows: int, parameters: Sequence[Tensor]
) -> Tensor:
    """Sets the gradients of a loss that is a mean over the rows; returns its terms [K], means too.

    `loss(shard)` gives both of some of the rows; all parameters are to be learned.
    """
    shards = split(rows, parameters[0].device)
    for parameter in parameters:
        parameter.grad = None
    if len(shards) == 1:
        whole, terms = loss(shards[0])
        whole.backward()
        return terms

    def share(shard: slice) -> tuple[tuple[Tensor | None, ...], Tensor]:
        part, terms = loss(shard)
        weight = (shard.stop - shard.start) / rows
        return torch.autograd.grad(weight * part, parameters, allow_unused=True), weight * terms

    found = _each(share, shards)
    for index, parameter in enumerate(parameters):
        parts = [part for gradients, _ in found if (part := gradients[index]) is not None]
        if parts:
            parameter.grad = torch.empty_like(parameter).copy_(parts[0])  # laid out as that
            for part in parts[1:]:
                parameter.grad += part
    return torch.stack([terms for _, terms in found]).sum(0)


def split(rows: int, device: torch.device) -> list[slice]:
    """A shard for each thread, of nearly equal sizes; fewer of them if rows are few.

    On a GPU all rows stay together.
    """
    count = min(_threads, rows // LEAST) if device.type == "cpu" else 1
    if count <= 1:
        return [slice(0, rows)]
    steps = -(-rows // _STEP)
    ends = [*(_STEP * (steps * part // count) for part in range(count)), rows]
    return [slice(first, last) for first, last in pairwise(ends)]


def _each(work: Callable[[slice], T], shards: Sequence[slice]) -> list[T]:
    """What `work` gives for every shard; raises what it raised for the first that failed.

    The others are done to their end.
    """
    if len(shards) == 1:
        return [work(shards[0])]
    return list(_pool(_threads).map(work, shards))


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """The threads of this process that take shards."""
    return ThreadPoolExecutor(threads, "shards", _begin)


def _begin() -> None:
    """Has a thread compute as the trainer's does."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # the parent's threads are not there
