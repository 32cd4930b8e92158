"""The start page: opponents by measured strength, options in words, games got ready."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripts.shelf import pictures

from linkzoo import game_names, get_game
from linkzoo.exact import TabularAgent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.checkpoints.checkpoint import load_card
from linkzoo_training.resources import best_checkpoints, find_checkpoint
from linkzoo_training.web import rulebook
from linkzoo_training.web.catalogue import SHELF, agent_words
from linkzoo_training.web.levels import levels, strongest_pair
from linkzoo_training.web.offers import strengths
from tests.driving import first_quick
from tests.web.server import Client, serving

_ALWAYS_OFFERED = {"random", "greedy", "uct-100"}  # for every board
_LIMITED = {*best_checkpoints().values(), "love_links_az:2"}  # to the boards they learned on


Catalogue = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def catalogue(client: Client) -> Catalogue:
    """The games that the server offers, by name."""
    return {one["name"]: one for one in client.ask("catalogue")[1]["games"]}


@pytest.mark.parametrize("game", game_names())
def test_opponents_are_ranked_by_the_matches_of_the_cards(catalogue: Catalogue, game: str) -> None:
    offered = catalogue[game]
    agents = {agent["name"]: agent["rating"] for agent in offered["agents"]}
    measured = [rating for rating in agents.values() if rating is not None]
    assert measured == sorted(measured, reverse=True)
    assert agents["random"] == 0
    assert {"random", "greedy", "uct-100", "uct-1000", best_checkpoints()[game]} <= set(agents)
    assert not [name for name in agents if name.startswith(("cheat", "hands", "exact"))]
    matches = load_card(find_checkpoint(game))["strength"]
    shares: dict[str, list[float]] = {"random": [], "greedy": []}
    for match in matches:
        if match["agents"][1] in shares and match["num_players"] == 2:
            shares[match["agents"][1]].append(match["win_share"]["mean"])
    for opponent, won in shares.items():  # who beats whom in all its matches stands above
        if all(share > 0.55 for share in won):
            assert agents[best_checkpoints()[game]] > agents[opponent]


@pytest.mark.slow
def test_each_agent_that_is_offered_can_play(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        for game in client.ask("catalogue")[1]["games"]:
            names = [agent["name"] for agent in game["agents"]]
            assert ("linear" in names) == (game["name"] != "linkage")
            for name in names:
                session = client.new_game(game["name"], ["human", name])
                client.ask(f"sessions/{session}", method="DELETE")


@pytest.mark.slow
@pytest.mark.usefixtures("uncompiled")
def test_agents_are_offered_for_the_games_that_they_play(tmp_path: Path) -> None:
    """For all editions: a policy doesn't play another board, a table no other game."""
    board = {"board": "mini2x4a-h2"}
    card = {"num_players": 2, "options": board}
    nothing: list[Any] = [np.zeros(0)] * 4
    TabularAgent(get_game("link_o", board), card, *nothing).save(tmp_path / "table.npz")
    table = f"tabular:{tmp_path / 'table.npz'}"
    missing = f"tabular:{tmp_path / 'missing.npz'}"
    with serving(tmp_path / "games", custom_agents=[table, missing, "love_links_az:2"]) as client:
        for game in client.ask("catalogue")[1]["games"]:
            name = game["name"]
            needs = {agent["name"]: agent["options"] for agent in game["agents"]}
            assert missing in needs  # an error if it is chosen
            assert (table in needs) == (name == "link_o")
            assert ("love_links_az:2" in needs) == (name == "love_links")
            standard = get_game(name).fixed.values
            for options in ({}, *get_game(name).editions.values()):
                chosen = {**standard, **options}
                fits = {agent for agent in needs if chosen.items() >= needs[agent].items()}
                assert fits >= _ALWAYS_OFFERED
                assert (best_checkpoints()[name] in fits) == (chosen.items() >= standard.items())
                assert (table in fits) == (options == board)
                for agent in (_LIMITED | {table}) & set(needs):
                    wanted = {"game": name, "seats": ["human", agent], "options": options}
                    status, answer = client.ask("sessions", wanted)
                    assert (status == 200) == (agent in fits), (agent, options, answer)
                    if status == 200:
                        judges = client.ask(f"sessions/{answer['id']}")[1]["judges"]
                        assert set(judges) <= fits
                        client.ask(f"sessions/{answer['id']}", method="DELETE")
        seats = ["human", "random", table]
        _, answer = client.ask("sessions", {"game": "link_o", "seats": seats, "options": board})
        assert "plays with 2 players, not 3" in answer["error"]


def test_what_agents_do_is_said_in_a_few_words() -> None:
    assert agent_words(AgentSpec.parse("greedy")) == "looks one move ahead"
    assert agent_words(AgentSpec.parse("uct-1000")) == "tries 1,000 random games before a move"
    assert agent_words(AgentSpec.parse("linkage_az")) == "a trained policy"
    assert (
        agent_words(AgentSpec.parse("linkage_az:200"))
        == "a trained policy, with a search of 200 steps"
    )
    assert agent_words(AgentSpec.parse("my.module:Agent")) == "an agent of this server"


@pytest.mark.parametrize("game", game_names())
def test_every_option_has_an_explanation(catalogue: Catalogue, game: str) -> None:
    offered = catalogue[game]
    words = get_game(game).guide.option_words()
    for option in offered["options"]:
        assert option["words"].startswith(words[option["name"]])


