"""Training runs, from a configuration to a checkpoint, with any trainer."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
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
from linkzoo_training.algorithms.trainer import Trainer
from linkzoo_training.callbacks import Callback, Callbacks, Run
from linkzoo_training.checkpoints.checkpoint import meta_of, read_meta
from linkzoo_training.config.config import AnyConfig, PPOConfig
from linkzoo_training.config.standard import UNLIMITED_STEPS
from linkzoo_training.evaluation.openings import read_openings
from linkzoo_training.evaluation.report import match_table
from linkzoo_training.evaluation.result import MatchResult
from linkzoo_training.networks.settings import training_settings
from linkzoo_training.resources import STATE_FILE
from linkzoo_training.runtime import StopSignal, alone_in, find_device
from linkzoo_training.selfplay.executors import Executor
from linkzoo_training.storage import Storage

__all__ = ["train"]

_POLL = 0.2  # seconds between looks for a signal while workers play
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
    callbacks: Sequence[Callback] = (),
    storage: str | None = None,
) -> Path:
    """Trains a policy, evaluates it at the end of the budget and writes `<folder>/checkpoint`.

    Ctrl-C or a TERM signal stops after the current iteration and saves. Under torchrun, several
    processes train one policy, and the first one reports and writes. Torch's settings, its
    generators and the numbers of threads are restored.

    Args:
        config: The configuration.
        folder: Output folder; None: `runs/<name>`.
        resume: Whether to continue a run that was stopped. Prints which fields of the configuration
            have changed, and whether the weights depend on it.
        executor: Runs the workers that play, matches too; None: the trainer plays itself.
        stop: Stops the run with its state saved, and tells the caller.
        callbacks: Called at the start, after iterations and evaluations, and at the end.
        storage: URL under which a copy of the folder is kept, such as `s3://bucket/runs` (fsspec);
            a resumed run begins with it if it is newer than the folder.

    Returns:
        The output folder.

    Raises:
        ValueError: A callback is none, another run uses the folder, or its state can't be resumed;
            it stays unchanged.
        OSError: The storage can't be reached.
    """
    if folder is None:
        folder = Path("runs") / config.name
    with (
        training_settings(find_device(config.device)),
        distributed.joined(),
        alone_in(folder) if distributed.rank() == 0 else nullcontext(),
        _stored(storage, folder) as store,
        Callbacks(callbacks) as called,
    ):
        trainer = learn(
            config,
            folder,
            resume=resume,
            executor=executor,
            stop=stop,
            callbacks=called,
            storage=store,
        )
        if trainer is not None and distributed.rank() == 0:
            with Console().status("evaluating the trained policy"):
                agent = trainer.agent(config.views, config.temperature)
                results = trainer.evaluate(
                    agent,
                    config.eval.final_opponents,
                    config.eval.final_blocks,
                    seed=EVAL_SEED + 1,
                    openings=config.eval.openings,
                )
            called.evaluation(results)
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
    callbacks: Callbacks | None = None,
    storage: Storage | None = None,
) -> Trainer | None:
    """Trains as `train` does and plots the learning curve; returns None if stopped and saved."""
    path = folder / STATE_FILE
    send = _fetched(storage, path, resume=boolean("resume", resume))
    exists = distributed.broadcast(path.exists)
    if not resume and exists:
        raise ValueError(f"{path} exists: continue with --resume, or choose another name or folder")
    if not exists and distributed.broadcast((folder / "checkpoint").exists):
        raise ValueError(
            f"{folder / 'checkpoint'} exists, without the state of its run: choose another name or "
            "folder"
        )
    _check_opponents(config)
    trainer = make_trainer(config, executor)
    if exists:
        changes = trainer.load(folder)
        if changes and distributed.rank() == 0:
            text = describe(changes, config)
            Console(soft_wrap=True, highlight=False, markup=False).print(text)
    else:
        trainer.begin(folder)
    stop = stop or StopSignal()
    callbacks = callbacks or Callbacks()
    run = Run(trainer, folder)
    logger = _make_logger(config, folder, trainer.iteration)
    with logger or nullcontext(), stop:
        if logger is not None:
            callbacks.start(run)
        while _goes_on(run, trainer, stop, logger):
            metrics: dict[str, Any] = trainer.iterate()
            if logger is not None:
                if trainer.iteration % config.eval.every == 0 or trainer.finished:
                    metrics |= _short_matches(trainer, callbacks, stop)
                logger.log(metrics, trainer.progress, trainer.eta, trainer.workers)
                callbacks.iteration(metrics)
            if distributed.any_rank(trainer.iteration % config.save_every == 0 or run.saving):
                trainer.save(folder, wait=run.saving, saved=send)
                run.saving = False
        trainer.save(folder, saved=send)
        stopped = distributed.any_rank(stop.exit_code != 0)
    if logger is not None:
        _report_end(trainer, folder, stopped)
    if stopped:
        return None
    return trainer


def _stored(storage: str | None, folder: Path) -> AbstractContextManager[Storage | None]:
    """Returns the stored copy of a folder, on the first rank; None without one."""
    if storage is None or distributed.rank() > 0:
        return nullcontext()
    return Storage(f"{storage.rstrip('/')}/{folder.resolve().name}", folder)


def _fetched(storage: Storage | None, path: Path, *, resume: bool) -> Callable[[], object]:
    """Fetches the stored run if it is newer than the folder; returns the function that sends it.

    Raises:
        ValueError: There is a stored run, and none is to be resumed.
    """
    if storage is None:
        return lambda: None
    if (file := storage.open_stored(STATE_FILE)) is not None:
        with file:
            stored = meta_of(file, storage.url)
        if not resume:
            raise ValueError(
                f"{storage.url} has a run: continue with --resume, or choose another name or folder"
            )
        if not path.exists() or read_meta(path)["iteration"] < stored["iteration"]:
            storage.fetch()
    return storage.send


def _goes_on(run: Run, trainer: Trainer, stop: StopSignal, logger: Logger | None) -> bool:
    """Waits for the games of all ranks' workers; returns False at the end or if stopped."""
    if distributed.any_rank(trainer.finished or run.stopping):
        return False
    trainer.begin_games()
    while not distributed.any_rank(stop.exit_code != 0):
        if distributed.all_ranks(trainer.games_ready(_POLL)):
            return True
        if logger is not None:
            logger.wait(trainer.workers)
    return False


