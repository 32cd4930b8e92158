"""A server that speaks OpenAI's chat protocol, well or badly as the asked model's name says."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

USAGE = {"prompt_tokens": 100, "completion_tokens": 10}


class LlmServer(ThreadingHTTPServer):
    """Notes the requests; the model `says` gives `answers`, one after the other."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.answers: list[str] = []
        self.lock, self.at_once, self.most_at_once = Lock(), 0, 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def agent(self, model: str, **settings: object) -> str:
        """The name of an agent that asks this server."""
        named = "".join(f",{name}={value}" for name, value in settings.items())
        return f"llm:{model},base_url={self.url}{named}"


class _Handler(BaseHTTPRequestHandler):
    server: LlmServer

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.requests.append(asked)
            server.keys.append(self.headers["Authorization"])
            count = len(server.requests)
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
        try:
            self._answer(asked, count)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client has had enough
        finally:
            with server.lock:
                server.at_once -= 1

    def _answer(self, asked: dict[str, Any], count: int) -> None:
        match asked["model"]:
            case "first":
                self._say("I take the first.\nMove: 1", reasoning_content="The first is fine.")
            case "reads":  # the first move of the list, which may be a pattern
                prompt = asked["messages"][-1]["content"]
                (first,) = re.findall(r"^Legal moves .*:\n(?:1\. )?(.*)$", prompt, re.MULTILINE)
                self._say("Move: " + re.sub(r"\(([^|()]*)[^()]*\)", r"\1", first))
            case "says":
                with self.server.lock:
                    self._say(self.server.answers.pop(0))
            case "at_once":
                time.sleep(0.05)
                self._say("1")
            case "slow":
                time.sleep(0.5)
                self._say("1")
            case "slow_talk":
                time.sleep(0.1)
                self._say("Hm.")
            case "drips":
                self._send(200, b"", length=10**6)
                for _ in range(200):
                    self.wfile.write(b" ")
                    self.wfile.flush()
                    time.sleep(0.05)
            case "failing":
                self._send(500, b"<html>out of order</html>")
            case "fails_once" if count == 1:
                self._send(500, b"")
            case "limited" if count == 1:
                self._send(429, b'{"error": {"message": "too many"}}', {"Retry-After": "0.2"})
            case "refusing":
                self._send(401, json.dumps({"error": {"message": self.headers["Authorization"]}}))
            case "rambling":
                self._say("Hmm, W a1-b1? Or perhaps B b1-b2... " * 2000)
            case "huge":
                self._send(200, b"[" * 10**7)
            case "compressed":
                self._send(200, b"\x1f\x8b", {"Content-Encoding": "gzip"})
            case "elsewhere":
                self._send(307, b"", {"Location": "http://127.0.0.1:9/v1"})
            case "markup":
                self._say("<script>alert(1)</script>\x1b[2J Move: 1")
            case "echoes":
                self._say(f"You sent {self.headers['Authorization']}.\nMove: 1")
            case "bad_json":
                self._send(200, b'{"choices": [{"mess')
            case "other_json":
                self._send(200, json.dumps([{"choices": {}}, None, [], {"choices": []}][count % 4]))
            case "reports":  # an error with status 200
                with self.server.lock:
                    self._send(200, self.server.answers.pop(0), {"Retry-After": "0.01"})
            case "no_text":
                self._say({"text": "Move: 1"})
            case "absurd_usage":
                self._say("Move: 1", usage={"prompt_tokens": -5, "completion_tokens": "many"})
            case _:
                self._say("Move: 1")

    def _say(self, content: object, usage: object = USAGE, **more: object) -> None:
        message = {"role": "assistant", "content": content, **more}
        self._send(200, json.dumps({"choices": [{"message": message}], "usage": usage}))

    def _send(
        self,
        status: int,
        body: bytes | str,
        headers: dict[str, str] | None = None,
        length: int | None = None,
    ) -> None:
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data) if length is None else length))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def llm_server() -> Iterator[LlmServer]:
    """Serves until the end of the block."""
    with LlmServer() as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
