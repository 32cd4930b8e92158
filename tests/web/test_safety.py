"""Who may ask, and that no request, however wrong, breaks the server."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

from linkzoo_training.commands.cli import main
from linkzoo_training.commands.serve import read_origin
from linkzoo_training.web.safety import (
    COOKIE,
    MOST_BYTES,
    is_loopback,
    own_address,
    without_paths,
)
from tests.web.server import Client, serving

ROOT = Path(__file__).parents[2]
# Names that another page may have, through a DNS of its own (rebinding).
HOSTS = [
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example:8765",
    "127.0.0.1@evil.example",
    "192.168.1.5",
    "10.0.0.7:8765",
    "localhost:x",
    "",
]
# A tunnel from port 9000 (ssh -L 9000:localhost:8765), port 80, and IPv6.
TUNNELS = ["localhost:9000", "127.0.0.1:9000", "localhost", "127.0.0.1", "[::1]", "[::1]:81"]
TOKEN = "right"  # noqa: S105 - of these tests alone


@pytest.mark.parametrize("host", HOSTS)
def test_another_host_is_refused(client: Client, host: str) -> None:
    status, _, body = client.raw("GET", "/api/catalogue", headers={"Host": host})
    assert status == 403
    assert "Host" in json.loads(body)["error"]


def post(client: Client, headers: dict[str, str]) -> int:
    """The status of a new game, asked for with these headers."""
    body = json.dumps({"game": "linkage", "seats": ["human", "human"]}).encode()
    headers = {"Content-Type": "application/json", **headers}
    return client.raw("POST", "/api/sessions", body, headers)[0]


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1"])
def test_another_origin_is_refused(client: Client, origin: str) -> None:
    status, _, _ = client.raw("GET", "/api/records", headers={"Origin": origin})
    assert status == 403
    own = f"http://127.0.0.1:{client.port}"
    assert client.raw("GET", "/api/records", headers={"Origin": own})[0] == 200


@pytest.mark.parametrize("host", TUNNELS)
def test_the_page_works_through_a_tunnel_and_on_port_80(client: Client, host: str) -> None:
    assert client.raw("GET", "/", headers={"Host": host})[0] == 200
    assert post(client, {"Host": host, "Origin": f"http://{host}"}) == 200
    others = ["http://localhost:3000", f"https://{host}", f"http://{host}.evil.example", "null"]
    assert {post(client, {"Host": host, "Origin": other}) for other in others} == {403}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A server for others, who need its token."""
    with serving(tmp_path_factory.mktemp("games"), TOKEN) as client:
        yield client


@pytest.mark.parametrize("host", [*HOSTS, "play.example"])
def test_a_token_stands_for_the_host(guarded: Client, host: str) -> None:
    """Under another name, a browser has no cookie: the token alone admits."""
    refused = 401 if host else 403
    assert guarded.raw("GET", "/api/catalogue", headers={"Host": host})[0] == refused


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_pages_of_the_site_are_refused(client: Client, site: str) -> None:
    """Such as one on another port of this machine, whose requests may have no Origin."""
    assert client.raw("GET", "/api/records", headers={"Sec-Fetch-Site": site})[0] == 403
    for own in ("same-origin", "none"):
        assert client.raw("GET", "/api/records", headers={"Sec-Fetch-Site": own})[0] == 200


def test_a_form_of_another_page_cant_start_a_game(client: Client) -> None:
    body = json.dumps({"game": "linkage", "seats": ["human", "random"]}).encode()
    status, _, _ = client.raw("POST", "/api/sessions", body, {"Content-Type": "text/plain"})
    assert status == 422
    headers = {"Content-Type": "application/json", "Sec-Fetch-Site": "cross-site"}
    assert client.raw("POST", "/api/sessions", body, headers)[0] == 403


def signed_in(client: Client, host: str) -> tuple[str, str]:
    """Opens the printed address under a host: the cookie, and all of its header."""
    status, headers, _ = client.raw("GET", f"/?token={TOKEN}", headers={"Host": host})
    assert status == 303
    return headers["set-cookie"].split(";")[0], headers["set-cookie"]


