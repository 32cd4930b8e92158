"""A callback that keeps the policy every 10 iterations, in the last quarter of the run."""

from collections.abc import Mapping

from linkzoo_training.callbacks import Callback, Run


class Snapshots(Callback):
    """Writes checkpoints to the folder `snapshots` of the run."""

    def on_iteration(self, run: Run, metrics: Mapping[str, float]) -> None:
        """Called after each iteration."""
        if run.progress >= 0.75 and run.iteration % 10 == 0:
            run.save_checkpoint(run.folder / "snapshots" / f"{run.iteration:05}")
