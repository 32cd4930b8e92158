"""Rollouts: advantages, actions, opponents, and first positions."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from linkzoo import Game, Positions, VecEnv, get_game, make_vec
from linkzoo.core.features import FeatureMap
from linkzoo.engine import threads
from linkzoo.engine.rng import STREAM_TEACHER, random_u64s
from linkzoo_training.agents.baselines import MonteCarloAgent
from linkzoo_training.agents.make import make_agent
from linkzoo_training.networks.flat import make_network
from linkzoo_training.networks.policy_value import PolicyValueNet
from linkzoo_training.networks.symmetries import symmetries
from linkzoo_training.selfplay.backend import HostBackend
from linkzoo_training.selfplay.encoder import sample_inputs
from linkzoo_training.selfplay.gae import advantages
from linkzoo_training.selfplay.opponent_pool import OpponentPool
from linkzoo_training.selfplay.opponents import ITSELF
from linkzoo_training.selfplay.rollout import RolloutGames
from tests.driving import first_quick
from tests.training.helpers import assert_close, ppo_config

TINY = {
    "name": "tiny",
    "game": "linkage",
    "num_envs": 16,
    "horizon": 24,
    "width": 16,
    "blocks": 1,
    "precision": "fp32",
    "num_threads": 1,
    "device": "cpu",
}


def returns_by_hand(
    payoff: NDArray[np.float32],
    values: NDArray[np.float32],
    done: NDArray[np.bool_],
    acts: NDArray[np.bool_],
    decay: float,
) -> NDArray[np.float64]:
    """Lambda-returns of one game and seat, as the weighted mean of all n-step returns.

    Steps are from one decision of the seat to its next: `acts` [T+1].
    """
    plies = len(payoff)
    out = np.zeros(plies)
    for t in range(plies):
        end = next((k for k in range(t, plies) if done[k]), plies - 1)
        total, weight, gathered = 0.0, 1.0, 0.0
        for k in range(t, end + 1):
            gathered += float(payoff[k])
            ahead = 0.0 if done[k] else float(values[k + 1])
            stops = 1 if k == end else (1 - decay) * acts[k + 1]
            total += weight * stops * (gathered + ahead)
            weight *= 1 - stops
        out[t] = total
    return out


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_advantages_are_lambda_returns_of_the_acting_seat(seats: int) -> None:
    rng = np.random.Generator(np.random.PCG64(seats))
    plies, games, decay = 40, 5, 0.9
    done = rng.random((plies, games)) < 0.15
    payoff = np.where(done[..., None], rng.normal(size=(plies, games, seats)), 0)
    payoff = payoff.astype(np.float32)
    values = rng.normal(size=(plies + 1, games, seats)).astype(np.float32)
    seat = rng.integers(seats, size=(plies + 1, games)).astype(np.int8)
    advantage = np.zeros((plies, games), np.float32)
    targets = np.zeros((plies, games, seats), np.float32)
    players = np.full(games, seats, np.int8)
    whose = (seat[..., None] + np.arange(seats)) % seats
    relative_values = np.take_along_axis(values, whose, 2)
    gae_lambda = np.float32(decay)
    advantages(players, payoff, relative_values, done, seat, gae_lambda, advantage, targets)
    for i in range(games):
        for p in range(seats):
            acts = seat[:, i] == p
            expected = returns_by_hand(payoff[:, i, p], values[:, i, p], done[:, i], acts, decay)
            relative, acts = (p - seat[:-1, i]) % seats, acts[:-1]
            np.testing.assert_allclose(
                targets[np.arange(plies), i, relative], expected, rtol=1e-4, atol=1e-4
            )
            np.testing.assert_allclose(
                advantage[acts, i], (expected - values[:-1, i, p])[acts], rtol=1e-3, atol=1e-4
            )


def test_the_loser_learns_of_its_loss() -> None:
    """A payoff on the winner's move reaches the last decision of the other seat."""
    payoff = np.zeros((3, 1, 2), np.float32)
    payoff[2, 0] = [1, -1]
    done = np.array([[False], [False], [True]])
    seat = np.array([[0], [1], [0], [0]], np.int8)
    advantage, targets = np.zeros((3, 1), np.float32), np.zeros((3, 1, 2), np.float32)
    values, players = np.zeros((4, 1, 2), np.float32), np.array([2], np.int8)
    advantages(players, payoff, values, done, seat, np.float32(1), advantage, targets)
    assert advantage[:, 0].tolist() == [1, -1, 1]
    assert targets[1, 0].tolist() == [-1, 1]  # relative to the seat that acted


