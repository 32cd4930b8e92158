"""Training: it learns, it is reproducible, and a stopped run goes on to the same weights."""

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from linkzoo.engine.threads import MAX_THREADS, get_num_threads
from linkzoo_training.agents.policy import load_agent
from linkzoo_training.algorithms.ppo import PPOTrainer, _LogProbability
from linkzoo_training.checkpoints.checkpoint import save_checkpoint
from linkzoo_training.config.config import PPOConfig
from linkzoo_training.evaluation.match import play_match
from linkzoo_training.networks.flat import masked, split_hidden
from linkzoo_training.resources import STATE_FILE
from linkzoo_training.selfplay.rollout import RolloutGames
from linkzoo_training.train import train
from tests.driving import first_quick
from tests.training.helpers import assert_close, ppo_config, weights
from tests.training.test_rollout import TINY

QUICK: dict[str, Any] = {
    **TINY,
    "total_steps": 10 * 16 * 24,
    "save_every": 1,
    "pool": {"snapshot_every": 3},
    "eval": {"every": 5, "blocks": 4, "final_opponents": ["random"], "final_blocks": 5},
    "initial_states": {"vary": {"threshold": [10, 14]}},
}


def run(config: PPOConfig, iterations: int) -> PPOTrainer:
    trainer = PPOTrainer(config)
    for _ in range(iterations):
        trainer.iterate()
    return trainer


@pytest.mark.slow  # quick: a resumed run is the uninterrupted run
def test_same_seed_same_weights() -> None:
    config = ppo_config(QUICK)
    trained = weights(run(config, 2))
    assert trained == weights(run(config, 2)) != weights(run(ppo_config({**QUICK, "seed": 1}), 2))


def test_log_probabilities_and_entropies_are_those_of_log_softmax() -> None:
    """And their gradients; illegal actions have none."""
    torch.manual_seed(0)
    mask, actions = torch.tensor([[1, 1, 0, 1, 0]]).repeat(6, 1), torch.tensor([0, 1, 3, 3, 0, 1])
    rows, shares = torch.randn(6, 5) * torch.tensor([[0.0], [1], [1], [9], [30], [1]]), [1.5, -0.5]

    def terms(logits: Tensor) -> tuple[Tensor, Tensor]:
        log_policy = torch.log_softmax(logits, -1)
        entropy = -(log_policy.exp() * log_policy)[:, mask[0] > 0].sum(1)
        return log_policy.gather(1, actions[:, None]).squeeze(1), entropy

    results = []
    for both in (terms, lambda logits: _LogProbability.apply(logits, actions[:, None])):
        leaf = rows.clone().requires_grad_()
        chosen, entropy = both(masked(leaf, mask))
        (shares[0] * chosen * chosen + shares[1] * entropy).sum().backward()
        assert leaf.grad is not None
        assert not leaf.grad[mask == 0].any()
        results.append((chosen, entropy, leaf.grad))
    for expected, ours in zip(*results, strict=True):
        assert_close(ours, expected)


def test_no_more_threads_than_cores() -> None:
    """Threads that wait in turn for one core made an iteration 60 times as long."""
    before = torch.get_num_threads()
    trainer = PPOTrainer(ppo_config({**QUICK, "num_threads": MAX_THREADS + 1}))
    used = torch.get_num_threads(), get_num_threads()
    torch.set_num_threads(before)
    assert used == (1, MAX_THREADS)  # torch: each operation on one thread (shards)
    assert f"{MAX_THREADS} threads" in trainer.machine


@pytest.mark.parametrize(
    "changes",
    first_quick(
        [
            {"average": 3, "optimizer": "muon"},
            {"network": "board", "width": 8, "symmetric": True},
            {},
            {"precision": "bf16"},
        ],
        slow=0,
    ),
)
def test_resumed_run_is_the_uninterrupted_run(tmp_path: Path, changes: dict[str, object]) -> None:
    config = ppo_config({**QUICK, **changes})
    whole, part = run(config, 4), run(config, 3)  # a snapshot is in the pool
    part.save(tmp_path)
    resumed = PPOTrainer(config)
    resumed.load(tmp_path)
    assert (resumed.iteration, resumed.steps) == (part.iteration, part.steps)
    resumed.iterate()
    assert weights(resumed) == weights(whole)


