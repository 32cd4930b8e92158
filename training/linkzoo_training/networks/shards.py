"""Splits the rows of a batch into shards for the CPU's threads.

Torch would split every single operation among its threads and wait for all of them after each one,
which is slow on a busy machine. Here one thread runs all operations of its shard, and threads wait
for each other only once per batch. Gradients are summed in the order of the shards, so the same
number of threads reproduces the same weights.

oneDNN, which runs torch's layers on a CPU, prepares code for each new number of rows and keeps it:
training grew by half a gigabyte. So rows are padded to a few sizes.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import TypeVar

import torch
from torch import Tensor

MIN_ROWS = 32  # rows per thread; with fewer rows, fewer threads
MAX_ROWS = 768  # rows per shard: more take memory and save no time
_STEP = 16  # shard sizes are multiples: convolutions are slow for each new shape
_BITS = 5  # of padded sizes: at most 1/16 of the rows is padding

T = TypeVar("T")
_threads = 1

Forward = Callable[..., tuple[Tensor, ...]]  # maps tensors of N rows to tensors of N rows


def use(threads: int) -> None:
    """Sets the number of threads for shards in this process; torch's operations get one each.

    Before the first call, there is one thread here, and torch's operations have torch's threads.
    """
    global _threads  # noqa: PLW0603 - one number for the process, as torch's
    _threads = threads
    torch.set_num_threads(1)


def get_num_threads() -> int:
    """Returns the number of threads for shards in this process."""
    return _threads


def sharded_forward(network: Forward, *rows: Tensor) -> list[Tensor]:
    """Returns a network's outputs for tensors of N rows, without gradients.

    Shards don't inherit the caller's `torch.autocast`.
    """

    def ask(shard: slice) -> tuple[Tensor, ...]:
        with torch.no_grad():
            return padded_forward(network, *(tensor[shard] for tensor in rows))

    outputs = _each(ask, split(len(rows[0]), rows[0].device))
    if len(outputs) == 1:
        return list(outputs[0])
    return [torch.cat(parts) for parts in zip(*outputs, strict=True)]


def padded_forward(network: Forward, *rows: Tensor) -> tuple[Tensor, ...]:
    """Returns a network's outputs for tensors of N rows; on a CPU it gets N of a few sizes.

    Copies of the last row are the padding; no gradient comes from them.
    """
    count = len(rows[0])
    extra = padded_size(count) - count
    if not extra or rows[0].device.type != "cpu":
        return network(*rows)
    filled = (torch.cat([tensor, tensor[-1:].expand(extra, *tensor.shape[1:])]) for tensor in rows)
    return tuple(output[:count] for output in network(*filled))


def padded_size(rows: int) -> int:
    """Returns the size that a number of rows is padded to: a multiple of 16 with few bits."""
    step = max(_STEP, 1 << max(0, rows.bit_length() - _BITS))
    return -(-rows // step) * step


def backward(
    loss: Callable[[slice], tuple[Tensor, Tensor]], rows: int, parameters: Sequence[Tensor]
) -> Tensor:
    """Sets the gradients of a mean loss over `rows` rows; returns its mean terms [K].

    `loss(shard)` returns the mean loss and terms of a shard; all parameters need gradients.
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

    shares = _each(share, shards)
    for index, parameter in enumerate(parameters):
        parts = [part for gradients, _ in shares if (part := gradients[index]) is not None]
        if parts:
            parameter.grad = torch.empty_like(parameter).copy_(parts[0])  # in its layout
            for part in parts[1:]:
                parameter.grad += part
    return torch.stack([terms for _, terms in shares]).sum(0)


def split(rows: int, device: torch.device) -> list[slice]:
    """Splits rows into nearly equal shards, equally many per thread; few rows use fewer threads.

    On a GPU all rows stay together.
    """
    count = 1
    if device.type == "cpu":
        threads = max(1, min(_threads, rows // MIN_ROWS))
        count = threads * max(1, -(-rows // (threads * MAX_ROWS)))
    steps = -(-rows // _STEP)
    ends = [*(_STEP * (steps * part // count) for part in range(count)), rows]
    return [slice(first, last) for first, last in pairwise(ends)]


def _each(work: Callable[[slice], T], shards: Sequence[slice]) -> list[T]:
    """Returns `work(shard)` of every shard; raises the error of the first that failed.

    Other threads' shards still run to their end.
    """
    if min(len(shards), _threads) == 1:
        return [work(shard) for shard in shards]
    return list(_pool(_threads).map(work, shards))


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "shards", _begin)


def _begin() -> None:
    """Configures a thread like the trainer's own."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)


def _begin_anew() -> None:  # after a fork: a child has no threads of its parent
    _pool.cache_clear()
    torch.set_num_threads(1)  # with more, torch would wait for those that its parent had


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
