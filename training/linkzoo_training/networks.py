"""Policy and value networks: fully connected, convolutional, or message passing on a graph."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from linkzoo import Game
from linkzoo.features import RAW, FeatureMap

ILLEGAL_LOGIT = -1e9
_LEAST_DEVIATION = 0.1  # of an integer: what hardly ever varies isn't blown up further
_FARTHEST = 10.0  # of a standardised feature from 0
Network = TypeVar("Network", bound=nn.Module)


class PolicyValueNet(nn.Module):
    """Logits of all actions and a value for every seat, from features (FeatureMap).

    `forward` takes features [B, F] (integers) and gives logits [B, A] and values [B, P]. Values are
    of the seats relative to the seat that observes: index 0 is its own.
    """

    value: nn.Linear

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.map = FeatureMap(game.observation)

    def read(self, features: Tensor) -> tuple[Tensor | None, Tensor]:
        """What the heads answer from: cells of a board [B, H * W, C], and the whole [B, D]."""
        raise NotImplementedError

    def answer(self, cells: Tensor | None, whole: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and values from what `read` gave."""
        raise NotImplementedError

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """See PolicyValueNet."""
        return self.answer(*self.read(features))


class ResidualTrunk(nn.Module):
    """Fully connected: a layer, then `blocks` residual blocks of two layers; [B, F] to [B, width].

    Features are integers; `scale` [F] makes them numbers of about -1..1, until `standardise` learns
    how far they vary. Each block has a learned gate that starts at zero (ReZero: Bachlechner et al.
    2021).
    """

    scale: Tensor

    def __init__(self, scale: NDArray[np.float32], width: int, blocks: int) -> None:
        super().__init__()
        self.register_buffer("scale", torch.from_numpy(scale))
        self.inputs = nn.Linear(len(scale), width)
        self.first = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.second = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.gates = nn.Parameter(torch.zeros(blocks))

    def standardise(self, features: NDArray[Any]) -> None:
        """Scales every feature by its standard deviation in a sample [N, F]."""
        deviation = np.maximum(features.std(0, dtype=np.float32), _LEAST_DEVIATION)
        self.scale.copy_(torch.from_numpy(1 / deviation))

    def forward(self, features: Tensor) -> Tensor:
        """Integers to numbers of 0 or more."""
        x = (features * self.scale).clamp(-_FARTHEST, _FARTHEST)  # a GPU makes no copy as floats
        x = torch.relu(self.inputs(x))
        for gate, first, second in zip(self.gates, self.first, self.second, strict=True):
            x = x + gate * second(torch.relu(first(x)))
        return torch.relu(x)


class FlatNet(PolicyValueNet):
    """Fully connected: a trunk and two heads."""

    def __init__(self, game: Game, width: int, blocks: int) -> None:
        super().__init__(game)
        self.trunk = ResidualTrunk(self.map.scale, width, blocks)
        self.policy = _quiet(nn.Linear(width, game.num_actions))
        self.value = _quiet(nn.Linear(width, game.max_players))

    def read(self, features: Tensor) -> tuple[None, Tensor]:
        """See PolicyValueNet."""
        return None, self.trunk(features)

    def answer(self, cells: Tensor | None, whole: Tensor) -> tuple[Tensor, Tensor]:  # noqa: ARG002
        """See PolicyValueNet."""
        return self.policy(whole), self.value(whole)


class Critic(nn.Module):
    """Values from what a seat sees and from what is hidden from it, for training alone.

    Takes features [B, F] of observations and features [B, H] of `Game.hidden`; gives values [B, P]
    as PolicyValueNet does. It knows more than any player, so its values are less noisy (PerfectDou:
    Yang et al. 2022).
    """

    def __init__(self, game: Game, width: int, blocks: int) -> None:
        super().__init__()
        if game.hidden is None:
            raise ValueError(f"critic: {game.name} has no hidden information; use 'shared'")
        seen, hidden = FeatureMap(game.observation), FeatureMap(game.hidden)
        self.trunk = ResidualTrunk(np.concatenate([seen.scale, hidden.scale]), width, blocks)
        self.value = _quiet(nn.Linear(width, game.max_players))

    def forward(self, features: Tensor, hidden: Tensor) -> Tensor:
        """Values of all seats, relative to the seat that observes."""
        values: Tensor = self.value(self.trunk(torch.cat([features, hidden], 1)))
        return values


