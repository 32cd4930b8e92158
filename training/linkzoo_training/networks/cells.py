"""Networks that share weights over the cells of a board or graph."""

from abc import abstractmethod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from linkzoo import Game
from linkzoo_training.networks.policy_value import PolicyValueNet, small_init


class CellNet(PolicyValueNet):
    """Base class: applies the same weights to every cell, so patterns generalise over places.

    Numbers of the observation that belong to no cell, and means over the cells, are added to every
    cell as a bias (global pooling as in KataGo: Wu 2019). An action's logit is computed from its
    cell, or is the sum over its cells, so the game needs `action_cells`.
    """

    scale: Tensor
    where: Tensor
    source: Tensor
    sums: Tensor | None

    def _add_heads(self, game: Game, cells: int, numbers: int, width: int) -> None:
        """Adds the heads; subclasses call it after adding their own layers."""
        assert game.observation.action_cells is not None
        self.register_buffer("scale", torch.from_numpy(self.map.scale), persistent=False)
        self.summary = nn.Linear(width + numbers, 2 * width)
        places = game.observation.action_cells.reshape(game.num_actions, -1)  # [A, K]
        own, elsewhere = int(places.max()) // cells + 1, (places < 0).all(1)
        self.policy = small_init(nn.Linear(width, own))
        outside = int(elsewhere.sum())
        self.elsewhere = small_init(nn.Linear(2 * width, outside)) if outside else None
        self.value = small_init(nn.Linear(2 * width, game.max_players))
        where = np.where(places < 0, -1, places % cells * own + places // cells)
        where[elsewhere, 0] = own * cells + np.arange(outside)
        actions = np.arange(game.num_actions)[:, None]
        source = np.full(own * cells + outside + 1, game.num_actions)  # the last: -1, no place
        source[where] = actions
        source, several = source[:-1], places.shape[1] > 1
        self._in_order = np.array_equal(source, actions[:, 0])
        sums = torch.from_numpy((source == actions).astype(np.float32)) if several else None
        self.register_buffer("where", torch.from_numpy(where[:, 0]), persistent=False)
        self.register_buffer("source", torch.from_numpy(source), persistent=False)
        self.register_buffer("sums", sums, persistent=False)

    def _logits(self, cells: Tensor) -> Tensor:
        """Returns the logits of each cell [B, N, own], from cells [B, N, C]."""
        logits: Tensor = self.policy(cells)
        return logits

    def _summarise(self, means: Tensor, numbers: Tensor) -> Tensor:
        """Returns what `read` says of the whole from means [B, C] and numbers [B, D] of no cell."""
        return torch.relu(self.summary(torch.cat([means, numbers.to(means.dtype)], 1)))

    @abstractmethod
    def read(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the heads' inputs: cells [B, N, C] of a board or graph, and the whole [B, D]."""

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Returns logits [B, A] and values [B, P]."""
        return self.heads(*self.read(features))

    def heads(self, cells: Tensor, whole: Tensor) -> tuple[Tensor, Tensor]:
        """Returns logits [B, A] and values [B, P] from the outputs of `read`."""
        logits = self._logits(cells).flatten(1)
        if self.elsewhere is not None:
            logits = torch.cat([logits, self.elsewhere(whole)], 1)
        if self.sums is not None:
            logits = nn.functional.linear(logits, self.sums)
        elif not self._in_order:
            logits = _Gather.apply(logits, self.where, self.source)
        return logits, self.value(whole)


class BoardNet(CellNet):
    """Convolutions over the planes of a board, `width` channels."""

    def __init__(self, game: Game, width: int, blocks: int) -> None:
        super().__init__(game)
        if self.map.board is None:
            raise ValueError(f"network: {game.name} observes no board [C, H, W]; use 'flat'")
        if game.observation.action_cells is None:
            raise ValueError(
                f"network: {game.name}'s Observation has no action_cells, each action's place on "
                "the board; add them, or use 'flat'"
            )
        self.board = self.map.board
        planes, height, columns = self.board
        numbers = len(self.map) - planes * height * columns
        self.inputs = nn.Conv2d(planes, width, 3, padding=1)
        self.numbers = nn.Linear(numbers, width) if numbers else None
        self.first = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(blocks))
        self.pooled = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.second = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(blocks))
        for parameter in self.second.parameters():  # blocks begin as identities (Zhang et al. 2019)
            nn.init.zeros_(parameter)
        self._add_heads(game, height * columns, numbers, width)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def read(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Implements `CellNet.read`."""
        scaled = features * self.scale
        planes, numbers = scaled.tensor_split([int(np.prod(self.board))], 1)
        cells = planes.unflatten(1, (self.board[0], -1)).transpose(1, 2)  # [B, H * W, C]
        x = self._convolve(self.inputs, cells)
        if self.numbers is not None:
            x = x + self.numbers(numbers)[:, None]
        for first, pooled, second in zip(self.first, self.pooled, self.second, strict=True):
            h = torch.relu(x)
            h = self._convolve(first, h) + pooled(h.mean(1))[:, None]
            x = x + self._convolve(second, torch.relu(h))
        cells = torch.relu(x)
        return cells, self._summarise(cells.mean(1), numbers)

    def _convolve(self, layer: nn.Module, cells: Tensor) -> Tensor:
        """Convolves [B, H * W, C]; channels-last memory is fastest on the CPU."""
        board = cells.unflatten(1, self.board[1:]).permute(0, 3, 1, 2)
        out: Tensor = layer(board)
        return out.permute(0, 2, 3, 1).flatten(1, 2)


class GraphNet(CellNet):
    """Message passing over a game's `graph` (Gilmer et al. 2017), `width` channels.

    A cell reads its neighbours with one weight matrix per kind of edge (R-GCN: Schlichtkrull et al.
    2018), and the means over its group and over all cells.
    """

    cells: Tensor
    groups: Tensor
    group: Tensor
    order: Tensor | None
    sizes: Tensor

    def __init__(self, game: Game, width: int, blocks: int) -> None:
        super().__init__(game)
        if game.observation.graph is None:
            raise ValueError(f"network: {game.name}'s Observation has no graph; use 'flat'")
        graph = game.observation.graph()
        cells, kinds = graph.neighbours.shape
        try:
            told = [self.map.index(part) for part in (graph.cells, graph.groups)]
        except ValueError as error:
            raise ValueError(f"network: {game.name}'s graph: {error}") from error
        zero = len(self.map)  # the feature that is 0; the next is 1
        numbers = np.setdiff1d(np.arange(zero), np.concatenate(told, None))
        self._others = len(numbers)  # features of no cell or group
        shared = np.tile([*numbers, zero + 1], (len(graph.groups), 1))

        def layer(inputs: int) -> nn.Linear | None:
            return nn.Linear(inputs, width, bias=False) if inputs else None

        def layers(inputs: int, bias: bool = False) -> nn.ModuleList:
            return nn.ModuleList(nn.Linear(inputs, width, bias) for _ in range(blocks))

        self.inputs = nn.Linear(graph.cells.shape[1], width)
        self.of_kinds, self.of_groups = layer(kinds), layer(graph.groups.shape[1])
        self.numbers = layer(len(numbers))
        self.first, self.second = layers(width, bias=True), layers(width, bias=True)
        self.pooled = layers(2 * width)
        self.edges = nn.ModuleList(layers(width) for _ in range(kinds))
        self._add_heads(game, cells, len(numbers), width)
        every, order = np.arange(cells), np.argsort(graph.group, kind="stable")
        sizes = np.bincount(graph.group, minlength=len(graph.groups))
        self._sizes = sizes.tolist()
        tables: dict[str, NDArray[Any] | None] = {
            "scale": np.append(self.map.scale, np.array([0, 1], np.float32)),
            "cells": np.concatenate([told[0], zero + (graph.neighbours >= 0)], 1),
            "groups": np.concatenate([told[1], shared], 1),
            "group": graph.group,
            "order": None if np.array_equal(order, every) else order,
            "sizes": sizes.astype(np.float32)[:, None, None],
        }
        for kind, ends in enumerate([every, *graph.neighbours.T]):  # a cell reads itself first
            to = np.flatnonzero(ends >= 0)
            order = np.argsort(ends[to])
            edges = {"from": ends[to], "to": to, "back_from": to[order], "back_to": ends[to][order]}
            for end, table in edges.items():
                tables[f"{end}_{kind}"] = None if np.array_equal(table, every) else table
        for name, table in tables.items():
            found = None if table is None else torch.from_numpy(table)
            self.register_buffer(name, found, persistent=False)

    def read(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Implements `CellNet.read`; inside, [N, B, C] makes neighbours contiguous."""
        scaled = nn.functional.pad(features.T, (0, 0, 0, 2), value=1) * self.scale[:, None]
        groups, bias = _features(scaled, self.groups), self.inputs.bias[:, None]
        weights = [layer.weight for layer in (self.of_groups, self.numbers) if layer is not None]
        of_group = nn.functional.linear(groups, torch.cat([*weights, bias], 1))
        x = of_group.index_select(0, self.group)
        weights = [layer.weight for layer in (self.inputs, self.of_kinds) if layer is not None]
        cells = _features(scaled.to(x.dtype), self.cells).flatten(0, 1)
        x = torch.addmm(x.flatten(0, 1), cells, torch.cat(weights, 1).T).view_as(x)
        layers = zip(self.first, self.pooled, self.second, *self.edges, strict=True)
        for first, pooled, second, *edges in layers:
            weights = [first.bias, pooled.weight, first.weight, *(edge.weight for edge in edges)]
            cast = [weight.to(x.dtype) for weight in weights]
            y: Tensor = _Messages.apply(self, torch.relu(x), *cast)
            x = x + second(y.relu_())  # autograd copies views that add_ changes
        numbers = groups[0, :, groups.shape[2] - 1 - self._others : -1]
        cells = x.relu_()
        return cells.transpose(0, 1), self._summarise(cells.sum(0) / len(x), numbers)

    def group_sums(self, cells: Tensor) -> Tensor:
        """Returns the sums [G, B, C] over the cells [N, B, C] of each group."""
        if self.order is not None:
            cells = cells.index_select(0, self.order)
        return torch.stack([group.sum(0) for group in cells.split(self._sizes)])

    def _logits(self, cells: Tensor) -> Tensor:
        return super()._logits(cells.transpose(0, 1)).transpose(0, 1)  # as cells are in memory


def _features(features: Tensor, table: Tensor) -> Tensor:
    """Returns features [F, B] by a table [N, K]: [N, B, K]."""
    return features.index_select(0, table.flatten()).view(*table.shape, -1).transpose(1, 2)


def _add_product(x: Tensor, rows: Tensor | None, read: Tensor, weight: Tensor) -> None:
    """Adds a product to some rows of `x`; None: to all of them, as the product is computed."""
    if rows is None:
        x.flatten(0, 1).addmm_(read.flatten(0, 1), weight)
    else:
        x.index_add_(0, rows, read @ weight)


class _Messages(torch.autograd.Function):
    """Sums the messages to cells [N, B, C]: a linear layer for each kind of edge, and means.

    Sums add up inside matrix products: most of the time went into passes over activations.
    """

    @staticmethod
    def forward(
        context: Any, net: GraphNet, h: Tensor, bias: Tensor, pooled: Tensor, *weights: Tensor
    ) -> Tensor:
        sums = net.group_sums(h)
        whole = (sums.sum(0) / len(h)).expand_as(sums)
        pool = torch.cat([sums / net.sizes.to(h.dtype), whole], 2)
        y = nn.functional.linear(pool, pooled, bias).index_select(0, net.group)
        for kind, weight in enumerate(weights):
            ends, to = getattr(net, f"from_{kind}"), getattr(net, f"to_{kind}")  # None: all cells
            _add_product(y, to, h if ends is None else h.index_select(0, ends), weight.T)
        context.net = net
        context.save_for_backward(h, pool, pooled, *weights)
        return y

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        net, (h, pool, pooled, *weights) = context.net, context.saved_tensors
        to_weights, of_group = [], net.group_sums(gradient).flatten(0, 1)
        means, whole = (of_group @ pooled).view_as(pool).chunk(2, 2)
        of_cell = means / net.sizes.to(h.dtype) + whole.sum(0) / len(h)
        to_h = of_cell.index_select(0, net.group)
        for kind, weight in enumerate(weights):
            to, ends = getattr(net, f"back_from_{kind}"), getattr(net, f"back_to_{kind}")
            told = gradient if to is None else gradient.index_select(0, to)
            read = h if ends is None else h.index_select(0, ends)
            _add_product(to_h, ends, told, weight)
            to_weights.append(told.flatten(0, 1).T @ read.flatten(0, 1))
        return None, to_h, of_group.sum(0), of_group.T @ pool.flatten(0, 1), *to_weights


class _Gather(torch.autograd.Function):
    """Selects the distinct columns `where` [A] of [B, C]; `source` [C] is the inverse, A if unused.

    A gather as backward is far faster than a scatter-add.
    """

    @staticmethod
    def forward(context: Any, x: Tensor, where: Tensor, source: Tensor) -> Tensor:
        context.save_for_backward(source)
        return x.index_select(1, where)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (source,) = context.saved_tensors
        if gradient.shape[1] < len(source):
            gradient = nn.functional.pad(gradient, (0, 1))
        return gradient.index_select(1, source), None, None