@pytest.mark.parametrize("critic", first_quick(["full", "shared"], slow=0))
def test_muon_steps_hidden_layers_and_adam_all_else(critic: str) -> None:
    data = {**QUICK, "game": "link_o", "initial_states": {}, "critic": critic}
    for optimizer in ("adam", "muon"):
        trainer = PPOTrainer(ppo_config({**data, "optimizer": optimizer}))
        muon, adam = (trainer.optimizers.parameters(name) for name in ("muon", "adam"))
        hidden, others = split_hidden(trainer.network)
        every = [*hidden, *others, *([] if trainer.critic is None else trainer.critic.parameters())]
        assert {id(one) for one in muon} == {id(one) for one in hidden if optimizer == "muon"}
        assert sorted(map(id, (*muon, *adam))) == sorted(map(id, every))


def test_what_is_published_is_an_average() -> None:
    """Each iteration's weights have a share of 1 / `average`, the first ones all that is left."""
    trainer = PPOTrainer(ppo_config({**QUICK, "average": 4, "precision": "fp32"}))
    expected: dict[str, torch.Tensor] = {}
    for _ in range(3):
        trainer.iterate()
        for name, now in trainer.network.state_dict().items():
            before = expected.get(name, now)
            expected[name] = 0.75 * before + 0.25 * now
    published = trainer.agent().network.state_dict()
    assert published.keys() == expected.keys()
    for name, tensor in published.items():
        assert_close(tensor, expected[name])
    assert any((published[n] != now).any() for n, now in trainer.network.state_dict().items())


@pytest.mark.nightly  # quick: test_rollout.py, that it is asked, and learned from alone
def test_a_teacher_is_imitated_at_first() -> None:
    """Ross et al. 2011: soon its actions are far likelier, by half a nat and more."""
    shares = []
    teacher = {
        "teacher": {"agent": "greedy", "learning_rate": 3e-3},
        "total_steps": 1_000_000,
    }
    board = {"network": "board", "width": 16, "blocks": 1}
    for iterations in (0, 30):
        trainer = run(ppo_config({**QUICK, **teacher, **board}), iterations)
        batch = trainer.play.collect(trainer.behaviour_policy, trainer.pool, 0.0, 8)
        rows = batch.learner
        with torch.no_grad():
            logits, _ = trainer.behaviour_policy(batch.features[rows])
        chances = torch.log_softmax(masked(logits, batch.mask[rows]), -1)
        shares.append(chances.gather(1, batch.teacher_targets[rows, None]).mean().item())
    assert shares[1] > shares[0] + 0.5


@pytest.mark.slow
def test_action_values_teach_the_policy_that_they_stand_for() -> None:
    """The lesson is least at softmax(values / temperature), and linear in the values."""
    trainer = PPOTrainer(ppo_config({**QUICK, "teacher": {"agent": "mc-2", "temperature": 0.5}}))
    values = torch.randn(3, 5).half()
    logits = torch.zeros(3, 5, requires_grad=True)
    optimizer = torch.optim.Adam([logits], lr=0.1)
    for _ in range(300):
        optimizer.zero_grad()
        trainer._imitation_loss(torch.log_softmax(logits, -1), values).backward()
        optimizer.step()
    expected = torch.softmax(values.float() / 0.5, -1)
    assert_close(torch.softmax(logits, -1), expected, atol=1e-3, rtol=0)
    log_policy = torch.log_softmax(torch.randn(3, 5), -1)
    noise = torch.randn(3, 5).half()
    above, below = (trainer._imitation_loss(log_policy, values + sign * noise) for sign in (1, -1))
    plain = trainer._imitation_loss(log_policy, values)
    assert_close((above + below) / 2, plain, atol=2e-3, rtol=0)
    moves = trainer._imitation_loss(log_policy, torch.tensor([0, 3, 4]))
    assert_close(moves, -log_policy[range(3), [0, 3, 4]].mean())


@pytest.mark.nightly  # quick: the imitation loss, above; slow: a teacher is imitated
def test_action_values_are_learned() -> None:
    """Its preferred actions are worth more than random ones, by separate playouts."""
    teacher = {"agent": "mc-4", "share": 1.0, "learning_rate": 3e-3}
    board = {"network": "board", "width": 16, "blocks": 1, "num_envs": 32}
    changes = {"total_steps": 1_000_000, "score_margin_weight": 0.0, "teacher": teacher}
    trainer = run(ppo_config({**QUICK, **board, **changes}), 20)
    batch = trainer.play.collect(trainer.behaviour_policy, trainer.pool, 0.0, 20)
    with torch.no_grad():
        logits, _ = trainer.behaviour_policy(batch.features)
    chances = torch.softmax(masked(logits, batch.mask), -1)
    uniform = batch.mask / batch.mask.sum(-1, keepdim=True)
    gain = ((chances - uniform) * batch.teacher_targets.float()).sum(-1)[batch.learner]
    assert gain.mean() > 0.03  # a policy that learned nothing gains 0


