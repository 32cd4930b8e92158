"""Networks: their inputs, and the equal treatment of all cells."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from connect_four import GAME as CONNECT_FOUR
from torch import nn

from linkzoo import Game, get_game, make_vec
from linkzoo.core.observation import Graph, ObservationPart, ObservationSpec
from linkzoo.registry import id_of
from linkzoo_training.networks.action import ActionNet
from linkzoo_training.networks.cells import BoardNet, GraphNet
from linkzoo_training.networks.flat import FlatNet, make_network, masked
from linkzoo_training.networks.inputs import Inputs
from linkzoo_training.networks.symmetries import symmetries
from tests.training.helpers import assert_close

LINKAGE, LINK_O = get_game("linkage"), get_game("link_o")
KINDS = [("flat", LINKAGE), ("board", LINKAGE), ("graph", LINK_O), ("action", LINK_O)]


def features(game: Game = LINKAGE, count: int = 16, kind: str = "flat") -> torch.Tensor:
    vec = make_vec(id_of(game), count)
    now = vec.reset(1)
    for _ in range(5):
        now = vec.step(now.action_mask.argmax(1))
    inputs = Inputs(game, lists_actions=kind == "action")
    flat = now.observation.reshape(count, -1)
    return torch.from_numpy(inputs.encode(vec.states, now.action_mask, flat))


def observing(game: Game, **changes: Any) -> Game:
    """A game with other parts of its observation."""
    return replace(game, observation=replace(game.observation, **changes))


@pytest.mark.parametrize(("kind", "game"), KINDS)
def test_shapes_and_a_uniform_start(kind: str, game: Game) -> None:
    logits, values = make_network(game, kind, 16, 2)(features(game, kind=kind))
    assert logits.shape == (16, game.num_actions)
    assert values.shape == (16, game.max_players)
    assert logits.std() < 0.05
    assert values.abs().max() < 0.1


@pytest.mark.parametrize(("kind", "game"), KINDS)
def test_everything_is_trained(kind: str, game: Game) -> None:
    """Each parameter gets a gradient, but for those whose block begins as the identity.

    The residual of an action network begins at zero: first its last layer learns.
    """
    network = make_network(game, kind, 16, 1)
    if isinstance(network, ActionNet):
        nn.init.normal_(network.policy.weight)
    logits, values = network(features(game, kind=kind))
    (logits.square().sum() + values.sum()).backward()
    silent = [n for n, p in network.named_parameters() if p.grad is None or not p.grad.any()]
    closed = ("first", "pooled") if kind == "board" else ("first", "second")
    assert all(name.removeprefix("trunk.").startswith(closed) for name in silent)
    assert not silent or kind != "graph"


def test_blocks_of_a_board_begin_as_identities() -> None:
    """Whatever their first layers are; once a second one learns, they matter."""
    network = make_network(LINKAGE, "board", 8, 2)
    assert isinstance(network, BoardNet)
    seen = features(LINKAGE, kind="board")
    before, _ = network.read(seen)
    for weight in (*network.first.parameters(), *network.pooled.parameters()):
        nn.init.normal_(weight)
    assert torch.equal(network.read(seen)[0], before)
    nn.init.normal_(next(network.second.parameters()))
    assert not torch.allclose(network.read(seen)[0], before)


def test_board_logits_follow_the_board() -> None:
    """Zero padding aside, a pattern moved by a row moves the logits of its placements."""
    network = make_network(LINKAGE, "board", 8, 0)
    assert isinstance(network, BoardNet)
    empty = torch.zeros(1, len(network.map), dtype=torch.int8)
    moved = empty.clone()
    empty[0, 7 * 2 + 3] = 1  # a white cell at (2, 3)
    moved[0, 7 * 3 + 3] = 1  # at (3, 3)
    here, there = network(empty)[0][0], network(moved)[0][0]
    for colour in range(4):
        for row in range(1, 4):
            for column in range(1, 5):
                horizontal = colour * 84 + 6 * row + column
                vertical = colour * 84 + 42 + 7 * row + column
                assert_close(here[horizontal], there[horizontal + 6])
                assert_close(here[vertical], there[vertical + 7])


def test_only_where_the_game_lies_on_such() -> None:
    """The message names the missing part."""
    love_links, unplaced = get_game("love_links"), observing(CONNECT_FOUR, action_cells=None)
    for kind, game, message in (
        ("board", love_links, r"love_links observes no board \[C, H, W\]; use 'flat'"),
        ("graph", love_links, "love_links's Observation has no graph; use 'flat'"),
        ("board", unplaced, "connect_four's Observation has no action_cells, .*; add them, or use"),
    ):
        with pytest.raises(ValueError, match=f"^network: {message}"):
            make_network(game, kind, 8, 1)
    assert isinstance(make_network(CONNECT_FOUR, "board", 8, 1), BoardNet)


def test_graph_logits_follow_the_circles() -> None:
    """LINK-O's circles turned round (four of its symmetries): the logits go with the spaces."""
    network, seen = make_network(LINK_O, "graph", 8, 2), features(LINK_O)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.1)
        logits, values = network(seen)
        assert logits.std() > 0.1
        alike = 0
        every = symmetries(LINK_O)
        for sources, actions in zip(every.features, every.actions, strict=True):
            turned, same = network(seen[:, sources])
            if torch.allclose(turned[:, actions], logits, atol=1e-5):
                alike += 1
                assert_close(same, values)
    assert alike == 4


