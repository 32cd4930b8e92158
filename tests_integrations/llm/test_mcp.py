"""MCP: the official client plays a hidden game with four seats; each sees its own seat alone."""

import json
import os
import sys
from typing import Any

import anyio
import numpy as np
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from linkzoo.testing import play
from linkzoo_training.llm.mcp_server import GameServer, make_server

AGENTS = ("random", "greedy")


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    """The result of a tool: JSON data, or text."""
    result = await client.call_tool(tool, arguments)
    text = "".join(part.text for part in result.content)
    if result.is_error:
        raise RuntimeError(text)
    if tool in ("list_games", "new_game", "analysis"):
        return json.loads(text)
    return text


async def played(client: Client) -> list[str]:
    """Plays a game of four seats to its end, and returns the last view of each seat."""
    started = await call(
        client, "new_game", game="link_o", players=4, seed=5, options={"target": 0}
    )
    keys = started["keys"]
    assert list(keys) == ["0", "1", "2", "3"]
    assert "bag" in await call(client, "rules", key=keys["0"])
    for turn in range(400):
        views = {seat: await call(client, "view", key=key) for seat, key in keys.items()}
        for seat, view in views.items():
            assert f"Player {seat} (you)" in view
            # Hands of others are numbers: a line with tiles follows the own one alone.
            assert sum("(you)" in line for line in view.splitlines()) == 1
        acting = [seat for seat, view in views.items() if "Move: " in view]
        if not acting:
            return list(views.values())
        (seat,) = acting
        legal = await call(client, "legal_moves", key=keys[seat])
        first = legal.splitlines()[0].removeprefix("1. ")
        if turn == 0:
            for other in keys:
                if other != seat:
                    with pytest.raises(RuntimeError, match="another player is to act"):
                        await call(client, "move", key=keys[other], move=first)
            with pytest.raises(RuntimeError, match="That is no legal move"):
                await call(client, "move", key=keys[seat], move="Move: nothing")
            analysis = await call(client, "analysis", key=keys[seat], agent="greedy")
            assert sum(analysis["moves"].values()) == 1
            assert set(analysis["moves"]) <= {line.split(". ")[-1] for line in legal.splitlines()}
        await call(client, "move", key=keys[seat], move=first)
    raise AssertionError("the game doesn't end")


def test_the_official_client_plays_a_hidden_game_to_its_end() -> None:
    async def main() -> list[str]:
        async with Client(make_server(AGENTS)) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools == {
                *("list_games", "new_game", "rules", "view", "legal_moves", "move", "analysis")
            }
            listed = await call(client, "list_games")
            assert listed["games"]["link_o"]["players"] == [2, 6]
            return await played(client)

    views = anyio.run(main)
    assert all("The game is over. Your payoff is " in view for view in views)
    payoffs = [float(view.split("Your payoff is ")[1].rstrip(". \n")) for view in views]
    assert sum(payoffs) == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("name", ["link_o", "love_formula"])
def test_a_seat_is_told_nothing_hidden(name: str) -> None:
    """All that a key shows is equal in worlds that its seat can't tell apart."""
    server = GameServer(AGENTS)
    keys = server.new_game(name, players=4, seed=3)["keys"]
    game, _ = server._games[keys["0"]]
    text_game = game.env.text_game
    for turn in range(24):
        if text_game.over:
            break
        state = text_game.state.copy()
        for seat, key in keys.items():
            told = everything(server, key)
            world = play.clone(text_game.state)
            text_game.game.determinize(world, int(seat), np.uint64(turn))
            text_game._states[0] = world
            text_game._turn = None
            assert everything(server, key) == told
            text_game._states[0] = state
            text_game._turn = None
        moves = server.legal_moves(keys[str(game.env.seat)]).splitlines()
        server.move(keys[str(game.env.seat)], moves[turn % len(moves)].split(". ")[-1])


def everything(server: GameServer, key: str) -> list[str]:
    """All that the tools tell about a seat, errors included."""
    told = [server.view(key), server.rules(key, full=True)]
    for tool in (server.legal_moves, lambda key: server.move(key, "Move: nothing")):
        try:
            told.append(tool(key))
        except Exception as error:  # noqa: BLE001 - ToolError
            told.append(str(error))
    return told


class Peeking:
    """Notes the hands that it is shown."""

    name = "peeking"

    def __init__(self) -> None:
        self.hands: set[bytes] = set()

    def act(self, positions: Any) -> Any:
        self.hands |= {state["held"].tobytes() for state in positions.states}
        return positions.action_mask.argmax(axis=1)


def test_an_analysis_shows_the_agent_random_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = Peeking()
    server = GameServer(AGENTS)
    keys = server.new_game("link_o", players=3, seed=1)["keys"]
    game, _ = server._games[keys["0"]]
    monkeypatch.setattr("linkzoo_training.llm.mcp_server.make_agent", lambda *_: agent)
    server.analysis(keys[str(game.env.seat)], "greedy")
    assert len(agent.hands) > 10
    assert game.env.text_game.state["held"].tobytes() not in agent.hands


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"game": "chess"}, "is not one of"),
        ({"game": "file.py:GAME"}, "is not one of"),
        ({"opponent": "file.py:Agent"}, "is not one of"),
        ({"opponent": "exact"}, "is not one of"),
        ({"options": {"board": "../board.json"}}, "is not a name"),
        ({"options": {"colour": 1}}, "colour"),
        ({"players": 9}, "num_players|players"),
        ({"seats": [0, 7]}, "seat"),
        ({"seed": -1}, "seed"),
    ],
)
def test_wrong_games_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(Exception, match=message) as caught:
        GameServer(AGENTS).new_game(**{"game": "link_o", **wrong})
    assert type(caught.value).__name__ == "ToolError"


def test_old_games_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linkzoo_training.llm.mcp_server.MAX_GAMES", 2)
    server = GameServer(AGENTS)
    first, second, third = (
        server.new_game("linkage", seats=[0], options={"board_size": 3, "threshold": 4})["keys"]
        for _ in range(3)
    )
    with pytest.raises(Exception, match="no such key"):
        server.view(first["0"])
    assert "You are player 0" in server.view(second["0"])
    assert "You are player 0" in server.view(third["0"])
    fourth = server.new_game("linkage", moves="hidden")["keys"]["0"]
    with pytest.raises(Exception, match="doesn't list"):
        server.legal_moves(fourth)


def test_the_command_serves_on_its_standard_streams() -> None:
    async def main() -> Any:
        arguments = ["-m", "linkzoo_training", "mcp"]
        parameters = StdioServerParameters(
            command=sys.executable, args=arguments, env={**os.environ}
        )
        async with Client(stdio_client(parameters)) as client:
            return await call(client, "list_games")

    assert "love_formula" in anyio.run(main)["games"]