def test_features_are_planes_and_one_hot_numbers() -> None:
    """8 planes, then supply 4 x 0..6, groups, threshold 1..25, pieces, role, to act, phase."""
    vec = make_vec("linkage", 8)
    flat = vec.reset(1).observation.reshape(8, -1)
    features = FeatureMap(vec.game.observation.spec)(flat)
    assert features.shape == (8, 8 * 49 + 4 * 7 + 25 + 25 + 25 + 3 + 2 + 3)
    assert (features[:, : 8 * 49] == flat[:, : 8 * 49]).all()
    assert (features[:, 8 * 49 :].sum(1) == 4 + 6).all()
    threshold = features[0, 8 * 49 + 28 + 25 :][:25]
    assert threshold.tolist() == [int(value == 12) for value in range(1, 26)]


def play(**changes: object) -> tuple[RolloutGames, PolicyValueNet, OpponentPool]:
    config = ppo_config({**TINY, **changes})
    games = RolloutGames(config, HostBackend(torch.device("cpu")))
    torch.manual_seed(0)
    network = make_network(games.game, config.network, config.width, config.blocks)
    pool = OpponentPool(config.pool.size, config.seed)
    games.begin([])
    return games, network, pool


def test_batches_hold_only_legal_actions_of_the_right_seats() -> None:
    games, network, pool = play()
    pool.add(network)
    for iteration in range(3):
        batch = games.collect(network, pool, 0.0, iteration)
        rows = torch.arange(len(batch.action))
        assert (batch.mask[rows, batch.action] == 1).all()
        assert torch.isfinite(batch.log_probability).all()
        role = games.game.observation.spec.slices()["role"].start
        column = FeatureMap(games.game.observation.spec).columns.tolist().index(role)
        seat = games._seat[:-1].flatten().long()
        one_hot = torch.stack([0 * seat, seat == 0, seat == 1], 1)  # none, More, Fewer
        assert (batch.features[:, column : column + 3] == one_hot).all()
    assert (games.opponents.slot != ITSELF).any()
    assert not batch.learner.all()


def test_a_reward_hook_changes_payoffs_and_nothing_that_the_policy_sees(tmp_path: Path) -> None:
    """Nor the counts of wins, which choose the opponents."""
    file = tmp_path / "hook.py"
    file.write_text("def hook(before, after):\n    return (after['ply'] > 0)[:, None] * [0.5, 2]\n")
    batches = []
    played = []
    for hook in (None, f"{file}:hook"):
        games, network, pool = play(reward_hook=hook)
        pool.add(network)
        batches.append([games.collect(network, pool, 0.0, 0) for _ in range(2)][-1])
        played.append(games)
    plain, hooked = batches
    for name in ("features", "mask", "action", "log_probability", "learner"):
        assert torch.equal(getattr(plain, name), getattr(hooked, name)), name
    assert not torch.equal(plain.targets, hooked.targets)
    without, with_hook = played
    extra = with_hook._payoff - without._payoff
    assert torch.allclose(extra, torch.tensor([0.5, 2.0]).expand_as(extra), atol=1e-6)
    assert (with_hook.wins == without.wins).all()


