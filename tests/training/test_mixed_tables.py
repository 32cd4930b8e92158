"""Mixed tables, and the yardsticks that use them."""

from pathlib import Path

import pytest
from lab import yardsticks

from linkzoo import RandomAgent, game_names
from linkzoo_training import make_agent
from linkzoo_training.evaluation.mixed_tables import mixed_tables
from tests.driving import first_quick

PLAYERS = [3, 4]


@pytest.mark.slow
@pytest.mark.parametrize("players", first_quick(PLAYERS, slow=0))
def test_an_agent_against_itself_has_half(players: int) -> None:
    greedy = make_agent("greedy", "link_o")
    share = mixed_tables("link_o", greedy, greedy, 5, num_players=players, seed=3)
    assert share.mean == pytest.approx(0.5, abs=1e-12)


@pytest.mark.slow
def test_exchanged_agents_have_the_other_share() -> None:
    agents = make_agent("greedy", "link_o"), make_agent("linear", "link_o")
    share = mixed_tables("link_o", *agents, 6, num_players=4, seed=5)
    other = mixed_tables("link_o", *agents[::-1], 6, num_players=4, seed=5)
    assert share.mean + other.mean == pytest.approx(1)


@pytest.mark.slow
def test_the_stronger_agent_has_more_and_more_deals_say_so_more_exactly() -> None:
    agents = make_agent("linear", "link_o"), RandomAgent()
    few = mixed_tables("link_o", *agents, 10, num_players=3, seed=1)
    many = mixed_tables("link_o", *agents, 40, num_players=3, seed=1)
    assert many.low > 0.5
    assert many.high - many.low < few.high - few.low


@pytest.mark.slow
def test_the_share_does_not_depend_on_what_plays_in_lock_step() -> None:
    agents = make_agent("greedy", "link_o"), RandomAgent()
    finished: list[int] = []
    share = mixed_tables(
        "link_o", *agents, 70, num_players=3, progress=lambda count, _: finished.append(count)
    )
    assert finished == [64, 70]
    assert 0.5 < share.mean < 1


def test_teams_are_refused() -> None:
    agents = RandomAgent(), RandomAgent()
    with pytest.raises(ValueError, match="4 players of love_links form teams: play a match"):
        mixed_tables("love_links", *agents, 2, num_players=4)


@pytest.mark.parametrize("game", game_names())
def test_yardsticks_name_opponents_that_ship(game: str) -> None:
    matches = yardsticks.yardsticks(game)
    assert len({match["seed"] for match in matches}) == len(matches)


def test_yardsticks_refuse_an_opponent_that_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = yardsticks.YARDSTICKS.read_text(encoding="utf-8").replace('"1ae8cf6b', '"00000000')
    file = tmp_path / "yardsticks.json"
    file.write_text(text, encoding="utf-8")
    monkeypatch.setattr(yardsticks, "YARDSTICKS", file)
    with pytest.raises(ValueError, match="linear of love_links has changed: its SHA-256 is 1ae8"):
        yardsticks.yardsticks("love_links")
