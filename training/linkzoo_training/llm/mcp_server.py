"""Games for language models over the Model Context Protocol (MCP): `linkzoo mcp`.

A seat's key, from `new_game`, is all that a client needs; it shows the view of that seat alone.
Needs the extra `mcp`.
"""

import re
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, Literal, NamedTuple

import numpy as np
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from linkzoo import Agent, Positions, get_game, registry
from linkzoo.core.arguments import shown
from linkzoo.text import PromptSettings, list_moves
from linkzoo.text.env import MOST_ILLEGAL, TextEnv
from linkzoo_training.agents.make import make_agent

MAX_GAMES = 256  # the oldest game makes room
_WORLDS = 16  # in which an analysis asks an agent
_OPTION = re.compile(r"[\w-]{1,60}")  # a text that is no path
_INSTRUCTIONS = (
    "Board games. new_game returns a secret key for each seat: a player needs the key of its own "
    "seat alone. Read rules once, then repeat view and move until the game is over."
)


class _Game(NamedTuple):
    env: TextEnv
    options: dict[str, Any]
    moves: str


class GameServer:
    """Games and the tools that play them.

    Every tool raises ToolError, whose message is for the model.

    Args:
        agents: The names of the agents that play other seats and analyse positions.
        games: The names of the games; None for all registered ones.
    """

    def __init__(self, agents: Sequence[str], games: Sequence[str] | None = None) -> None:
        self._agents = [*agents]
        self._names = [*(games or registry.game_names())]
        self._games: dict[str, tuple[_Game, int]] = {}  # by the key of a seat, with the seat
        self._lock = Lock()

    def list_games(self) -> dict[str, Any]:
        """Lists the games with their numbers of players and options, and the agents."""
        games = {}
        for name in self._names:
            game = get_game(name)
            games[name] = {
                "title": game.title,
                "players": [game.min_players, game.max_players],
                "options": game.guide.option_words(),
                "editions": {title: {**options} for title, options in game.editions.items()},
            }
        return {"games": games, "agents": self._agents}

    def new_game(
        self,
        game: str,
        players: int | None = None,
        seats: list[int] | None = None,
        opponent: str = "random",
        seed: int | None = None,
        moves: Literal["listed", "hidden", "on_request"] = "on_request",
        options: dict[str, int | bool | str] | None = None,
    ) -> dict[str, Any]:
        """Starts a game and returns a key for each seat of `seats`.

        Args:
            game: A name of list_games.
            players: The number of players; the smallest by default.
            seats: The seats that clients play; all by default.
            opponent: The agent of list_games that plays the other seats.
            seed: Fixes the chance of the game; random by default.
            moves: Whether views list the legal moves, `legal_moves` does, or nothing does.
            options: Options of the game.
        """
        chosen: dict[str, Any] = {**(options or {})}
        if game not in self._names:
            raise ToolError(f"game: {shown(game)} is not one of {self._names}")
        for name, value in chosen.items():
            if isinstance(value, str) and not _OPTION.fullmatch(value):
                raise ToolError(f"{name}: {shown(value)} is not a name")
        try:
            agent = self._agent(opponent, game, chosen)
            blank = get_game(game, chosen).blank(players, chosen)
            if seats is None:
                seats = [*range(int(blank.num_players))]
            env = TextEnv(
                game,
                players,
                seat=seats,
                opponent=agent,
                max_illegal=MOST_ILLEGAL,
                rules="none",
                prompts=PromptSettings(moves=moves),
                **chosen,
            )
            env.reset(seed)
        except (ValueError, TypeError) as error:
            raise ToolError(str(error)) from error
        keys = {seat: secrets.token_urlsafe(12) for seat in env.seats}
        with self._lock:
            for seat, key in keys.items():
                self._games[key] = _Game(env, chosen, moves), seat
            self._drop_oldest()
        return {"keys": {str(seat): key for seat, key in keys.items()}}

    def rules(self, key: str, full: bool = False) -> str:
        """Returns the rules of the game: in short, or in full with numbers and notation."""
        game, _ = self._find(key)
        return game.env.text_game.rules(full=full)

    def view(self, key: str) -> str:
        """Returns what the key's seat sees now, with the moves so far if it is to act."""
        game, seat = self._find(key)
        with self._lock:
            return _view(game, seat)

    def legal_moves(self, key: str) -> str:
        """Returns the legal moves of the key's seat, which is to act."""
        game, seat = self._find(key)
        if game.moves == "hidden":
            raise ToolError("this game doesn't list the legal moves: find one by the rules")
        with self._lock:
            _check_turn(game, seat)
            return list_moves(game.env.text_game.game, game.env.text_game.state)

    def move(self, key: str, move: str) -> str:
        """Plays a move of the key's seat, in notation, and returns what the seat sees then."""
        game, seat = self._find(key)
        with self._lock:
            _check_turn(game, seat)
            step = game.env.step(move)
            if step.legal:
                return _view(game, seat)
        raise ToolError(step.message)

    def analysis(self, key: str, agent: str) -> dict[str, Any]:
        """Returns the moves that an agent of list_games would play for the key's seat.

        The agent sees worlds that are drawn at random from those that look the same to the seat:
        each move is given with the share of the worlds in which the agent plays it.
        """
        game, seat = self._find(key)
        with self._lock:
            _check_turn(game, seat)
            rules = game.env.text_game.game
            state = game.env.text_game.state.copy()
        try:
            player = self._agent(agent, rules.name, game.options)
        except ValueError as error:
            raise ToolError(str(error)) from error
        states = np.repeat(state.reshape(1), _WORLDS)
        seeds = np.array([secrets.randbits(64) for _ in range(2 * _WORLDS)], np.uint64)
        for world, seed in zip(states, seeds[:_WORLDS], strict=True):
            rules.determinize(world, seat, seed)
        actions = player.act(Positions(rules, states, seeds[_WORLDS:]))
        votes = Counter(map(int, actions))
        return {
            "agent": agent,
            "moves": {
                rules.notation.action_to_text(state, action): count / _WORLDS
                for action, count in votes.most_common()
            },
        }

    def _agent(self, name: str, game: str, options: Mapping[str, Any]) -> Agent:
        if name not in self._agents:
            raise ToolError(f"agent: {shown(name)} is not one of {self._agents}")
        return make_agent(name, game, options)

    def _find(self, key: str) -> tuple[_Game, int]:
        with self._lock:
            if key not in self._games:
                raise ToolError("there is no such key, or its game was dropped: start a new game")
            return self._games[key]

    def _drop_oldest(self) -> None:
        """Drops the oldest games above the limit."""
        envs = dict.fromkeys(id(game.env) for game, _ in self._games.values())
        dropped = {*list(envs)[: max(0, len(envs) - MAX_GAMES)]}
        for key in [key for key, (game, _) in self._games.items() if id(game.env) in dropped]:
            del self._games[key]


def make_server(agents: Sequence[str], games: Sequence[str] | None = None) -> MCPServer:
    """Returns an MCP server; `run` serves it.

    Args:
        agents: The names of the agents that play other seats and analyse positions.
        games: The names of the games; None for all registered ones.
    """
    served = GameServer(agents, games)
    server = MCPServer("linkzoo", instructions=_INSTRUCTIONS)
    tools = [
        served.list_games,
        served.new_game,
        served.rules,
        served.view,
        served.legal_moves,
        served.move,
        served.analysis,
    ]
    for tool in tools:
        server.add_tool(tool)
    return server


def _check_turn(game: _Game, seat: int) -> None:
    if game.env.text_game.over:
        raise ToolError("the game is over")
    if game.env.seat != seat:
        raise ToolError("another player is to act: view the game again later")


def _view(game: _Game, seat: int) -> str:
    """Returns the prompt of a seat that is to act, else its view."""
    text_game = game.env.text_game
    if text_game.over:
        payoff = text_game.payoffs[seat]
        return f"{text_game.view(seat)}\n\nThe game is over. Your payoff is {payoff:g}.\n"
    if game.env.seat == seat:
        return text_game.prompt()
    return f"{text_game.view(seat)}\n\nAnother player is to act.\n"