def test_a_wrong_reward_hook_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"reward_hook '.*none\.py:f': there is no file"):
        ppo_config({**TINY, "reward_hook": f"{tmp_path}/none.py:f"})


def test_frozen_plies_are_the_other_seats_of_pool_games() -> None:
    games, network, pool = play(pool={"share": 1.0}, initial_states={"midgame": 0.0})
    pool.add(network)
    games.begin([0])
    mine = games.opponents.learner_seat.numpy().copy()
    assert set(mine.tolist()) == {0, 1}
    batch = games.collect(network, pool, 0.0, 0)
    first = batch.learner.reshape(24, 16)[0].numpy()
    assert (first == (mine == 0)).all()  # seat 0 begins


def check_actions(games: RolloutGames) -> None:
    """Makes an illegal action raise."""
    for group in games.groups:
        assert isinstance(group.vec, VecEnv)
        group.vec.check = True


@pytest.mark.parametrize("splits", first_quick([2, 5]))
def test_groups_that_take_turns_play_the_same_games(splits: int) -> None:
    """Whoever is met, in views, with a teacher and from random positions; results are counted."""
    config = ppo_config(
        {
            **TINY,
            "symmetric": True,
            "teacher": {"agent": "greedy", "share": 0.5},
            "pool": {"share": 0.6, "fixed_opponents": ["random"]},
            "initial_states": {"midgame": 0.5, "vary": {"threshold": [9, 14]}},
            "kl_coef": 0.1,
        }
    )
    results = []
    for count in (1, splits):
        torch.manual_seed(2)
        network = make_network(get_game("linkage"), "flat", 16, 1)
        games, pool = (
            RolloutGames(config, HostBackend(torch.device("cpu"), count)),
            OpponentPool(config.pool.size, 0),
        )
        pool.add(network)
        games.begin([0, *games.opponents.fixed_slots])
        batches = [games.collect(network, pool, 0.3, number) for number in range(2)]
        results.append((batches[1], games.tensors(), pool.games.copy(), games.wins.copy()))
    (one, state, met, won), (other, their_state, they_met, they_won) = results
    for name, tensor in vars(one).items():
        assert_close(getattr(other, name), tensor)
    for name, tensor in state.items():
        assert their_state[name].equal(tensor), name
    assert (they_met == met).all()
    assert (they_won == won).all()
    assert met.sum() > 0 < won.sum()
    assert 0 < one.learner.float().mean() < 1


def test_the_network_is_asked_for_one_group_after_the_other() -> None:
    """So that it answers for one while the other is played."""
    config, asked = ppo_config({**TINY, "num_envs": 64, "horizon": 3}), list[int]()
    games = RolloutGames(config, HostBackend(torch.device("cpu"), 2))
    network = make_network(games.game, config.network, config.width, config.blocks)
    network.register_forward_hook(lambda _, given, __: asked.append(len(given[0])))
    games.begin([])
    games.collect(network, OpponentPool(config.pool.size, 0), 0.0, 0)
    assert asked == 4 * [32, 32]
    config = ppo_config({**TINY, "num_envs": 1, "minibatches": 1})
    (group,) = RolloutGames(config, HostBackend(torch.device("cpu"), 2)).groups
    assert group.games == slice(0, 1)


def test_symmetric_views_are_played_back_as_legal_actions() -> None:
    games, network, pool = play(symmetric=True)
    pool.add(network)
    check_actions(games)
    batch = games.collect(network, pool, 0.0, 0)
    plain, _, _ = play()
    same = plain.collect(network, pool, 0.0, 0)
    first = slice(0, 16)  # the first ply of every game, before the actions differ
    assert (batch.mask[first].sum(1) == same.mask[first].sum(1)).all()
    assert (batch.mask[first] != same.mask[first]).any()
    rows = torch.arange(len(batch.action))
    assert (batch.mask[rows, batch.action] == 1).all()
    with pytest.raises(ValueError, match="symmetric: love_links has no symmetries"):
        ppo_config({**TINY, "game": "love_links", "symmetric": True})


