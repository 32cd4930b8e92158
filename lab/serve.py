"""Load test of the server with many players: `python -m lab.serve`.

Starts `linkzoo serve` in its own process and one client per concurrent game, each with a keep-alive
connection and a stream of events like a browser. A client plays the games of `--game` in turn
(default: all registered), as the first seat against `checkpoint` in the others. It thinks for 1 to
5 seconds (`--think`), plays a random legal move, and waits for the event of its next turn. Latency
is the time from a move to the view with the replies. Compilation and each first move of a policy
happen before the clock starts.

Prints median, 95th percentile and maximum latency, by game and overall, CPU seconds of the server
and of the clients, which share the machine, and the server's memory every minute (Linux).
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng

from linkzoo import game_names, get_game


class Client:
    """A page: a connection with one request at a time, and a stream of a game's events."""

    _events: asyncio.StreamReader
    _out: asyncio.StreamWriter

    def __init__(self, port: int) -> None:
        self._port = port
        self._read: asyncio.StreamReader | None = None
        self._write: asyncio.StreamWriter | None = None
        self._watched = ""  # the game of the stream of events

    async def ask(self, path: str, body: Any = None, method: str | None = None) -> Any:
        """Returns the server's response; RuntimeError if it refuses."""
        if self._write is None:
            self._read, self._write = await asyncio.open_connection("127.0.0.1", self._port)
        assert self._read is not None
        data = b"" if body is None else json.dumps(body).encode()
        method = method or ("GET" if body is None else "POST")
        self._write.write(
            f"{method} /api/{path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n".encode()
            + data
        )
        head = (await self._read.readuntil(b"\r\n\r\n")).lower()
        length = re.search(rb"content-length: (\d+)", head)
        assert length is not None, head
        answer = await self._read.readexactly(int(length[1]))
        if head.split()[1] != b"200":
            raise RuntimeError(f"{method} {path}: {answer.decode()}")
        return json.loads(answer)

    async def turn(self, name: str, view: Any) -> Any:
        """Waits until it is the person's turn or the game is over; returns the view."""
        while view["thinking"]:
            latest = await self._event(name)
            if latest["version"] > view["version"]:
                view = latest
        if view["error"]:
            raise RuntimeError(view["error"])
        return view

    async def _event(self, name: str) -> Any:
        """Returns the next view of a game's stream of events."""
        if self._watched != name:
            self.stop_watching()
            self._watched = name
            self._events, self._out = await asyncio.open_connection("127.0.0.1", self._port)
            self._out.write(
                f"GET /api/sessions/{name}/events HTTP/1.1\r\n"
                f"Host: 127.0.0.1:{self._port}\r\n\r\n".encode()
            )
            head = await self._events.readuntil(b"\r\n\r\n")
            assert head.split()[1] == b"200", head
        while True:
            size = int(await self._events.readline(), 16)  # of a chunk
            chunk = await self._events.readexactly(size + 2)
            if chunk.startswith(b"data: "):
                return json.loads(chunk.removeprefix(b"data: "))

    def stop_watching(self) -> None:
        """Closes the stream of events."""
        if self._watched:
            self._out.close()
        self._watched = ""

    async def begin(self, game: str, dice: Generator) -> tuple[str, Any]:
        """Starts a game; returns its id and the view at the person's first turn."""
        seats = ["human"] + ["checkpoint"] * (get_game(game).min_players - 1)
        wanted = {"game": game, "seats": seats, "seed": int(dice.integers(2**32))}
        name = (await self.ask("sessions", wanted))["id"]
        return name, await self.turn(name, await self.ask(f"sessions/{name}"))

    async def move(self, name: str, view: Any, dice: Generator) -> Any:
        """Plays a random legal move; returns the view at the next turn."""
        move = {"move": view["moves"][dice.integers(len(view["moves"]))]["text"]}
        return await self.turn(name, await self.ask(f"sessions/{name}/move", move))

    def close(self) -> None:
        """Closes the connections."""
        self.stop_watching()
        if self._write is not None:
            self._write.close()


async def play(
    port: int,
    number: int,
    order: list[str],
    think: tuple[float, float],
    until: float,
    found: dict[str, list[float]],
) -> None:
    """Plays one client's games, until a time of `time.perf_counter`."""
    dice, client, count = default_rng(number), Client(port), number
    await asyncio.sleep(dice.uniform(0, think[1]))
    while time.perf_counter() < until:
        game = order[count % len(order)]
        count += 1
        name, view = await client.begin(game, dice)
        while not view["over"] and time.perf_counter() < until:
            await asyncio.sleep(dice.uniform(*think))
            start = time.perf_counter()
            view = await client.move(name, view, dice)
            found[game].append(time.perf_counter() - start)
        await client.ask(f"sessions/{name}", method="DELETE")
    client.close()


async def warm_up(port: int, order: list[str]) -> None:
    """Plays a few moves of each game, to compile it and load its policy."""
    client, dice = Client(port), default_rng(0)
    for game in order:
        name, view = await client.begin(game, dice)
        for _ in range(3):
            view = await client.move(name, view, dice)
        await client.ask(f"sessions/{name}", method="DELETE")
    client.close()


def memory(pid: int) -> float:
    """Returns a process's resident memory in MB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 1000


def cpu(pid: int) -> float:
    """Returns a process's CPU seconds so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def watch(pid: int, until: float) -> None:
    """Prints the memory now and every minute."""
    minute = 0
    while True:
        print(f"memory after {minute} min: {memory(pid):.0f} MB", flush=True)
        if (left := until - time.perf_counter()) < 1:
            return
        await asyncio.sleep(min(60.0, left))
        minute += 1


async def run(
    pid: int,
    port: int,
    order: list[str],
    clients: int,
    think: tuple[float, float],
    minutes: float,
) -> None:
    """Plays, and prints the results."""
    await warm_up(port, order)
    found: dict[str, list[float]] = {game: [] for game in order}
    until = time.perf_counter() + 60 * minutes
    before, own = cpu(pid), time.process_time()
    await asyncio.gather(
        watch(pid, until),
        *(play(port, number, order, think, until, found) for number in range(clients)),
    )
    print(f"\n{clients} clients, {minutes:g} minutes; load {os.getloadavg()[0]:.1f} at the end")
    print(f"CPU: server {cpu(pid) - before:.0f} s, clients {time.process_time() - own:.0f} s\n")
    print("| game | moves | p50, ms | p95, ms | max, ms |")
    print("|---|---:|---:|---:|---:|")
    for game, times in (*found.items(), ("all", [*chain.from_iterable(found.values())])):
        if times:
            middle, late, last = 1000 * np.quantile(times, [0.5, 0.95, 1])
            print(f"| {game} | {len(times):,} | {middle:.0f} | {late:.0f} | {last:.0f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", action="append", choices=game_names(), help="default: all")
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--think", type=float, nargs=2, default=(1.0, 5.0), help="seconds")
    parser.add_argument("--minutes", type=float, default=1.0)
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            [sys.executable, "-m", "linkzoo_training", "serve", "--port=0", f"--record={folder}"],
            stdout=subprocess.PIPE,
            text=True,
        ) as server,
    ):
        try:
            assert server.stdout is not None
            port = re.search(r":(\d+)/", server.stdout.readline())
            assert port is not None, "no server"
            order = arguments.game or list(game_names())
            wanted = arguments.clients, tuple(arguments.think), arguments.minutes
            asyncio.run(run(server.pid, int(port[1]), order, *wanted))
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
