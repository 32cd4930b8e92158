"""A seat as a conversation: the environment's rewards, and complete messages."""

from typing import Any

import pytest

import linkzoo
from linkzoo.core.agent import Positions
from linkzoo.text import PromptSettings, TextEnv, TextGame, list_moves

SMALL: dict[str, Any] = {"board_size": 3, "threshold": 4}


class Watching:
    """Plays the first legal action and notes for which seats it is asked."""

    name = "watching"

    def __init__(self) -> None:
        self.seats: list[int] = []

    def act(self, positions: Positions) -> Any:
        self.seats += positions.states["seat"].tolist()
        return positions.action_mask.argmax(axis=1)


def play(env: TextEnv, seed: int | None, wanted: str = "1") -> tuple[float, int]:
    """Plays a game with the same answer to everything; its return and the number of answers."""
    env.reset(seed)
    total, answers, done = 0.0, 0, False
    while not done:
        step = env.step(wanted)
        total, answers, done = total + step.reward, answers + 1, step.done
    return total, answers


@pytest.mark.parametrize(
    ("name", "reward"),
    [(name, ["win", "score"][i % 2]) for i, name in enumerate(linkzoo.game_names())],
)
def test_pays_what_the_game_pays(name: str, reward: str) -> None:
    players, opponent = linkzoo.get_game(name).max_players, Watching()
    env = TextEnv(name, players, seat=1, opponent=opponent, reward=reward, prompt=lambda _: "?")
    message, done, total = env.reset(seed=3), False, 0.0
    assert message.endswith("?")
    while not done:
        assert env.text_game.seat == 1
        legal = env.text_game.positions.action_mask[0].argmax()
        move = env.text_game.game.notation.action_to_text(env.text_game.state, int(legal))
        step = env.step(move)
        assert step.legal
        total, done = total + step.reward, step.done
    assert 1 not in opponent.seats
    replay = linkzoo.make(name, players, reward=reward)
    replay.reset(seed=3)
    assert env.text_game.record.seed == 3
    for action in env.text_game.record.actions:
        replay.step(action)
    assert total == replay.rewards["player_1"]
    assert step.message == env.text_game.view(1)


def test_a_seed_is_a_game() -> None:
    env = TextEnv("linkage", **SMALL)
    games = [
        (play(env, seed, "move 1"), env.seat, env.text_game.record.to_dict())
        for seed in (5, None, None, 5, None)
    ]
    assert games[0] == games[3]
    assert games[1] == games[4]
    seeds = [record["seed"] for _, _, record in games]
    assert seeds[0] == 5
    assert len(set(seeds)) == 3


def test_draws_the_seat() -> None:
    env = TextEnv("linkage", rules="none", prompt=lambda game: str(game.seat), **SMALL)
    seats = [env.reset(seed) for seed in range(40)]
    assert seats == [str(env.seat) if seed == 39 else seats[seed] for seed in range(40)]
    assert 10 < seats.count("0") < 30


@pytest.mark.parametrize("allowed", [0, 2])
def test_illegal_answers_cost(allowed: int) -> None:
    env = TextEnv("linkage", max_illegal=allowed, illegal_cost=0.25, **SMALL)
    assert play(env, 1, "banana") == (-1 - 0.25 * (allowed + 1), allowed + 1)
    with pytest.raises(RuntimeError, match="reset"):
        env.step("1")


def test_says_what_was_wrong_and_goes_on() -> None:
    env = TextEnv("linkage", seat=0, max_illegal=1, **SMALL)
    assert env.reset(seed=1).endswith(env.text_game.prompt())
    wrong = env.step("W a1-c3")
    assert (wrong.legal, wrong.done, wrong.reward) == (False, False, 0.0)
    assert "W a1-b1" in wrong.message
    assert wrong.message.endswith("Answer again.")
    assert env.step("1").legal
    last = env.step("what?")
    assert (last.reward, last.done) == (-1.0, True)
    assert last.message.endswith("You lose.")


@pytest.mark.parametrize("rules", ["none", "short", "full"])
def test_begins_with_the_rules(rules: str) -> None:
    env = TextEnv("linkage", rules=rules)
    text = "" if rules == "none" else TextGame("linkage").rules(full=rules == "full")
    message = env.reset(seed=1)
    assert message.startswith(text)
    assert message.removeprefix(text).strip() == env.text_game.prompt().strip()


@pytest.mark.slow  # quick: an opponent that there isn't, below
def test_opponents_by_name() -> None:
    env = TextEnv("linkage", seat=0, opponent="exact", **SMALL)
    assert play(env, 1)[0] == -1  # Fewer wins on this board


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"seat": 2}, "seat.*0..1"),
        ({"seat": [0, 0]}, "seat.*different"),
        ({"seat": []}, "seat.*different"),
        ({"seat": "every"}, "seat"),
        ({"opponent": 5}, "opponent"),
        ({"opponent": "nobody"}, "nobody"),
        ({"reward": "money"}, "reward.*win"),
        ({"rules": "long"}, "rules.*short"),
        ({"max_illegal": -1}, "max_illegal"),
        ({"illegal_cost": float("nan")}, "illegal_cost"),
        ({"num_players": 3}, "num_players"),
        ({"colour": 1}, "colour"),
    ],
)
def test_wrong_arguments(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        TextEnv("linkage", **wrong)


def test_step_before_reset() -> None:
    with pytest.raises(RuntimeError, match="reset"):
        TextEnv("linkage").step("1")


@pytest.mark.usefixtures("uncompiled")
def test_all_seats_have_conversations_of_their_own() -> None:
    """Each begins with the rules, and has the seat's view and history alone; payoffs are paid."""
    env = TextEnv("love_links", 3, seat="all", link_set="mini8")
    message = env.reset(seed=2)
    begun: set[int] = set()
    done = False
    rules = env.text_game.rules()
    while not done:
        seat = env.seat
        assert seat == env.text_game.seat
        assert message.startswith(rules) == (seat not in begun)
        begun.add(seat)
        assert message.removeprefix(rules).strip() == env.text_game.prompt().strip()
        step = env.step("Move: 1")
        message, done = step.message, step.done
        assert step.legal
        if not done:
            assert (step.seat, step.rewards) == (env.seat, (0.0, 0.0, 0.0))
    assert begun == {0, 1, 2}
    assert list(step.rewards) == env.text_game.payoffs
    assert step.reward == step.rewards[step.seat]


def test_an_illegal_answer_costs_its_own_seat() -> None:
    env = TextEnv("linkage", seat=[1, 0], max_illegal=1, illegal_cost=0.5)
    env.reset(seed=1)
    assert env.step("W a1-b1").seat == 1
    assert env.step("what?").rewards == (0.0, -0.5)
    assert env.step("W f7-g7").seat == 0
    assert env.step("what?").rewards == (-0.5, 0.0)
    assert env.step("W a7-b7").seat == 1  # each seat has warnings of its own
    last = env.step("what?")
    assert (last.done, last.rewards, last.reward) == (True, (0.0, -1.5), -1.5)


def test_a_request_of_the_moves_is_free() -> None:
    prompts = PromptSettings(moves="on_request")
    env = TextEnv("linkage", seat=0, max_illegal=0, illegal_cost=1, prompts=prompts, **SMALL)
    assert "## Notation" in env.reset(seed=1)
    step = env.step("Move: ?")
    assert (step.legal, step.done, step.reward) == (False, False, 0.0)
    assert step.message == f"Legal moves:\n{list_moves(env.text_game.game, env.text_game.state)}"
    assert env.step("Move: ?").reward == -2.0