def test_resume_refuses_another_configuration(tmp_path: Path) -> None:
    run(ppo_config(QUICK), 1).save(tmp_path)
    with pytest.raises(ValueError, match="horizon"):
        PPOTrainer(ppo_config({**QUICK, "horizon": 7})).load(tmp_path)


def test_damaged_training_state_is_refused(tmp_path: Path) -> None:
    trainer = run(ppo_config(QUICK), 1)
    trainer.save(tmp_path)
    data = (tmp_path / STATE_FILE).read_bytes()
    (tmp_path / STATE_FILE).write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match="is damaged"):
        trainer.load(tmp_path)


@pytest.mark.slow
def test_train_writes_everything(tmp_path: Path) -> None:
    folder = train(
        ppo_config({**QUICK, "score_margin_weight": [0.1, 0.3]}), folder=tmp_path / "run"
    )
    card = json.loads((folder / "checkpoint" / "card.json").read_text())
    assert (card["game"], card["score_margin_weight"]) == ("linkage", 0.3)  # what a search goes by
    assert card["trained"]["steps"] == QUICK["total_steps"]
    assert [match["agents"] for match in card["strength"]] == [["tiny", "random"]]
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [row["iteration"] for row in rows] == list(range(1, 11))
    assert any(name.startswith("win/") for name in rows[4])
    assert all(0 <= row["clipfrac"] <= 1 for row in rows)
    assert all(0 <= row["approx_kl"] < 0.1 for row in rows)
    assert max(row["approx_kl"] for row in rows) > 0
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert list((folder / "tensorboard").iterdir())
    agent = load_agent(folder / "checkpoint")
    result = play_match("linkage", agent, agent, 3, seed=1)
    assert result.win_share().mean == 0.5
    with pytest.raises(ValueError, match="--resume"):
        train(ppo_config(QUICK), folder=folder)


