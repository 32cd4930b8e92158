"""AlphaZero: it learns, it is reproducible, and a stopped run goes on to the same weights."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from linkzoo import Positions, get_game
from linkzoo.core.kernels import kernels
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.policy import load_agent
from linkzoo_training.algorithms import alphazero
from linkzoo_training.algorithms.alphazero import AlphaZeroTrainer
from linkzoo_training.arrays import relative
from linkzoo_training.checkpoints.checkpoint import save_checkpoint
from linkzoo_training.config.config import AlphaZeroConfig
from linkzoo_training.evaluation.match import play_match
from linkzoo_training.search.solver import solver, successors
from linkzoo_training.selfplay.replay import ReplayGames
from linkzoo_training.train import train
from tests.driving import NIGHTLY, first_quick
from tests.training.helpers import against_perfect_play, alphazero_config, assert_close, weights

TINY: dict[str, Any] = {
    "algorithm": "alphazero",
    "name": "tiny",
    "game": "linkage",
    "num_envs": 12,
    "horizon": 8,
    "total_steps": 8 * 12 * 8,
    "simulations": [4, 6],
    "window": 4,
    "reuse": 2,
    "batch_size": 32,
    "network": "board",
    "width": 8,
    "blocks": 1,
    "precision": "fp32",
    "num_threads": 1,
    "device": "cpu",
    "symmetric": True,
    "initial_states": {"vary": {"threshold": [10, 14]}},
    "save_every": 1,
    "eval": {"every": 4, "blocks": 4, "final_opponents": ["random"], "final_blocks": 5},
}


# Half the games against an agent or snapshots that give up their slots, and their games, soon.
POOLED: dict[str, Any] = {
    "pool": {"share": 0.5, "size": 2, "snapshot_every": 2, "fixed_opponents": ["greedy"]}
}

# The smallest board with a free hole, roles included: learned in seconds.
SMALL = {
    **TINY,
    "options": {"board_size": 3, "threshold": 4, "free_hole": True},
    "initial_states": {},
    "symmetric": False,
    "network": "flat",
    "width": 64,
    "num_envs": 128,
    "simulations": [16],
    "window": 8,
    "reuse": 4,
    "batch_size": 128,
    "learning_rate": [4e-3, 1e-4],
    "total_steps": 40 * 128 * 8,  # half as many would do for most seeds
}


def run(config: AlphaZeroConfig, iterations: int) -> AlphaZeroTrainer:
    trainer = AlphaZeroTrainer(config)
    for _ in range(iterations):
        trainer.iterate()
    return trainer


@pytest.mark.slow  # quick: test_ppo.py
def test_same_seed_same_weights() -> None:
    config = alphazero_config(TINY)
    trained, other = weights(run(config, 2)), alphazero_config({**TINY, "seed": 1})
    assert trained == weights(run(config, 2)) != weights(run(other, 2))


@pytest.mark.slow  # quick: test_ppo.py
@pytest.mark.parametrize(
    "changes",
    [
        {"precision": "bf16", "solver_limit": 100, **POOLED},
        pytest.param(  # quick: the same with a miniature
            {"network": "flat", "game": "love_links", "initial_states": {}, "symmetric": False},
            marks=NIGHTLY,
        ),
        pytest.param(
            {"network": "flat", "game": "link_o", "initial_states": {"vary": {"target": [0, 0]}}},
            marks=NIGHTLY,
        ),
        pytest.param(
            {
                "network": "flat",
                "game": "love_formula",
                "initial_states": {"midgame": 1.0},
                "symmetric": False,
            },
            marks=NIGHTLY,
        ),
    ],
    ids=lambda changes: str(changes.get("game", "linkage")),
)
def test_resumed_run_is_the_uninterrupted_run(tmp_path: Path, changes: dict[str, object]) -> None:
    """After any iteration, with games and samples in flight; two players, and two or more."""
    config = alphazero_config({**TINY, **changes})
    whole = run(config, 5)
    assert sum(map(len, whole.window)) > 0
    for stop in (1, 4):
        part = run(config, stop)
        part.save(tmp_path)
        resumed = AlphaZeroTrainer(config)
        resumed.load(tmp_path)
        assert (resumed.iteration, resumed.steps) == (part.iteration, part.steps)
        for _ in range(5 - stop):
            resumed.iterate()
        assert weights(resumed) == weights(whole)


@pytest.mark.slow
def test_train_writes_everything(tmp_path: Path) -> None:
    folder = train(alphazero_config(TINY), folder=tmp_path / "run")
    card = json.loads((folder / "checkpoint" / "card.json").read_text())
    assert card["trained"]["algorithm"] == "alphazero"
    assert card["trained"]["steps"] == TINY["total_steps"]
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [row["iteration"] for row in rows] == list(range(1, 9))
    assert [row["simulations"] for row in rows] == [4] * 4 + [6] * 4
    assert any(name.startswith("win/") for name in rows[3])
    agent = load_agent(folder / "checkpoint")
    assert play_match("linkage", agent, agent, 3, seed=1).win_share().mean == 0.5


@pytest.mark.parametrize("kind", ["board", "flat"])
def test_weights_decay_and_biases_and_gates_do_not(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Matrices decay by a share of themselves, whatever the gradients; 1-D parameters don't."""
    config = alphazero_config(
        {
            **TINY,
            "network": kind,
            "learning_rate": [0.1, 1e-4],
            "symmetric": False,
        }
    )
    monkeypatch.setattr(alphazero, "WEIGHT_DECAY", 0.5)
    trainer = AlphaZeroTrainer(config)
    before = [parameter.detach().clone() for parameter in trainer.parameters]
    with torch.no_grad():
        for parameter in (*trainer.parameters, *before):
            parameter.add_(1.0)
    for parameter in trainer.parameters:
        parameter.grad = torch.zeros_like(parameter)
    trainer.optimizers.step()
    dimensions = set()
    for parameter, old in zip(trainer.parameters, before, strict=True):
        dimensions.add(parameter.ndim)
        assert_close(parameter.detach(), old * (0.95 if parameter.ndim > 1 else 1.0))
    assert {1, 2} <= dimensions
    stepped = [trainer.optimizers.parameters(name) for name in ("muon", "adam")]
    assert sum(map(len, stepped)) == len(before)
    assert min(map(len, stepped)) > 0


