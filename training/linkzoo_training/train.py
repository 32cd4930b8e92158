"""A training run from a configuration to a checkpoint, with any trainer."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from rich.console import Console

from linkzoo import get_game
from linkzoo.core.files import PART
from linkzoo_training.algorithms import distributed
from linkzoo_training.algorithms.alphazero import AlphaZeroTrainer
from linkzoo_training.algorithms.logger import Logger, plot_curve
from linkzoo_training.algorithms.ppo import PPOTrainer
from linkzoo_training.algorithms.trainer import STATE_FILE, Trainer
from linkzoo_training.config import AnyConfig, PPOConfig
from linkzoo_training.evaluation.openings import RANDOM
from linkzoo_training.evaluation.result import MatchResult
from linkzoo_training.evaluation.tables import match_table
from linkzoo_training.runtime import StopSignal, alone_in
from linkzoo_training.selfplay.executors import Executor

EVAL_SEED = 10_000_019  # of the short matches: no game of training, nor of a published evaluation


def make_trainer(config: AnyConfig, executor: Executor | None = None) -> Trainer:
    """The trainer of the configuration's algorithm; without an executor it plays itself."""
    if isinstance(config, PPOConfig):
        return PPOTrainer(config, executor)
    return AlphaZeroTrainer(config, executor)


def train(
    config: AnyConfig,
    *,
    folder: Path | None = None,
    resume: bool = False,
    executor: Executor | None = None,
    stop: StopSignal | None = None,
) -> Path:
    """Trains by a configuration into `folder` (default `runs/<name>`) and returns the folder.

    Ctrl-C (or a TERM signal) saves after the current iteration; `resume` continues from there, and
    `stop` tells the caller. At the end of the budget the result is evaluated and written to
    `<folder>/checkpoint`. The games are played by the workers of `executor`, if there is one;
    started by torchrun, several processes train one policy, and the first reports and writes.
    ValueError if another run uses the folder, or if what lies there can't be resumed; then it stays
    as it was.
    """
    folder = Path("runs") / config.name if folder is None else folder
    with distributed.joined(), own_folder(folder):
        trainer = learn(config, folder, resume=resume, executor=executor, stop=stop)
        if trainer is not None and distributed.rank() == 0:
            _finish(trainer, config, folder)
    return folder


def own_folder(folder: Path) -> AbstractContextManager[None]:
    """Holds a run's folder for all processes of the run; ValueError if another run does."""
    return alone_in(folder) if distributed.rank() == 0 else nullcontext()


def learn(
    config: AnyConfig,
    folder: Path,
    *,
    resume: bool,
    executor: Executor | None = None,
    stop: StopSignal | None = None,
) -> Trainer | None:
    """The training of `train`, and the learning curve; None if it was stopped, and saved."""
    saved = folder / STATE_FILE
    exists = distributed.from_first(saved.exists)
    if exists and not resume:
        raise ValueError(
            f"{saved} exists: continue with --resume, or choose another name or folder"
        )
    trainer = make_trainer(config, executor)
    if exists:
        trainer.load(folder)
    title, stop = f"{config.name}: {config.algorithm}, {config.game}", stop or StopSignal()
    logger = Logger(folder, title, trainer.iteration) if distributed.rank() == 0 else None
    for left in folder.glob(f"*{PART}") if logger is not None else ():
        left.unlink()  # of a process that was killed while it wrote
    with logger or nullcontext(), stop:
        while not distributed.anywhere(trainer.finished or stop.asked):
            metrics: dict[str, Any] = trainer.iterate()
            if logger is not None:
                if trainer.iteration % config.eval.every == 0 or trainer.finished:
                    results = trainer.evaluate(
                        config.eval.opponents, config.eval.blocks, EVAL_SEED, openings=RANDOM
                    )
                    for result in results:
                        metrics |= _win_rates(result)
                logger.log(metrics, trainer.progress, trainer.eta)
            if trainer.iteration % config.save_every == 0:
                trainer.save(folder)
        trainer.save(folder)
        stopped = distributed.anywhere(stop.asked)
    if logger is not None:
        plot_curve(logger.rows(), folder / "curve.png", config.name)
        if stopped:
            Console().print(
                f"stopped and saved in {folder}: continue with the same command and --resume"
            )
        elif trainer.progress < 1:
            Console().print(
                f"stopped by max_seconds after {trainer.steps:,} of {config.total_steps:,} steps: "
                "the schedules didn't end; continue with --resume and a larger max_seconds",
                highlight=False,
            )
    return None if stopped else trainer


def _finish(trainer: Trainer, config: AnyConfig, folder: Path) -> None:
    """Evaluates the trained policy, publishes it, and says where everything is."""
    with Console().status("evaluating the trained policy"):
        results = trainer.evaluate(
            config.eval.final_opponents,
            config.eval.final_blocks,
            EVAL_SEED + 1,
            views=config.views,
            temperature=config.temperature,
        )
    trainer.publish(folder / "checkpoint", [result.for_card() for result in results])
    for result in results:
        Console().print(match_table(result))
    tell_files(folder)


def tell_files(folder: Path) -> None:
    """Says what a finished run has written."""
    for name, what in (
        ("checkpoint", "the policy: weights and card"),
        ("curve.png", "the learning curve"),
        ("metrics.jsonl", "metrics of every iteration"),
        ("tensorboard", "the same for TensorBoard"),
        (STATE_FILE, "everything that --resume needs"),
    ):
        Console().print(f"{folder / name}  [dim]{what}", highlight=False, soft_wrap=True)


def _win_rates(result: MatchResult) -> dict[str, float]:
    """A short match as metrics: by role, or for a game without roles by number of players."""
    roles, opponent = get_game(result.game).seat_names, result.agents[1]
    if roles:
        pairs = zip(roles, result.side_scores, strict=True)
        return {f"win/{role} v {opponent}": share for role, share in pairs}
    return {f"win/{result.num_players} players v {opponent}": result.win_share().mean}
