"""Improves a linear scorer by self-play: natural policy gradient.

The policy is the softmax of the scores. With one weight per product of a feature and a context
factor, a ridge regression of results on the gradients of the log-probabilities of the sampled
actions gives the natural gradient (Kakade, "A natural policy gradient", NIPS 2001; compatible
function approximation: Sutton et al., NIPS 1999). A step adds it to the weights: the score of an
action grows by the learning rate times its predicted gain.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo import get_game, make_vec
from linkzoo.core.files import write_atomically
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import STREAM_PART, random_u64
from linkzoo.envs.vector import VecEnv
from linkzoo_training.agents.linear import load_scorer, save_scorer
from linkzoo_training.evaluation.statistics import Estimate, normal_mean
from linkzoo_training.linear.fit import action_indices, context_factors, unscaled
from linkzoo_training.linear.softmax_policy import sampler
from linkzoo_training.networks.inputs import context_of
from linkzoo_training.search.linear import Scorer, action_spec
from linkzoo_training.selfplay.dispatch import TaskWorker
from linkzoo_training.selfplay.executors import Executor, LocalExecutor

FORMAT = "linkzoo-improve/1"
_PARTS = 16  # of the games of a step; fixed, so that results don't depend on the workers
_GAMES = 32  # side by side in a part
_MAX_GAMES_WITHOUT_CHOICE = 50  # in each row: no decision will ever come
_PENALTY = 3e-4  # of the regression, per decision; features have deviation 1
_CHUNK = 20_000  # decisions whose products fit in memory
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
        plies: Plies in which the change of the score margin is the result of a decision; None: the
            result is that of the game. Fewer plies have less luck and see less far.
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
    plies: int | None = None


class Step(NamedTuple):
    """The result of a step.

    Attributes:
        number: The step, from 1.
        games: Games with a known result.
        decisions: Their decisions with several legal actions.
        deviation: The standard deviation of the predicted gains of actions, in results: how much a
            change of the policy can gain.
        held_out: The gain, as a share of the deviation, of a regression on half of the games in the
            other half. Not above 0: the games show no direction.
    """

    number: int
    games: int
    decisions: int
    deviation: float
    held_out: Estimate


class Played(NamedTuple):
    """N decisions whose results are known.

    Attributes:
        game: int64[N], the number of the game.
        context: float32[N, C], the context features.
        gradient: float16[N, K], the gradient of the log-probability of the action by the scores.
        result: float32[N], of the seat that decided.
    """

    game: NDArray[np.int64]
    context: NDArray[np.float32]
    gradient: NDArray[np.float16]
    result: NDArray[np.float32]


def improve(
    settings: ImproveSettings,
    steps: int,
    path: Path,
    progress: Callable[[int], None],
    executor: Executor | None = None,
) -> Iterator[Step]:
    """Improves a scorer until it has made a number of steps; yields each.

    Args:
        settings: The settings; those of an existing run must be equal.
        steps: The number of steps, earlier ones of a stopped run included.
        path: The scorer's file, .json, written after each step. The weights after every step are
            beside it, .npz, so that a stopped run resumes with its unfinished step.
        progress: Called with the decisions of the step so far, after each of its parts.
        executor: Plays the games; None for this process. The steps don't depend on it.

    Raises:
        ValueError: The temperature is 0, the path doesn't end in .json or is a file of no run, the
            run has other settings, began with other weights or is damaged, there is no such scorer,
            or the game has no action features or no choices.
    """
    if not settings.temperature > 0:
        raise ValueError(f"temperature: {settings.temperature} is not above 0")
    if path.suffix != ".json":
        raise ValueError(f"{path}: the file of a scorer ends in .json")
    game = get_game(settings.game, settings.options)
    run = path.with_suffix(".npz")
    scorer = load_scorer(game, settings.scorer)
    first = scorer.weights / np.float32(settings.temperature)
    if run.exists():
        weights = _read(run, settings)
        if not np.array_equal(weights[0], first):
            raise ValueError(f"{run} began with other weights than those of {settings.scorer} now")
    elif path.exists():
        raise ValueError(f"{path} exists, and {run} doesn't: name a new file")
    else:
        weights = [first]
        _write(run, settings, weights)
    if executor is None:
        executor = LocalExecutor()
    executor.start(TaskWorker)
    for number in range(len(weights), steps + 1):
        played = _play(settings, weights[-1], number, progress, executor)
        gradient, step = natural_gradient(settings, played, number)
        weights.append(weights[-1] + np.float32(settings.learning_rate) * gradient)
        save_scorer(game, weights[-1], path)
        _write(run, settings, weights)
        yield step


def _play(
    settings: ImproveSettings,
    weights: NDArray[np.float32],
    number: int,
    progress: Callable[[int], None],
    executor: Executor,
) -> Played:
    """Plays the games of a step in parts; returns the decisions of the finished ones."""
    seed = np.uint64(random_u64(settings.seed, STREAM_PART, number))
    decisions = -(-settings.decisions // _PARTS)
    tasks = [
        partial(_play_part, settings, weights, int(random_u64(seed, STREAM_PART, part)), decisions)
        for part in range(_PARTS)
    ]
    names = [f"step {number}, part {part} of {_PARTS}" for part in range(1, _PARTS + 1)]
    parts: list[Played] = []
    with executor.play_in_order(tasks, names) as results:
        for part in results:
            parts.append(part)
            progress(settings.decisions * len(parts) // _PARTS)
    return _joined(parts)


def _joined(parts: Sequence[Played]) -> Played:
    """Joins the decisions of parts; their games get new numbers."""
    games = 0
    numbered: list[Played] = []
    for part in parts:
        numbered.append(part._replace(game=part.game + games))
        games += part.game.max(initial=-1) + 1
    return Played(*(np.concatenate(arrays) for arrays in zip(*numbered, strict=True)))


def _play_part(
    settings: ImproveSettings, weights: NDArray[np.float32], seed: int, least_decisions: int
) -> Played:
    """Plays games of the policy against itself; returns the decisions of the finished ones."""
    vec = make_vec(settings.game, _GAMES, settings.players, **settings.options)
    scorer = Scorer(context_of(action_spec(vec.game)), weights)
    sample = sampler(vec.game)
    now = vec.reset(seed)
    game = np.arange(_GAMES)  # the number of the game in each row
    games = _GAMES
    decisions = 0
    finished: list[_Ends] = []
    rows: list[tuple[NDArray[Any], ...]] = []
    margins: list[NDArray[np.float32]] = []
    actions = np.empty(_GAMES, np.int64)
    context = np.empty((_GAMES, len(scorer.context)), np.float32)
    gradient = np.empty((_GAMES, len(weights)), np.float32)
    while decisions < least_decisions:
        if settings.plies is not None:
            margins.append(_margins_of(vec))
        sample(vec.states, now.action_mask, scorer, actions, context, gradient)
        choice = np.flatnonzero(now.action_mask.sum(1) > 1)
        seats = now.seat[choice].astype(np.int64)
        sampled = gradient[choice].astype(np.float16)
        rows.append((game[choice], seats, context[choice], sampled, choice))
        now = vec.step(actions)
        done = np.flatnonzero(now.done)
        finished.append(_Ends(game[done], now.reward[done], now.score[done]))
        game[done] = games + np.arange(len(done))
        games += len(done)
        decisions += len(choice)
        if decisions == 0 and games > _GAMES * _MAX_GAMES_WITHOUT_CHOICE:
            raise ValueError(f"{settings.game}: {games - _GAMES:,} games without a choice")
    number, seat, contexts, gradients, row = map(np.concatenate, zip(*rows, strict=True))
    if settings.plies is None:
        weight = np.float32(settings.score_margin_weight)
        results = np.full((games, vec.num_players), np.nan, np.float32)
        for ends in finished:
            results[ends.games] = ends.payoffs + weight * ends.margins
        result = results[number, seat]
    else:
        ply = np.repeat(np.arange(len(rows)), [len(part[0]) for part in rows])
        before = np.array(margins)
        later = _margins_later(before, finished, games, ply + settings.plies, row, number)
        result = (later - before[ply, row])[np.arange(len(seat)), seat]
    known = ~np.isnan(result)
    return Played(number[known], contexts[known], gradients[known], result[known])


class _Ends(NamedTuple):
    """The games that end at a ply: numbers [E], and payoffs and margins float32[E, P]."""

    games: NDArray[np.int64]
    payoffs: NDArray[np.float32]
    margins: NDArray[np.float32]


def _margins_of(vec: VecEnv) -> NDArray[np.float32]:
    """Returns the score margins of all games as they stand, [N, P]."""
    payoffs = np.zeros((vec.num_envs, vec.num_players), np.float32)
    margins = np.zeros_like(payoffs)
    kernels(vec.game).outcome(vec.states, payoffs, margins)
    return margins


def _margins_later(
    margins: NDArray[np.float32],
    finished: Sequence[_Ends],
    games: int,
    plies: NDArray[np.int64],
    rows: NDArray[np.int64],
    numbers: NDArray[np.int64],
) -> NDArray[np.float32]:
    """Returns the margins [D, P] of games before later plies, or at their ends.

    Args:
        margins: The margins before every ply, [plies, rows, P].
        finished: The games that end at each ply.
        games: The number of games.
        plies: The later plies, int64[D].
        rows: The rows of the games.
        numbers: The numbers of the games.

    Returns:
        float32[D, P]; NaN where neither has been played.
    """
    last = np.full(games, np.iinfo(np.int64).max)
    at_end = np.empty((games, margins.shape[2]), np.float32)
    for ply, ends in enumerate(finished):
        last[ends.games] = ply
        at_end[ends.games] = ends.margins
    later = margins[np.minimum(plies, len(margins) - 1), rows]
    later[plies >= len(margins)] = np.nan
    over = last[numbers] < plies
    later[over] = at_end[numbers[over]]
    return later


def natural_gradient(
    settings: ImproveSettings, played: Played, number: int
) -> tuple[NDArray[np.float32], Step]:
    """Returns the direction float32[K, 1 + C] in which results grow fastest, and the step.

    Raises:
        ValueError: No result is known.
    """
    if not len(played.game):
        raise ValueError(f"decisions: in {settings.decisions} no result is known: play more")
    spec = action_spec(get_game(settings.game, settings.options))
    columns = action_indices(spec)
    factors = context_factors(spec, played.context)
    surplus = _above_baseline(played.result, factors)
    scale = played.gradient[:, columns].std(0, dtype=np.float32)
    scale[scale < _MIN_DEVIATION] = np.inf
    size = len(columns) * factors.shape[1]

    def inputs(rows: NDArray[np.int64]) -> NDArray[np.float32]:
        gradient = played.gradient[rows][:, columns] / scale
        products: NDArray[np.float32] = gradient[:, :, None] * factors[rows, None, :]
        return products.reshape(len(rows), size)

    squares = np.zeros((2, size, size))
    products = np.zeros((2, size))
    halves = [np.flatnonzero(played.game % 2 == half) for half in range(2)]
    for half, rows in enumerate(halves):
        for chunk in _chunks(rows):
            chunk_inputs = inputs(chunk)
            squares[half] += chunk_inputs.T @ chunk_inputs
            products[half] += chunk_inputs.T @ surplus[chunk]
    tested = _ridge(squares[0], products[0], len(halves[0]))
    predicted = np.concatenate([inputs(chunk) @ tested for chunk in _chunks(halves[1])])
    unit = max(float(predicted.std()), 1e-12)
    held_out = normal_mean(predicted / unit * surplus[halves[1]])
    direction = _ridge(squares.sum(0), products.sum(0), len(played.game))
    deviation = float(np.sqrt(direction @ squares.sum(0) @ direction / len(played.game)))
    step = Step(number, len(np.unique(played.game)), len(played.game), deviation, held_out)
    return unscaled(spec, direction, scale), step


def _above_baseline(
    result: NDArray[np.float32], factors: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Subtracts from results [N] their regression on the context, which no action can change."""
    features = np.concatenate([factors, factors[:, 1:] ** 2], 1).astype(np.float64)
    square = features.T @ features + 1e-3 * np.eye(features.shape[1])
    return np.asarray(result - features @ np.linalg.solve(square, features.T @ result))


