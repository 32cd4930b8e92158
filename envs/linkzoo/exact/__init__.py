"""Small games exactly: trees with all chance, exploitability, and equilibria.

from linkzoo import exact

tree = exact.tree("link_o", options={"board": "mini2x4b-h3"})
print(exact.exploitability(RandomAgent(), tree).nash_conv)
solution = exact.solve(tree)
exact.tabular_agent(tree, solution.policy).save("equilibrium.npz")
"""

from linkzoo.exact.equilibrium import Solution, solve
from linkzoo.exact.exploitability import Exploitability, exploitability
from linkzoo.exact.policy import StochasticAgent, TabularAgent, mixture, policy_of, tabular_agent
from linkzoo.exact.tree import GameTree, TreeTooLargeError, tree

__all__ = [
    "Exploitability",
    "GameTree",
    "Solution",
    "StochasticAgent",
    "TabularAgent",
    "TreeTooLargeError",
    "exploitability",
    "mixture",
    "policy_of",
    "solve",
    "tabular_agent",
    "tree",
]