def test_messages_come_from_the_neighbours() -> None:
    """With two blocks, the content of a space reaches the logits of spaces within two edges."""
    network = make_network(LINK_O, "graph", 8, 2)
    assert isinstance(network, GraphNet)
    with torch.no_grad():
        for weight in network.pooled.parameters():
            weight.zero_()  # or every space hears of every other
    empty = torch.zeros(1, len(network.map), dtype=torch.int8)
    seen = empty.clone()
    seen[0, LINK_O.observation.spec.slices()["occupied"].start + 3] = 1  # beside connector 4
    differs = (network(seen)[0] != network(empty)[0]).unflatten(1, (64, 26)).any(2)[0]
    assert differs.nonzero().squeeze(1).tolist() == [1, 2, 3, 4, 5, 28]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kinds", [0, 1])
@pytest.mark.parametrize("groups", [0, 1])
@pytest.mark.parametrize("numbers", [0, 2])
def test_a_graph_with_less(kinds: int, groups: int, numbers: int) -> None:
    """Without edges, without elements of groups or of nothing: there are no layers for them."""
    size, cells = 42 + groups + numbers, np.arange(42)
    spec = ObservationSpec((ObservationPart("all", (size,), 0, 2, "anything"),), (size,))
    graph = Graph(
        cells[:, None],
        (cells[:, None] + 1)[:, :kinds] % 42,
        np.zeros(42, np.int64),
        np.array([[42]])[:, :groups],
    )
    game = observing(CONNECT_FOUR, spec=spec, action_cells=np.arange(7), graph=lambda: graph)
    network = make_network(game, "graph", 8, 1)
    logits, values = network(torch.ones(5, size, dtype=torch.int8))
    assert (logits.shape, values.shape) == ((5, 7), (5, 2))
    (logits.square().sum() + values.sum()).backward()
    assert all(p.grad is not None and p.grad.any() for p in network.parameters())


def test_a_graph_of_other_numbers_is_refused() -> None:
    """Of those that stand for kinds, a network reads no amount."""
    assert LINK_O.observation.graph is not None
    element = LINK_O.observation.spec.slices()["num_players"].start
    graph = LINK_O.observation.graph()._replace(groups=np.full((4, 1), element))
    with pytest.raises(ValueError, match=f"network: link_o's graph: element {element} of the obs"):
        make_network(observing(LINK_O, graph=lambda: graph), "graph", 8, 1)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("numbers", [0, 2])
@pytest.mark.parametrize("elsewhere", [0, 3])
def test_a_board_without_numbers_or_actions_elsewhere(numbers: int, elsewhere: int) -> None:
    """The network has no layers for absent parts."""
    parts = CONNECT_FOUR.observation.spec.parts
    if numbers:
        parts += (ObservationPart("turn", (1, 6, 7), 0, numbers - 1, "whose turn", broadcast=True),)
    spec = ObservationSpec(parts, (len(parts), 6, 7))
    cells = np.arange(7)
    cells[7 - elsewhere :] = -1
    game = observing(CONNECT_FOUR, spec=spec, action_cells=cells)
    network = make_network(game, "board", 8, 1)
    names = {name.partition(".")[0] for name, _ in network.named_parameters()}
    assert ("numbers" in names, "elsewhere" in names) == (numbers > 0, elsewhere > 0)
    assert isinstance(network, BoardNet)
    for weight in network.second.parameters():  # zero at first, so nothing before it would learn
        nn.init.normal_(weight)
    logits, values = network(torch.ones(5, len(network.map), dtype=torch.int8))
    assert (logits.shape, values.shape) == ((5, 7), (5, 2))
    (logits.square().sum() + values.sum()).backward()
    assert all(p.grad is not None and p.grad.any() for p in network.parameters())