def test_a_server_for_others_asks_for_its_token(guarded: Client) -> None:
    assert guarded.raw("GET", "/")[0] == 401
    assert guarded.raw("GET", "/?token=wrong")[0] == 401
    host = f"127.0.0.1:{guarded.port}"
    cookie, header = signed_in(guarded, host)
    assert "HttpOnly" in header
    assert "SameSite=strict" in header
    assert "Secure" not in header
    assert guarded.raw("GET", "/", headers={"Cookie": cookie})[0] == 200
    wrong = cookie.replace(TOKEN, "wrong")
    assert guarded.raw("GET", "/app.js", headers={"Cookie": wrong})[0] == 401


def test_servers_on_one_host_keep_their_own_cookies(guarded: Client, tmp_path: Path) -> None:
    """Two servers here, and one that is seen through two tunnels."""
    with serving(tmp_path, TOKEN) as other:
        asked = [(one, f"127.0.0.1:{one.port}") for one in (guarded, other)]
        asked += [(guarded, "localhost:9000"), (guarded, "localhost:9001"), (other, "localhost")]
        names = [signed_in(client, host)[0].split("=")[0] for client, host in asked]
        assert len(set(names)) == len(asked)
        assert all(re.fullmatch(rf"{COOKIE}_\d+_\d*", name) for name in names)
        together = "; ".join(f"{name}={TOKEN}" for name in names)
        for client, host in asked:
            headers = {"Host": host, "Cookie": together}
            assert client.raw("GET", "/api/records", headers=headers)[0] == 200


@pytest.mark.parametrize("host", ["play.example", "127.0.0.1:8765"])
def test_the_page_works_behind_a_proxy(tmp_path: Path, host: str) -> None:
    """A proxy ends TLS, and keeps the Host or names the server's own."""
    page = "https://play.example"
    with serving(tmp_path, TOKEN, origin=page) as client:
        assert client.ask("catalogue")[0] == 401
        cookie, header = signed_in(client, host)
        assert "Secure" in header
        headers = {"Host": host, "Cookie": cookie}
        status, _, body = client.raw("GET", "/api/catalogue", headers=headers)
        assert status == 200
        assert json.loads(body)["address"] == f"{page}/?token={TOKEN}"
        assert post(client, {**headers, "Origin": page}) == 200
        assert post(client, {"Host": host, "Origin": page}) == 401
        others = ["http://play.example", f"{page}:8443", f"http://{host}", "https://evil.example"]
        others += ["https://play.example.evil.example", "null"]
        assert {post(client, {**headers, "Origin": other}) for other in others} == {403}
        told = {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https"}
        assert post(client, {**headers, **told, "Origin": "https://evil.example"}) == 403


def test_an_unnamed_proxy_is_refused_with_advice(client: Client) -> None:
    for headers in (
        {"Host": "play.example"},
        {"Host": "localhost:8765", "Origin": "https://play.example"},
    ):
        status, _, body = client.raw("GET", "/api/catalogue", headers=headers)
        assert status == 403
        assert "name the page's address with --origin" in json.loads(body)["error"]


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://Play.example", "https://play.example"),
        ("https://play.example:443/", "https://play.example"),
        ("http://play.example:443", "http://play.example:443"),
        ("http://localhost:080", "http://localhost"),
        ("https://höhle.example:8443", "https://xn--hhle-5qa.example:8443"),
        ("https://[2001:DB8::0:1]:8443", "https://[2001:db8::1]:8443"),
    ],
)
def test_the_pages_address(text: str, origin: str) -> None:
    assert read_origin(text) == origin


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "play.example",
        "ftp://x",
        "https://",
        "https://x/zoo",
        "https://x?y",
        "https://u@x",
        "https://x:99999",
        "https://x:y",
        "https://[::1",
        "https://x y",
        "https://x\r\ny",
        "",
    ],
)
def test_what_is_no_address_of_a_page(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["serve", "--origin", text])
    assert "argument --origin: " in capsys.readouterr().err


def test_which_addresses_need_no_token() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "localhost", "::1")] == [True] * 3
    assert [is_loopback(host) for host in ("0.0.0.0", "192.168.1.5", "::", "x")] == [False] * 4  # noqa: S104


def test_the_address_is_one_that_other_devices_can_open() -> None:
    assert own_address("192.168.1.5") == "192.168.1.5"
    assert own_address("0.0.0.0") not in ("", "0.0.0.0")  # noqa: S104 - never listened on


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("/home/me/x.py: bad", "x.py: bad"),
        ("no file '/etc/passwd'\n here", "no file 'passwd' here"),
        (r"C:\Users\me\x.json: bad", "x.json: bad"),
        ("FILE.py:NAME, uct/greedy, http://a.b/c/d, 1 / 2", None),
    ],
)
def test_messages_hold_no_paths(text: str, safe: str | None) -> None:
    assert without_paths(text) == (text if safe is None else safe)


