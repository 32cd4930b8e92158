"""Training runs, from a configuration to a checkpoint, with any trainer."""

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
from linkzoo_training.config.config import AnyConfig, PPOConfig
from linkzoo_training.evaluation.openings import RANDOM
from linkzoo_training.evaluation.report import match_table
from linkzoo_training.evaluation.result import MatchResult
from linkzoo_training.runtime import StopSignal, alone_in
from linkzoo_training.selfplay.executors import Executor

EVAL_SEED = 10_000_019  # for short matches: disjoint from training and published evaluations


def make_trainer(config: AnyConfig, executor: Executor | None = None) -> Trainer:
    """Creates the configuration's trainer; without an executor it plays in this process."""
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
    """Trains a policy, evaluates it at the end of the budget and writes `<folder>/checkpoint`.

    Ctrl-C or a TERM signal stops after the current iteration and saves. Under torchrun, several
    processes train one policy, and the first one reports and writes.

    Args:
        config: The configuration.
        folder: Output folder; None: `runs/<name>`.
        resume: Whether to continue a run that was stopped.
        executor: Runs the workers that play; None: the trainer plays itself.
        stop: Stops the run with its state saved, and tells the caller.

    Returns:
        The output folder.

    Raises:
        ValueError: Another run uses the folder, or its state can't be resumed; it stays unchanged.
    """
    folder = Path("runs") / config.name if folder is None else folder
    with distributed.joined(), own_folder(folder):
        trainer = learn(config, folder, resume=resume, executor=executor, stop=stop)
        if trainer is not None and distributed.rank() == 0:
            _finish(trainer, config, folder)
    return folder


def own_folder(folder: Path) -> AbstractContextManager[None]:
    """Locks a run's folder for all its processes; raises ValueError if another run holds it."""
    return alone_in(folder) if distributed.rank() == 0 else nullcontext()


def learn(
    config: AnyConfig,
    folder: Path,
    *,
    resume: bool,
    executor: Executor | None = None,
    stop: StopSignal | None = None,
) -> Trainer | None:
    """Trains as `train` does and plots the learning curve; returns None if stopped (and saved)."""
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
        left.unlink()  # left by a process that was killed while writing
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
    """Evaluates and publishes the trained policy, and lists the files of the run."""
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
    """Lists the files of a finished run."""
    for name, what in (
        ("checkpoint", "the policy: weights and card"),
        ("curve.png", "the learning curve"),
        ("metrics.jsonl", "metrics of every iteration"),
        ("tensorboard", "the same for TensorBoard"),
        (STATE_FILE, "everything that --resume needs"),
    ):
        Console().print(f"{folder / name}  [dim]{what}", highlight=False, soft_wrap=True)


def _win_rates(result: MatchResult) -> dict[str, float]:
    """Returns win rates of a short match, per role; without roles, per number of players."""
    roles, opponent = get_game(result.game).facts.seat_names, result.agents[1]
    if roles:
        pairs = zip(roles, result.side_scores, strict=True)
        return {f"win/{role} v {opponent}": share for role, share in pairs}
    return {f"win/{result.num_players} players v {opponent}": result.win_share().mean}