def test_plies_not_played_are_not_saved() -> None:
    """Saved and sent games hold the plies that were played, not the whole capacity."""
    trainer = run(alphazero_config(TINY), 1)
    assert isinstance(trainer.play, ReplayGames)
    saved, length = trainer.play.tensors(), int(trainer.play.length.sum())
    assert 0 < length <= 12 * 8
    assert len(saved["play.kept.policy"]) == len(saved["play.kept.values"]) == length
    assert len(saved["play.kept.states"]) == length * trainer.game.state.itemsize


@pytest.mark.slow
def test_every_sample_is_learned_from_as_often_as_promised() -> None:
    """`reuse` times in `window` iterations, counted by the states themselves."""
    trainer, seen = AlphaZeroTrainer(alphazero_config(TINY)), Counter[bytes]()
    born: dict[bytes, int] = {}
    for iteration in range(10):
        trainer.iterate()
        trainer.iteration -= 1  # as it was when it learned
        for state in trainer.samples_for_iteration().states:
            seen[state.tobytes()] += 1
        trainer.iteration += 1
        for state in trainer.window[-1].states:
            born.setdefault(state.tobytes(), iteration)
    assert len(born) > 500
    for state, iteration in born.items():
        if iteration <= 6:  # it has left the window
            assert seen[state] == 2
    assert max(seen.values()) == 2


def test_samples_are_whole_games() -> None:
    """Each position leads to the next, and the last to the end that all of them name."""
    trainer = run(alphazero_config({**TINY, "horizon": 30}), 1)
    game, samples = trainer.game, trainer.window[0]
    mask = np.empty((1, game.num_actions), np.int8)
    games = 0
    for row in range(0, len(samples), 3):
        state = samples.states[row : row + 1].copy()
        kernels(game).fill_masks(state, mask)
        policy = samples.policy[row].astype(np.float64)
        assert ((policy > 0) <= (mask[0] > 0)).all()
        assert policy.sum() == pytest.approx(1, abs=0.01)
        last = row + 1 == len(samples) or samples.finals[row + 1] != samples.finals[row]
        goal = samples.finals[row] if last else samples.states[row + 1]
        reached = []
        for action in np.flatnonzero(mask[0]).tolist():
            after = game.from_bytes(state[0].tobytes())
            game.rules.apply(after, action)
            reached.append(after.tobytes())
        assert goal.tobytes() in reached
        games += last
    assert games >= 4


class Highest(nn.Module):
    """A network that plays the last legal action."""

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        logits = 100.0 * torch.arange(get_game("linkage").num_actions)
        return logits.expand(len(features), -1), torch.zeros(len(features), 2)