class CellNet(PolicyValueNet):
    """Reads every cell by the same weights: what is learned in one place holds in all.

    The numbers of the observation and means over the cells reach every cell as a bias (global
    pooling as in KataGo: Wu 2019). An action's logit is read off where the action lies, for games
    with `action_cells`.
    """

    scale: Tensor
    where: Tensor
    source: Tensor

    def _add_heads(self, game: Game, cells: int, numbers: int, width: int) -> None:
        """Called by a subclass when it has made its own layers."""
        assert game.action_cells is not None
        self.register_buffer("scale", torch.from_numpy(self.map.scale), persistent=False)
        self.summary = nn.Linear(width + numbers, 2 * width)
        own = int(game.action_cells.max()) // cells + 1
        elsewhere = int((game.action_cells < 0).sum())
        self.policy = _quiet(nn.Linear(width, own))
        self.elsewhere = _quiet(nn.Linear(2 * width, elsewhere)) if elsewhere else None
        self.value = _quiet(nn.Linear(2 * width, game.max_players))
        where = game.action_cells.copy()
        where[where < 0] = own * cells + np.arange(elsewhere)
        source = np.full(own * cells + elsewhere, game.num_actions)
        source[where] = np.arange(game.num_actions)
        self.register_buffer("where", torch.from_numpy(where), persistent=False)
        self.register_buffer("source", torch.from_numpy(source), persistent=False)

    def _summarise(self, cells: Tensor, numbers: Tensor) -> tuple[Tensor, Tensor]:
        """What `read` gives, from cells [B, N, C] and the numbers of no cell [B, D]."""
        cells = torch.relu(cells)
        pooled = torch.cat([cells.mean(1), numbers.to(cells.dtype)], 1)
        return cells, torch.relu(self.summary(pooled))

    def answer(self, cells: Tensor | None, whole: Tensor) -> tuple[Tensor, Tensor]:
        """See PolicyValueNet."""
        assert cells is not None
        logits = self.policy(cells).transpose(1, 2).flatten(1)
        if self.elsewhere is not None:
            logits = torch.cat([logits, self.elsewhere(whole)], 1)
        return rearrange(logits, self.where, self.source), self.value(whole)


class BoardNet(CellNet):
    """Convolutions over the planes of a board, `width` channels."""

    def __init__(self, game: Game, width: int, blocks: int) -> None:
        super().__init__(game)
        if self.map.board is None or game.action_cells is None:
            raise ValueError(f"network: {game.name} has no board; use 'flat'")
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
        """See PolicyValueNet."""
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
        """A convolution of [B, H * W, C]: channels last in memory, which is fastest on the CPU."""
        board = cells.unflatten(1, self.board[1:]).permute(0, 3, 1, 2)
        out: Tensor = layer(board)
        return out.permute(0, 2, 3, 1).flatten(1, 2)


