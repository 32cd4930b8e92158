"""The example's Leduc hold'em: its rules, its observations, and that it can be learned."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import leduc
import numpy as np
import pytest
from leduc import GAME
from leduc.rules import CALL, MAX_PAID, RAISE
from leduc.text import CARDS
from numpy.typing import NDArray

from linkzoo import Agent, Positions, RandomAgent, Record, exact
from linkzoo.testing import check_game
from linkzoo_training.agents.policy import load_agent
from linkzoo_training.commands.cli import main
from tests.driving import first_quick

NAME, FOLDER = "leduc:GAME", Path(leduc.__file__).parents[1]


def dealt(cards: str, moves: str = "") -> Record:
    """The record after moves f, c and r from a deal of the hands and the board."""
    numbers = [CARDS.index(card) for card in cards.split()]
    state: Record = GAME.blank(len(numbers) - 1)
    GAME.rules.new_game(state, np.uint64(1))
    state.deck[: len(numbers)] = numbers
    mask = np.zeros(3, np.int8)
    for move in moves:
        GAME.rules.legal_actions(state, mask)
        assert mask["fcr".index(move)], f"{move} of {moves}"
        GAME.rules.apply(state, "fcr".index(move))
    return state


def chips(state: Record) -> list[float]:
    """The chips that each seat has won."""
    out = np.empty(state.num_players, np.float32)
    GAME.payoffs(state, out)
    return [round(float(x), 3) for x in out * 13 * (state.num_players - 1)]


@pytest.mark.nightly  # quick: test_connect_four.py; slow: test_right_games
def test_the_contract() -> None:
    check_game(GAME, num_players=2, seeds=[1])


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize(
    ("cards", "moves", "seat", "legal"),
    [
        ("Js Qs Ks", "", 0, "cr"),  # R3: nothing to fold for
        ("Js Qs Ks", "c", 1, "cr"),
        ("Js Qs Ks", "cr", 0, "fcr"),
        ("Js Qs Ks", "crr", 1, "fc"),  # R3: two raises
        ("Js Qs Ks", "crc", 0, "cr"),  # R2: the second round
        ("Js Qs Ks As", "rfr", 0, "fc"),  # R3: a seat that has folded isn't asked again
        ("Js Qs Ks As", "crcf", 1, "cr"),  # R2: the lowest seat in play begins
        ("Js Qs Ks As", "ccrrcc", 0, "cr"),
    ],
)
def test_whose_turn_it_is(cards: str, moves: str, seat: int, legal: str) -> None:
    state, mask = dealt(cards, moves), np.zeros(3, np.int8)
    GAME.rules.legal_actions(state, mask)
    assert (state.seat, "".join("fcr"[a] for a in np.flatnonzero(mask))) == (seat, legal)


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize(
    ("cards", "moves", "won"),
    [
        ("Js Qs Ks", "rf", [1, -1]),  # R4: alone
        ("Js Qs Ks", "cccc", [-1, 1]),  # the highest rank
        ("Js Qs Jh", "cccc", [1, -1]),  # a pair
        ("Ks Kh Js", "rcrc", [0, 0]),  # a draw
        ("Js Ks Qs", "rrcrrc", [-13, 13]),  # R3: 1 + 2 · 2 + 2 · 4
        ("Js Qs Ks", "crcrf", [3, -3]),
        ("Js Qs Ks As", "rff", [2, -1, -1]),
        ("As Ah Ks Js", "ccccrcc", [2.5, 2.5, -5]),  # R4: equal ranks share
        ("Js Qs Ks As", "crfcrc", [-7, 8, -1]),  # the pot has what a folded seat has paid
    ],
)
def test_what_is_paid(cards: str, moves: str, won: list[float]) -> None:
    state = dealt(cards, moves)
    assert (state.seat, chips(state)) == (-1, won)
    best = [seat for seat, each in enumerate(won) if each == max(won)]
    assert state.winners == sum(1 << seat for seat in best)


class Plays:
    """An agent with probabilities [N, 3]."""

    def __init__(self, policy: Callable[[Positions], NDArray[Any]]) -> None:
        self.name = policy.__name__
        self.probabilities = policy

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns the likeliest actions."""
        return np.asarray(self.probabilities(positions).argmax(1))


def passive(positions: Positions) -> NDArray[Any]:
    policy: NDArray[Any] = np.eye(3)[np.full(len(positions), CALL)]
    return policy


def aggressive(positions: Positions) -> NDArray[Any]:
    return np.eye(3)[np.where(positions.action_mask[:, RAISE] > 0, RAISE, CALL)]


def by_rank(positions: Positions) -> NDArray[Any]:
    """Probabilities proportional to 1 + the action times the rank."""
    weights = 1 + np.arange(3) * positions.observation[:, :1].astype(float)
    weights = weights * positions.action_mask
    policy: NDArray[Any] = weights / weights.sum(1, keepdims=True)
    return policy


def chips_lost(agent: Agent) -> float:
    """OpenSpiel's `exploitability`, in chips."""
    return exact.exploitability(agent, exact.tree(GAME)).exploitability * MAX_PAID


