"""Expert iteration where something is hidden: it learns, it resumes, and it peeks at nothing."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from linkzoo import Game, game_names, get_game
from linkzoo.core.kernels import kernels
from linkzoo_training.algorithms.alphazero import AlphaZeroTrainer
from linkzoo_training.config.config import AlphaZeroConfig
from linkzoo_training.networks.flat import FlatNet, frozen
from linkzoo_training.search.gumbel import GumbelSearch, PolicyOutput
from linkzoo_training.selfplay.executors import LocalExecutor
from linkzoo_training.selfplay.replay import ReplayGames, Samples
from tests.driving import first_quick
from tests.training.helpers import alphazero_config, weights
from tests.training.miniatures.play import KUHN_POKER, MINIATURES, SETTINGS
from tests.training.miniatures.trees import exploitability, value

# The quick tests of the same kinds are in tests/training/test_alphazero.py and test_gumbel.py.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("registered")]

HIDING = [name for name in game_names() if get_game(name).observation.privileged_spec is not None]
SOMEWHERE = np.uint64(2**63)  # where the seeds of other worlds begin


def config_for(game: str, **changes: Any) -> AlphaZeroConfig:
    return alphazero_config(
        {
            **SETTINGS,
            "algorithm": "alphazero",
            "game": game,
            "num_envs": 12,
            "horizon": 4,
            "simulations": [6],
            "window": 4,
            "reuse": 2,
            "batch_size": 32,
            **changes,
        }
    )


def other_worlds(game: Game, states: NDArray[Any]) -> NDArray[Any]:
    """Records [N] that the seats to act can't tell from the given ones."""
    worlds = states.copy()
    for row, world in enumerate(worlds):
        game.determinize(world, int(world.seat), SOMEWHERE + np.uint64(row))
    return worlds


def learned_from(
    trainer: AlphaZeroTrainer, states: NDArray[Any], finals: NDArray[Any]
) -> list[Any]:
    """The results of a ply from `states` [N]: those of the search, and the training targets."""
    play, searched = trainer.play, list[PolicyOutput]()
    assert isinstance(play, ReplayGames)
    play.states, play.length[:], play.plies = states.copy(), 0, 0
    search = play._searcher(trainer.config.simulations_at(0.0))
    run = search.run

    def noted(*args: Any, **options: Any) -> PolicyOutput:
        searched.append(run(*args, **options))
        return searched[-1]

    search.run = noted  # type: ignore[method-assign]  # it notes what was found
    play.collect(trainer.behaviour_policy, trainer.pool, 0.0, 0)
    search.run = run  # type: ignore[method-assign]  # as it was
    (result,) = searched
    samples = Samples(play._states[:, 0], finals, play._policy[:, 0], play._values[:, 0])
    return [*vars(result).values(), *(part.numpy() for part in trainer._batch(samples, 0))]


def peeks(game_name: str, players: int, plies: int, **changes: Any) -> tuple[bool, int]:
    """Whether a sample depends on hidden cards, and the number of games compared."""
    config = config_for(game_name, num_players=[players], horizon=1, simulations=[12], **changes)
    trainer = AlphaZeroTrainer(config)
    assert isinstance(trainer.network, FlatNet)
    with torch.no_grad():
        for head in (trainer.network.policy, trainer.network.value):
            head.weight.mul_(100)  # some policy and values that depend on what is seen
    trainer.behaviour_policy = frozen(trainer.network, trainer.bf16)
    game = trainer.game
    states = np.zeros(12, game.state)
    states[:] = game.blank(players, config.options)
    seeds = np.arange(12, dtype=np.uint64)
    masks = np.empty((12, game.num_actions), np.int8)
    kernels(game).reset_rows(states, masks, seeds, seeds, np.full(12, plies))
    worlds = other_worlds(game, states)
    different = sum(a.tobytes() != b.tobytes() for a, b in zip(states, worlds, strict=True))
    here, there = (learned_from(trainer, now, states) for now in (states, worlds))
    assert len(np.unique(here[1], axis=0)) > 1  # it depends on what is seen
    return not all(np.array_equal(*pair) for pair in zip(here, there, strict=True)), different


@pytest.mark.parametrize("name", first_quick(list(MINIATURES), 1, 0))
def test_nothing_hidden_reaches_policy_samples_or_search(name: str) -> None:
    """Worlds that the seat to act can't tell apart teach the same, bit for bit."""
    for plies in range(3):
        assert peeks(MINIATURES[name].game.name, 2, plies) == (False, 12)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "players"),
    first_quick(
        [
            (name, players)
            for name in HIDING
            for players in range(get_game(name).min_players, get_game(name).max_players + 1)
        ],
        0,
        1,
    ),
)
def test_nothing_hidden_reaches_them_in_the_games(name: str, players: int) -> None:
    game = get_game(name)
    variants: list[dict[str, Any]] = [{}]
    if "redeal_inference" in (game.state.names or ()):
        variants.append({"options": {"redeal_inference": True}, "symmetric": True})
    for changes in variants:
        for plies in range(0, game.facts.typical_length, game.facts.typical_length // 16):
            peeking, different = peeks(name, players, plies, **changes)
            assert not peeking
            assert different >= 11


def test_a_search_that_peeks_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Targets differ if a search sees the true world."""

    def peek(self: GumbelSearch, states: NDArray[Any], *args: Any, **options: Any) -> PolicyOutput:
        result = run(self, states, *args, **options)
        result.policy[:, 0] += 1e-6 * states["deck"][:, 1 - states["seat"][0]]
        return result

    run = GumbelSearch.run
    monkeypatch.setattr(GumbelSearch, "run", peek)
    assert peeks(KUHN_POKER.game.name, 2, 0)[0]


@pytest.mark.parametrize("workers", first_quick([2, 0], slow=0))
def test_resumed_run_is_the_uninterrupted_run(tmp_path: Path, workers: int) -> None:
    """With games, samples and tasks in flight."""
    config = config_for(KUHN_POKER.game.name)

    def begun() -> AlphaZeroTrainer:
        return AlphaZeroTrainer(config, LocalExecutor(workers) if workers else None)

    whole, part = begun(), begun()
    for trainer, iterations in ((whole, 6), (part, 3)):
        for _ in range(iterations):
            trainer.iterate()
    part.save(tmp_path)
    resumed = begun()
    resumed.load(tmp_path)
    for _ in range(3):
        resumed.iterate()
    assert weights(resumed) == weights(whole) != weights(part)


def test_kuhn_is_learned() -> None:
    """From uniform play to far less exploitable play, with the right value of the game."""
    config = config_for(
        KUHN_POKER.game.name,
        num_envs=128,
        horizon=16,
        simulations=[16],
        window=8,
        reuse=4,
        batch_size=256,
        learning_rate=[1e-2, 1e-3],
        total_steps=15 * 128 * 16,
        average=8,
    )
    tree, trainer = KUHN_POKER.tree, AlphaZeroTrainer(config)
    assert exploitability(tree, KUHN_POKER.policy(trainer.agent())) > 0.44  # uniform play: 0.458
    while not trainer.finished:
        trainer.iterate()
    policy = KUHN_POKER.policy(trainer.agent())
    assert exploitability(tree, policy) < 0.2
    assert value(tree, policy) == pytest.approx(-1 / 18, abs=0.1)
