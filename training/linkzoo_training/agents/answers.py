"""What agents answer is checked, whoever wrote them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def checked(
    who: str, actions: NDArray[Any], states: NDArray[Any], masks: NDArray[np.int8]
) -> NDArray[np.int64]:
    """The answers of an agent, int64[N]; ValueError unless they are N legal actions."""
    if actions.shape != (len(states),) or actions.dtype.kind not in "iu":
        raise ValueError(
            f"{who} gave {actions.dtype}{list(actions.shape)} for {len(states)} positions, not "
            "that many integers"
        )
    there = (actions >= 0) & (actions < masks.shape[1])
    legal = masks[np.arange(len(states)), np.where(there, actions, 0)] != 0
    wrong = np.flatnonzero(~(there & legal))
    if len(wrong):
        state = states[wrong[0]]
        raise ValueError(
            f"{who} played the illegal action {actions[wrong[0]]} as seat {state['seat']} at ply "
            f"{state['ply']}"
        )
    return actions.astype(np.int64)
