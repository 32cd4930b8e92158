"""`linkzoo serve`: the page to play, watch, replay and understand games."""

import argparse
import secrets
import socket
from importlib.util import find_spec

from linkzoo import get_game, registry
from linkzoo_training.agents.specs import check_agent

_NEEDED = ("fastapi", "uvicorn")


def run(parsed: argparse.Namespace) -> None:
    """Serves until it is interrupted; ValueError for what can't be served."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise ValueError(f"{', '.join(missing)} not installed: pip install 'linkzoo[train,web]'")
    import torch
    import uvicorn

    from linkzoo_training.web.app import Server, create_app
    from linkzoo_training.web.safety import Address, is_loopback

    outside = [get_game(name).name for name in parsed.add_game]
    for agent in parsed.add_agent:
        check_agent(agent, outside[0] if outside else registry.NAMES[0])
    token = None if is_loopback(parsed.host) else secrets.token_urlsafe(24)
    torch.set_num_threads(1)  # agents think beside one another, and a small network is quicker so
    listening = listen(parsed.host, parsed.port)
    address = Address(parsed.host, listening.getsockname()[1], token)
    games = list(dict.fromkeys([*registry.game_names(), *outside]))
    server = Server(parsed.records, games, parsed.add_agent)
    print(
        f"linkzoo: {address.url} (Ctrl-C ends it; saved games go to {parsed.records})", flush=True
    )
    config = uvicorn.Config(
        create_app(server, address),
        log_level="warning",
        ws="none",
        server_header=False,
        timeout_keep_alive=30,
        limit_concurrency=512,
    )
    try:
        uvicorn.Server(config).run([listening])
    finally:
        server.players.close()


def listen(host: str, port: int) -> socket.socket:
    """A socket at the address; OSError names it if it can't be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)  # who asks before the server is up waits
    except OSError as error:
        listening.close()
        raise OSError(error.errno, f"{host}:{port}: {error.strerror}") from error
    return listening
