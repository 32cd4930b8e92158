"""`linkzoo experiment sweep`: runs over combinations of values."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from linkzoo.core.installing import install_command
from linkzoo_training.commands import common

if TYPE_CHECKING:
    from rich.table import Table

    from linkzoo_training.sweep import SweepRun

HELP = "train one run per combination of values"


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("config", metavar="CONFIG", help="YAML file, name of a preset, or a game")
    text = (
        "fields of the configuration with their values, such as learning_rate=1e-3,3e-4 seed=1..3"
    )
    add("settings", metavar="FIELD=VALUES", nargs="*", help=text)
    text = "folder of the runs' folders; unfinished runs are continued (default: runs/NAME_sweep)"
    add("--folder", type=common.continued_folder, metavar="FOLDER", help=text)
    text = "on Ray: stop weak runs early (asha), or copy strong ones (pbt) (default: neither)"
    add("--scheduler", choices=("asha", "pbt"), help=text)
    text = "on Ray: GPUs per run (default: %(default)s)"
    add("--gpus", type=common.number(0, 1024, float), default=0.0, metavar="N", help=text)
    common.add_executor(parser, "runs")


def run(args: Namespace) -> int:
    """Trains the missing runs and prints the final matches of all; returns 1 if some failed."""
    from rich.console import Console

    from linkzoo_training.sweep import LOG, run_sweep, sweep_runs

    on_ray = args.executor == "ray"
    if (args.scheduler or args.gpus) and not on_ray:
        raise ValueError("--scheduler and --gpus: need --executor ray")
    runs = sweep_runs(args.config, args.settings, args.folder)
    console = Console(highlight=False, soft_wrap=True, markup=False)
    home = runs[0].folder.parent
    console.print(f"{len(runs)} runs in {home}")
    if args.executor != "local":
        console.print(f"their output is in {home}/RUN/{LOG}")

    def show(run: "SweepRun", failure: str, done: int) -> None:
        outcome = failure or "finished"
        if not failure and not _is_published(run):
            outcome = "stopped early"
        console.print(f"{done}/{len(runs)} {run.label}: {outcome}")

    if on_ray:
        failed = _tune(runs, args, show)
    else:
        with common.make_executor(args) as executor:
            failed = run_sweep(runs, executor, show)
    succeeded = [run for run in runs if run.label not in failed]
    console.print(_table([run for run in succeeded if _is_published(run)]))
    console.print(f"linkzoo experiment plot '{home}/*'")
    return int(bool(failed))


def _is_published(run: "SweepRun") -> bool:
    """Returns whether a run has a checkpoint: Tune may have stopped it early."""
    return (run.folder / "checkpoint").exists()


def _tune(
    runs: "Sequence[SweepRun]", args: Namespace, show: "Callable[[SweepRun, str, int], None]"
) -> dict[str, str]:
    """Trains runs on Ray Tune; returns the errors of failed runs, by label."""
    try:
        from linkzoo_training.tuning import tune_sweep
    except ImportError as error:
        raise ValueError(
            f"--executor ray: sweeps need Ray Tune: {install_command('tune')}"
        ) from error
    return tune_sweep(
        runs,
        args.settings,
        workers=args.workers,
        scheduler=args.scheduler,
        gpus=args.gpus,
        progress=show,
    )


def _table(runs: "Sequence[SweepRun]") -> "Table":
    """Returns the final matches of runs, for the terminal."""
    from linkzoo_training.checkpoints.checkpoint import load_card
    from linkzoo_training.evaluation.openings import describe_openings
    from linkzoo_training.evaluation.report import make_table
    from linkzoo_training.evaluation.statistics import Estimate

    rows = []
    for run in runs:
        card = load_card(run.folder / "checkpoint")
        for match in card["strength"]:
            share = Estimate(**match["win_share"]).percent()
            opponent = f"{match['agents'][1]}, {match['num_players']} players"
            opponent += f" {describe_openings(match['openings'])}"
            rows.append((run.label, f"{card['trained']['seconds']:,.0f}", opponent, share))
    columns = ("run", "seconds", "against", "share in %")
    return make_table("final matches", columns, rows, total=False)
