"""OpenSpiel's alpha_zero in the race, with the settings of its example.

Its model, search, games and replay buffer take turns in this process, where OpenSpiel's own loop
has a process for each of them; a core can't do more.
The seed is that of the first weights: its search draws from generators of its own.
"""

from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pyspiel
from lab.race.games import Boards
from lab.race.judge import Runner
from numpy.typing import NDArray
from open_spiel.python.algorithms.alpha_zero import alpha_zero, evaluator, model_nnx, utils
from open_spiel.python.algorithms.alpha_zero.replay_buffer import Buffer

_BUFFER, _REUSE, _BATCH, _DROP = 2**13, 4, 2**7, 2
_SEARCH = SimpleNamespace(
    uct_c=1.41, max_simulations=40, policy_epsilon=0.25, policy_alpha=1.0, verbose=False
)


def _quiet(*_: Any) -> None:
    pass


def main() -> None:
    runner = Runner()
    rules = pyspiel.load_game(runner.game.open_spiel)
    shape, actions = rules.observation_tensor_shape(), rules.num_distinct_actions()
    model = model_nnx.Model.build_model(
        "resnet", shape, actions, 2**8, 2, 1e-4, 1e-3, None, seed=runner.seed
    )
    evaluate, buffer = evaluator.AlphaZeroEvaluator(rules, model), Buffer(_BUFFER)
    bots = [alpha_zero._init_bot(_SEARCH, rules, evaluate, False) for _ in range(2)]
    log, plies, new, going = SimpleNamespace(print=_quiet, opt_print=_quiet), 0, 0, True
    legal = np.ones(runner.game.num_actions, bool)

    def policy(boards: Boards) -> NDArray[Any]:
        own, other = boards[:, 0], boards[:, 1]
        first = own.sum((1, 2)) == other.sum((1, 2))  # to move is who began
        begun = np.where(first[:, None, None], own, other)
        planes = np.stack([begun, own + other - begun, 1 - own - other], 1)
        return np.asarray(jax.vmap(lambda seen: model.inference(seen, legal)[1])(planes))

    while going:
        played = alpha_zero._play_game(log, 0, rules, bots, 1.0, _DROP)
        for state in played.states:
            sample = utils.TrainInput(
                observation=jnp.asarray(state.observation, jnp.float32),
                legals_mask=jnp.asarray(state.legals_mask, bool),
                policy=jnp.asarray(state.policy, jnp.float32),
                value=jnp.asarray(played.returns[0], jnp.float32),
            )
            buffer.append(sample)
        plies, new = plies + len(played.states), new + len(played.states)
        if new >= _BUFFER // _REUSE:
            for _ in range(len(buffer) // _BATCH):
                model.update(buffer.sample(_BATCH))
            evaluate.clear_cache()
            new = 0
        going = runner.goes_on(policy, plies)
    runner.finish(policy, plies)


if __name__ == "__main__":
    main()
