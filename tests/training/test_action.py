"""Networks that score actions: their inputs, and their use in all players and trainers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import linkzoo
from linkzoo import Agent, Positions, get_game, make_vec
from linkzoo.testing.play import action_features_of
from linkzoo_training.agents.linear import LinearAgent, load_scorer
from linkzoo_training.agents.policy import PolicyAgent, SearchAgent, load_agent
from linkzoo_training.config.config import read_config
from linkzoo_training.networks.flat import frozen, make_network, masked
from linkzoo_training.networks.inputs import MAX_LISTED, Inputs
from linkzoo_training.networks.symmetries import symmetries
from linkzoo_training.selfplay.executors import LocalExecutor
from linkzoo_training.train import make_trainer
from tests.driving import first_quick
from tests.training.helpers import assert_close, midgame, weights
from tests.training.toys import AHEAD

LINK_O = get_game("link_o")
SMALL: dict[str, Any] = {
    "name": "small",
    "network": "action",
    "width": 16,
    "blocks": 1,
    "num_envs": 16,
    "horizon": 8,
    "total_steps": 10**6,
}
PPO: dict[str, Any] = {
    **SMALL,
    "game": "link_o",
    "options": {"skip_forced": True},
    "critic": "full",
    "symmetric": True,
    "minibatches": 2,
    "epochs": 1,
    "teacher": {"agent": "linear", "share": 0.5},
}
ALPHAZERO: dict[str, Any] = {
    **SMALL,
    "game": "love_links",
    "options": {"short": True},
    "algorithm": "alphazero",
    "simulations": [4],
    "window": 2,
    "reuse": 1,
    "batch_size": 16,
}
# Nightly: love_links.
both = pytest.mark.parametrize(
    "fields", first_quick([PPO, ALPHAZERO], slow=0), ids=["link_o, ppo", "love_links, alphazero"]
)


def loud(game: str = "link_o") -> Any:
    """A network whose output depends on all that it reads."""
    torch.manual_seed(3)
    network = make_network(get_game(game), "action", 16, 1)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return network


def encoded(positions: Positions) -> torch.Tensor:
    inputs = Inputs(positions.game, lists_actions=True)
    flat = positions.observation.reshape(len(positions), -1)
    return torch.from_numpy(inputs.encode(positions.states, positions.action_mask, flat))


def test_rows_are_the_legal_actions_with_their_features() -> None:
    positions, inputs = midgame(LINK_O, 20, 12), Inputs(LINK_O, lists_actions=True)
    rows = encoded(positions)[:, len(inputs.map) :].reshape(20, MAX_LISTED, inputs.row).numpy()
    for state, mask, listed in zip(positions.states, positions.action_mask, rows, strict=True):
        count = int(mask.sum())
        assert (listed[:count, 0] - 1).tolist() == np.flatnonzero(mask).tolist()
        assert (listed[:count, 1:] == action_features_of(LINK_O, state)).all()
        assert not listed[count:].any()


def test_only_listed_actions_are_scored() -> None:
    positions = midgame(LINK_O, 20, 12)
    logits, _ = loud()(encoded(positions))
    legal = torch.from_numpy(positions.action_mask == 1)
    for row, listed in zip(logits, legal, strict=True):
        assert (row[~listed] == row[listed].min()).all()  # neither better nor far worse
        assert len(row[listed].unique()) > 1 or listed.sum() == 1


@pytest.mark.slow
@pytest.mark.parametrize("game", first_quick(["link_o", "love_links", "love_formula"], slow=0))
def test_it_begins_as_the_linear_scorer(game: str) -> None:
    """The same scores, over the temperature, and so the same best actions, in bfloat16, too."""
    rules = get_game(game)
    positions = midgame(rules, 40, 12)
    scores, _ = LinearAgent().scores(positions)
    network = make_network(rules, "action", 16, 1)
    network.begin_with(load_scorer(rules).weights, 0.1)  # type: ignore[operator]  # an ActionNet
    legal = torch.from_numpy(positions.action_mask == 1)
    for copy in (network, frozen(network, bf16=True)):
        logits, _ = copy(encoded(positions))
        expected = torch.from_numpy(scores) / 0.1
        assert_close(logits[legal].float(), expected[legal], rtol=1e-5, atol=1e-4)
        best = masked(logits, legal.to(torch.int8)).argmax(1).numpy()
        rows = np.flatnonzero(positions.action_mask.sum(1) <= MAX_LISTED)
        np.testing.assert_allclose(scores[rows, best[rows]], scores.max(1)[rows], atol=1e-4)


def test_the_learner_scores_as_in_float32() -> None:
    """Scores over the temperature go to hundreds, where bfloat16 is wrong by 1 and more."""
    network: Any = make_network(LINK_O, "action", 16, 1)
    network.begin_with(load_scorer(LINK_O).weights, 0.1)
    features = encoded(midgame(LINK_O, 20, 12))
    with torch.autocast("cpu", torch.bfloat16):
        logits, _ = network(features)
    assert_close(logits, network(features)[0], rtol=0, atol=0)


@pytest.mark.slow  # quick: the test above
@pytest.mark.parametrize("game", first_quick(["link_o", "love_links", "love_formula"], slow=0))
def test_the_learner_begins_where_self_play_ended(game: str) -> None:
    """In bfloat16, too: at a rate of nearly 0 nothing is clipped, and nothing diverges."""
    rates = {"learning_rate": [1e-12, 1e-12], "precision": "bf16"}
    config = read_config({**SMALL, **rates, "game": game, "initial_scorer": "linear"})
    metrics = make_trainer(config).iterate()
    assert metrics["clipfrac"] == 0
    assert abs(metrics["approx_kl"]) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("game", first_quick(["link_o", "love_links", "love_formula"], slow=0))
@pytest.mark.parametrize("seed", first_quick([1, 2, 3, 4], slow=0))
def test_compiled_code_computes_what_torch_computes(game: str, seed: int) -> None:
    """Random sizes, weights and positions, also with more legal actions than are listed."""
    rng = np.random.default_rng(seed)
    rules = get_game(game)
    torch.manual_seed(seed)
    network: Any = make_network(rules, "action", int(rng.integers(1, 40)), int(rng.integers(0, 4)))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(float(rng.uniform(0.01, 0.3)) * torch.randn_like(parameter))
    positions = midgame(rules, 40, int(rng.integers(0, 20)))
    network.standardise(encoded(positions).numpy())
    expected_logits, expected_values = network(encoded(positions))
    agent = PolicyAgent("random", rules, network, {})
    logits, values = agent.forward(encoded(positions).numpy())
    for found, expected in ((logits, expected_logits), (values, expected_values)):
        scale = max(1.0, float(expected.detach().abs().max()))
        assert_close(found, expected.detach(), rtol=1e-5, atol=1e-5 * scale)
    for row in range(3):  # whatever else is in the batch
        (alone, _) = agent.forward(encoded(positions).numpy()[row : row + 1])
        assert (alone[0] == logits[row]).all()


def test_weights_that_are_no_numbers_are_seen() -> None:
    network = loud()
    with torch.no_grad():
        network.trunk.first[0].bias[0] = torch.nan
        network.trunk.gates[0] = 1
    with pytest.raises(ValueError, match="wild: the network's outputs exceed"):
        PolicyAgent("wild", LINK_O, network, {}).act(midgame(LINK_O, 4, 12))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"network": "flat"}, "initial_scorer: needs network: action"),
        ({"initial_scorer": "none.json"}, "linear: there is no file .*none.json"),
        ({"initial_scorer": "improved"}, "improved: no scorer ships for link_o"),
        ({"initial_checkpoint": "link_o"}, "initial_scorer and initial_checkpoint"),
    ],
)
def test_a_first_scorer_is_checked(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_config({**SMALL, "game": "link_o", "initial_scorer": "linear", **fields})


def test_what_an_action_leads_to_matters() -> None:
    network, positions = loud(), midgame(LINK_O, 20, 12)
    features = encoded(positions)
    before, value = network(features)
    changed = features.clone()
    changed[:, len(network.map) + 3] += 1  # of the first action alone
    after, same = network(changed)
    first = features[:, len(network.map)].long() - 1
    legal = torch.from_numpy(positions.action_mask == 1)
    different = (after != before) & legal  # the others follow the lowest
    assert different[torch.arange(20), first].all()
    assert different.sum() == 20
    assert (value == same).all()


def test_symmetric_views_have_the_same_actions_renamed() -> None:
    """A position that is turned round has the same features, by the turned actions."""
    positions, every = midgame(LINK_O, 16, 12), symmetries(LINK_O)
    indices = np.arange(16) % len(every)
    features, inputs = encoded(positions).numpy(), Inputs(LINK_O, lists_actions=True)
    turned = features.copy()
    every.turn_features(turned, indices)
    assert (turned[:, : len(inputs.map)] != features[:, : len(inputs.map)]).any()
    for i, view in enumerate(every.views(features, np.arange(len(every)))[indices, np.arange(16)]):
        assert (view == turned[i]).all()
        rows, before = (a[i, len(inputs.map) :].reshape(MAX_LISTED, -1) for a in (turned, features))
        used = before[:, 0] > 0
        assert (rows[used, 0] == 1 + every.actions[indices[i], before[used, 0] - 1]).all()
        assert (rows[:, 1:] == before[:, 1:]).all()


def test_games_without_features_name_another_network() -> None:
    with pytest.raises(ValueError, match="linkage has no action features; use 'flat'"):
        make_network(get_game("linkage"), "action", 8, 1)


@pytest.mark.nightly  # quick: test_resume.py, with other networks
@both
def test_a_resumed_run_is_the_uninterrupted_run(fields: dict[str, Any], tmp_path: Path) -> None:
    config = read_config(fields)
    whole = make_trainer(config)
    for _ in range(4):
        whole.iterate()
    part = make_trainer(config)
    part.iterate()
    part.save(tmp_path)
    resumed = make_trainer(config)
    resumed.load(tmp_path)
    for _ in range(3):
        resumed.iterate()
    assert weights(resumed) == weights(whole)


@pytest.mark.slow  # quick: test_executors.py::test_resumed_run_is_the_uninterrupted_run
@both
def test_workers_play_it_and_checkpoints_hold_it(fields: dict[str, Any], tmp_path: Path) -> None:
    check_workers_and_checkpoints(fields, tmp_path)


@pytest.mark.slow  # quick: test_rows_are_the_legal_actions_with_their_features
@pytest.mark.usefixtures("uncompiled")
def test_workers_search_with_it(tmp_path: Path) -> None:
    linkzoo.register(AHEAD)
    small = {"game": AHEAD.name, "options": {}, "num_players": [3]}
    check_workers_and_checkpoints({**ALPHAZERO, **small}, tmp_path)


def check_workers_and_checkpoints(fields: dict[str, Any], tmp_path: Path) -> None:
    executor = LocalExecutor(2)
    trainer = make_trainer(read_config(fields), executor)
    for _ in range(3):
        trainer.iterate()
    trainer.publish(tmp_path / "checkpoint", [])
    agent, game = load_agent(tmp_path / "checkpoint"), trainer.game
    agent.warns = False  # of other options than in training
    positions = midgame(game, 6, 3)
    logits, values = agent.evaluate(positions)
    expected, _ = trainer.network.eval()(encoded(positions))
    legal = masked(expected, torch.from_numpy(positions.action_mask))
    assert_close(logits, legal, atol=1e-3, rtol=1e-3)
    assert values.shape == (6, game.max_players)
    players: list[Agent] = [agent, SearchAgent(agent, 6)] if "simulations" in fields else [agent]
    for player in players:
        actions = player.act(positions)
        assert positions.action_mask[np.arange(6), actions].all()


@pytest.mark.parametrize("simulations", first_quick([0, 8], slow=0))
def test_averaged_views_and_a_search_take_it(simulations: int) -> None:
    agent = PolicyAgent("loud", LINK_O, loud(), {}, views=4, temperature=0.0)
    player = SearchAgent(agent, simulations) if simulations else agent
    positions = midgame(LINK_O, 8, 12)
    assert positions.action_mask[np.arange(8), player.act(positions)].all()


@pytest.mark.slow  # quick: the same
def test_many_legal_actions_of_link_o_are_played_as_well() -> None:
    """Beyond MAX_LISTED actions aren't scored, but stay legal."""
    vec = make_vec("link_o", 1)
    mask = np.zeros((1, LINK_O.num_actions), np.int8)
    mask[0, : 2 * MAX_LISTED] = 1
    states = vec.states.copy()
    states["held"] = np.uint64(2**64 - 1)
    flat = np.zeros((1, LINK_O.observation.spec.size), np.int8)
    features = Inputs(LINK_O, lists_actions=True).encode(states, mask, flat)
    logits, _ = loud()(torch.from_numpy(features))
    assert logits[0, :MAX_LISTED].std() > 0
    assert (logits[0, MAX_LISTED:] == logits[0, :MAX_LISTED].min()).all()
