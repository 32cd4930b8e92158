"""The report on a finished game: losses by the exact solver, accuracy, and who may read it."""

import json
from typing import Any

import numpy as np
import pytest

from linkzoo import GameRecord, Positions, game_names, get_game
from linkzoo.testing.play import clone, mask_of, new
from linkzoo_training import load_agent
from linkzoo_training.agents.policy import PolicyAgent
from linkzoo_training.agents.values import values_along
from linkzoo_training.checkpoints.checkpoint import shipped_cards
from linkzoo_training.search.solver import new_solver
from linkzoo_training.web import report
from linkzoo_training.web.offers import VALUE_ERRORS, reporters
from linkzoo_training.web.report import Decision, Judge, accuracy, mattering
from tests.driving import first_quick
from tests.linkage.perfect import perfect_groups
from tests.packages import ROOT
from tests.web.server import Client

LIMIT = 2**18  # positions of the solver that checks
SOLVER = new_solver(get_game("linkage"))


def random_record(seed: int) -> GameRecord:
    """A random game of Linkage, in which the better groups are chosen half of the time."""
    game = get_game("linkage")
    rng = np.random.default_rng(seed)
    state = new(game, 2, {"threshold": 13}, seed)
    record = GameRecord.of(game, state)
    while state.seat >= 0:
        action = int(rng.choice(np.flatnonzero(mask_of(game, state))))
        record.actions.append(action)
        game.rules.apply(state, action)
    return record


def winner(state: np.record) -> int:
    """The winner with best play, by the solver, and near the end by trying everything."""
    game = get_game("linkage")
    view = game.to_dict(state, None)
    if state.seat < 0:
        return int(state.winners).bit_length() - 1
    best = SOLVER.winner(state, LIMIT)
    if sum(row.count(".") for row in view["board"]) <= 8:
        more = perfect_groups(view) >= view["options"]["threshold"]
        assert (best == view["more"]) == more
    return best


@pytest.mark.parametrize(
    "games",
    first_quick([1, 50], 0),
)
def test_losses_are_those_of_the_exact_solver(games: int) -> None:
    """No decision is blamed that kept a win or had none; each better move wins."""
    game = get_game("linkage")
    agent = load_agent("linkage_az")
    assert isinstance(agent, PolicyAgent)
    solved = 0
    thrown = 0
    for seed in range(games):
        judge = Judge(agent, random_record(seed))
        for decision in judge.decisions():
            if not decision.solved:
                continue
            before = judge.states[decision.ply]
            winners = [winner(before)]
            for action in (decision.played, decision.better):
                after = clone(before)
                game.rules.apply(after, action)
                winners.append(winner(after))
            lost = winners[0] == decision.seat != winners[1]
            assert decision.loss == float(lost)
            if lost:
                assert winners[2] == decision.seat
            else:
                assert decision.better == decision.played
            solved += 1
            thrown += lost
    assert solved > 5 * games
    assert thrown >= games // 10


@pytest.mark.parametrize("game", first_quick(["linkage", "link_o"], 0))
def test_a_report_evaluates_each_position_once(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    record = GameRecord.load(ROOT / "docs" / "games" / "played" / f"{game}.json")
    agent = load_agent(game)
    evaluated: list[bytes] = []
    evaluate = agent.evaluate

    def counted(positions: Positions) -> Any:
        evaluated.extend(state.tobytes() for state in positions.states)
        return evaluate(positions)

    monkeypatch.setattr(agent, "evaluate", counted)
    monkeypatch.setattr(report, "_CANDIDATES", 0)  # no moves are compared
    judge = Judge(agent, record)
    assert judge.decisions()
    assert evaluated == [state.tobytes() for state in judge.states if state["seat"] >= 0]
    alone = values_along(agent, record)
    assert judge.values.to_dict() == alone.to_dict()


def decision(ply: int, seat: int, loss: float) -> Decision:
    return Decision(ply, seat, 0, 1, loss, open=True)


def test_accuracy_halves_with_each_tenth_given_away() -> None:
    assert accuracy([]) is None
    assert accuracy([decision(0, 0, 0.0)]) == 1
    assert accuracy([decision(0, 0, 0.1), decision(1, 0, 0.0)]) == 0.75
    assert accuracy([decision(0, 0, 0.2)]) == 0.25


def test_the_largest_losses_of_the_seats_are_listed_in_order() -> None:
    losses = [0.3, 0.004, 0.5, 0.4, 0.2, 0.1, 0.9]
    decisions = [decision(ply, ply % 2, loss) for ply, loss in enumerate(losses)]
    listed = mattering(decisions, [0, 1])
    assert [one.ply for one in listed] == [0, 2, 3, 4, 6]
    assert [one.ply for one in mattering(decisions, [1])] == [3, 5]


def ended(client: Client, game: str, **options: Any) -> tuple[str, str]:
    """A game between two people that a seat resigned: its link, and its replay's."""
    name = client.new_game(game, ["human", "human"], **options)
    status, answer = client.ask(f"sessions/{name}/replay", {})
    assert (status, answer["error"]) == (409, "the game isn't over")
    _, view = client.ask(f"sessions/{name}")
    for _ in range(4):
        if view["waiting"] is not None:
            _, view = client.ask(f"sessions/{name}/look", {"seat": view["waiting"]})
        _, view = client.ask(f"sessions/{name}/move", {"move": view["moves"][0]["text"]})
    if view["waiting"] is not None:
        _, view = client.ask(f"sessions/{name}/look", {"seat": view["waiting"]})
    assert client.ask(f"sessions/{name}/replay", {})[0] == 409
    assert client.ask(f"sessions/{name}/resign", {})[0] == 200
    status, opened = client.ask(f"sessions/{name}/replay", {})
    assert status == 200
    return name, opened["id"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "game", first_quick(["linkage", "love_links", "link_o", "love_formula"], slow=0)
)
def test_a_finished_game_has_a_report(client: Client, game: str) -> None:
    name, replay = ended(client, game)
    assert client.ask(f"sessions/{name}/replay", {})[1]["id"] == replay  # opened once
    status, report = client.ask(f"replays/{replay}/report", {})
    assert status == 200, report
    assert report == client.ask(f"replays/{replay}/report", {})[1]
    plies = len(report["values"]) - 1
    assert len(report["accuracy"]) == len(report["decided"]) == len(report["players"]) == 2
    for chances in report["chances"]:
        assert all(0 <= chance <= 1 for chance in chances)
    for found in report["decisions"]:
        assert found["ply"] < plies
        assert found["loss"] > 0
        assert found["played"]["text"] != found["better"]["text"]
        assert found["better"]["parts"]
    assert client.ask(f"sessions/{name}/rematch", {})[0] == 200
    assert client.ask(f"sessions/{name}/replay", {})[0] == 409


@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
def test_an_edition_without_a_policy_has_no_report(client: Client) -> None:
    name = client.new_game("link_o", ["human", "human"], options={"board": "mini2x4a-h2"})
    assert client.ask(f"sessions/{name}")[1].get("reports") is False


@pytest.mark.parametrize("game", game_names())
def test_the_network_that_judges_best_writes_the_report(game: str) -> None:
    """Every shipped network is measured: `python -m scripts.value_errors`."""
    errors = json.loads(VALUE_ERRORS.read_text(encoding="utf-8"))
    networks = [name for name, card in shipped_cards() if card["game"] == game]
    names = reporters(get_game(game), 2, {}, {})
    assert set(names) == set(networks)
    assert [errors[name] for name in names] == sorted(errors[name] for name in networks)
    assert errors[names[0]] < 0.25  # better than a half for each player