def _ridge(
    square: NDArray[np.float64], product: NDArray[np.float64], count: int
) -> NDArray[np.float64]:
    """Returns the weights [D] of a ridge regression of `count` rows."""
    penalty = _PENALTY * count * np.eye(len(square))
    return np.asarray(np.linalg.solve(square + penalty, product))


def _chunks(rows: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    return (rows[first : first + _CHUNK] for first in range(0, max(len(rows), 1), _CHUNK))


def _write(path: Path, settings: ImproveSettings, weights: list[NDArray[np.float32]]) -> None:
    file = BytesIO()
    about = np.array(json.dumps({"format": FORMAT, "settings": vars(settings)}))
    np.savez(file, allow_pickle=False, about=about, weights=np.array(weights))
    write_atomically(path, file.getvalue())


def _read(path: Path, settings: ImproveSettings) -> list[NDArray[np.float32]]:
    """Returns the weights before the first step and after every finished one."""
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            weights = file["weights"]
        found_settings = about["settings"]
        if about["format"] != FORMAT or weights.ndim != 3 or not np.isfinite(weights).all():
            raise ValueError("its format or its weights are wrong")  # noqa: TRY301
    except Exception as error:  # zipfile, zlib and NumPy raise many kinds
        raise ValueError(f"{path}: not a run of `linkzoo linear improve` ({error})") from error
    if found_settings != json.loads(json.dumps(vars(settings))):
        raise ValueError(f"{path} has other settings: {found_settings}")
    return [np.asarray(array, np.float32) for array in weights]