@pytest.mark.parametrize("snapshot", first_quick([True, False], slow=0))
def test_opponents_play_their_own_moves_and_teach_nothing(snapshot: bool) -> None:
    """Samples are positions of the learner alone; between two of a game the opponent answers."""
    pool = {"share": 1.0, "size": int(snapshot), "fixed_opponents": [] if snapshot else ["greedy"]}
    trainer = AlphaZeroTrainer(alphazero_config({**TINY, "pool": pool, "horizon": 30}))
    play, game, asked = trainer.play, trainer.game, dict[bytes, int]()
    assert isinstance(play, ReplayGames)

    class Spy:
        """Greedy, noting its answers."""

        name = "spy"
        agent = make_agent("greedy", "linkage")

        def act(self, positions: Positions) -> NDArray[np.int64]:
            actions = np.asarray(self.agent.act(positions))
            asked.update(zip(map(np.record.tobytes, positions.states), actions, strict=True))
            return actions

    if snapshot:
        trainer.add_opponent()
        trainer.pool.networks[0] = Highest()
    else:
        play.opponents.agents = [Spy()]

    def replies(state: np.record) -> Iterator[bytes]:
        """The positions after a move of the learner and the opponent's answer, if it can move."""
        for between in successors(game, state).values():
            if between.seat == state.seat:
                yield between.tobytes()
            after = successors(game, between) if between.seat >= 0 else {}
            answer = max(after, default=-1) if snapshot else asked.get(between.tobytes(), -1)
            if answer >= 0:
                yield after[answer].tobytes()

    play._begin_games(np.ones(12, np.bool_), 0.0, [0])
    samples = play.collect(trainer.behaviour_policy, trainer.pool, 0.0, 0)
    plies = 0
    for row in range(len(samples) - 1):
        if samples.finals[row] == samples.finals[row + 1]:
            now, then = samples.states[row], samples.states[row + 1]
            assert now.seat == then.seat
            if now.num_pieces > 15:  # few moves are legal
                assert then.tobytes() in set(replies(now))
                plies += 1
    assert plies > 10
    assert play.wins.sum() == 0
    assert (trainer.pool.games.sum() > 0) == snapshot


def test_values_are_turned_to_the_seat_to_act() -> None:
    numbers = np.array([[1, 2, 3], [1, 2, 3], [1, 2, 0]], np.float32)
    turned = relative(numbers, np.array([0, 2, 1], np.int8), np.array([3, 3, 2], np.int8))
    assert turned.tolist() == [[1, 2, 3], [3, 1, 2], [2, 1, 0]]


def test_targets_mix_the_outcome_and_the_search() -> None:
    trainer = run(alphazero_config({**TINY, "symmetric": False}), 3)
    samples = trainer.window[0]
    batch = trainer._batch(samples, 0)
    for row in range(len(samples)):
        seat, final = samples.states[row].seat, samples.finals[row]
        won = 1.0 if (final.winners >> seat) & 1 else -1.0
        expected = 0.5 * won + 0.5 * samples.values[row, seat]
        assert float(batch.values[row, 0]) == pytest.approx(expected, abs=1e-5)
    assert ((batch.policy > 0) <= (batch.mask > 0)).all()


@pytest.mark.slow  # quick: test_gumbel.py, of solved roots and leaves
def test_solved_positions_are_played_and_learned_perfectly() -> None:
    """Five pieces from the end, all are: the end, the value and the actions to prefer."""
    game = get_game("linkage")
    exact, reach = solver(game), 2 * 5  # empty cells
    config = alphazero_config({**TINY, "horizon": 30, "solver_limit": 1000, "symmetric": False})
    trainer = run(config, 1)
    samples, near = trainer.window[0], 0
    _, _, policy, targets = trainer._batch(samples, 0)
    for row, state in enumerate(samples.states):
        if 48 - 2 * int(state.num_pieces) > reach:
            continue
        near += 1
        score, winner = exact.score(state), exact.winner(state)
        assert samples.finals[row].groups == score
        assert (samples.finals[row].winners >> winner) & 1
        won = 1.0 if winner == state.seat else -1.0
        assert float(targets[row, 0]) == won
        after = successors(game, state)
        best = [action for action, one in after.items() if exact.score(one) == score]
        assert set(np.flatnonzero(policy[row] > 0).tolist()) <= set(best)
        assert policy[row].sum() == pytest.approx(1, abs=1e-3)
    assert near > 0.15 * len(samples)


@pytest.mark.nightly  # slow: miniatures/test_alphazero.py learns Kuhn poker
def test_it_learns_what_is_right() -> None:
    """On the smallest board with a free hole, roles included, against perfect play: in seconds."""
    config = alphazero_config(SMALL)
    trainer = AlphaZeroTrainer(config)
    decided, kept, error = against_perfect_play(trainer, **config.options)
    assert decided > 100
    assert kept < 0.8
    assert error > 0.9
    while not trainer.finished:
        trainer.iterate()
    _, kept, error = against_perfect_play(trainer, **config.options)
    assert kept > 0.9
    assert error < 0.5


def test_a_run_begins_with_the_weights_of_a_checkpoint(tmp_path: Path) -> None:
    first = run(alphazero_config(TINY), 1)
    card = {"network": {"kind": "board", "width": 8, "blocks": 1}, "views": 1}
    save_checkpoint(tmp_path, first.agent().network, first.game, card)
    second = AlphaZeroTrainer(
        alphazero_config({**TINY, "initial_checkpoint": str(tmp_path), "seed": 9})
    )
    assert weights(second) == weights(first)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"simulations": []}, "simulations"),
        ({"simulations": [0]}, "simulations"),
        ({"window": 5}, "reuse: 2 does not divide the window, 5"),
        ({"root_share": 0.5}, "root_share"),
        ({"min_value_range": 0}, "min_value_range"),
        ({"algorithm": "muzero"}, r"'muzero' is not one of \['ppo', 'alphazero'\]"),
        ({"clip": 0.2}, "clip"),
    ],
)
def test_wrong_fields_are_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        alphazero_config({**TINY, **changes})