@pytest.mark.nightly  # quick: exact/test_values.py, of Kuhn poker
@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        (RandomAgent(), 2.373611111111111),
        (Plays(passive), 1.4666666666666668),
        (Plays(aggressive), 2.3666666666666663),
        (Plays(by_rank), 1.9769031475051437),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_exploitability_is_that_of_open_spiel(agent: Agent, expected: float) -> None:
    """`exploitability` of open_spiel 2.0.2, of the same policies in its `leduc_poker`."""
    assert chips_lost(agent) == pytest.approx(expected, abs=1e-9)


@pytest.mark.nightly  # quick: the value of Kuhn poker; slow: that of an edition of LINK-O
def test_its_value_is_that_of_open_spiel() -> None:
    """-0.0856 chips for the first seat."""
    tree = exact.tree(GAME)
    assert tree.first_outcome[1] == 6 * 5 * 4  # deals; the order of the other cards doesn't matter
    solution = exact.solve(tree, nash_conv=2e-4)
    assert solution.exploitability.values[0] * MAX_PAID == pytest.approx(-0.0856, abs=2e-3)


@pytest.mark.slow  # quick: exact/test_commands.py, mixtures of Kuhn poker's
def test_a_mixture_draws_a_policy_for_each_game() -> None:
    """It loses no more than the mean of its policies."""
    tree = exact.tree(GAME)
    policies = [exact.policy_of(Plays(policy), tree) for policy in (passive, aggressive)]
    lost = [exact.exploitability(policy, tree).exploitability for policy in policies]
    mixed = exact.exploitability(exact.mixture(policies, tree), tree)
    assert 0 < mixed.exploitability <= sum(lost) / 2 + 1e-12
    alone = exact.mixture(policies[:1], tree)
    assert exact.exploitability(alone, tree).exploitability == pytest.approx(lost[0])


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("moves", ["", "rc"])
def test_other_worlds(moves: str) -> None:
    """The seen cards stay; the other hand, and a board to come, are any of the unseen ones."""
    state = dealt("Js Qs Kh", moves)
    before, hands, boards = GAME.to_dict(state, 1), Counter[int](), Counter[int]()
    for seed in range(2000):
        world = state.copy()
        GAME.determinize(world, 1, np.uint64(seed))
        assert seed >= 50 or GAME.to_dict(world, 1) == before
        hands[int(world.deck[0])] += 1
        boards[int(world.deck[2])] += 1
    seen = {CARDS.index("Qs")} | ({CARDS.index("Kh")} if moves else set())
    unseen = set(range(6)) - seen
    assert hands.keys() == unseen
    assert max(hands.values()) < 1.2 * min(hands.values())
    assert boards.keys() == ({CARDS.index("Kh")} if moves else unseen)


TINY: dict[str, Any] = {
    "game": NAME,
    "num_players": [2],
    "num_envs": 256,
    "width": 32,
    "blocks": 1,
    "num_threads": 1,
    "device": "cpu",
    "initial_states": {"midgame": 0},
    "eval": {"every": 99, "opponents": ["random"], "blocks": 2}
    | {"final_opponents": ["random"], "final_blocks": 2},
}
RUNS: dict[str, dict[str, Any]] = {
    "ppo": {"critic": "full", "total_steps": 131_072, "horizon": 16}
    | {"learning_rate": [4e-3, 1e-3], "entropy": 0.3, "kl_coef": 0.5, "pool": {"share": 0}},
    "alphazero": {"simulations": [8], "window": 4, "reuse": 4, "total_steps": 65_536},
}


@pytest.mark.nightly  # quick: Connect Four's training; Kuhn poker is learned
@pytest.mark.parametrize("algorithm", first_quick(list(RUNS), 0, 1))
def test_training(algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After seconds, far less than uniform play is exploited; the tutorial's run takes longer."""
    monkeypatch.chdir(tmp_path)
    config = {"name": "tiny", "algorithm": algorithm, **TINY, **RUNS[algorithm]}
    Path("tiny.yaml").write_text(json.dumps(config), encoding="utf-8")
    assert main(["train", "tiny.yaml"]) == 0
    assert load_agent("runs/tiny/checkpoint").temperature == 1
    assert chips_lost(load_agent("runs/tiny/checkpoint")) < 1.6


@pytest.mark.nightly  # quick: test_best_response.py
def test_best_response(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trained response to random play finds less than the exact one, but most of it."""
    monkeypatch.chdir(tmp_path)
    fields = {"name": "tiny", **TINY, **RUNS["ppo"]}
    Path("tiny.yaml").write_text(json.dumps(fields), encoding="utf-8")
    command = f"experiment best-response random --game {NAME} --players 2"
    command += " --config tiny.yaml --steps 65536"
    assert main([*command.split(), "--games", "4000", "--json", "found.json"]) == 0
    (report,) = json.loads(Path("found.json").read_text())["players"]
    assert report["gain"]["low"] < 2.3736 / 13
    assert report["gain"]["mean"] > 0.7 * 2.3736 / 13
