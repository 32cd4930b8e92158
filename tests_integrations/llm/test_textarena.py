"""TextArena's own loop plays every game, and pays what the game pays."""

from typing import Any

import pytest
import textarena as ta

import linkzoo
from linkzoo.integrations.textarena import AgentPlayer, register

SMALL: dict[str, Any] = {"board_size": 3, "threshold": 4}
register()


def play(env: Any, players: dict[int, Any], seed: int) -> tuple[dict[int, float], list[str]]:
    """TextArena's loop; the rewards, and what was answered."""
    env.reset(num_players=len(players), seed=seed)
    done, answers = False, []
    while not done:
        player, observation = env.get_observation()
        answers.append(players[player](observation))
        done, _ = env.step(action=answers[-1])
    rewards, _ = env.close()
    return rewards, answers


@pytest.mark.parametrize("end", ["", "-train", "-raw"])
@pytest.mark.parametrize("name", linkzoo.game_names())
def test_pays_what_the_game_pays(name: str, end: str) -> None:
    title = "".join(word.capitalize() for word in name.split("_"))
    ta.check_env_exists(f"linkzoo/{title}-v0{end}")
    env = ta.make(f"linkzoo/{title}-v0{end}")
    count = linkzoo.get_game(name).min_players
    player = AgentPlayer(linkzoo.RandomAgent(), env)
    rewards, answers = play(env, dict.fromkeys(range(count), player), seed=4)
    replay = linkzoo.make(name, count)
    replay.reset(seed=4)
    for answer in answers:
        replay.step(replay.text_to_action(answer[1:-1]))
    assert list(rewards.values()) == list(replay.rewards.values())


def test_a_player_reads_the_rules_and_its_own_view() -> None:
    env = ta.make("linkzoo/LoveLinks-v0")
    env.reset(num_players=3, seed=1)
    seat, text = env.get_observation()
    assert env.text_game.rules() in text
    assert env.text_game.prompt() in text
    assert not any(env.text_game.view(other) in text for other in range(3) if other != seat)


def test_illegal_answers() -> None:
    env = ta.make("linkzoo/Linkage-v0", **SMALL)
    env.reset(num_players=2, seed=1)
    assert env.step("banana") == (False, {})
    assert "W a1-b1" in env.get_observation()[1]
    env.step("1")
    assert env.state.current_player_id == 1
    assert env.step("banana") == (False, {})
    assert env.step("banana")[0]
    rewards, info = env.close()
    assert rewards == {0: 0.0, 1: -1.0}
    assert [info[player]["invalid_move"] for player in range(2)] == [False, True]
