"""Whole games between two players that score legal actions by features, as compiled code."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from linkzoo.core.features import FeatureMap, fill_features
from linkzoo.core.game import Game
from linkzoo.core.kernels import (
    count_legal,
    make_observe_actions,
    make_skip_forced_actions,
    nth_legal,
)
from linkzoo.core.state import Mask, Masks, Records, Seeds
from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import STREAM_ACTION, random_u64
from linkzoo.engine.threads import RowKernel
from linkzoo_training.arrays import Array, Float32s, Int64s
from linkzoo_training.networks.inputs import MAX_LISTED
from linkzoo_training.search.action import ActionWeights, forward_one, is_scorer
from linkzoo_training.search.gumbel_selection import sample_action
from linkzoo_training.search.linear import action_spec, choose_action


class Player(NamedTuple):
    """A player of duels.

    Attributes:
        net: An action network, or a linear scorer (`action.scorer_alone`).
        temperature: 0 plays the best action; otherwise a network's policy is sampled.
    """

    net: ActionWeights
    temperature: float


class _Table(NamedTuple):
    """Two players, and the map from their observations to features (`FeatureMap`)."""

    a: Player
    b: Player
    columns: Int64s
    levels: Int64s


class _Scratch(NamedTuple):
    """Buffers of one thread."""

    record: Records  # [1]
    observation: Array  # int16[1, size]
    features: Array  # int16[1, F]
    listed: Array  # int16[1, rows of actions], the end of the same memory
    logits: Float32s  # [A]
    values: Float32s  # [P]


def make_duels(game: Game) -> Callable[..., None]:
    """Returns the kernel that plays games to their ends."""
    spec = game.observation.spec
    size = spec.size
    first_listed = len(FeatureMap(spec))
    width = first_listed + MAX_LISTED * (1 + action_spec(game).size)
    num_actions = game.num_actions
    max_players = game.max_players
    legal_actions = game.rules.legal_actions
    apply = game.rules.apply
    observe = game.observation.observe
    observe_action = game.observation.observe_action
    assert observe_action is not None  # as the spec
    list_actions = make_observe_actions(observe_action, action_spec(game).size)
    skip_forced_actions = make_skip_forced_actions(game)
    choose = choose_action(game)

    @compiled
    def decide(
        state: Records,
        mask: Masks,
        table: _Table,
        index: int,
        seed: np.uint64,
        scratch: _Scratch,
    ) -> int:
        """Returns the action of player `index` in the first record."""
        logits = scratch.logits
        player = table.a
        if index == 1:
            player = table.b
        if is_scorer(player.net):
            return choose(state[0], mask[0], player.net.scorer, scratch.record, logits)
        observe(state[0], state[0].seat, scratch.observation[0])
        fill_features(0, 1, scratch.features, scratch.observation, table.columns, table.levels)
        list_actions(0, 1, state, scratch.record, mask, scratch.listed)
        forward_one(player.net, scratch.features[0], logits, scratch.values)
        if player.temperature > 0:
            decision_seed = random_u64(seed, STREAM_ACTION, state[0].ply, state[0].seat)
            bits = random_u64(decision_seed, STREAM_ACTION, 0) >> np.uint64(11)
            uniform = np.float64(bits) / 2.0**53
            return sample_action(logits, 1 / player.temperature, mask[0], uniform)
        return _best(logits, mask[0])

    @compiled
    def duels(
        first: int,
        last: int,
        states: Records,
        seeds: Seeds,
        players_of: Array,
        table: _Table,
        moves: Int64s,
    ) -> None:
        mask = np.empty((1, num_actions), np.int8)
        features = np.empty((1, width), np.int16)
        scratch = _Scratch(
            states[first : first + 1].copy(),
            np.empty((1, size), np.int16),
            features,
            features[:, first_listed:],
            np.empty(num_actions, np.float32),
            np.empty(max_players, np.float32),
        )
        for i in range(first, last):
            state = states[i : i + 1]
            legal_actions(state[0], mask[0])
            while state[0].seat >= 0:
                index = players_of[i, state[0].seat]
                moves[i, index] += 1
                if count_legal(mask[0]) == 1:
                    action = nth_legal(mask[0], 0)
                else:
                    action = decide(state, mask, table, index, seeds[i], scratch)
                apply(state[0], action)
                skip_forced_actions(state[0], mask[0])

    return duels


@compiled
def _best(logits: Float32s, mask: Mask) -> int:
    """Returns the first legal action with the highest logit."""
    best = -1
    for action in range(mask.shape[0]):
        if mask[action] and (best < 0 or logits[action] > logits[best]):
            best = action
    return best


@cache
def _duels(game: Game) -> tuple[RowKernel, FeatureMap]:
    return RowKernel(make_duels(game), 1), FeatureMap(game.observation.spec)


def play_duels(
    game: Game, states: Records, seeds: Seeds, players_of: Array, a: Player, b: Player
) -> Int64s:
    """Plays games between two players to their ends, in place.

    Games are those of `agents.playing.play_games` with agents that have these players, and with
    the seeds of decisions from `core.agent.decision_seeds`.

    Args:
        game: A game with action features.
        states: Records [N].
        seeds: The seed of each game, uint64[N].
        players_of: int64[N, P], 0 for the seats of player `a`, 1 for those of `b`.
        a: A player.
        b: The other player.

    Returns:
        The moves of each player in each game, int64[N, 2].
    """
    moves = np.zeros((len(states), 2), np.int64)
    kernel, features = _duels(game)
    table = _Table(a, b, features.columns, features.levels)
    kernel(states, seeds, players_of, table, moves)
    return moves
