"""Networks that share weights over the cells of a board or graph."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from linkzoo import Game
from linkzoo_training.networks.policy_value import PolicyValueNet, small_init


class CellNet(PolicyValueNet):
    """Base class: applies the same weights to every cell, so patterns generalise over places.

    Numbers of the observation that belong to no cell, and means over the cells, are added to every
    cell as a bias (global pooling as in KataGo: Wu 2019). An action's logit is computed from its
    cell, so the game needs `action_cells`.
    """

    scale: Tensor
    where: Tensor
    source: Tensor

    def _add_heads(self, game: Game, cells: int, numbers: int, width: int) -> None:
        """Adds the heads; subclasses call it after adding their own layers."""
        assert game.observation.action_cells is not None
        self.register_buffer("scale", torch.from_numpy(self.map.scale), persistent=False)
        self.summary = nn.Linear(width + numbers, 2 * width)
        own = int(game.observation.action_cells.max()) // cells + 1
        elsewhere = int((game.observation.action_cells < 0).sum())
        self.policy = small_init(nn.Linear(width, own))
        self.elsewhere = small_init(nn.Linear(2 * width, elsewhere)) if elsewhere else None
        self.value = small_init(nn.Linear(2 * width, game.max_players))
        place = game.observation.action_cells
        where = np.where(place < 0, place, place % cells * own + place // cells)
        where[where < 0] = own * cells + np.arange(elsewhere)
        source = np.full(own * cells + elsewhere, game.num_actions)
        source[where] = np.arange(game.num_actions)
        self._in_order = np.array_equal(where, np.arange(len(source)))
        self.register_buffer("where", torch.from_numpy(where), persistent=False)
        self.register_buffer("source", torch.from_numpy(source), persistent=False)

    def _summarise(self, cells: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the outputs of `read` from cells [B, N, C] and numbers [B, D] of no cell."""
        cells = torch.relu(cells)
        pooled = torch.cat([cells.mean(1), numbers.to(cells.dtype)], 1)
        return cells, torch.relu(self.summary(pooled))

    def heads(self, cells: Tensor | None, whole: Tensor) -> tuple[Tensor, Tensor]:
        """Implements `PolicyValueNet.heads`."""
        assert cells is not None
        logits = self.policy(cells).flatten(1)
        if self.elsewhere is not None:
            logits = torch.cat([logits, self.elsewhere(whole)], 1)
        if not self._in_order:
            logits = gather(logits, 1, self.where, self.source)
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
        self._add_heads(game, height * columns, numbers, width)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def read(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Implements `PolicyValueNet.read`."""
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
        return self._summarise(x, numbers)

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

    reads: Tensor
    kinds: Tensor
    group: Tensor
    shares: Tensor
    max_rows = 384  # what a backward pass reads again is still in the cache

    def __init__(self, game: Game, width: int, blocks: int) -> None:
        super().__init__(game)
        if game.observation.graph is None:
            raise ValueError(f"network: {game.name}'s Observation has no graph; use 'flat'")
        graph = game.observation.graph()
        cells, kinds = graph.neighbours.shape
        try:
            told = [self.map.index(part).ravel() for part in (graph.cells, graph.groups)]
        except ValueError as error:
            raise ValueError(f"network: {game.name}'s graph: {error}") from error
        numbers = np.setdiff1d(np.arange(len(self.map)), np.concatenate(told))
        self._sizes = [len(part) for part in (*told, numbers)]

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
        members = graph.group == np.arange(len(graph.groups))[:, None]
        tables = {
            "reads": np.concatenate([*told, numbers]),
            "kinds": (graph.neighbours >= 0).astype(np.float32),
            "group": graph.group,
            "shares": (members / members.sum(1, keepdims=True)).astype(np.float32),
        }
        for kind, ends in enumerate(graph.neighbours.T):
            has = ends >= 0
            tables[f"from_{kind}"] = ends[has]
            tables[f"to_{kind}"] = np.flatnonzero(has)
            tables[f"source_{kind}"] = np.full(cells, has.sum())
            tables[f"source_{kind}"][ends[has]] = np.arange(has.sum())
        for name, table in tables.items():
            self.register_buffer(name, torch.from_numpy(table), persistent=False)

    def read(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Implements `PolicyValueNet.read`; inside, [N, B, C] makes neighbours contiguous."""
        scaled = nn.functional.pad(features * self.scale, (0, 1)).T  # 0 for missing features
        read = scaled.contiguous().index_select(0, self.reads)
        cells, groups, numbers = read.split(self._sizes)
        cells = cells.unflatten(0, (len(self.kinds), -1)).transpose(1, 2)
        groups = groups.unflatten(0, (len(self.shares), -1)).transpose(1, 2)
        x = self.inputs(cells)
        if self.of_kinds is not None:
            x += self.of_kinds(self.kinds)[:, None]
        if self.of_groups is not None:
            x += self.of_groups(groups).index_select(0, self.group)
        if self.numbers is not None:
            x += self.numbers(numbers.T)
        layers = zip(self.first, self.pooled, self.second, *self.edges, strict=True)
        for first, pooled, second, *edges in layers:
            h = torch.relu(x)
            means = (self.shares.to(h.dtype) @ h.flatten(1)).unflatten(1, h.shape[1:])
            whole = h.mean(0).expand_as(means)
            y = first(h)
            y += pooled(torch.cat([means, whole], 2)).index_select(0, self.group)
            for kind, edge in enumerate(edges):
                ends, source = (self.get_buffer(f"{what}_{kind}") for what in ("from", "source"))
                told = edge(gather(h, 0, ends, source))
                if len(told) == len(h):
                    y += told
                else:
                    y = y.index_add(0, self.get_buffer(f"to_{kind}"), told)
            x = x + second(torch.relu(y))
        return self._summarise(x.transpose(0, 1).contiguous(), numbers.T)


class _Gather(torch.autograd.Function):
    """Autograd function of `gather`; a gather as backward is far faster than a scatter-add."""

    @staticmethod
    def forward(context: Any, x: Tensor, dim: int, where: Tensor, source: Tensor) -> Tensor:
        context.dim = dim
        context.save_for_backward(source)
        return x.index_select(dim, where)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        (source,) = context.saved_tensors
        if gradient.shape[context.dim] < len(source):
            none = torch.zeros_like(gradient.narrow(context.dim, 0, 1))
            gradient = torch.cat([gradient, none], context.dim)
        return gradient.index_select(context.dim, source), None, None, None


def gather(x: Tensor, dim: int, where: Tensor, source: Tensor) -> Tensor:
    """Selects the distinct indices `where` [A] of a dimension of length C.

    `source` [C] is the inverse, A if unused.
    """
    out: Tensor = _Gather.apply(x, dim, where, source)  # type: ignore[no-untyped-call]
    return out
