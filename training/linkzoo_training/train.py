"""Training runs, from a configuration to a checkpoint, with any trainer."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

from rich.console import Console

from linkzoo import get_game
from linkzoo.core.arguments import boolean
from linkzoo.core.files import PART
from linkzoo_training.agents.make import make_agent
from linkzoo_training.algorithms import distributed
from linkzoo_training.algorithms.alphazero import AlphaZeroTrainer
from linkzoo_training.algorithms.logger import Logger, plot_curve, read_metrics
from linkzoo_training.algorithms.ppo import PPOTrainer
from linkzoo_training.algorithms.resume import describe
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
        resume: Whether to continue a run that was stopped. Prints which fields of the configuration
            have changed, and whether the weights depend on it.
        executor: Runs the workers that play; None: the trainer plays itself.
        stop: Stops the run with its state saved, and tells the caller.

    Returns:
        The output folder.

    Raises:
        ValueError: Another run uses the folder, or its state can't be resumed; it stays unchanged.
    """
    folder = Path("runs") / config.name if folder is None else folder
    with distributed.joined(), alone_in(folder) if distributed.rank() == 0 else nullcontext():
        trainer = learn(config, folder, resume=resume, executor=executor, stop=stop)
        if trainer is not None and distributed.rank() == 0:
            with Console().status("evaluating the trained policy"):
                agent = trainer.agent(config.views, config.temperature)
                opponents, blocks = config.eval.final_opponents, config.eval.final_blocks
                results = trainer.evaluate(agent, opponents, blocks, seed=EVAL_SEED + 1)
            trainer.publish(folder / "checkpoint", [result.for_card() for result in results])
            for result in results:
                Console().print(match_table(result))
            tell_files(folder)
    return folder


def learn(
    config: AnyConfig,
    folder: Path,
    *,
    resume: bool,
    executor: Executor | None = None,
    stop: StopSignal | None = None,
) -> Trainer | None:
    """Trains as `train` does and plots the learning curve; returns None if stopped (and saved)."""
    path = folder / STATE_FILE
    exists = distributed.broadcast(path.exists)
    if not boolean("resume", resume) and exists:
        raise ValueError(f"{path} exists: continue with --resume, or choose another name or folder")
    _check_opponents(config)
    trainer = make_trainer(config, executor)
    if exists:
        _resume(trainer, folder)
    title, stop = f"{config.name}: {config.algorithm}, {config.game}", stop or StopSignal()
    logger = Logger(folder, title, trainer.iteration) if distributed.rank() == 0 else None
    for left in folder.glob(f"*{PART}") if logger is not None else ():
        left.unlink()  # left by a process that was killed while writing
    with logger or nullcontext(), stop:
        while not distributed.any_rank(trainer.finished or stop.exit_code != 0):
            metrics: dict[str, Any] = trainer.iterate()
            if logger is not None:
                if trainer.iteration % config.eval.every == 0 or trainer.finished:
                    match: dict[str, Any] = {"seed": EVAL_SEED, "openings": RANDOM}
                    opponents, blocks = config.eval.opponents, config.eval.blocks
                    for result in trainer.evaluate(trainer.agent(), opponents, blocks, **match):
                        metrics |= _win_rates(result)
                logger.log(metrics, trainer.progress, trainer.eta)
            if trainer.iteration % config.save_every == 0:
                trainer.save(folder)
        trainer.save(folder)
        stopped = distributed.any_rank(stop.exit_code != 0)
    if logger is not None:
        plot_curve(read_metrics(folder), folder / "curve.png", config.name)
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


def _check_opponents(config: AnyConfig) -> None:
    """Raises ValueError unless all agents of the matches play this game: before training."""
    for opponent in (*config.eval.opponents, *config.eval.final_opponents):
        make_agent(opponent, config.game, config.options)


def _resume(trainer: Trainer, folder: Path) -> None:
    changes = trainer.load(folder)
    if changes and distributed.rank() == 0:
        Console(soft_wrap=True, highlight=False, markup=False).print(describe(changes))


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