@pytest.mark.slow
def test_stopped_training_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C after the third iteration, then `resume`: the weights of a run without a break."""
    config = ppo_config({**QUICK, "total_steps": 5 * 16 * 24})
    whole = train(config, folder=tmp_path / "whole")
    iterate = PPOTrainer.iterate

    def interrupted(trainer: PPOTrainer) -> dict[str, float]:
        metrics = iterate(trainer)
        if trainer.iteration == 3:
            signal.raise_signal(signal.SIGINT)
        return metrics

    monkeypatch.setattr(PPOTrainer, "iterate", interrupted)
    folder = train(config, folder=tmp_path / "run")
    assert not (folder / "checkpoint").exists()
    monkeypatch.setattr(PPOTrainer, "iterate", iterate)
    train(config, folder=folder, resume=True)
    files = [run / "checkpoint" / "model.safetensors" for run in (whole, folder)]
    assert files[0].read_bytes() == files[1].read_bytes()
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [row["iteration"] for row in rows] == [1, 2, 3, 4, 5]


@pytest.mark.nightly  # quick: Kuhn poker is learned
@pytest.mark.parametrize("optimizer", ["adam", "muon"])
def test_training_beats_the_untrained_policy(optimizer: str) -> None:
    """At 14 groups, where both roles win about half at random: under a minute on one core."""
    config = ppo_config(
        {
            **TINY,
            "options": {"threshold": 14},
            "num_envs": 256,
            "horizon": 32,
            "network": "board",
            "precision": "auto",
            "optimizer": optimizer,
            "learning_rate": [2e-3, 0],
            "minibatches": 8,
            "score_margin_weight": [1.0, 0],
            "initial_states": {"midgame": 0.5},
            "pool": {"snapshot_every": 10},
            "total_steps": 40 * 256 * 32,
        }
    )
    trainer = PPOTrainer(config)
    before = trainer.agent()
    while not trainer.finished:
        trainer.iterate()
    result = play_match("linkage", trainer.agent(), before, 200, seed=3, options=config.options)
    assert result.win_share().low > 0.7
    assert min(result.side_scores) > 0.55


def test_the_critic_of_link_o_sees_everything_and_the_policy_does_not() -> None:
    """Hidden information changes the critic's values and nothing of the policy's answers."""
    config = ppo_config({**QUICK, "game": "link_o", "initial_states": {}, "critic": "full"})
    trainer = run(config, 2)
    play, game = trainer.play, trainer.game
    assert isinstance(play, RolloutGames)
    assert trainer.behaviour_critic is not None
    (group,), every = play.groups, slice(None)
    states, networks = play.states.copy(), (trainer.behaviour_policy, trainer.behaviour_critic)
    group.vec.refresh()
    seen = group.now.observation.clone()
    mask = group.now.action_mask.clone()
    play._encode(group, 0)
    values, logits = play._evaluate(*networks, 0, every)
    hidden = play._privileged.host[0].clone()
    for index, state in enumerate(play.states):
        game.determinize(state, int(state.seat), np.uint64(1000 + index))
    assert (play.states != states).all()
    group.vec.refresh()
    assert (group.now.observation == seen).all()
    assert (group.now.action_mask == mask).all()
    play._encode(group, 0)
    assert (play._privileged.host[0] != hidden).any(1).all()
    others, same = play._evaluate(*networks, 0, every)
    assert (same == logits).all()
    assert (others != values).any()
    agent = trainer.agent()
    # No column of what is hidden:
    assert agent.network.map.columns.max() < game.observation.spec.size
    with pytest.raises(ValueError, match="critic: linkage has no hidden information"):
        ppo_config({**QUICK, "critic": "full"})


@pytest.mark.slow  # quick: test_resumed_run_is_the_uninterrupted_run
def test_a_run_of_link_o_with_a_full_critic_resumes(tmp_path: Path) -> None:
    muon = {"critic": "full", "optimizer": "muon"}
    config = ppo_config({**QUICK, "game": "link_o", "initial_states": {}, **muon})
    whole, part = run(config, 3), run(config, 2)
    part.save(tmp_path)
    resumed = PPOTrainer(config)
    resumed.load(tmp_path)
    resumed.iterate()
    assert weights(resumed) == weights(whole)
    assert resumed.critic is not None
    assert whole.critic is not None
    for one, other in zip(resumed.critic.parameters(), whole.critic.parameters(), strict=True):
        assert (one == other).all()


def test_a_run_begins_with_the_weights_of_a_checkpoint(tmp_path: Path) -> None:
    first = run(ppo_config(QUICK), 2)
    card = {"network": {"kind": "flat", "width": 16, "blocks": 1}, "views": 1}
    save_checkpoint(tmp_path, first.agent().network, first.game, card)
    second = PPOTrainer(ppo_config({**QUICK, "initial_checkpoint": str(tmp_path), "seed": 9}))
    assert weights(second) == weights(first)
    assert weights(second) != weights(PPOTrainer(ppo_config({**QUICK, "seed": 9})))
    with pytest.raises(ValueError, match=r"has shape \[.*\], the network's has"):
        PPOTrainer(ppo_config({**QUICK, "initial_checkpoint": str(tmp_path), "width": 8}))
    with pytest.raises(ValueError, match="no checkpoint 'nowhere'"):
        PPOTrainer(ppo_config({**QUICK, "initial_checkpoint": "nowhere"}))


def test_a_policy_that_is_not_finite_does_not_play() -> None:
    """Otherwise its games would be stepped with action -1."""
    trainer = PPOTrainer(ppo_config(QUICK))
    with torch.no_grad():
        next(trainer.behaviour_policy.parameters()).fill_(torch.nan)
    before = trainer.play.states.copy() if isinstance(trainer.play, RolloutGames) else None
    with pytest.raises(ValueError, match="isn't finite"):
        trainer.iterate()
    assert isinstance(trainer.play, RolloutGames)
    assert (trainer.play.states == before).all()


def test_the_kl_coefficient_holds_the_policy() -> None:
    """KL(new || old) is 0 at the first step, and a heavy weight on it keeps the policy in place."""

    def moved(kl_coef: float) -> float:
        changes = {"kl_coef": kl_coef, "learning_rate": [1e-2, 0], "pool": {"share": 0.0}}
        config = ppo_config({**QUICK, **changes})
        trainer = PPOTrainer(config)
        batch = trainer.play.collect(trainer.behaviour_policy, trainer.pool, 0.0, 0)
        before = torch.log_softmax(masked(trainer.network(batch.features)[0], batch.mask), -1)
        if kl_coef:
            legal = batch.mask > 0
            assert_close(batch.log_policy[legal], before[legal].detach(), atol=1e-5, rtol=0)
        for _ in range(3):
            trainer.learn(batch)
        after = torch.log_softmax(masked(trainer.network(batch.features)[0], batch.mask), -1)
        return float((after.exp() * (after - before)).sum(-1).mean().detach())

    free, held = moved(0.0), moved(10.0)
    assert 0 < held < 0.5 * free