def test_turned_rows_are_symmetric_views() -> None:
    """Row by row the same as Symmetries.views and from_views for whole batches."""
    maps = symmetries(get_game("linkage"))
    views = maps.draw(40, np.uint64(5), 3)
    assert len(set(views.tolist())) > 20
    assert views.max() < len(maps) == 192
    rng = np.random.Generator(np.random.PCG64(1))
    features = rng.integers(0, 9, (40, maps.features.shape[1])).astype(np.int8)
    mask = rng.integers(0, 2, (40, maps.actions.shape[1])).astype(np.int8)
    turned, legal = features.copy(), mask.copy()
    maps.turn_features(turned, views)
    maps.turn_actions(legal, views)
    for i, s in enumerate(views):
        view = maps.views(features[i : i + 1], views[i : i + 1])
        assert (turned[i] == view[0, 0]).all()
        answers = maps.from_views(torch.from_numpy(legal[i : i + 1])[None], views[i : i + 1])
        assert (answers[0, 0].numpy() == mask[i]).all()
        assert (mask[i, maps.back[s]] == legal[i]).all()


def test_threads_change_no_byte_of_what_a_network_reads() -> None:
    """Features, symmetric views, and the random numbers that choose the views of leaves."""
    vec, usual, results = make_vec("linkage", 5000, check=False), threads.get_num_threads(), []
    now = vec.reset(3)
    maps, seen = symmetries(vec.game), FeatureMap(vec.game.observation.spec)
    for number in (1, threads.MAX_THREADS):
        threads.set_num_threads(number)
        features, mask = seen(now.observation.reshape(5000, -1)), now.action_mask.copy()
        drawn = random_u64s(np.arange(5000), STREAM_TEACHER, np.arange(5000)[::-1])
        views = (drawn % np.uint64(len(maps))).astype(np.int64)
        maps.turn_features(features, views)
        maps.turn_actions(mask, views)
        results.append((views.tobytes(), features.tobytes(), mask.tobytes()))
    threads.set_num_threads(usual)
    assert results[0] == results[1]


def test_one_network_plays_with_every_number_of_players() -> None:
    """Values and payoffs lie at the seats of each game; absent seats have none."""
    games, network, pool = play(
        game="love_links", num_envs=18, horizon=100, initial_states={"midgame": [0.0, 0.5]}
    )
    assert games.players.tolist() == 6 * [2, 3, 4]
    batch = games.collect(network, pool, 0.0, 0)
    targets = batch.targets.reshape(100, 18, 4)
    for players in (2, 3, 4):
        rows = games.players == players
        assert (targets[:, rows, players:] == 0).all()
        assert targets[:, rows, :players].abs().max() > 0.1
    assert games._done.any(0).all()  # every game has ended once
    assert (games._payoff[:, :, 2:][:, games.players == 2] == 0).all()
    two, _, _ = play(game="love_links", num_envs=18, num_players=[2])
    assert set(two.players.tolist()) == {2}


def test_the_learner_plays_its_whole_team() -> None:
    """Love Links R2: with four players seats 0 and 2 play against 1 and 3."""
    changes = {"game": "love_links", "num_players": [4], "pool": {"share": 1.0}}
    games, network, pool = play(**changes, initial_states={"midgame": 0.0})
    pool.add(network)
    games.begin([0])
    team = games.opponents.learner_seat.numpy() % 2
    batch = games.collect(network, pool, 0.0, 0)
    learner = batch.learner.reshape(24, 16).numpy()
    before_any_end = ~np.cumsum(games._done.numpy(), 0).astype(bool)
    expected = games._seat[:-1].numpy() % 2 == team
    assert (learner == expected)[before_any_end].all()


