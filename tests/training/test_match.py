"""Matches: their invariants, their arithmetic, and their errors."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.console import Console

from linkzoo import Agent, GameRecord, Positions, RandomAgent, game_names, get_game
from linkzoo.testing.play import mask_of
from linkzoo_training.agents.baselines import GreedyAgent, MonteCarloAgent, UctAgent
from linkzoo_training.evaluation import match
from linkzoo_training.evaluation import result as result_module
from linkzoo_training.evaluation.match import Match, play_match
from linkzoo_training.evaluation.report import match_table
from linkzoo_training.evaluation.result import MatchResult, variants_of
from linkzoo_training.evaluation.statistics import from_blocks
from tests.training.helpers import midgame
from tests.training.toys import TABLE

LINKAGE = get_game("linkage")


class FirstLegal:
    """Plays the legal action with the lowest number."""

    name = "first"

    def act(self, positions: Positions) -> NDArray[np.int64]:
        return np.asarray(positions.action_mask.argmax(1))


class Cheat(FirstLegal):
    """Plays illegal actions once a game is under way."""

    name = "cheat"

    def act(self, positions: Positions) -> NDArray[np.int64]:
        illegal = positions.action_mask.argmin(1)
        return np.where(positions.states["ply"] >= 4, illegal, super().act(positions))


class Interrupted(RandomAgent):
    """Ctrl-C arrives at its n-th call."""

    def __init__(self, calls: int) -> None:
        self.calls = calls

    def act(self, positions: Positions) -> NDArray[np.int64]:
        self.calls -= 1
        if self.calls == 0:
            raise KeyboardInterrupt
        return super().act(positions)


@pytest.mark.parametrize("agent", [RandomAgent(), GreedyAgent(), FirstLegal(), UctAgent(20)])
@pytest.mark.parametrize("openings", ["0", "2-5"])
@pytest.mark.parametrize("threshold", [12, [13, 14]])
def test_an_agent_against_itself_scores_one_half(
    agent: Agent, openings: str, threshold: int | list[int]
) -> None:
    options = {"threshold": threshold}
    result = play_match("linkage", agent, agent, 12, seed=5, openings=openings, options=options)
    assert (result.share.sum(2) == 1).all()
    assert result.win_share().mean == 0.5
    assert result.mean_payoff().mean == 0
    assert result.side_scores[0] + result.side_scores[1] == 1


@pytest.mark.parametrize(("a", "b"), [(RandomAgent(), GreedyAgent()), (UctAgent(20), FirstLegal())])
def test_swapping_the_names_swaps_the_score(a: Agent, b: Agent) -> None:
    one = play_match("linkage", a, b, 40, seed=5, openings="2-4")
    other = play_match("linkage", b, a, 40, seed=5, openings="2-4")
    assert (one.share == 1 - other.share[..., ::-1]).all()
    assert (one.payoff == -other.payoff[..., ::-1]).all()
    assert (one.length == other.length[..., ::-1]).all()
    assert one.moves == other.moves[::-1]


def test_a_block_plays_its_opening_with_each_of_the_listed_options() -> None:
    """As one match for each would, with the same openings, chance and seeds."""
    agents, options = (UctAgent(20), GreedyAgent()), {"threshold": [13, 14], "skip_forced": True}
    both = play_match("linkage", *agents, 10, seed=3, options=options)
    assert both.share.shape == (10, 2, 2)
    assert both.games == 40
    for index, threshold in enumerate((13, 14)):
        one = play_match("linkage", *agents, 10, seed=3, options=options | {"threshold": threshold})
        assert (one.share[:, 0] == both.share[:, index]).all()
        assert (one.length[:, 0] == both.length[:, index]).all()
        assert both.win_share(variant=index) == one.win_share()
    assert both.win_share() == from_blocks(both.share.mean((1, 2)), 0, 1)
    data = both.for_card()
    assert data["options"]["threshold"] == [13, 14]
    assert [part["options"]["threshold"] for part in data["variants"]] == [13, 14]
    assert {"threshold=[13,14]", "skip_forced=true"} <= set(data["command"].split())
    assert both.side_label(0) == "More (seat 0)"
    mixed = play_match("linkage", *agents, 1, options={"free_hole": [True, False]})
    assert mixed.side_label(0) == "seat 0"  # R11 moves the roles in half of the games
    assert variants_of({"a": [1, 2], "b": 3, "c": [4, 5]}) == [
        {"a": a, "b": 3, "c": c} for a in (1, 2) for c in (4, 5)
    ]


def test_a_match_depends_on_its_seed_and_not_on_the_batch() -> None:
    def play(batch: int, seed: int) -> MatchResult:
        random = RandomAgent()
        return Match("linkage", random, random, 30, seed=seed, openings="0-6").play(batch=batch)

    one, other = play(64, 1), play(7, 1)
    assert (one.share == other.share).all()
    assert (one.length == other.length).all()
    assert (play(64, 2).share != one.share).any()
    assert len({tuple(row) for row in one.length[:, 0].tolist()}) > 1


def test_an_opening_is_shared_by_its_block_and_leaves_a_decision() -> None:
    seen: list[NDArray[np.void]] = []

    class Spy(RandomAgent):
        def act(self, positions: Positions) -> NDArray[np.int64]:
            seen.append(positions.states.copy())
            return super().act(positions)

    spy = Spy()
    play_match("linkage", spy, spy, 50, seed=1, openings="2-4")
    states = np.concatenate(seen[:2])  # both games of each block, once as A's turn and once as B's
    assert len(states) == 100
    assert sorted(set(states["ply"].tolist())) == [2, 3, 4]
    assert all((states == state).sum() == 2 for state in states)
    seen.clear()
    play_match("linkage", spy, spy, 20, openings="26")  # the longest game
    assert all((states["seat"] >= 0).all() for states in seen)


@pytest.mark.usefixtures("uncompiled")
def test_three_seats_are_rotated(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (match, result_module):
        monkeypatch.setattr(module, "get_game", lambda *_: TABLE)
    result = play_match("table", FirstLegal(), FirstLegal(), 20, openings="0")
    assert result.share.shape == (20, 1, 3)
    assert (result.share == [1, 0, 0]).all()  # first actions lead to leaf 0, where seat 0 wins
    assert result.win_share().mean == pytest.approx(1 / 3)
    assert np.allclose(result.payoff.sum(2), 0, atol=1e-6)
    assert result.moves == (20 * 4, 20 * 8)  # of four decisions in each of the three games
    assert "elo" not in result.to_dict()


def test_an_illegal_action_names_the_agent() -> None:
    with pytest.raises(
        ValueError, match=r"cheat \(agent B\) played the illegal action \d+ as seat"
    ):
        play_match("linkage", RandomAgent(), Cheat(), 3)


@pytest.mark.parametrize("bad", [np.array([0]), np.zeros(4), np.full(4, -1), np.full(4, 387)])
def test_a_wrong_answer_names_the_agent(bad: NDArray[np.int64]) -> None:
    class Wrong(RandomAgent):
        name = "wrong"

        def act(self, _: Positions) -> NDArray[np.int64]:
            return bad

    with pytest.raises(ValueError, match="wrong"):
        play_match("linkage", Wrong(), RandomAgent(), 4)


def test_an_interruption_keeps_the_finished_blocks() -> None:
    whole = Match("linkage", RandomAgent(), RandomAgent(), 20).play(batch=5)
    progress: list[tuple[int, int]] = []
    part = Match("linkage", Interrupted(50), RandomAgent(), 20).play(
        batch=5,
        partial=True,
        progress=lambda finished, blocks: progress.append((finished, blocks)),
    )
    assert progress == [(0, 20), (4, 20), (9, 20)]  # the first batches are small
    assert (part.blocks, part.requested) == (9, 20)
    assert (part.share == whole.share[:9]).all()
    assert "interrupted: 9 of 20 blocks" in shown(part)
    assert part.interrupted
    with pytest.raises(ValueError, match=r"interrupted after 9 of 20 blocks, no result"):
        part.for_card()
    assert not whole.interrupted
    assert whole.for_card()["blocks"] == 20


def test_an_interrupted_match_is_none() -> None:
    """A final evaluation or a card asks for a whole match, and gets no part of one.

    Nor is there one before the first batch is finished.
    """
    for calls, partial in ((1, True), (1, False), (50, False)):
        with pytest.raises(KeyboardInterrupt):
            Match("linkage", Interrupted(calls), RandomAgent(), 20).play(batch=5, partial=partial)


def shown(result: MatchResult) -> str:
    console = Console(width=120)
    with console.capture() as capture:
        console.print(match_table(result))
    return capture.get()


def test_results_as_json_and_table() -> None:
    result = play_match("linkage", GreedyAgent(), RandomAgent(), 30, seed=2, openings="1-2")
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert data["agents"] == ["greedy", "random"]
    assert data["games"] == 60
    assert data["illegal_moves"] == 0
    assert data["options"]["threshold"] == 12
    assert data["win_share"]["mean"] == np.mean(data["block_shares"])
    assert data["sides"][0]["label"] == "More (seat 0)"
    assert data["mean_payoff"]["mean"] == pytest.approx(2 * data["win_share"]["mean"] - 1)
    assert all(seconds > 0 for seconds in data["seconds_per_move"])
    assert 17 <= data["mean_length"] <= 24
    counts = result.counts()
    assert [data["wins"], data["draws"], data["losses"]] == list(counts)
    assert sum(counts) == 60
    assert counts.wins == sum(side["wins"] for side in data["sides"])
    assert counts.wins / 60 == data["win_share"]["mean"]
    table = shown(result)
    assert "greedy against random" in table
    assert "Fewer (seat 1)" in table
    assert str(counts) == f"{counts.wins} / 0 / {counts.losses}"
    assert str(counts) in table


def test_roles_are_not_named_where_they_are_chosen() -> None:
    """The game declares which option moves the roles between seats; no code guesses it."""
    agent = RandomAgent()
    chosen = play_match("linkage", agent, agent, 1, options={"free_hole": True})
    fixed = play_match("linkage", agent, agent, 1, options={"skip_forced": True, "threshold": 9})
    assert [chosen.side_label(side) for side in range(2)] == ["seat 0", "seat 1"]
    assert [fixed.side_label(side) for side in range(2)] == ["More (seat 0)", "Fewer (seat 1)"]
    other = replace(LINKAGE, facts=replace(LINKAGE.facts, role_options=("threshold",)))
    assert other.roles({"free_hole": True}) == other.roles({"threshold": 12}) == ("More", "Fewer")
    assert other.roles({"threshold": 13}) == ()
    for name in game_names():
        rules = get_game(name)
        standard = rules.chosen_options(rules.blank())
        assert set(rules.facts.role_options) <= set(standard)
        assert set(rules.facts.playout_options) <= set(standard)
        assert rules.roles(standard) == rules.roles({}) == rules.facts.seat_names


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"free_hole": True},
        {"board_size": 4, "threshold": 6},
        {"threshold": 14},
        {"skip_forced": True},
        {"skip_forced": True, "free_hole": True},
    ],
)
def test_roles_are_named_where_they_belong_to_seats(options: dict[str, Any]) -> None:
    """The positions after the game say which seat had which role."""
    more = {LINKAGE.to_dict(state)["more"] for state in midgame(LINKAGE, 60, 99, **options).states}
    assert (more == {0}) == (LINKAGE.roles(options) == ("More", "Fewer"))


def test_wrong_settings_are_refused() -> None:
    agent = RandomAgent()
    wrong: Any
    for wrong in (0, 1.0, True, "1", None):
        with pytest.raises(ValueError, match=r"^blocks: "):
            play_match("linkage", agent, agent, wrong)
        with pytest.raises(ValueError, match=r"^batch: "):
            Match("linkage", agent, agent, 1).play(batch=wrong)
        for made in (UctAgent, MonteCarloAgent):
            with pytest.raises(ValueError, match=r"^(simulations|playouts): "):
                made(wrong)
    for wrong in (0, "no", None):
        with pytest.raises(ValueError, match=r"^partial: .* is not true or false"):
            Match("linkage", agent, agent, 1).play(partial=wrong)
    one: Any = np.array(1)  # 0-d arrays are integers, as for spaces
    assert Match("linkage", agent, UctAgent(one), one, one).play(batch=one).games == 2
    for openings in ("3-2", "2-", "a", "-1"):
        with pytest.raises(ValueError, match=f"openings: '{openings}'"):
            play_match("linkage", agent, agent, 1, openings=openings)
    with pytest.raises(ValueError, match="threshold: a list of no values"):
        play_match("linkage", agent, agent, 1, options={"threshold": []})
    with pytest.raises(ValueError, match="threshold"):
        play_match("linkage", agent, agent, 1, options={"threshold": [13, 0]})
    with pytest.raises(ValueError, match="with 99 on size 7 Fewer always wins"):
        play_match("linkage", agent, agent, 1, options={"threshold": [13, 99]})
    with pytest.raises(ValueError, match="no option"):
        play_match("linkage", agent, agent, 1, options={"colour": 1})
    with pytest.raises(ValueError, match="players"):
        play_match("linkage", agent, agent, 1, num_players=3)
    with pytest.raises(ValueError, match="no game 'chess'"):
        play_match("chess", agent, agent, 1)
    assert get_game("linkage").facts.seat_names == ("More", "Fewer")


def test_team_mates_are_one_side() -> None:
    agent = RandomAgent()
    result = play_match("love_links", agent, agent, 3, openings="2", num_players=4)
    assert result.share.shape == (3, 1, 2)
    assert (result.share.sum(2) == 1).all()
    assert (result.length[..., 0] == result.length[..., 1]).all()
    # The games of a block are the same, so that A has made every move of one of them.
    assert result.moves == (result.length[..., 0].sum() - 3 * 2,) * 2
    assert [result.side_label(side) for side in range(2)] == ["seats 0, 2", "seats 1, 3"]
    assert "elo" in result.to_dict()
    assert any(note.startswith("Elo difference") for note in result.notes())


def test_three_players_are_three_sides() -> None:
    result = play_match("love_links", RandomAgent(), RandomAgent(), 1, num_players=3)
    assert ": love_links, 3 players, 3 games" in result.title
    assert "equal agents: 33.3 % of the wins" in result.notes()


@pytest.mark.parametrize("openings", ["0", "2-5"])
def test_every_game_can_be_kept_and_is_the_one_that_counted(openings: str) -> None:
    kept: dict[str, GameRecord] = {}
    options = {"threshold": [13, 14]}
    settings = Match("linkage", RandomAgent(), FirstLegal(), 5, 3, openings, options=options)
    result = settings.play(batch=2, keep=kept.__setitem__)
    names = [f"{b:05}-{v}-A{side}" for b in range(5) for v in range(2) for side in range(2)]
    assert list(kept) == names
    outcomes = zip(result.share.ravel(), result.length.ravel(), strict=True)
    for (name, record), (share, length) in zip(kept.items(), outcomes, strict=True):
        again = GameRecord.from_dict(json.loads(json.dumps(record.to_dict())))
        positions, side = [*again.replay()], int(name[-1])
        assert (positions[0].ply == 0) == (again.start is None)
        assert again.options["threshold"] == 13 + int(name.split("-")[1])
        last = positions.pop()
        assert (last.seat, last.ply) == (-1, length)
        assert (int(last.winners) >> side & 1) == share
        by_b = [(s, a) for s, a in zip(positions, again.actions, strict=True) if s.seat != side]
        assert [a for _, a in by_b] == [mask_of(LINKAGE, state).argmax() for state, _ in by_b]


class Rememberer:
    """Plays at random, and checks the past of every decision."""

    name = "rememberer"

    def __init__(self) -> None:
        self.lengths: set[int] = set()

    def act(self, positions: Positions) -> NDArray[np.int64]:
        for state, events in zip(positions.states, positions.history, strict=True):
            assert len(events) == state["ply"]  # all moves of this game are open
            assert all(event.action is not None for event in events)
            self.lengths.add(len(events))
        return RandomAgent().act(positions)


def test_agents_of_a_match_know_the_past() -> None:
    """Each game's own, though games of a batch end at different plies."""
    agent = Rememberer()
    play_match("love_links", agent, RandomAgent(), 3, options={"short": True}, seed=4)
    assert 0 in agent.lengths
    assert len(agent.lengths) > 10
