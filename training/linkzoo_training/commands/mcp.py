"""`linkzoo mcp`: games for language models over the Model Context Protocol."""

from argparse import ArgumentParser, Namespace

from linkzoo import get_game, registry
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.commands.common import whole
from linkzoo_training.resources import check_installed

HELP = "serve games to language models over the Model Context Protocol (MCP)"

_AGENTS = ("random", "greedy")


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    text = "port to listen on, on this machine, with the path /mcp (default: one client on the "
    text += "standard input and output)"
    add("--port", type=whole(1, 2**16 - 1), metavar="PORT", help=text)
    text = f"agent that plays and analyses, beside {' and '.join(_AGENTS)}; may be repeated"
    add("--add-agent", action="append", default=[], metavar="AGENT", help=text)
    text = "custom game to offer too, module:name or FILE.py:name; may be repeated (default: none)"
    add("--add-game", action="append", default=[], metavar="GAME", help=text)


def run(args: Namespace) -> None:
    """Serves until the client leaves, or Ctrl-C."""
    check_installed("train,mcp", "mcp")
    from linkzoo_training.llm.mcp_server import make_server

    for name in args.add_agent:
        AgentSpec.parse(name)
    games = [*registry.game_names(), *(get_game(name).name for name in args.add_game)]
    server = make_server([*dict.fromkeys([*_AGENTS, *args.add_agent])], [*dict.fromkeys(games)])
    if args.port is None:
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=args.port)