def test_games_begin_as_the_configuration_says() -> None:
    games, _, _ = play(
        num_envs=400,
        initial_states={"midgame": 0.0, "vary": {"threshold": [9, 11]}, "vary_share": 0.5},
    )
    thresholds = games.states["threshold"]
    assert set(thresholds.tolist()) == {9, 10, 11, 12}
    assert 0.4 < (thresholds != 12).mean() < 0.6
    assert (games.states["ply"] == 0).all()
    assert (games.from_initial_state.numpy() == (thresholds == 12)).all()
    games, _, _ = play(num_envs=400, initial_states={"midgame": 1.0})
    plies = games.states["ply"]
    assert plies.min() == 0
    assert 14 <= plies.max() <= 17
    assert (games.states["seat"] >= 0).all()
    assert not games.from_initial_state.numpy()[plies > 0].any()


def test_pool_prefers_hard_opponents_and_gives_up_easy_ones() -> None:
    pool, network = OpponentPool(4, seed=0), make_network(get_game("linkage"), "flat", 8, 1)
    assert pool.draw(2, 0).tolist() == []
    assert [pool.add(network) for _ in range(4)] == [0, 1, 2, 3]
    pool.count(np.array([50.0, 45.0, 25.0, 0.0]), np.full(4, 50.0))
    drawn = np.bincount(np.concatenate([pool.draw(2, i) for i in range(500)]), minlength=4)
    assert drawn[3] > drawn[2] > max(drawn[0], drawn[1])
    assert drawn.min() > 0.15 * 500
    assert sorted(pool.draw(4, 0).tolist()) == [0, 1, 2, 3]
    assert pool.add(network) == 1  # the first quarter stays


@pytest.mark.parametrize("symmetric", [False, True])
def test_fixed_opponents_play_their_own_moves(symmetric: bool) -> None:
    """Greedy in the pool: its plies are greedy actions of the positions as they are."""
    changes = {
        "pool": {"fixed_opponents": ["greedy"], "share": 1.0},
        "initial_states": {"midgame": 0.0},
    }
    games, network, pool = play(symmetric=symmetric, **changes)
    games.begin([pool.size])
    asked: list[tuple[NDArray[Any], NDArray[np.int64]]] = []
    (opponent,) = games.opponents.agents

    class Spy:
        name = "spy"

        def act(self, positions: Positions) -> NDArray[np.int64]:
            actions = opponent.act(positions)
            asked.append((positions.states.copy(), actions.copy()))
            return actions

    games.opponents.agents = [Spy()]
    check_actions(games)
    before, mine = games.states.copy(), games.opponents.learner_seat.numpy().copy()
    batch = games.collect(network, pool, 0.0, 0)
    learner = batch.learner.reshape(24, 16).numpy()
    assert (learner[0] == (mine == 0)).all()
    states, actions = asked[0]
    assert (states == before[~learner[0]]).all()
    played = batch.action.reshape(24, 16)[0].numpy()
    if symmetric:
        maps = symmetries(games.game)
        played = maps.back[maps.draw(16, np.uint64(0), 0), played]
    assert (played[~learner[0]] == actions).all()
    assert (batch.log_probability.reshape(24, 16)[0].numpy()[~learner[0]] == 0).all()
    assert not pool.games.any()  # fixed opponents are no snapshots
    with pytest.raises(ValueError, match="nobody"):
        ppo_config({**TINY, "pool": {"fixed_opponents": ["nobody"]}})