@pytest.mark.parametrize("name", game_names())
def test_games_begin_with_even_chances(catalogue: Catalogue, name: str) -> None:
    """The page's options are the standard ones but for the threshold of Linkage."""
    game = get_game(name)
    offered = catalogue[name]
    defaults = {option["name"]: option["default"] for option in offered["options"]}
    standard = {**game.fixed.values, **game.chosen_options(game.blank())}
    balanced = {"threshold": 13} if name == "linkage" else {}
    assert {**standard, **defaults} == {**standard, **balanced}
    for option in offered["options"]:
        changed = option["name"] in balanced
        assert (f"The standard value is {standard[option['name']]};" in option["words"]) == changed


@pytest.mark.parametrize(
    ("name", "options", "shown"),
    first_quick(
        [
            ("link_o", {"board": "mini2x4b-h3"}, "a single round"),
            ("love_links", {"link_set": "mini8"}, "@1 key"),
            ("love_formula", {"cards": "mini8"}, "turn 1 of 1"),
        ],
        slow=2,
    ),
)
@pytest.mark.usefixtures("uncompiled")
def test_editions_can_be_played(
    client: Client, catalogue: Catalogue, name: str, options: dict[str, str], shown: str
) -> None:
    """They are choices of an option, with defaults of their own; files aren't read."""
    offered = catalogue[name]
    (option,) = [one for one in offered["options"] if one["edition"]]
    ((key, value),) = options.items()
    assert option["name"] == key
    assert option["default"] == option["choices"][0] != value
    assert value in option["choices"]
    assert "](" not in option["words"]
    session = client.new_game(name, ["human", "random"], options=options)
    assert shown in str(client.ask(f"sessions/{session}?seat=0"))
    refused = {"game": name, "seats": ["human", "human"], "options": {key: "/etc/passwd"}}
    status, answer = client.ask("sessions", refused)
    assert status == 400
    assert key in str(answer)


def test_a_game_without_measured_agents_has_no_ratings() -> None:
    class Nothing:
        name = "nothing"

    assert strengths(Nothing()) == {}


@pytest.mark.slow
def test_a_game_and_its_agents_are_prepared_while_the_page_is_read(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        wanted = {"agents": ["human", "greedy", "linkage"]}
        begun = time.monotonic()
        while not client.ask("games/linkage/prepare", wanted)[1]["ready"]:
            assert time.monotonic() - begun < 60
            time.sleep(0.05)
        assert len(client.server.players._players) == 3  # random, for the game itself
        view = client.settled(client.new_game("linkage", ["greedy", "human"]))
        assert not view["preparing"]
        for agent, message in (("love_links", "plays love_links"), ("linkage@9999", "views")):
            status, answer = client.ask("games/linkage/prepare", {"agents": [agent]})
            assert status == 400
            assert message in answer["error"]
        assert client.ask("games/chess/prepare", wanted)[0] == 400


def test_rules_in_words_need_no_game(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """They open at once on a server that has compiled nothing."""
    monkeypatch.setattr(rulebook, "play_part", None)
    monkeypatch.setattr(rulebook, "picture", None)
    status, rules = client.ask("games/link_o/rules")
    assert status == 200
    assert rules["short"]
    assert "R1" in rules["full"]


def test_a_page_that_waits_hears_why(client: Client) -> None:
    assert client.ask("waiting")[1]["reasons"] == []
    with client.server.working("compiles Chess"), client.server.working("compiles Chess"):
        assert client.ask("waiting")[1]["reasons"] == ["compiles Chess"]
    assert client.ask("waiting")[1]["reasons"] == []


@pytest.mark.parametrize("game", game_names())
def test_a_shelf_has_three_levels_of_rising_strength(
    client: Client, catalogue: Catalogue, game: str
) -> None:
    offered = catalogue[game]
    ratings = {agent["name"]: agent["rating"] for agent in offered["agents"]}
    chosen = offered["levels"]
    assert [level["level"] for level in chosen] == ["new", "learning", "strong"]
    assert [level["rating"] for level in chosen] == [ratings[level["agent"]] for level in chosen]
    assert 0 < chosen[0]["rating"] < chosen[1]["rating"] < chosen[2]["rating"]
    assert offered["watch"][0] == chosen[2]["agent"]
    assert offered["summary"].endswith(".")
    assert offered["minutes"] > 0
    for path in offered["pictures"]:
        status, headers, body = client.raw("GET", f"/{path}")
        assert (status, headers["content-type"]) == (200, "image/svg+xml")
        assert body.startswith(b"<svg")
    assert len(offered["pictures"]) == 3


def test_a_game_without_matches_has_levels_too() -> None:
    game = get_game("linkage")
    unmeasured = replace(game, name="unmeasured")
    assert [level["agent"] for level in levels(unmeasured, {})] == ["random", "greedy", "uct-100"]
    assert strongest_pair(unmeasured, {}) == ["uct-100", "uct-100"]


@pytest.mark.slow  # quick: test_a_shelf_has_three_levels_of_rising_strength
@pytest.mark.parametrize("game", game_names())
def test_pictures_are_drawings_of_the_recorded_games(game: str) -> None:
    """`python -m scripts.shelf` makes them."""
    drawn = dict(pictures(game))
    assert sorted(drawn) == sorted(SHELF.glob(f"{game}-*.svg"))
    for path, svg in drawn.items():
        assert path.read_text(encoding="utf-8") == svg
