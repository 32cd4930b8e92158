"""Networks that share weights over the cells of a board or graph."""

from abc import abstractmethod
from collections.abc import Sequence

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
    columns: Tensor | None  # None: the columns are the actions, in their order
    sums: Tensor | None

    def _add_heads(self, game: Game, cells: int, numbers: int, width: int) -> None:
        """Adds the heads; subclasses call it after adding their own layers."""
        assert game.observation.action_cells is not None
        self.register_buffer("scale", torch.from_numpy(self.map.scale), persistent=False)
        self.summary = nn.Linear(width + numbers, 2 * width)
        places = game.observation.action_cells.reshape(game.num_actions, -1)  # [A, K]; -1: none
        per_cell = int(places.max()) // cells + 1
        self.policy = small_init(nn.Linear(width, per_cell))
        # Actions without a cell
        without = (places < 0).all(1)
        num_without = int(without.sum())
        self.elsewhere: nn.Linear | None = None
        if num_without:
            self.elsewhere = small_init(nn.Linear(2 * width, num_without))
        self.value = small_init(nn.Linear(2 * width, game.max_players))
        # The columns of each action in the logits of all cells, followed by those of no cell.
        columns = np.where(places < 0, -1, places % cells * per_cell + places // cells)
        num_columns = per_cell * cells + num_without
        columns[without, 0] = per_cell * cells + np.arange(num_without)
        first = None
        if not np.array_equal(columns[:, 0], np.arange(num_columns)):
            first = torch.from_numpy(columns[:, 0])
        sums = None
        if places.shape[1] > 1:
            actions, k = np.nonzero(columns >= 0)
            sums = torch.zeros(game.num_actions, num_columns)
            sums[actions, columns[actions, k]] = 1
        self.register_buffer("columns", first, persistent=False)
        self.register_buffer("sums", sums, persistent=False)

    def _logits(self, cells: Tensor) -> Tensor:
        """Returns the logits of each cell [B, N, logits per cell], from cells [B, N, C]."""
        logits: Tensor = self.policy(cells)
        return logits

    def _summarise(self, means: Tensor, numbers: Tensor) -> Tensor:
        """Returns the whole [B, 2 * C] from the cells' means [B, C] and other numbers [B, D]."""
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
        elif self.columns is not None:
            logits = logits.index_select(1, self.columns)
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
    others: Tensor
    group: Tensor
    constants: Tensor
    membership: Tensor

    def __init__(self, game: Game, width: int, blocks: int) -> None:
        super().__init__(game)
        if game.observation.graph is None:
            raise ValueError(f"network: {game.name}'s Observation has no graph; use 'flat'")
        graph = game.observation.graph()
        num_cells, kinds = graph.neighbours.shape
        try:
            cells = self.map.index(graph.cells)  # [N, C] features
            groups = self.map.index(graph.groups)  # [G, D] features
        except ValueError as error:
            raise ValueError(f"network: {game.name}'s graph: {error}") from error
        read = np.concatenate([cells, groups], None)
        others = np.setdiff1d(np.arange(len(self.map)), read)  # features of no cell or group

        def optional(inputs: int) -> nn.Linear | None:
            return nn.Linear(inputs, width, bias=False) if inputs else None

        def layers(inputs: int, bias: bool = False) -> nn.ModuleList:
            return nn.ModuleList(nn.Linear(inputs, width, bias) for _ in range(blocks))

        self.inputs = nn.Linear(cells.shape[1], width)
        self.of_kinds = optional(kinds)
        self.of_groups = optional(groups.shape[1])
        self.numbers = optional(len(others))
        self.first = layers(width, bias=True)
        self.second = layers(width, bias=True)
        self.pooled = layers(2 * width)
        self.edges = nn.ModuleList(layers(width) for _ in range(kinds))
        self.neighbours = nn.ModuleList(map(_Neighbours, graph.neighbours.T))
        self._add_heads(game, num_cells, len(others), width)
        constants = np.concatenate([np.ones((num_cells, 1)), graph.neighbours >= 0], 1)
        membership = torch.from_numpy(graph.group == np.arange(len(groups))[:, None]).float()
        zero = np.float32(0)  # the feature of element -1
        self.register_buffer(
            "scale", torch.from_numpy(np.append(self.map.scale, zero)), persistent=False
        )
        self.register_buffer("cells", torch.from_numpy(cells), persistent=False)
        self.register_buffer("groups", torch.from_numpy(groups), persistent=False)
        self.register_buffer("others", torch.from_numpy(others), persistent=False)
        self.register_buffer("group", torch.from_numpy(graph.group), persistent=False)  # [N]
        self.register_buffer("constants", torch.from_numpy(constants).float(), persistent=False)
        self.register_buffer("membership", membership, persistent=False)  # [G, N]

    def read(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Implements `CellNet.read`; inside, [N, B, C] makes neighbours contiguous."""
        scaled = nn.functional.pad(features.T, (0, 0, 0, 1)) * self.scale[:, None]
        numbers = scaled.index_select(0, self.others).T
        x = self._embed(scaled, numbers)
        layers = zip(self.first, self.pooled, self.second, *self.edges, strict=True)
        for first, pooled, second, *edges in layers:
            messages = self.messages(torch.relu(x), first, pooled, edges)
            x = x + second(messages.relu_()).view_as(x)
        cells = torch.relu(x)
        means = cells.sum(0) / len(cells)  # `mean` is slower in bfloat16
        return cells.transpose(0, 1), self._summarise(means, numbers)

    def _embed(self, scaled: Tensor, numbers: Tensor) -> Tensor:
        """Returns the cells' first activations [N, B, width].

        Args:
            scaled: The features [F + 1, B]; the last is 0.
            numbers: Features of no cell or group, [B, D].
        """
        cells = _features(scaled, self.cells)
        constants = self.constants[:, None].expand(-1, cells.shape[1], -1)
        rows = torch.cat([cells, constants], 2).flatten(0, 1)
        weights = [self.inputs.weight, self.inputs.bias[:, None]]
        if self.of_kinds is not None:
            weights.append(self.of_kinds.weight)
        weight = torch.cat(weights, 1)
        groups = None
        if self.of_groups is not None:
            groups = self.of_groups(_features(scaled, self.groups))
        if self.numbers is not None:
            of_numbers = self.numbers(numbers).expand(len(self.groups), -1, -1)
            groups = of_numbers if groups is None else groups + of_numbers
        if groups is None:
            x = nn.functional.linear(rows, weight)
        else:
            x = torch.addmm(groups.index_select(0, self.group).flatten(0, 1), rows, weight.T)
        return x.view(*cells.shape[:2], -1)

    def messages(
        self, cells: Tensor, first: nn.Linear, pooled: nn.Linear, edges: Sequence[nn.Linear]
    ) -> Tensor:
        """Sums the messages to each cell.

        Products add up as they are computed, in place: most of the time went into passes over
        activations.

        Args:
            cells: [N, B, C].
            first: The layer of the cell itself.
            pooled: The layer of the means over the cell's group and over all cells, [2 * C].
            edges: A layer without a bias for each kind of edge.

        Returns:
            [N * B, C].
        """
        sums = (self.membership.to(cells.dtype) @ cells.flatten(1)).unflatten(1, cells.shape[1:])
        sizes = self.membership.sum(1).to(cells.dtype)
        whole = (sums.sum(0) / len(cells)).expand_as(sums)
        means = torch.cat([sums / sizes[:, None, None], whole], 2)
        of_groups = nn.functional.linear(means, pooled.weight, first.bias)
        messages = of_groups.index_select(0, self.group)
        kinds = list(zip(self._neighbours(), edges, strict=True))
        for neighbours, edge in kinds:
            if neighbours.targets is not None:
                messages.index_add_(0, neighbours.targets, edge(neighbours(cells)))
        out = torch.addmm(messages.flatten(0, 1), cells.flatten(0, 1), first.weight.T)
        for neighbours, edge in kinds:
            if neighbours.targets is None:
                out.addmm_(neighbours(cells).flatten(0, 1), edge.weight.T.to(out.dtype))
        return out

    def _neighbours(self) -> list["_Neighbours"]:
        """Returns the neighbours by each kind of edge."""
        return [kind for kind in self.neighbours if isinstance(kind, _Neighbours)]

    def _logits(self, cells: Tensor) -> Tensor:
        return super()._logits(cells.transpose(0, 1)).transpose(0, 1)  # as cells are in memory


class _Neighbours(nn.Module):
    """Reads the neighbours of cells by one kind of edge; `neighbours` [N] is -1 without one."""

    sources: Tensor
    targets: Tensor | None  # the cells that have a neighbour; None: all

    def __init__(self, neighbours: NDArray[np.int64]) -> None:
        super().__init__()
        found = np.flatnonzero(neighbours >= 0)
        targets = None
        if len(found) < len(neighbours):
            targets = torch.from_numpy(found)
        self.register_buffer("sources", torch.from_numpy(neighbours[found]), persistent=False)
        self.register_buffer("targets", targets, persistent=False)

    def forward(self, cells: Tensor) -> Tensor:
        """Returns the neighbours' activations, [targets, B, C] of all cells' [N, B, C]."""
        return cells.index_select(0, self.sources)


def _features(features: Tensor, table: Tensor) -> Tensor:
    """Returns features [F, B] by a table [N, K]: [N, B, K]."""
    return features.index_select(0, table.flatten()).view(*table.shape, -1).transpose(1, 2)
