"""Fields of configurations that had other names once, and what they are now."""

from collections.abc import Mapping
from typing import Any

RENAMED = {
    "start": "initial_checkpoint",
    "midgame": "initial_states.midgame",
    "midgame_final": "initial_states.midgame=[FIRST, LAST]",
    "midgame_depth": "initial_states.depth",
    "vary": "initial_states.vary",
    "vary_share": "initial_states.vary_share",
    "eval_every": "eval.every",
    "eval_opponents": "eval.opponents",
    "eval_blocks": "eval.blocks",
    "final_opponents": "eval.final_opponents",
    "final_blocks": "eval.final_blocks",
    "learning_rate_final": "learning_rate=[FIRST, LAST]",
    "entropy_final": "entropy=[FIRST, LAST]",
    "magnet": "kl_coef",
    "margin_weight": "score_margin_weight",
    "margin_final": "score_margin_weight=[FIRST, LAST]",
    "pool_share": "pool.share",
    "pool_size": "pool.size",
    "pool_active": "pool.active",
    "snapshot_every": "pool.snapshot_every",
    "rivals": "pool.fixed_opponents",
    "teacher_share": "teacher.share",
    "teacher_rate": "teacher.learning_rate",
    "teacher_weight": "teacher.weight",
    "teacher_final": "teacher.weight=[FIRST, LAST]",
    "forecast_weight": "always 0.2",
    "value_weight": "always 0.5 (PPO) or 1 (AlphaZero)",
    "max_grad_norm": "always 0.5 (PPO) or 1 (AlphaZero)",
    "discount": "always 1",
}


def check_fields(data: Any) -> None:
    """ValueError for fields of a configuration that have other names now, with those names."""
    if not isinstance(data, Mapping):
        return
    old = [f"{name} is {RENAMED[name]} now" for name in data if name in RENAMED]
    if isinstance(data.get("teacher"), str):
        old.append("teacher is teacher.agent now")
    if old:
        raise ValueError("; ".join(old))
