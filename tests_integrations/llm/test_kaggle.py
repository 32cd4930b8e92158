"""Kaggle's environments: its validators accept the games, and its harness plays them."""

import re
from typing import Any

import kaggle_environments
import numpy as np
import pytest
from kaggle_environments import core_harness

import linkzoo
from linkzoo.integrations.kaggle import TextHarness, environment, register
from linkzoo.testing import play

SMALL: dict[str, Any] = {"options": {"board_size": 3, "threshold": 4}, "seed": 3}
register()


@pytest.mark.parametrize("name", linkzoo.game_names())
def test_its_runner_plays_every_game_to_its_end(name: str) -> None:
    """Every specification, state and action goes through Kaggle's schemas."""
    game = linkzoo.get_game(name)
    players = game.max_players
    env = kaggle_environments.make(f"linkzoo_{name}", {"seed": 3}, debug=True)
    env.run(["first"] * players)
    last = env.steps[-1]
    assert [agent.status for agent in last] == ["DONE"] * players
    replay = linkzoo.make(name, players)
    replay.reset(seed=3)
    for before, after in zip(env.steps, env.steps[1:], strict=False):
        (seat,) = [p for p, agent in enumerate(before) if agent.status == "ACTIVE"]
        assert replay.agent_selection == f"player_{seat}"
        replay.step(replay.text_to_action(after[seat].action))
    assert [agent.reward for agent in last] == [*replay.rewards.values()]
    assert env.toJSON()["rewards"] == [agent.reward for agent in last]
    assert env.render(mode="ansi").strip()
    assert "<svg" in env.render(mode="html")


@pytest.mark.parametrize("name", ["link_o", "love_formula"])
def test_agents_see_their_own_seat_alone(name: str) -> None:
    """Observations are equal in worlds that a seat can't tell apart, and have no seed."""
    made = environment(name)
    env = kaggle_environments.make(made, {"seed": 3}, debug=True)
    env.reset(3)
    assert env.configuration.seed is None
    interpreter = made["interpreter"].__closure__[0].cell_contents
    text_game = interpreter._envs[env].text_game
    for turn in range(12):
        seen = [dict(agent.observation) for agent in env.state]
        state = text_game.state.copy()
        for seat, agent in enumerate(env.state):
            world = play.clone(text_game.state)
            text_game.game.determinize(world, seat, np.uint64(turn))
            text_game._states[0] = world
            text_game._turn = None
            message = text_game.view(seat)
            if agent.status == "ACTIVE":
                message = text_game.prompt()
            assert seen[seat]["message"].endswith(message)
            assert (seen[seat]["rules"] == "") == (agent.status == "INACTIVE")
            text_game._states[0] = state
            text_game._turn = None
        moves = [agent.observation.legalActionStrings for agent in env.state]
        env.step([row[turn % len(row)] if row else None for row in moves])


def test_its_harness_plays_with_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """An illegal answer gets a lesson with the position; the model asks for the moves, too."""
    prompts: list[str] = []
    counts = ("prompt_tokens", "generation_tokens", "total_tokens", "duration_secs")
    details: dict[str, Any] = {**dict.fromkeys(counts, 1), "finish_reason": "stop"}

    def ask(prompt: str, *_: Any) -> tuple[str, dict[str, Any]]:
        prompts.append(prompt)
        listed = re.search(r"^1\. (.*)$", prompt.partition("Legal moves:")[2], re.MULTILINE)
        if len(prompts) == 1:
            return "Move: nonsense", details
        return ("Move: ?" if listed is None else f"Move: {listed[1]}"), details

    monkeypatch.setattr(core_harness, "_call_llm", ask)
    agent = core_harness.create_agent_fn(TextHarness(), model_override=("none", {}))
    env = kaggle_environments.make("linkzoo_linkage", {**SMALL, "moves": "on_request"}, debug=True)
    env.run([agent, agent])
    assert [state.status for state in env.steps[-1]] == ["DONE", "DONE"]
    assert sorted(state.reward for state in env.steps[-1]) == [-1, 1]
    assert "## Notation" in prompts[0]
    assert "That is no legal move" in prompts[1]
    assert "You are player 0" in prompts[1]


@pytest.mark.parametrize(
    ("actions", "status"),
    [
        (["nonsense"] * 2, ["INVALID", "DONE"]),
        ([10**6], ["INVALID", "DONE"]),
        ([[1]], ["INVALID", "DONE"]),
        ([{"submission": None}] * 2, ["INVALID", "DONE"]),
    ],
)
def test_bad_answers_lose(actions: list[Any], status: list[str]) -> None:
    env = kaggle_environments.make("linkzoo_linkage", {**SMALL, "maxIllegal": 1})
    for action in actions:
        assert not env.done
        env.step([action, None])
    assert [state.status for state in env.state] == status
    assert [state.reward for state in env.state] == [None, 0]


def test_numbers_and_submissions_are_actions() -> None:
    env = kaggle_environments.make("linkzoo_linkage", SMALL)
    (first, *_) = env.state[0].observation.legalActions
    env.step([first, None])
    (first, *_) = env.state[1].observation.legalActionStrings
    env.step([None, {"submission": first}])
    assert env.state[0].status == "ACTIVE"
