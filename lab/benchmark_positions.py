r"""Makes the positions of `linkzoo llm benchmark`, each from another game.

Linkage: solved positions that ship, with exact verdicts. The others come from labels, whose values
are means over playouts of the linear agent in determinized worlds: Love Links, where greedy's
action is a blunder; LINK-O, where the bag is nearly empty; Love Formula, the first draft.

    linkzoo linear labels love_links --agent linear --rollout linear --playouts 96 \
        --positions 100 --seed 1000033 --out LABELS.npz
    python -m lab.benchmark_positions linkage
    python -m lab.benchmark_positions love_links LABELS.npz
    linkzoo linear labels link_o target=0 skip_forced=true --agent linear --rollout linear \
        --positions 7500 --seed 12 --out ENDS.npz
    python -m lab.benchmark_positions link_o ENDS.npz
    python -m lab.benchmark_positions love_formula    # labels its drafts itself

The opponents of the matches are frozen by the digests of their moves in these positions, once:

    python -m lab.benchmark_positions --freeze

Editions: information sets that an equilibrium gets to, as often as it does, where an action loses;
the values are exact.

    python -m lab.benchmark_positions link_o --edition mini2x4b-h3
    python -m lab.benchmark_positions love_formula --edition mini8-draft
    python -m lab.benchmark_positions love_links --edition mini8-mixed
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, Positions, exact, get_game, save_positions
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import game_seeds, random_u64s
from linkzoo.exact.values import fill_reaches, structure_of
from linkzoo_training.agents.linear import load_scorer
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.named import NamedAgent
from linkzoo_training.agents.playing import checked_actions
from linkzoo_training.evaluation.labelled_positions import read_labelled_positions, read_labels
from linkzoo_training.evaluation.ladder import read_ladder
from linkzoo_training.evaluation.solved_positions import read_solved_positions
from linkzoo_training.llm.benchmark import FROZEN, OPPONENTS, moves_digest
from linkzoo_training.llm.benchmark_positions import (
    BENCHMARK_POSITIONS,
    EDITIONS,
    benchmark_games,
    read_benchmark_positions,
)
from linkzoo_training.search.linear import WHOLE_GAME
from linkzoo_training.search.monte_carlo import action_values

COUNT = 40  # positions of a game, at most
SEED = 20261126
TITLES = {
    "linkage": "exact verdicts",
    "love_links": "greedy's traps",
    "link_o": "endgames",
    "love_formula": "first drafts",
}
BLUNDERS = {"linkage": 1.0, "love_links": 0.15, "link_o": 0.1, "love_formula": 0.2}
DRAFTS, DRAFT_ROUNDS, DRAFT_PLAYOUTS, MARGIN_WEIGHT = 32, (2, 8), 96, 0.5
EDITION_BLUNDER = 0.1
NASH_CONV = 0.0005  # of the equilibria
NOBODY = -9  # no seat: all play the policy
LAST_TILES, END_PLAYOUTS = 6, 512  # tiles in the bag of LINK-O, playouts of each half
TRAP_PLAYOUTS = 192


def solved() -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Returns records of Linkage [N] and their values [N, num_actions], evenly spread."""
    known = read_solved_positions(get_game("linkage"))
    rows = np.linspace(0, len(known.states) - 1, COUNT).astype(int)
    values = np.where(known.wins < 0, np.nan, 2.0 * known.wins - 1)
    return known.states[rows], values[rows].astype(np.float32)


def labelled(name: str, path: Path | None) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Returns the records and values of a file of labels, NaN for illegal actions."""
    labels = read_labelled_positions(name) if path is None else read_labels(path)
    values = np.full((len(labels.states), labels.game.num_actions), np.nan, np.float32)
    values[labels.position, labels.actions] = labels.values
    return labels.states, values


def drafts() -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Returns records of Love Formula's first draft and their values, the mean of two halves."""
    game, (low, high) = get_game("love_formula"), DRAFT_ROUNDS
    numbers = np.arange(DRAFTS)
    states = np.zeros(DRAFTS, game.state)
    states[:] = game.blank(2)
    masks = np.empty((DRAFTS, game.num_actions), np.int8)
    kernels(game).begin(states, game_seeds(np.uint64(SEED), numbers), masks)
    ends = low + random_u64s(SEED, 9001, numbers) % np.uint64(high - low + 1)
    agent = make_agent("linear", game.name)
    while len(rows := np.flatnonzero(states["draft_round"] < ends)):
        positions = Positions(game, states[rows], random_u64s(SEED, 9002, rows))
        actions = np.full(DRAFTS, -1)
        actions[rows] = checked_actions(agent, positions)
        kernels(game).play(states, actions, masks)
    return states, relabelled(game, states, DRAFT_PLAYOUTS)


def endgames(path: Path | None) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Returns records of LINK-O whose bag is nearly empty, labelled again with more playouts."""
    states, values = labelled("link_o", path)
    few = (states["bag_size"] <= LAST_TILES) & (np.isfinite(values).sum(1) > 1)
    game = get_game("link_o")
    states = states[few]
    return states, relabelled(game, states, END_PLAYOUTS)


def traps(path: Path | None) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Returns records of Love Links where greedy blunders, labelled again with more playouts."""
    states, values = labelled("love_links", path)
    states = states[chosen("love_links", states, values, count=2 * COUNT)]
    return states, relabelled(get_game("love_links"), states, TRAP_PLAYOUTS)