class GraphNet(CellNet):
    """Message passing over a game's `graph` (Gilmer et al. 2017), `width` channels.

    A cell reads its neighbours by the weights of their kind of edge (R-GCN: Schlichtkrull et al.
    2018), and the means over its group and over all cells.
    """

    reads: Tensor
    kinds: Tensor
    group: Tensor
    shares: Tensor

    def __init__(self, game: Game, width: int, blocks: int) -> None:
        super().__init__(game)
        if game.graph is None:
            raise ValueError(f"network: {game.name} has no graph; use 'flat'")
        graph = game.graph()
        cells, kinds = graph.neighbours.shape
        told = [self.map.index(part).ravel() for part in (graph.cells, graph.groups)]
        numbers = np.setdiff1d(np.arange(len(self.map)), np.concatenate(told))
        self._sizes = [len(part) for part in (*told, numbers)]

        def layers(inputs: int, bias: bool = False) -> nn.ModuleList:
            return nn.ModuleList(nn.Linear(inputs, width, bias) for _ in range(blocks))

        self.inputs = nn.Linear(graph.cells.shape[1], width)
        self.of_kinds = nn.Linear(kinds, width, bias=False)
        self.of_groups = nn.Linear(graph.groups.shape[1], width, bias=False)
        self.numbers = nn.Linear(len(numbers), width, bias=False)
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
            tables[f"to_{kind}"] = np.where(has, np.cumsum(has) - 1, has.sum())
        for name, table in tables.items():
            self.register_buffer(name, torch.from_numpy(table), persistent=False)

    def read(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """See PolicyValueNet. Within, cells come first, [N, B, C]: a neighbour is in one piece."""
        scaled = nn.functional.pad(features * self.scale, (0, 1)).T  # what no element tells is 0
        cells, groups, numbers = scaled[self.reads].split(self._sizes)
        cells = cells.unflatten(0, (len(self.kinds), -1)).transpose(1, 2)
        groups = groups.unflatten(0, (len(self.shares), -1)).transpose(1, 2)
        shared = self.of_groups(groups) + self.numbers(numbers.T)
        x = self.inputs(cells) + self.of_kinds(self.kinds)[:, None] + shared[self.group]
        layers = zip(self.first, self.pooled, self.second, *self.edges, strict=True)
        for first, pooled, second, *edges in layers:
            h = torch.relu(x)
            means = (self.shares.to(h.dtype) @ h.flatten(1)).unflatten(1, h.shape[1:])
            whole = h.mean(0).expand_as(means)
            y = first(h) + pooled(torch.cat([means, whole], 2))[self.group]
            for kind, edge in enumerate(edges):
                told = edge(h.index_select(0, self.get_buffer(f"from_{kind}")))
                told = nn.functional.pad(told, (0, 0, 0, 0, 0, 1))  # 0, for cells without such
                y = y + told.index_select(0, self.get_buffer(f"to_{kind}"))
            x = x + second(torch.relu(y))
        return self._summarise(x.transpose(0, 1), numbers.T)


class AuxiliaryHeads(nn.Module):
    """What the end of the game will look like: heads that make training richer, and play no part.

    From what a network reads, the margins [B, P] of the seats relative to the one that observes
    and, where there is a board, its planes [B, C * H * W] as that seat will see them, scaled.
    """

    def __init__(self, network: PolicyValueNet) -> None:
        super().__init__()
        self.margins = _quiet(nn.Linear(network.value.in_features, network.value.out_features))
        self.planes: nn.Linear | None = None
        if isinstance(network, BoardNet):
            self.planes = _quiet(nn.Linear(network.policy.in_features, network.board[0]))

    def forward(self, cells: Tensor | None, whole: Tensor) -> tuple[Tensor, Tensor]:
        """Margins and planes; no planes [B, 0] without a board."""
        planes = whole[:, :0]
        if self.planes is not None and cells is not None:
            planes = self.planes(cells).transpose(1, 2).flatten(1)
        return self.margins(whole), planes


class _Rearrange(torch.autograd.Function):
    """See rearrange: the gradient is a gather too, which is far faster than adding up."""

    @staticmethod
    def forward(context: Any, logits: Tensor, where: Tensor, source: Tensor) -> Tensor:
        context.save_for_backward(source)
        return logits[:, where]

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (source,) = context.saved_tensors
        return nn.functional.pad(gradient, (0, 1))[:, source], None, None


def rearrange(logits: Tensor, where: Tensor, source: Tensor) -> Tensor:
    """Columns `where` [A] of logits [B, C]; `source` [C] is its inverse, A where there is none."""
    out: Tensor = _Rearrange.apply(logits, where, source)  # type: ignore[no-untyped-call]
    return out


def make_network(game: Game, kind: str, width: int, blocks: int) -> PolicyValueNet:
    """A network by its kind: `flat`, `board` or `graph`; ValueError if the game has none such."""
    kinds = {"flat": FlatNet, "board": BoardNet, "graph": GraphNet}
    if kind not in kinds:
        raise ValueError(f"network: {kind!r} is not one of {list(kinds)}")
    return kinds[kind](game, width, blocks)


def frozen(network: Network, bf16: bool) -> Network:
    """A copy that plays, in the precision of playing."""
    copy = deepcopy(network).requires_grad_(False)
    return copy.to(torch.bfloat16) if bf16 else copy


def _quiet(head: Any) -> Any:
    """A head that starts near zero: a nearly uniform policy, values near 0."""
    with torch.no_grad():
        head.weight.mul_(0.01)
        head.bias.zero_()
    return head


def select(observations: Tensor, columns: Tensor, levels: Tensor) -> Tensor:
    """FeatureMap's features [N, F] of flat observations [N, size], of their type."""
    seen = observations[:, columns]
    return torch.where(levels == RAW, seen, (seen == levels).to(seen.dtype))


def masked(logits: Tensor, mask: Tensor) -> Tensor:
    """Float32 logits with illegal actions (mask 0) at ILLEGAL_LOGIT; shapes [B, A]."""
    return logits.float().masked_fill(mask == 0, ILLEGAL_LOGIT)


def decayed(parameters: Sequence[Tensor], decay: float) -> list[dict[str, Any]]:
    """Groups of parameters for an optimiser: weights decay, biases and gates (1-D) don't."""
    return [
        {"params": [one for one in parameters if one.ndim > 1], "weight_decay": decay},
        {"params": [one for one in parameters if one.ndim <= 1], "weight_decay": 0.0},
    ]


def parameter_count(network: nn.Module) -> int:
    """The number of trained numbers."""
    return sum(parameter.numel() for parameter in network.parameters())
