"""`linkzoo serve`: the web interface to play, watch, replay and analyse games."""

import re
import secrets
import socket
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from ipaddress import IPv6Address
from urllib.parse import urlsplit

from linkzoo import get_game, registry
from linkzoo.core.arguments import shown
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.commands.common import continued_folder, whole
from linkzoo_training.resources import check_installed

HELP = "play, watch and replay in the browser"

_PORTS = {"http": 80, "https": 443}  # which browsers leave out


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    text = "address to listen on; other machines need the printed token (default: %(default)s)"
    add("--host", default="127.0.0.1", help=text)
    text = "port to listen on; 0: any free port (default: %(default)s)"
    add("--port", type=whole(0, 2**16 - 1), default=8765, help=text)
    text = "address of the page behind a proxy, such as https://play.example; needs the printed "
    text += "token (default: no proxy)"
    add("--origin", type=_origin, metavar="URL", help=text)
    add(
        "--record",
        type=continued_folder,
        dest="records",
        default="runs/games",
        metavar="FOLDER",
        help="folder for finished games (default: %(default)s)",
    )
    text = "custom game to offer too, module:name or FILE.py:name; may be repeated (default: none)"
    add("--add-game", action="append", default=[], metavar="GAME", help=text)
    text = "agent to offer too: llm:MODEL, FILE.py:NAME, module:NAME or a checkpoint's folder; "
    text += "may be repeated (default: none)"
    add("--add-agent", action="append", default=[], metavar="AGENT", help=text)


def _origin(text: str) -> str:
    """An argparse type: the address of a page, as browsers write it in the Origin header."""
    try:
        return read_origin(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{shown(text)}: {error}") from error


def read_origin(text: str) -> str:
    """Returns `http://HOST[:PORT]` or `https://HOST[:PORT]` in the form of browsers.

    Raises:
        ValueError: The text is something else.
    """
    parts = urlsplit(text)
    if not text.isprintable() or " " in text:  # urlsplit drops some of these characters
        raise ValueError("the address of a page has no spaces")
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError("the address of a page begins with http:// or https:// and a host")
    if parts.path not in ("", "/") or parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError("name only the scheme, the host and the port of the page")
    host = parts.hostname
    if ":" in host:
        host = f"[{IPv6Address(host)}]"
    else:
        host = host.encode("idna").decode()
        if not re.fullmatch(r"[\w.-]+", host):
            raise ValueError("the host has other characters than letters, digits, '.' and '-'")
    if parts.port in (None, _PORTS[parts.scheme]):
        return f"{parts.scheme}://{host}"
    return f"{parts.scheme}://{host}:{parts.port}"


def run(args: Namespace) -> None:
    """Serves until Ctrl-C."""
    check_installed("train,web", "fastapi", "uvicorn")
    import torch

    from linkzoo_training.web.connections import HttpServer
    from linkzoo_training.web.safety import Address, is_loopback
    from linkzoo_training.web.server import Server

    custom = [get_game(name).name for name in args.add_game]
    agents = {name: AgentSpec.parse(name) for name in args.add_agent}
    for agent in agents.values():
        agent.check(custom[0] if custom else registry.NAMES[0])
    token: str | None = None
    if args.origin is not None or not is_loopback(args.host):
        token = secrets.token_urlsafe(24)
    torch.set_num_threads(1)  # agents run in parallel; small networks are faster on one thread
    listening = listen(args.host, args.port)
    address = Address(args.host, listening.getsockname()[1], token, args.origin)
    games = list(dict.fromkeys([*registry.game_names(), *custom]))
    server = HttpServer(Server(args.records, games, agents), address)
    print(f"linkzoo: {address.url} (Ctrl-C ends it; saved games go to {args.records})", flush=True)
    server.serve_until_stopped(listening)


def listen(host: str, port: int) -> socket.socket:
    """Returns a socket listening at the address; OSError with the address if that fails."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:  # early requests wait until the server is up
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]
        raise OSError(error.errno, f"{host}:{port}: {reason}") from error
