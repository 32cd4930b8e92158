"""Every example runs on every game and every number of players, to its end: no illegal move."""

import pytest

import linkzoo
from tests_integrations.running import run_example, wins

# A few iterations of each.
BRIEFLY = {
    "cleanrl_ppo": ["--steps", "1024", "--envs", "8", "--rollout", "64"],
    "rllib_ppo": ["--steps", "1024", "--envs", "8", "--rollout", "64"],
    "sb3": ["--steps", "1024", "--envs", "8", "--rollout", "64"],
    "tianshou_dqn": ["--steps", "1024", "--envs", "4"],
    "torchrl_ppo": ["--steps", "1024", "--envs", "4", "--rollout", "128"],
}
GAMES = [
    (name, players)
    for name in linkzoo.games
    for players in sorted({linkzoo.get_game(name).min_players, linkzoo.get_game(name).max_players})
]


@pytest.mark.parametrize(("game", "players"), GAMES)
@pytest.mark.parametrize("example", BRIEFLY)
def test_runs(example: str, game: str, players: int) -> None:
    arguments = [game, "--players", str(players), "--blocks", "2", *BRIEFLY[example]]
    printed = run_example(example, *arguments)
    before, after = wins(printed)
    assert 0 <= before <= 100
    assert 0 <= after <= 100


@pytest.mark.parametrize("game", linkzoo.games)
def test_search_of_open_spiel_runs(game: str) -> None:
    printed = run_example("open_spiel_search", game, "--simulations", "3", "--games", "1")
    assert "no illegal move" in printed