def test_a_logit_of_several_cells_is_the_sum_of_theirs() -> None:
    """-1 fills up the places of an action that has fewer; one without any lies elsewhere."""
    places = np.array([[0, 42 + 8], [3, -1], [-1, -1], [4, 5], [42, 43], [-1, 7], [8, 50 + 1]])
    network = make_network(observing(CONNECT_FOUR, action_cells=places), "board", 8, 1)
    assert isinstance(network, BoardNet)
    assert network.elsewhere is not None
    cells, whole = network.read(torch.randint(0, 2, (5, len(network.map)), dtype=torch.int8))
    of_cells = network.policy(cells).transpose(1, 2).flatten(1)
    logits, _ = network.heads(cells, whole)
    assert of_cells.std() > 1e-4
    for action, own in enumerate(places):
        expected = (
            of_cells[:, own[own >= 0]].sum(1) if action != 2 else network.elsewhere(whole)[:, 0]
        )
        assert_close(logits[:, action], expected)


@pytest.mark.parametrize("mixed", [False, True])
def test_messages_are_summed_edge_by_edge(mixed: bool) -> None:
    """Beside an obvious version: each cell by itself, edge by edge; groups may be mixed."""
    assert LINK_O.observation.graph is not None
    graph = LINK_O.observation.graph()
    if mixed:
        graph = graph._replace(group=np.arange(64) * 7 % 4)
    network = make_network(observing(LINK_O, graph=lambda: graph), "graph", 3, 1).double()
    assert isinstance(network, GraphNet)
    layers = [next(blocks.children()) for blocks in (network.first, network.pooled, *network.edges)]
    first, pooled, *edges = [layer for layer in layers if isinstance(layer, nn.Linear)]
    h = torch.randn(64, 2, 3, dtype=torch.float64)
    outputs = network.messages(h, first, pooled, edges).view_as(h)
    for cell, (group, ends) in enumerate(zip(graph.group, graph.neighbours, strict=True)):
        means = h[torch.from_numpy(graph.group == group)].mean(0), h.mean(0)
        expected = first(h[cell]) + pooled(torch.cat(means, 1))
        for edge, end in zip(edges, ends, strict=True):
            if end >= 0:
                expected += edge(h[end])
        assert_close(outputs[cell], expected)


def test_unknown_networks_are_refused() -> None:
    with pytest.raises(ValueError, match="flat"):
        make_network(LINKAGE, "transformer", 8, 1)


def test_illegal_actions_have_no_chance() -> None:
    mask = torch.from_numpy(np.array([[1, 0, 1], [0, 1, 0]], np.int8))
    chances = torch.softmax(masked(torch.randn(2, 3), mask), -1)
    assert (chances[mask == 0] == 0).all()


def test_features_are_scaled_by_their_deviation() -> None:
    """Of 1 where they vary, of little where they hardly do; none is farther than 10 from 0."""
    network = make_network(LINKAGE, "flat", 8, 1)
    assert isinstance(network, FlatNet)
    sample = np.zeros((100, len(network.map)), np.int8)
    sample[::2, 0], sample[:10, 1], sample[0, 2] = 40, 1, 1
    network.trunk.standardise(sample)
    scale = network.trunk.scale
    assert_close(scale[:4], torch.tensor([1 / 20, 1 / 0.3, 10.0, 10.0]))
    assert "trunk.scale" in network.state_dict()
    far, farther = torch.zeros(2, len(network.map)), torch.zeros(2, len(network.map))
    far[:, 0], farther[:, 0] = 200, 2000
    assert torch.equal(network(far)[1], network(farther)[1])
    assert not torch.equal(network(far)[1], network(far / 2)[1])
