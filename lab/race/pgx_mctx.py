"""pgx and mctx in the race: Gumbel AlphaZero as in pgx's example.

The first word of the variant says how games begin. `example` is a pair of self-play and learning
like pgx's example: 32 simulations, games to their end, every position learned once. `starts` begins
games after 0 to 16 random plies. The second word names the network: `flat` is as wide and deep as
our flat one, `board` as our board network, and `resnet` has the size of the network in pgx's
example (with LayerNorm instead of BatchNorm).
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import haiku as hk
import jax
import jax.numpy as jnp
import mctx
import numpy as np
import optax
import pgx
from lab.race.games import GAMES, Boards, hex_seats
from lab.race.judge import Runner
from numpy.typing import NDArray
from pgx import hex as pgx_hex
from pgx.experimental import auto_reset

_SIMULATIONS, _BATCH, _RATE = 32, 1024, 1e-3
_ITERATION = {"flat": (256, 64), "board": (64, 32), "resnet": (64, 32)}  # games and their plies
_RANDOM_PLIES = 16
_FLAT_WIDTH, _FLAT_BLOCKS = 256, 2
_CONVOLUTIONS = {"board": (32, 3), "resnet": (128, 6)}  # channels and residual blocks


class Hex(pgx_hex.Hex):  # type: ignore[misc]  # no types where it isn't installed
    """Hex of another size without a swap; pgx's begins with a board of 11x11, whatever its size."""

    def _init(self, key: Any) -> Any:
        state = super()._init(key)
        cells = self.size**2
        return state.replace(
            _x=state._x._replace(board=jnp.zeros(cells, jnp.int32)),
            legal_action_mask=jnp.arange(cells + 1) < cells,
        )

    def _step(self, state: Any, action: Any, key: Any) -> Any:
        state = super()._step(state, action, key)
        return state.replace(legal_action_mask=state.legal_action_mask.at[-1].set(False))


def _hex_observations(boards: Boards) -> NDArray[np.generic]:
    second_ply = boards.sum((1, 2, 3)) == 1  # pgx's plane for the swap
    told = np.stack([hex_seats(boards), second_ply], 1).astype(np.int8)
    planes = np.broadcast_to(told[:, :, None, None], boards.shape)
    return np.concatenate([boards, planes], 1).transpose(0, 2, 3, 1)


def _without_swap(logits: NDArray[Any]) -> NDArray[Any]:
    return logits[:, :-1]


def _connect_four_observations(boards: Boards) -> NDArray[np.generic]:
    return boards[:, :, ::-1].transpose(0, 2, 3, 1)  # the highest row first


class PgxGame(NamedTuple):
    """A game of pgx, and how it shows boards and numbers actions."""

    make: Callable[[], Any]
    observe: Callable[[Boards], NDArray[np.generic]]
    logits: Callable[[NDArray[Any]], NDArray[Any]]


PGX_GAMES = {
    "connect_four": PgxGame(
        lambda: pgx.make("connect_four"), _connect_four_observations, np.asarray
    ),
    "hex": PgxGame(lambda: Hex(size=GAMES["hex"].rows), _hex_observations, _without_swap),
}


def _flat(num_actions: int, observation: Any) -> Any:
    x = jax.nn.relu(hk.Linear(_FLAT_WIDTH)(observation.reshape(len(observation), -1)))
    for _ in range(_FLAT_BLOCKS):
        x = x + hk.Linear(_FLAT_WIDTH)(jax.nn.relu(hk.Linear(_FLAT_WIDTH)(x)))
    return _heads(num_actions, jax.nn.relu(x))


def _convolutions(channels: int, blocks: int, num_actions: int, observation: Any) -> Any:
    """Residual blocks of 3x3 convolutions, with LayerNorm: BatchNorm's averages would be state."""

    def normalised(x: Any) -> Any:
        return jax.nn.relu(hk.LayerNorm(-1, True, True)(x))

    x = hk.Conv2D(channels, 3)(observation)
    for _ in range(blocks):
        y = hk.Conv2D(channels, 3)(normalised(x))
        x = x + hk.Conv2D(channels, 3)(normalised(y))
    return _heads(num_actions, normalised(x).reshape(len(x), -1))


def _heads(num_actions: int, x: Any) -> Any:
    return hk.Linear(num_actions)(x), jnp.tanh(hk.Linear(1)(x)[:, 0])


def network(name: str, num_actions: int) -> Any:
    """Returns the transformed network of a name."""
    if name == "flat":
        forward = partial(_flat, num_actions)
    else:
        forward = partial(_convolutions, *_CONVOLUTIONS[name], num_actions)
    return hk.without_apply_rng(hk.transform(forward))


class Sample(NamedTuple):
    observation: Any
    policy: Any
    value: Any  # the outcome for the mover
    weight: Any  # of the value: 0 if the game isn't over
    learned: Any  # 0: a random ply


def _recurrent(env: Any, forward: Any, model: Any, _: Any, action: Any, state: Any) -> Any:
    mover = state.current_player
    state = jax.vmap(env.step)(state, action)
    logits, value = forward.apply(model, state.observation.astype(jnp.float32))
    logits = jnp.where(state.legal_action_mask, logits, jnp.finfo(logits.dtype).min)
    reward = state.rewards[jnp.arange(len(mover)), mover]
    ended = state.terminated
    output = mctx.RecurrentFnOutput(
        reward=reward,
        discount=jnp.where(ended, 0.0, -1.0),
        prior_logits=logits,
        value=jnp.where(ended, 0.0, value),
    )
    return output, state


