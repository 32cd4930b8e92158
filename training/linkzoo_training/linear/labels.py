"""Makes labels: values of all legal actions of positions, means over many playouts.

Positions come from games in which an agent plays, with a share of random actions. A playout goes on
at random, or as a linear scorer plays; the n-th playouts of all actions of a position share a world
(`search.monte_carlo`).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, Game, get_game
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import STREAM_LABELS, STREAM_SEARCH, random_u64s
from linkzoo_training.agents.linear import load_scorer
from linkzoo_training.agents.named import NamedAgent
from linkzoo_training.agents.playing import play_games
from linkzoo_training.agents.specs import AgentSpec, digests_of
from linkzoo_training.evaluation.labelled_positions import (
    Labels,
    LabelSettings,
    read_labels,
    write_labels,
)
from linkzoo_training.search.linear import NO_SCORER, WHOLE_GAME, Scorer
from linkzoo_training.search.monte_carlo import action_values
from linkzoo_training.selfplay.dispatch import TaskWorker
from linkzoo_training.selfplay.executors import Executor, LocalExecutor

RANDOM = "random"  # playouts at random
_GAMES = 64  # games of a part
_MAX_EMPTY_PARTS = 50  # in a row: no position will ever be labelled
_RANDOM_SHARE = 0.1  # random actions among the decisions with a choice


def make_labels(
    settings: LabelSettings,
    positions: int,
    path: Path,
    progress: Callable[[int], None],
    executor: Executor | None = None,
) -> Labels:
    """Adds parts to a file of labels until it holds enough positions.

    Args:
        settings: The settings; those of an existing file must be equal. The digests are added.
        positions: The smallest number of positions.
        path: The file; it is written after every part, so that a stopped run resumes.
        progress: Called with the number of positions after every part.
        executor: Makes the parts; None for this process. The labels don't depend on it.

    Raises:
        ValueError: The share is 0, the file has other settings or is damaged, or the games have no
            position to label.
    """
    if not settings.share > 0:
        raise ValueError(f"share: {settings.share} is not above 0")
    digests = digests_of(settings.game, (settings.agent, settings.rollout))
    settings = replace(settings, digests=digests)
    labels = _existing(settings, path) if path.exists() else _no_labels(settings)
    agent = NamedAgent(AgentSpec.parse(settings.agent), settings.game, settings.options)
    if executor is None:
        executor = LocalExecutor()
    executor.start(TaskWorker)
    empty_parts = 0
    while len(labels.states) < positions:
        numbers = range(labels.parts, labels.parts + executor.workers)
        tasks = [partial(_make_part, settings, agent, number) for number in numbers]
        names = [f"part {number + 1} of the labels" for number in numbers]
        with executor.play_in_order(tasks, names) as results:
            for part in results:
                labels = labels.joined(part)
                empty_parts = 0 if len(part.states) else empty_parts + 1
                if empty_parts == _MAX_EMPTY_PARTS:
                    raise ValueError(
                        f"no position was labelled in {empty_parts * _GAMES:,} games of "
                        f"{settings.game}: its positions have no choice, or the share is too small"
                    )
                write_labels(labels, path)
                progress(len(labels.states))
                if len(labels.states) >= positions:
                    break
    return labels


def _make_part(settings: LabelSettings, agent: Agent, number: int) -> Labels:
    """Returns the labels of a part."""
    return _label(settings, _play_part(settings, agent, number))


def _existing(settings: LabelSettings, path: Path) -> Labels:
    """Reads the labels of a run that goes on; ValueError if its settings differ."""
    labels = read_labels(path)
    if labels.settings != settings:
        raise ValueError(
            f"{path} has other settings, or its agents have changed: {labels.settings}"
        )
    return labels


def _no_labels(settings: LabelSettings) -> Labels:
    """Returns the labels of zero parts."""
    game = get_game(settings.game, settings.options)
    integers = np.zeros(0, np.int64)
    values = np.zeros(0, np.float32)
    return Labels(settings, 0, np.zeros(0, game.state), integers, integers, values)


def _play_part(settings: LabelSettings, agent: Agent, part: int) -> NDArray[Any]:
    """Plays the games of a part; returns the records [N] to label."""
    game = get_game(settings.game, settings.options)
    numbers = part * _GAMES + np.arange(_GAMES)
    states = _first_positions(settings, game, numbers)
    chosen_states = [states[:0].copy()]
    ply = 1

    def seeds(rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        return random_u64s(settings.seed, STREAM_LABELS, ply, numbers[rows])

    for actions in play_games(game, states, [agent], lambda states: np.zeros(len(states)), seeds):
        rows = np.flatnonzero(actions >= 0)
        masks = np.empty((len(rows), game.num_actions), np.int8)
        kernels(game).fill_masks(states[rows], masks)
        random_actions = actions[rows]
        kernels(game).random_actions(masks, seeds(rows), np.ones(1, np.int64), random_actions)
        uniform = random_u64s(seeds(rows), STREAM_LABELS, 1) / 2.0**64
        actions[rows] = np.where(uniform < _RANDOM_SHARE, random_actions, actions[rows])
        has_choice = masks.sum(1) > 1
        chosen_states.append(states[rows][has_choice & (uniform > 1 - settings.share)])
        ply += 1
    return np.concatenate(chosen_states)


def _first_positions(
    settings: LabelSettings, game: Game, numbers: NDArray[np.int64]
) -> NDArray[Any]:
    """Returns the first records of the games with these numbers."""
    states = np.zeros(len(numbers), game.state)
    for row in range(len(numbers)):
        players = settings.players[row % len(settings.players)]
        states[row] = game.blank(players, settings.options)
    masks = np.empty((len(numbers), game.num_actions), np.int8)
    kernels(game).begin(states, random_u64s(settings.seed, STREAM_LABELS, 0, numbers), masks)
    return states


def _label(settings: LabelSettings, states: NDArray[Any]) -> Labels:
    """Labels records [N]; the seeds of the playouts depend on the records."""
    game = get_game(settings.game, settings.options)
    scorer = _scorer(settings, game)
    masks = np.empty((len(states), game.num_actions), np.int8)
    kernels(game).fill_masks(states, masks)
    values = np.empty(masks.shape, np.float32)
    seeds = random_u64s(states["seed"] ^ np.uint64(settings.seed), STREAM_SEARCH, states["ply"])
    playouts = np.full(len(states), settings.playouts)
    weight = float(settings.score_margin_weight)
    label = action_values(game, settings.rollout != RANDOM)
    label(states, seeds, playouts, weight, scorer, WHOLE_GAME, masks, values)
    _, actions = masks.nonzero()
    return Labels(settings, 1, states, masks.sum(1, np.int64), actions, values[masks > 0])


def _scorer(settings: LabelSettings, game: Game) -> Scorer:
    """Returns the scorer that plays the playouts; NO_SCORER if they are random."""
    if settings.rollout == RANDOM:
        return NO_SCORER
    return load_scorer(game, settings.rollout)