@pytest.mark.parametrize("declared", [True, False])
def test_a_body_has_a_limit(client: Client, *, declared: bool) -> None:
    body = b'{"game": "' + b"x" * MOST_BYTES + b'"}'
    headers = {"Content-Type": "application/json"}
    if declared:
        status = client.raw("POST", "/api/sessions", body, headers)[0]
    else:
        chunk = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        status = client.raw(
            "POST", "/api/sessions", chunk, {**headers, "Transfer-Encoding": "chunked"}
        )[0]
    assert status == 413


@pytest.mark.parametrize("path", ["/../app.py", "/%2e%2e/app.py", "/..%2fapp.py", "//etc/passwd"])
def test_no_file_but_the_pages_own_is_served(client: Client, path: str) -> None:
    assert client.raw("GET", path)[0] == 404


def test_pages_are_served_with_a_strict_policy(client: Client) -> None:
    for path in ("/", "/app.js", "/style.css"):
        status, headers, body = client.raw("GET", path)
        assert status == 200
        assert "default-src 'none'" in headers["content-security-policy"]
        assert b"https://" not in body


def _mutated(dice: np.random.Generator, data: Any) -> Any:
    """JSON data with something wrong somewhere."""
    wrong: list[Any] = [
        None,
        True,
        -1,
        2**70,
        1e400,
        "",
        "\ud800",
        "a" * 300,
        "../x",
        [],
        {},
        [[]],
        {"": 0},
    ]
    if isinstance(data, dict) and data and dice.random() < 0.8:
        key = str(dice.choice(list(data)))
        made = {**data, key: _mutated(dice, data[key])}
        if dice.random() < 0.2:
            del made[key]
        if dice.random() < 0.1:
            made[str(dice.integers(9))] = wrong[dice.integers(len(wrong))]
        return made
    if isinstance(data, list) and data and dice.random() < 0.7:
        index = int(dice.integers(len(data)))
        return [*data[:index], _mutated(dice, data[index]), *data[index + 1 :]]
    if isinstance(data, str) and data and dice.random() < 0.6:
        index = int(dice.integers(len(data)))
        return data[:index] + chr(int(dice.integers(1, 1200))) + data[index + 1 :]
    return wrong[dice.integers(len(wrong))]


def _garbled(dice: np.random.Generator, body: bytes) -> bytes:
    """Bytes with some of them changed, cut off or nested deeply."""
    kind = dice.integers(4)
    if kind == 0 and body:
        index = int(dice.integers(len(body)))
        return body[:index] + bytes([dice.integers(256)]) + body[index + 1 :]
    if kind == 1:
        return body[: int(dice.integers(len(body) + 1))]
    return b"[" * 100_000 if kind == 2 else dice.bytes(40)


