"""Checkpoints load to the same policy, and mismatches are refused by name."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from linkzoo import Positions, game_names, get_game, make_vec
from linkzoo_training.agents.policy import PolicyAgent, load_agent
from linkzoo_training.checkpoints.checkpoint import load_card, save_checkpoint
from linkzoo_training.networks.flat import make_network
from linkzoo_training.resources import (
    best_checkpoints,
    find_checkpoint,
    shipped,
    shipped_checkpoints,
)
from tests.driving import first_quick
from tests.training.helpers import assert_close


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    torch.manual_seed(5)
    game = get_game("linkage")
    card = {"network": {"kind": "flat", "width": 16, "blocks": 1}, "views": 1, "note": "a test"}
    save_checkpoint(tmp_path / "saved", make_network(game, "flat", 16, 1), game, card)
    return tmp_path / "saved"


def positions(count: int = 50) -> Positions:
    vec = make_vec("linkage", count)
    vec.reset(3)
    return Positions(vec.game, vec.states.copy(), np.arange(count, dtype=np.uint64))


@pytest.mark.nightly  # quick: test_saved_policy_plays_the_same, of the usual board
def test_a_policy_of_another_board(tmp_path: Path) -> None:
    """It is saved with the board, and plays on it."""
    game = get_game("link_o", {"board": "ring4x12"})
    card = {"network": {"kind": "graph", "width": 8, "blocks": 1}, "views": 1}
    save_checkpoint(tmp_path, make_network(game, "graph", 8, 1), game, card)
    assert load_agent(tmp_path).game.key == game.key


def test_saved_policy_plays_the_same(folder: Path) -> None:
    torch.manual_seed(5)
    network = make_network(get_game("linkage"), "flat", 16, 1)
    original = PolicyAgent("original", get_game("linkage"), network, {})
    loaded = load_agent(folder)
    assert loaded.name == str(folder)
    assert loaded.card["note"] == "a test"
    batch = positions()
    assert_close(loaded.evaluate(batch), original.evaluate(batch))
    assert (loaded.act(batch) == original.act(batch)).all()


def test_temperature_draws_legal_actions_from_the_seeds(folder: Path) -> None:
    agent, batch = load_agent(folder, temperature=1.0), positions(200)
    actions = agent.act(batch)
    assert (batch.action_mask[np.arange(200), actions] == 1).all()
    assert len(set(actions.tolist())) > 50
    assert (agent.act(batch) == actions).all()
    alone = Positions(batch.game, batch.states[7:8], batch.seeds[7:8])
    assert agent.act(alone)[0] == actions[7]


def test_a_policy_is_drawn_where_something_is_hidden() -> None:
    """Hidden information needs mixed play: the policy as trained, not its likeliest action."""
    for name in game_names():
        game = get_game(name)
        agent = PolicyAgent("any", game, make_network(game, "flat", 8, 1), {})
        assert agent.temperature == (0 if game.observation.privileged_spec is None else 1)
        assert PolicyAgent("any", game, agent.network, {}, temperature=0.0).temperature == 0


def test_a_card_may_name_a_temperature(folder: Path) -> None:
    """It is how the policy is played without `~T`, and only another one is part of the name."""
    edit(folder, temperature=0.25)
    agents = [load_agent(folder, temperature=given) for given in (None, 0.25, 0.0)]
    assert [agent.temperature for agent in agents] == [0.25, 0.25, 0.0]
    assert [agent.name for agent in agents] == [str(folder), str(folder), f"{folder}~0"]
    edit(folder, temperature=None)
    assert load_agent(folder).temperature == 0


def test_draws_follow_the_policy(folder: Path) -> None:
    """Shares within four standard errors; no draw ends on an action of no probability."""
    agent = load_agent(folder, temperature=2.0)
    chances = np.array([0.0, 0.5, 0.0, 0.3, 0.2, 0.0])
    with np.errstate(divide="ignore"):
        logits = torch.from_numpy(np.maximum(2.0 * np.log(chances), -1e9)).float()
    count = 20_000
    seeds = np.arange(count, dtype=np.uint64)
    drawn = np.bincount(agent.sample(logits.expand(count, -1), seeds), minlength=6) / count
    assert (drawn[chances == 0] == 0).all()
    np.testing.assert_allclose(drawn, chances, atol=4 * np.sqrt(0.25 / count))


def test_views_make_the_policy_symmetric(folder: Path) -> None:
    """Averaged over all symmetries, a position and its image get the same values and answers."""
    game, agent = get_game("linkage"), load_agent(folder, views=192)
    assert agent.name == f"{folder}@192"
    assert game.observation.symmetries is not None
    _, actions, _ = game.observation.symmetries()
    batch, image = positions(4), positions(4)
    for row in range(4):
        for step in range(5):
            action = int(
                np.flatnonzero(Positions(game, batch.states, batch.seeds).action_mask[row])[
                    7 * step
                ]
            )
            game.rules.apply(batch.states[row], action)
            game.rules.apply(image.states[row], int(actions[50 + row, action]))
    batch = Positions(game, batch.states, batch.seeds)
    image = Positions(game, image.states, image.seeds)
    logits, values = agent.evaluate(batch)
    moved, other = agent.evaluate(image)
    assert_close(values, other)
    for row in range(4):
        assert_close(moved[row, actions[50 + row]], logits[row])
    plain, _ = load_agent(folder).evaluate(batch)
    assert (plain - logits).abs().max() > 1e-3
    with pytest.raises(ValueError, match=r"1\.\.192"):
        load_agent(folder, views=193)


def edit(folder: Path, **changes: object) -> None:
    path = folder / "card.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes), encoding="utf-8")


def test_other_rules_are_refused(folder: Path) -> None:
    card = json.loads((folder / "card.json").read_text())
    edit(folder, fingerprints={**card["fingerprints"], "rules": "0" * 64})
    with pytest.raises(ValueError, match="other rules"):
        load_agent(folder)
    edit(folder, fingerprints={**card["fingerprints"], "observation": "0" * 64})
    with pytest.raises(ValueError, match="other observation"):
        load_agent(folder)


def test_other_networks_are_refused(folder: Path) -> None:
    edit(folder, network={"kind": "flat", "width": 32, "blocks": 1})
    with pytest.raises(ValueError, match="has shape"):
        load_agent(folder)


def test_damaged_files_are_refused(folder: Path) -> None:
    model = folder / "model.safetensors"
    data = model.read_bytes()
    model.write_bytes(data[:-100])
    with pytest.raises(ValueError, match="is damaged"):
        load_agent(folder)
    model.write_bytes(data)
    (folder / "card.json").write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match="is damaged"):
        load_agent(folder)
    (folder / "card.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match="no card"):
        load_agent(folder)


@pytest.mark.parametrize(
    "folder",
    first_quick(sorted(shipped("checkpoints").glob("*/")), slow=99),
    ids=lambda folder: folder.name,
)
def test_shipped_checkpoints_load_and_are_small(folder: Path) -> None:
    agent = load_agent(folder.name)
    assert agent.card["strength"]
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 5 * 2**20


BEST = {
    "linkage": "c63dc9ec4ca8ce78193064472bd19741d77d61eb6203bbe405f9ff169c4a112a",
    "love_links": "93875a61d73c6446a33a63c421febc2a91ef602d477a6ffb2ddf557e2493158f",
    "link_o": "63a5c6a4c1d50a5290be9dd52eeb00067d86e32af6b8dea3729bbd3b07a813b0",
    "love_formula": "cf4350765dc907b6f5345457c5ffef904a15fa836a5bac898dfa1216d50c31b0",
}


@pytest.mark.parametrize("game", game_names())
def test_a_game_s_name_loads_its_best_policy(game: str) -> None:
    assert load_card(find_checkpoint(game))["sha256"] == BEST[game]
    agent = load_agent(game)
    assert agent.name == game
    assert agent.game.name == game
    assert agent.card["trained"]["config"]["num_players"] == []  # all numbers


def test_each_shipped_policy_has_a_name_that_stays() -> None:
    names = shipped_checkpoints()
    assert set(best_checkpoints().values()) <= set(names)
    assert not set(names) & set(game_names())
    for name in names:
        assert load_card(find_checkpoint(name))["trained"]["config"]["name"] == name
