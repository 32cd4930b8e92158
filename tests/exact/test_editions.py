"""Editions with known sizes and values; of LINK-O nodes, ends, information sets, forced ones."""

import pytest

from linkzoo import RandomAgent, exact, get_game
from tests.driving import NIGHTLY, first_quick

# NashConv of uniform play is OpenSpiel's in every digit for the first (its nash_conv of the tree
# exported with explicit chance).
SIZES = {
    ("mini2x4a-h2", 2): ((68_045, 33_592, 23_493, 9_700), 0.2044279100529096),
    ("mini2x4a-h3", 2): ((122_232, 61_784, 35_408, 12_156), 0.6423065476190455),
    ("mini2x4a-h2", 3): ((110_478, 55_664, 19_879, 5_620), 0.1624702380952337),
    ("mini2x4b-h3", 2): ((417_256, 185_520, 124_532, 79_248), 0.7978819444444427),
}


@pytest.mark.nightly  # quick: test_kuhn_poker_has_its_known_tree; slow: the known values below
@pytest.mark.parametrize(("board", "players"), list(SIZES))
def test_link_o_has_its_known_size(board: str, players: int) -> None:
    sizes, nash_conv = SIZES[board, players]
    tree = exact.tree("link_o", players, {"board": board})
    forced = tree.num_infosets - len(tree.decisions)
    assert (tree.num_nodes, tree.num_terminals, tree.num_infosets, forced) == sizes
    assert exact.exploitability(RandomAgent(), tree).nash_conv == pytest.approx(
        nash_conv, abs=1e-12
    )


@pytest.mark.slow  # quick: test_cfr_finds_the_value_of_kuhn_poker
@pytest.mark.parametrize(
    ("board", "value"),
    first_quick([("mini2x4a-h2", 0.62123), ("mini2x4a-h3", 0.54821), ("mini2x4b-h3", 0.506)], 1, 0),
)
def test_link_o_has_its_known_value(board: str, value: float) -> None:
    """Values of seat 0, known to the digits shown."""
    solution = exact.solve(exact.tree("link_o", 2, {"board": board}), nash_conv=5e-4)
    assert solution.exploitability.values[0] == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize("board", [pytest.param("mini2x4b-l2-h3", marks=NIGHTLY)])
def test_five_million_positions(board: str) -> None:
    tree = exact.tree("link_o", 2, {"board": board})
    assert (tree.num_nodes, tree.num_terminals) == (4_898_086, 2_437_552)
    assert (tree.num_infosets, tree.num_infosets - len(tree.decisions)) == (1_411_066, 828_960)


OTHERS = {
    ("love_links", "mini8"): (50_044, 9 / 70),
    ("love_links", "mini8-mixed"): (1_047_564, 0.5400793650793651),
    ("love_formula", "mini8"): (107_175, 0.0),
    ("love_formula", "mini8-draft"): (433_320, 0.0),
    ("linkage", "3x3"): (1_473, -1.0),
}


@pytest.mark.parametrize(("game", "edition"), first_quick(list(OTHERS), 0, 0))
def test_other_games_have_their_known_values(game: str, edition: str) -> None:
    """Love Formula is fair: its seats differ in nothing but their numbers. Linkage is Fewer's."""
    nodes, value = OTHERS[game, edition]
    options = get_game(game).editions[edition]
    tree = exact.tree(game, 2, options)
    assert tree.num_nodes == nodes
    solution = exact.solve(tree, nash_conv=2e-3)
    assert solution.exploitability.values[0] == pytest.approx(value, abs=1e-3)
    assert solution.exploitability.nash_conv <= 2e-3