def _make_logger(config: AnyConfig, folder: Path, iteration: int) -> Logger | None:
    """Returns the logger of the first rank, None on others; deletes unfinished files first."""
    if distributed.rank() > 0:
        return None
    logger = Logger(folder, f"{config.name}: {config.algorithm}, {config.game}", iteration)
    for part in folder.glob(f"*{PART}"):
        part.unlink()  # of a process that was killed while writing
    return logger


def _short_matches(trainer: Trainer, callbacks: Callbacks, stop: StopSignal) -> dict[str, float]:
    """Plays the matches of an evaluation during training; returns their win rates.

    A signal ends them, without results.
    """
    config = trainer.config.eval
    results: list[MatchResult] = []
    if stop.exit_code:
        return {}
    with stop.ending():
        results = trainer.evaluate(
            trainer.agent(),
            config.opponents,
            config.blocks,
            seed=EVAL_SEED,
            openings=config.openings,
        )
    if not results:
        return {}
    callbacks.evaluation(results)
    return {name: share for result in results for name, share in _win_rates(result).items()}


def _report_end(trainer: Trainer, folder: Path, stopped: bool) -> None:
    """Plots the learning curve of a run that wasn't stopped, and says why it ended early."""
    if stopped:
        text = f"stopped and saved in {folder}: the same command continues, `train` with --resume"
        Console().print(text)
        return
    plot_curve(read_metrics(folder), folder / "curve.png", trainer.config.name)
    if trainer.steps >= trainer.config.total_steps:
        return
    cause = "a callback"
    advice = "the schedules didn't end; continue with --resume"
    if trainer.finished:
        cause = "max_seconds"
        advice = "the schedules ended with it; continue with --resume and more time"
    steps = f"{trainer.steps:,}"
    if trainer.config.total_steps < UNLIMITED_STEPS:
        steps += f" of {trainer.config.total_steps:,}"
    text = f"stopped by {cause} after {steps} steps: {advice}"
    Console().print(text, highlight=False)


def _check_opponents(config: AnyConfig) -> None:
    """Raises ValueError unless all agents and openings of the matches are fine: before training."""
    for opponent in (*config.eval.opponents, *config.eval.final_opponents):
        make_agent(opponent, config.game, config.options)
    game = get_game(config.game, config.options)
    blocks = max(config.eval.blocks, config.eval.final_blocks)
    for players in config.players:
        blanks = [game.blank(players, config.options)]
        read_openings(config.eval.openings, game, blanks, blocks)


def tell_files(folder: Path) -> None:
    """Lists the files of a finished run."""
    for name, content in (
        ("checkpoint", "the policy: weights and card"),
        ("curve.png", "the learning curve"),
        ("metrics.jsonl", "metrics of every iteration"),
        ("tensorboard", "the same for TensorBoard"),
        (STATE_FILE, "everything that --resume needs"),
    ):
        Console().print(f"{folder / name}  [dim]{content}", highlight=False, soft_wrap=True)


def _win_rates(result: MatchResult) -> dict[str, float]:
    """Returns win rates of a short match, per role; without roles, per number of players."""
    roles = get_game(result.game).facts.seat_names
    opponent = result.agents[1]
    if roles:
        pairs = zip(roles, result.side_scores, strict=True)
        return {f"win/{role} v {opponent}": share for role, share in pairs}
    return {f"win/{result.num_players} players v {opponent}": result.win_share().mean}