def relabelled(game: Game, states: NDArray[Any], playouts: int) -> NDArray[np.float32]:
    """Returns the values of actions [N, num_actions], the means of two halves."""
    masks = np.empty((len(states), game.num_actions), np.int8)
    kernels(game).fill_masks(states, masks)
    halves = np.empty((2, *masks.shape), np.float32)
    label, scorer = action_values(game, True), load_scorer(game)
    for half, values in enumerate(halves):
        seeds = random_u64s(SEED, 9003, half, np.arange(len(states)))
        each = np.full(len(states), playouts)
        label(states, seeds, each, MARGIN_WEIGHT, scorer, WHOLE_GAME, masks, values)
    halves[:, masks == 0] = np.nan
    centred = halves - np.nanmean(halves, 2, keepdims=True)
    noise = np.nanstd(centred[0] - centred[1]) / 2
    print(f"standard error of a value, against the others of its position: {noise:.3f}")
    return np.asarray(halves.mean(0))


def chosen(
    name: str, states: NDArray[Any], values: NDArray[np.float32], count: int = COUNT
) -> NDArray[np.int64]:
    """Returns the rows of the positions in the benchmark, at most `count`."""
    lost = np.nanmax(values, 1, keepdims=True) - values
    blunders = lost >= BLUNDERS[name]
    fits = blunders.any(1)
    if name == "love_links":
        for seed in range(8):  # greedy draws among equal actions
            seeds = random_u64s(SEED, 9005, seed, np.arange(len(states)))
            positions = Positions(get_game(name), states, seeds)
            actions = checked_actions(make_agent("greedy", name), positions)
            fits &= blunders[np.arange(len(states)), actions]
    rows = np.flatnonzero(fits)
    rows = rows[np.argsort(random_u64s(SEED, 9004, rows))]
    _, firsts = np.unique(states["seed"][rows], return_index=True)  # one of each game
    return rows[np.sort(firsts)][:count]


def write_edition(name: str, edition: str) -> None:
    """Writes the file of an edition: positions that an equilibrium gets to, with exact values."""
    options = get_game(name).editions[edition]
    tree = exact.tree(name, options=options)
    solution = exact.solve(tree, nash_conv=NASH_CONV)
    positions = Positions(tree.game, tree.states, np.zeros(len(tree.states), np.uint64))
    agent = exact.tabular_agent(tree, solution.policy)
    values = np.where(positions.action_mask, agent.evaluate(positions), np.nan)
    lost = np.nanmax(values, 1, keepdims=True) - values
    rows = np.flatnonzero(np.nanmax(lost, 1) >= EDITION_BLUNDER)
    # The largest of u ** (1 / weight) are a sample without replacement by weight.
    weights = reaches(tree, solution.policy)[tree.decisions[rows]]
    uniform = (random_u64s(SEED, 9006, rows) >> np.uint64(11)) / 2.0**53
    rows = rows[np.argsort(np.log(uniform) / np.maximum(weights, 1e-300))[::-1]]
    seen = positions.observation.reshape(len(positions), -1)[rows]
    _, firsts = np.unique(seen, axis=0, return_index=True)
    rows = rows[np.sort(firsts)][:COUNT]
    fields = [
        {"values": [round(float(value), 4) for value in values[row] if not np.isnan(value)]}
        for row in rows
    ]
    path = EDITIONS / f"{name}.{edition}.jsonl"
    path.parent.mkdir(exist_ok=True)
    nash_conv = round(solution.exploitability.nash_conv, 5)
    about = {"title": f"{edition}, exact", "blunder": EDITION_BLUNDER, "nash_conv": nash_conv}
    save_positions(path, tree.game, tree.states[rows], fields, about)
    print(f"{path}: {len(rows)} positions, NashConv {nash_conv}")


def freeze() -> None:
    """Writes the digests of the opponents' moves."""
    digests = {}
    for name in benchmark_games():
        known = read_benchmark_positions(name)
        opponents = list(read_ladder(name).opponents)[:OPPONENTS]
        digests[name] = {
            str(opponent): moves_digest(known, NamedAgent(opponent, name)) for opponent in opponents
        }
    FROZEN.write_text(json.dumps(digests, indent=1) + "\n")


def reaches(tree: exact.GameTree, policy: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns how likely a policy gets to each information set, float64[I]."""
    nodes = np.empty(len(tree.seats))
    fill_reaches(structure_of(tree), NOBODY, policy, nodes)
    decided = tree.infosets >= 0
    return np.bincount(tree.infosets[decided], nodes[decided], tree.num_infosets).astype(np.float64)


def main() -> None:
    """Writes the file of a game."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("game", nargs="?", choices=list(TITLES))
    parser.add_argument("labels", nargs="?", type=Path, help="file of `linkzoo linear labels`")
    parser.add_argument("--edition", help="write the positions of this edition")
    parser.add_argument("--freeze", action="store_true", help="write the opponents' digests")
    args = parser.parse_args()
    if args.freeze:
        freeze()
        return
    name, game = args.game, get_game(args.game)
    if args.edition is not None:
        write_edition(name, args.edition)
        return
    if name == "linkage":
        states, values = solved()
    elif name == "link_o":
        states, values = endgames(args.labels)
    else:
        states, values = drafts() if name == "love_formula" else traps(args.labels)
    rows = chosen(name, states, values)
    fields = [
        {"values": [round(float(value), 3) for value in values[row] if not np.isnan(value)]}
        for row in rows
    ]
    path = BENCHMARK_POSITIONS / f"{name}.jsonl"
    about = {"title": TITLES[name], "blunder": BLUNDERS[name]}
    save_positions(path, game, states[rows], fields, about)
    print(f"{path}: {len(rows)} positions")


if __name__ == "__main__":
    main()