def _ply(env: Any, forward: Any, starts: bool, games: int, model: Any, carry: Any, key: Any) -> Any:
    """Plays one ply; random plies at the start of a game are no samples."""
    state, begin = carry
    search, chance, again, renew = jax.random.split(key, 4)
    observation, mover = state.observation.astype(jnp.float32), state.current_player
    logits, value = forward.apply(model, observation)
    search_result = mctx.gumbel_muzero_policy(
        params=model,
        rng_key=search,
        root=mctx.RootFnOutput(prior_logits=logits, value=value, embedding=state),
        recurrent_fn=partial(_recurrent, env, forward),
        num_simulations=_SIMULATIONS,
        invalid_actions=~state.legal_action_mask,
        qtransform=mctx.qtransform_completed_by_mix_value,
        gumbel_scale=1.0,
    )
    uniform = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
    learned = state._step_count >= begin
    action = jnp.where(learned, search_result.action, jax.random.categorical(chance, uniform))
    state = jax.vmap(auto_reset(env.step, env.init))(state, action, jax.random.split(again, games))
    drawn = jax.random.randint(renew, (games,), 0, _RANDOM_PLIES + 1) * starts
    begin = jnp.where(state.terminated, drawn, begin)
    reward = state.rewards[jnp.arange(games), mover]
    discount = jnp.where(state.terminated, 0.0, -1.0)
    told = observation, search_result.action_weights, reward, discount, state.terminated, learned
    return (state, begin), told


def play(
    env: Any,
    forward: Any,
    starts: bool,
    games: int,
    plies: int,
    model: Any,
    carry: Any,
    key: Any,
) -> Any:
    """Plays some plies of every game; returns the carry and samples [plies * games]."""
    keys = jax.random.split(key, plies)
    carry, told = jax.lax.scan(partial(_ply, env, forward, starts, games, model), carry, keys)
    observation, policy, reward, discount, ended, learned = told

    def back(value: Any, ply: Any) -> Any:
        value = ply[0] + ply[1] * value
        return value, value

    _, value = jax.lax.scan(back, jnp.zeros(games), (reward, discount), reverse=True)
    weight = jnp.cumsum(ended[::-1], 0)[::-1] >= 1
    sample = Sample(observation, policy, value, weight, learned)
    return carry, jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), sample)


def _loss(forward: Any, model: Any, batch: Sample) -> Any:
    logits, value = forward.apply(model, batch.observation)
    policy_loss = optax.softmax_cross_entropy(logits, batch.policy) * batch.learned
    value_loss = optax.l2_loss(value, batch.value) * batch.weight * batch.learned
    return (policy_loss + value_loss).mean()


optimiser = optax.adam(_RATE)


def learn(forward: Any, model: Any, memory: Any, samples: Sample, key: Any) -> Any:
    """Takes a step on each batch of shuffled samples."""
    order = jax.random.permutation(key, len(samples.value)).reshape(-1, _BATCH)

    def step(carry: Any, rows: Any) -> Any:
        model, memory = carry
        loss = partial(_loss, forward)
        gradient = jax.grad(loss)(model, jax.tree.map(lambda x: x[rows], samples))
        change, memory = optimiser.update(gradient, memory)
        return (optax.apply_updates(model, change), memory), 0.0

    return jax.lax.scan(step, (model, memory), order)[0]


def main() -> None:
    runner = Runner()
    beginning, name = runner.variant.split()
    starts = beginning == "starts"
    game = PGX_GAMES[runner.game.name]
    env = game.make()
    forward = network(name, env.num_actions)
    games, plies_each = _ITERATION[name]
    key, first, second = jax.random.split(jax.random.PRNGKey(runner.seed), 3)
    state = jax.vmap(env.init)(jax.random.split(first, games))
    model = forward.init(second, state.observation.astype(jnp.float32))
    memory = optimiser.init(model)
    begin = jnp.arange(games) % (_RANDOM_PLIES + 1) * starts
    carry, plies, going = (state, begin), 0, True
    playing = jax.jit(partial(play, env, forward, starts, games, plies_each))
    learning = jax.jit(partial(learn, forward))
    apply = jax.jit(lambda model, seen: forward.apply(model, seen)[0])

    def policy(boards: Boards) -> NDArray[Any]:
        seen = game.observe(boards).astype(np.float32)
        size = 1 << (len(seen) - 1).bit_length()  # compiles for few sizes
        filled = np.concatenate([seen, np.zeros((size - len(seen), *seen.shape[1:]), np.float32)])
        return game.logits(np.asarray(apply(model, filled))[: len(seen)])

    while going:
        key, chance, order = jax.random.split(key, 3)
        carry, samples = playing(model, carry, chance)
        model, memory = learning(model, memory, samples, order)
        jax.block_until_ready(model)
        plies += games * plies_each
        going = runner.goes_on(policy, plies)
    runner.finish(policy, plies)


if __name__ == "__main__":
    main()