@pytest.mark.parametrize("symmetric", [False, True])
def test_the_teacher_says_what_it_would_play(symmetric: bool) -> None:
    """Where the learner acts, a greedy teacher's action is one with the best outcome."""
    changes = {"teacher": {"agent": "greedy", "share": 0.5}}
    games, network, pool = play(symmetric=symmetric, **changes)
    before = games.states.copy()
    batch = games.collect(network, pool, 0.4, 0)
    taught = batch.teacher_targets.reshape(24, 16)
    legal = batch.mask.reshape(24, 16, -1).gather(2, taught[..., None])
    assert legal[batch.learner.reshape(24, 16)].all()
    actions = taught[0].numpy()
    if symmetric:
        maps = symmetries(games.game)
        actions = maps.back[maps.draw(16, np.uint64(0), 0), actions]
    for state, action in zip(before, actions.tolist(), strict=True):
        seat = int(state["seat"])
        assert best_margin(games.game, state, seat) == margin_after(games.game, state, seat, action)
    games._teacher_targets[:] = 0
    games.collect(network, pool, 0.5, 1)  # it has stopped
    assert not games._teacher_targets.any()
    with pytest.raises(ValueError, match="nobody"):
        ppo_config({**TINY, "teacher": {"agent": "nobody"}})


@pytest.mark.slow
@pytest.mark.parametrize("symmetric", first_quick([True, False], slow=0))
def test_a_teacher_with_values_says_what_actions_are_worth(symmetric: bool) -> None:
    """Only where the learner acts, with the margins' weight of the payoffs; 0 elsewhere."""
    changes = {"teacher": {"agent": "mc-3", "share": 0.5}, "score_margin_weight": 0.25}
    games, network, pool = play(symmetric=symmetric, **changes)
    before = games.states.copy()
    batch = games.collect(network, pool, 0.4, 0)
    taught = batch.teacher_targets.reshape(24, 16, -1).float()
    assert (taught[batch.mask.reshape(24, 16, -1) == 0] == 0).all()
    learner = batch.learner.reshape(24, 16)[0].numpy()
    seeds = random_u64s(np.uint64(0), STREAM_TEACHER, 0, np.arange(16))
    expected = MonteCarloAgent(3).action_values(Positions(games.game, before, seeds), 0.25)
    if symmetric:
        maps = symmetries(games.game)
        maps.turn_actions(expected, maps.draw(16, np.uint64(0), 0))
    np.testing.assert_allclose(taught[0].numpy()[learner], expected[learner], atol=1e-3)
    assert learner.any()


def margin_after(game: Game, state: Any, seat: int, action: int) -> float:
    """The seat's margin when it has played an action."""
    after = np.array([state])[0:1].view(np.recarray)
    margins = np.zeros(game.max_players, np.float32)
    game.rules.apply(after[0], action)
    game.score_margins(after[0], margins)
    return float(margins[seat])


def best_margin(game: Game, state: Any, seat: int) -> float:
    """The best margin that one action gives."""
    mask = np.zeros(game.num_actions, np.int8)
    game.rules.legal_actions(np.array([state]).view(np.recarray)[0], mask)
    return max(margin_after(game, state, seat, int(action)) for action in np.flatnonzero(mask))


@pytest.mark.slow
def test_sample_inputs_are_of_the_agents_games() -> None:
    """Features of seats that are to act in games of every number of players, the same each time."""
    game = get_game("link_o")
    fields = {"num_players": [2, 5], "options": {"target": 0}, "seed": 3}
    config = ppo_config({"name": "inputs", "game": "link_o", **fields})
    agent = make_agent("random", "link_o")
    seen, hidden = sample_inputs(game, agent, replace(config, critic="full"))
    assert game.observation.privileged_spec is not None
    assert seen.shape[1] == len(FeatureMap(game.observation.spec))
    assert hidden.shape[1] == len(FeatureMap(game.observation.privileged_spec))
    assert len(seen) == len(hidden)
    columns = FeatureMap(game.observation.spec).columns
    places = np.arange(game.observation.spec.size)[where(game, "hand_size")]
    sizes = seen[:, np.isin(columns, places)]
    assert set((sizes > 0).sum(1).tolist()) >= {2, 5}
    again, nothing = sample_inputs(game, agent, config)
    assert nothing.shape == (len(seen), 0)
    assert np.array_equal(seen, again)
    assert seen.std(0).max() > 0


def where(game: Game, piece: str) -> slice:
    return game.observation.spec.slices()[piece]