def _requests(client: Client) -> list[tuple[str, str, Any]]:
    """A good request of every route that asks for something: method, path and JSON."""
    name = client.new_game("linkage", ["human", "random"])
    agents = client.new_game("linkage", ["random", "random"])
    record = client.ask(f"sessions/{name}/record")[1]
    client.settled(name)
    record["moves"] = ["W a1-b1", "B c3-c4"]
    replay = client.ask("replays", record)[1]["id"]
    over, fresh = (client.new_game("linkage", ["human", "random"]) for _ in range(2))
    client.ask(f"sessions/{over}/resign", {})
    client.ask(f"sessions/{name}/move", {"move": "W a1-b1"})
    saved, kept = (client.ask(f"sessions/{game}/save", {})[1]["file"] for game in (over, agents))
    new = {"game": "linkage", "seats": ["human", "random"], "options": {}, "seed": 3}
    return [
        ("POST", "sessions", new),
        ("POST", "sessions", {**new, "game": "link_o", "options": {"board": "ring4x16"}}),
        ("POST", "sessions", {**new, "seats": ["human", "human"], "names": ["Ada"], "apart": True}),
        ("GET", f"sessions?ids={name}&ids={agents}", None),
        ("GET", f"sessions/{name}?tall=true", None),
        ("GET", f"sessions/{name}/log/0", None),
        ("DELETE", f"sessions/{client.new_game('linkage', ['human', 'random'])}", None),
        ("POST", f"sessions/{name}/move", {"move": "W a1-b1"}),
        ("POST", f"sessions/{fresh}/preview", {"move": "W a1-b1"}),
        ("POST", f"sessions/{name}/look", {"seat": 0}),
        ("POST", f"sessions/{name}/back", {}),
        ("POST", f"sessions/{agents}/step", {}),
        ("POST", f"sessions/{name}/analysis", {"agent": "checkpoint"}),
        ("POST", f"sessions/{name}/analysis", {"agent": "checkpoint", "last": True}),
        ("POST", f"sessions/{client.new_game('linkage', ['human', 'random'])}/resign", {}),
        ("POST", f"sessions/{over}/rematch", {}),
        ("POST", f"sessions/{name}/save", {}),
        ("GET", f"sessions/{name}/record", None),
        ("POST", "replays", record),
        ("GET", f"replays/{replay}", None),
        ("GET", f"replays/{replay}/1?tall=true", None),
        ("POST", f"replays/{replay}/1/analysis", {"agent": "linkage:4"}),
        ("POST", f"replays/{replay}/values", {"agent": "checkpoint"}),
        ("GET", "records", None),
        ("GET", f"records/{kept}", None),
        ("DELETE", f"records/{saved}", None),
        ("GET", "catalogue", None),
        ("GET", "strength", None),
        ("GET", "games/linkage/rules", None),
        ("POST", "games/linkage/prepare", {"agents": ["human", "greedy"]}),
    ]


def _bent(dice: np.random.Generator, path: str) -> str:
    """A path, cut off or with a piece of it replaced."""
    kind, index = dice.integers(3), int(dice.integers(len(path) + 1))
    if kind == 0:
        return path[:index] + "%00%C3%A9"
    if kind == 1:
        return path[:index] + str(dice.choice(["-1", "99999999999999999999", "%2e%2e", "0x1", "é"]))
    head, _, tail = path.rpartition(str(dice.choice(["/", "=", "?"])))
    return f"{head}/{tail[::-1]}"


@pytest.mark.parametrize(
    ("times", "seed"),
    [
        pytest.param(200, 0, marks=pytest.mark.slow),
        pytest.param(2_000, 1, marks=pytest.mark.nightly),
        pytest.param(10_000, 2, marks=pytest.mark.nightly),
    ],
)
def test_mutated_requests_get_an_answer_and_no_failure(
    client: Client, times: int, seed: int
) -> None:
    dice = np.random.default_rng(seed)
    client.server.sessions.most = client.server.replays.most = 2 * times
    seen: dict[tuple[str, int], int] = {}
    for number in range(times):
        if number % 500 == 0:  # some close the games
            requests = _requests(client)
        method, path, data = requests[number % len(requests)]
        kind = f"{method} {re.sub('[^/?]{20,}', 'ID', path)}"
        good = number < len(requests)  # each once as it should be
        path = path if good or dice.random() < 0.8 else _bent(dice, path)
        if not good and dice.random() < 0.05:
            method = str(dice.choice(["GET", "PUT", "DELETE", "TRACE", "POST"]))
        sent = data if good or dice.random() < 0.2 else _mutated(dice, data)
        body = b"" if data is None else json.dumps(sent).encode()
        if not good and dice.random() < 0.2:
            body = _garbled(dice, body)
        address = quote(f"/api/{path}", safe="/?=%")
        status, _, answer = client.raw(method, address, body, {"Content-Type": "application/json"})
        seen[kind, status] = seen.get((kind, status), 0) + 1
        assert status < 500, (method, path, body[:300], answer)
        if status >= 400 and answer and method != "TRACE":
            assert json.loads(answer)["error"], (method, path, body[:300], answer)
    own = [str(path).encode() for path in (ROOT, client.server.records, Path.home())]
    assert [body[:300] for body in client.sent if any(path in body for path in own)] == []
    assert {200, 400, 404, 409, 422} <= {status for _, status in seen}
    answered = {kind for kind, status in seen if status == 200}
    alone = {"POST sessions/ID/look", "POST sessions/ID/rematch"}  # nobody else is there; not over
    assert {kind for kind, _ in seen} - answered <= alone
