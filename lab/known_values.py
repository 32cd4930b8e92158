"""Known values of the editions: sizes, values by seat, and how far agents are from equilibrium.

    python -m lab.known_values                 # measures what the JSON file lacks; then the page
    python -m lab.known_values --only link_o   # of one game
    python -m lab.known_values --page          # only writes the table of docs/exact.md

Each figure is written as soon as it is known; the same command continues after Ctrl-C. Figures are
of the digest of the edition's data: another edition of that name is measured anew.
"""

import argparse
import json
import re
import time
from pathlib import Path
from typing import Any

import numpy as np

from linkzoo import exact, get_game
from linkzoo.core.files import write_atomically
from linkzoo.core.kernels import kernels
from linkzoo.registry import NAMES
from linkzoo_training.agents.make import make_agent
from linkzoo_training.search.solver import solve

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "lab" / "known_values.json"
PAGE = ROOT / "docs" / "exact.md"
QUICK = ("random", "greedy", "linear")
SEARCHES = ("uct-100", "uct-1000")  # in trees with at most MOST_SEARCHED choices
AGENTS = QUICK + SEARCHES
MOST_SEARCHED = 400_000
NASH_CONV = 0.001
MAX_NODES = 10**7
MAX_OPEN_NODES = 2 * 10**6  # where nothing is hidden: the rest is for the game's solver


def editions(only: str | None) -> list[tuple[str, str, dict[str, Any], int]]:
    """Game, edition, options and number of players of every row."""
    rows = []
    for name in NAMES:
        game = get_game(name)
        for edition, options in game.editions.items():
            rows.append((name, edition, dict(options), game.min_players))
    return [row for row in rows if only in (None, row[0])]


def measure(only: str | None) -> None:
    """Measures what is missing."""
    results = read()
    for name, edition, options, players in editions(only):
        digest = get_game(name, options).digest
        row = results.setdefault(f"{name} {edition} {players}", {})
        if row.get("digest") != digest:
            row.clear()
        if "score" in row or set(wanted(row)) <= set(row.get("agents", {})):
            continue
        print(f"{name} {edition}, {players} players", flush=True)
        begin = time.process_time()
        limit = MAX_NODES if get_game(name, options).hides else MAX_OPEN_NODES
        try:
            tree = exact.tree(name, players, options, max_nodes=limit)
        except exact.TreeTooLargeError as error:
            print(error)
            results[f"{name} {edition} {players}"] = solved(name, options) | {"digest": digest}
            write(results)
            continue
        if "nodes" not in row:
            row |= sizes(tree) | {"digest": digest, "build": time.process_time() - begin}
            row |= equilibrium(tree) | {"agents": {}}
            write(results)
        for agent_name in wanted(row):
            if agent_name not in row["agents"]:
                row["agents"][agent_name] = distance(agent_name, name, tree)
                write(results)


def wanted(row: dict[str, Any]) -> tuple[str, ...]:
    """The agents that are measured."""
    if row.get("choices", 0) > MOST_SEARCHED:
        return QUICK
    return AGENTS


def solved(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """The value of a game by its solver, where the tree is too large."""
    game = get_game(name, options)
    states = np.zeros(1, game.state)
    states[0] = game.blank(None, options)
    masks = np.zeros((1, game.num_actions), np.int8)
    kernels(game).begin(states, np.zeros(1, np.uint64), masks)
    begin = time.process_time()
    solution = solve(name, states[0], options=game.fixed.values)
    values = [-1.0, -1.0]
    values[solution.winner] = 1.0
    return {"values": values, "score": solution.score, "solve": time.process_time() - begin}


def sizes(tree: exact.GameTree) -> dict[str, Any]:
    """The size of a tree."""
    return {
        "nodes": tree.num_nodes,
        "terminals": tree.num_terminals,
        "infosets": tree.num_infosets,
        "choices": len(tree.decisions),
    }


def equilibrium(tree: exact.GameTree) -> dict[str, Any]:
    """The values of an equilibrium by seat, and what it cost."""
    begin = time.process_time()
    solution = exact.solve(tree, NASH_CONV)
    return {
        "values": solution.exploitability.values.tolist(),
        "nash_conv": solution.exploitability.nash_conv,
        "iterations": solution.iterations,
        "solve": time.process_time() - begin,
    }


def distance(agent_name: str, game: str, tree: exact.GameTree) -> dict[str, Any]:
    """The NashConv of an agent, in CPU seconds; None where it doesn't play the game."""
    begin = time.process_time()
    try:
        agent = make_agent(agent_name, game, tree.options)
        result = exact.exploitability(agent, tree)
    except ValueError as error:
        return {"error": str(error)}
    print(f"  {agent_name}: NashConv {result.nash_conv:.4f}", flush=True)
    return {"nash_conv": result.nash_conv, "seconds": time.process_time() - begin}


def read() -> dict[str, Any]:
    """Returns the results so far."""
    if not RESULTS.is_file():
        return {}
    results: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return results


def write(results: dict[str, Any]) -> None:
    """Writes the results."""
    write_atomically(RESULTS, (json.dumps(results, indent=1) + "\n").encode())


def table(results: dict[str, Any]) -> str:
    """The table of all editions."""
    head = "| game, edition | positions | information sets | value of seat 0 | "
    head += " | ".join(f"`{name}`" for name in AGENTS) + " | build, solve |"
    lines = [head, "|---" * (5 + len(AGENTS)) + "|"]
    for key, row in results.items():
        game, edition, _ = key.split()
        title = f"{get_game(game).title}, `{edition}`"
        cells = [title]
        cells += [f"{row[size]:,}" if size in row else "" for size in ("nodes", "infosets")]
        cells.append(f"{row['values'][0]:+.4f}")
        for name in AGENTS:
            found = row.get("agents", {}).get(name, {}).get("nash_conv")
            cells.append("" if found is None else f"{found:.4f}")
        cells.append(f"{row.get('build', 0):.1f} s, {row['solve']:.1f} s")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def filled(page: str, results: dict[str, Any]) -> str:
    """The page with the table."""
    marks = r"(<!-- known values -->\n).*(\n<!-- /known values -->)"
    return re.sub(marks, lambda match: match[1] + table(results) + match[2], page, flags=re.DOTALL)


def main() -> None:
    """Measures, and writes the page."""
    parser = argparse.ArgumentParser(description="known values of the editions")
    parser.add_argument("--only", choices=NAMES, help="one game (default: all)")
    parser.add_argument("--page", action="store_true", help="only write the page")
    arguments = parser.parse_args()
    if not arguments.page:
        measure(arguments.only)
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(filled(page, read()), encoding="utf-8")


if __name__ == "__main__":
    main()
