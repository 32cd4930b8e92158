"""Improves a linear scorer by self-play: natural policy gradient.

The policy is the softmax of the scores. With one weight per product of a feature and a context
factor, a ridge regression of results on the gradients of the log-probabilities of the sampled
actions gives the natural gradient (Kakade, "A natural policy gradient", NIPS 2001; compatible
function approximation: Sutton et al., NIPS 1999). A step adds it to the weights: the score of an
action grows by the learning rate times what the regression says it gains.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo import get_game, make_vec
from linkzoo.core.files import write_atomically
from linkzoo.engine.rng import STREAM_PART, random_u64
from linkzoo_training.agents.linear import load_scorer, save_scorer
from linkzoo_training.algorithms.linear_fit import context_factors, unscaled
from linkzoo_training.evaluation.statistics import Estimate, normal_mean
from linkzoo_training.search.linear import Scorer, action_spec, context_of
from linkzoo_training.search.linear_policy import sampler

FORMAT = "linkzoo-improve/1"
SHIPPED = "linear"  # the scorer that ships
_GAMES = 512  # side by side
_PENALTY = 3e-4  # of the regression, per decision; features have deviation 1
_CHUNK = 20_000  # decisions, whose products fit in memory
_MIN_DEVIATION = 1e-3  # features that differ less are left out


@dataclass(frozen=True)
class ImproveSettings:
    """Settings of a run; a step depends on them, on its number and the weights before it.

    Attributes:
        game: The name of the game.
        options: Its options.
        players: Numbers of players; the games take them in turn.
        scorer: The first scorer: `linear` (the one that ships), or a file of `linkzoo linear fit`.
        temperature: The first policy is the softmax of its scores divided by this.
        decisions: Decisions with several legal actions per step, at least.
        learning_rate: Factor of the natural gradient.
        score_margin_weight: Weight of score margins beside payoffs.
        seed: Seed of the games.
    """

    game: str
    options: dict[str, Any]
    players: tuple[int, ...]
    scorer: str
    temperature: float
    decisions: int
    learning_rate: float
    score_margin_weight: float
    seed: int


class Step(NamedTuple):
    """The result of a step.

    Attributes:
        number: The step, from 1.
        games: Finished games.
        decisions: Their decisions with several legal actions.
        deviation: The standard deviation of the gains of actions, in results: how much there is to
            gain by changing the policy.
        held_out: The gain, as a share of the deviation, of a regression on half of the games in the
            other half. Not above 0: the games show no direction.
    """

    number: int
    games: int
    decisions: int
    deviation: float
    held_out: Estimate


class Played(NamedTuple):
    """Decisions of finished games: N rows."""

    game: NDArray[np.int64]  # [N]
    context: NDArray[np.float32]  # [N, C]
    gradient: NDArray[np.float32]  # [N, K]
    result: NDArray[np.float32]  # [N], of the seat that decided


def improve(
    settings: ImproveSettings, steps: int, path: Path, progress: Callable[[int], None]
) -> Iterator[Step]:
    """Improves a scorer until it has made a number of steps; yields each.

    Args:
        settings: The settings; those of an existing run must be equal.
        steps: The number of steps, of which a run that goes on lacks the last ones.
        path: The scorer's file, .json, written after each step. The weights after every step are
            beside it, .npz, so that a stopped run resumes with the step that it was in.
        progress: Called with the decisions of the step so far.

    Raises:
        ValueError: The temperature is 0, the path doesn't end in .json, the run has other settings
            or is damaged, there is no such scorer, or the game has no action features.
    """
    if not settings.temperature > 0:
        raise ValueError(f"temperature: {settings.temperature} is not above 0")
    if path.suffix != ".json":
        raise ValueError(f"{path}: the file of a scorer ends in .json")
    game = get_game(settings.game, settings.options)
    run = path.with_suffix(".npz")
    if run.exists():
        weights = _read(run, settings)
    else:
        file = None if settings.scorer == SHIPPED else settings.scorer
        weights = [load_scorer(game, file).weights / np.float32(settings.temperature)]
    for number in range(len(weights), steps + 1):
        seed = int(random_u64(settings.seed, STREAM_PART, number))
        played = _play(settings, weights[-1], seed, progress)
        gradient, step = natural_gradient(settings, played, number)
        weights.append(weights[-1] + np.float32(settings.learning_rate) * gradient)
        save_scorer(game, weights[-1], path)
        _write(run, settings, weights)
        yield step


def _play(
    settings: ImproveSettings,
    weights: NDArray[np.float32],
    seed: int,
    progress: Callable[[int], None],
) -> Played:
    """Plays games of the policy against itself; returns the decisions of those that ended."""
    vec = make_vec(settings.game, _GAMES, settings.players, **settings.options)
    scorer, sample = Scorer(context_of(action_spec(vec.game)), weights), sampler(vec.game)
    now, game, games = vec.reset(seed), np.arange(_GAMES), _GAMES
    ended: list[tuple[NDArray[np.int64], NDArray[np.float32]]] = []
    rows: list[tuple[NDArray[Any], ...]] = []
    actions, decisions = np.empty(_GAMES, np.int64), 0
    context = np.empty((_GAMES, len(scorer.context)), np.float32)
    gradient = np.empty((_GAMES, len(weights)), np.float32)
    while decisions < settings.decisions:
        sample(vec.states, now.action_mask, scorer, actions, context, gradient)
        choice = np.flatnonzero(now.action_mask.sum(1) > 1)
        seats = now.seat[choice].astype(np.int64)
        rows.append((game[choice], seats, context[choice], gradient[choice].astype(np.float16)))
        now = vec.step(actions)
        done = np.flatnonzero(now.done)
        result = now.reward[done] + np.float32(settings.score_margin_weight) * now.score[done]
        ended.append((game[done], result))
        game[done] = games + np.arange(len(done))
        games += len(done)
        decisions += len(choice)
        progress(min(decisions, settings.decisions))
    results = np.full((games, vec.num_players), np.nan, np.float32)
    for which, result in ended:
        results[which] = result
    number, seat, situation, change = (np.concatenate(part) for part in zip(*rows, strict=True))
    known = ~np.isnan(results[number, 0])
    return Played(number[known], situation[known], change[known], results[number, seat][known])


def natural_gradient(
    settings: ImproveSettings, played: Played, number: int
) -> tuple[NDArray[np.float32], Step]:
    """Returns the direction float32[K, 1 + C] in which results grow fastest, and the step.

    Raises:
        ValueError: No game ended.
    """
    if not len(played.game):
        raise ValueError(f"decisions: in {settings.decisions} no game ends: play more")
    spec = action_spec(get_game(settings.game, settings.options))
    own = np.setdiff1d(np.arange(spec.size), context_of(spec))
    factors = context_factors(spec, played.context)
    # What the context alone explains of the results is no action's merit.
    baseline = np.concatenate([factors, factors[:, 1:] ** 2], 1).astype(np.float64)
    square = baseline.T @ baseline + 1e-3 * np.eye(baseline.shape[1])
    surplus = played.result - baseline @ np.linalg.solve(square, baseline.T @ played.result)
    scale = played.gradient[:, own].std(0, dtype=np.float32)
    scale[scale < _MIN_DEVIATION] = np.inf
    size = len(own) * factors.shape[1]
    squares, products = np.zeros((2, size, size)), np.zeros((2, size))
    halves = [np.flatnonzero(played.game % 2 == half) for half in range(2)]

    def inputs(rows: NDArray[np.int64]) -> NDArray[np.float32]:
        gradient = played.gradient[rows][:, own] / scale
        each: NDArray[np.float32] = gradient[:, :, None] * factors[rows, None, :]
        return each.reshape(len(rows), size)

    for half, rows in enumerate(halves):
        for part in _chunks(rows):
            found = inputs(part)
            squares[half] += found.T @ found
            products[half] += found.T @ surplus[part]

    def solved(square: NDArray[np.float64], product: NDArray[np.float64], count: int) -> Any:
        return np.linalg.solve(square + _PENALTY * count * np.eye(size), product)

    tested = solved(squares[0], products[0], len(halves[0]))
    predicted = np.concatenate([inputs(part) @ tested for part in _chunks(halves[1])])
    unit = max(float(predicted.std()), 1e-12)
    direction = solved(squares.sum(0), products.sum(0), len(played.game))
    deviation = float(np.sqrt(direction @ squares.sum(0) @ direction / len(played.game)))
    held_out = normal_mean(predicted / unit * surplus[halves[1]])
    step = Step(number, len(np.unique(played.game)), len(played.game), deviation, held_out)
    return unscaled(spec, direction, scale), step


def _chunks(rows: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    return (rows[first : first + _CHUNK] for first in range(0, max(len(rows), 1), _CHUNK))


def _write(path: Path, settings: ImproveSettings, weights: list[NDArray[np.float32]]) -> None:
    file = BytesIO()
    about = np.array(json.dumps({"format": FORMAT, "settings": vars(settings)}))
    np.savez(file, allow_pickle=False, about=about, weights=np.array(weights))
    write_atomically(path, file.getvalue())


def _read(path: Path, settings: ImproveSettings) -> list[NDArray[np.float32]]:
    """Returns the weights after every step so far, the first ones included."""
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            about, weights = json.loads(str(file["about"])), file["weights"]
        made = about["settings"]
        if about["format"] != FORMAT or weights.ndim != 3 or not np.isfinite(weights).all():
            raise ValueError("its format or its weights are wrong")  # noqa: TRY301
    except Exception as error:  # zipfile, zlib and NumPy raise many kinds
        raise ValueError(f"{path}: not a run of `linkzoo linear improve` ({error})") from error
    if made != json.loads(json.dumps(vars(settings))):
        raise ValueError(f"{path} has other settings: {made}")
    return [np.asarray(each, np.float32) for each in weights]
