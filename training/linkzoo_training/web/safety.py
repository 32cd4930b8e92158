"""Request guard: hosts, origins, tokens and body sizes."""

import re
import secrets
import socket
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from urllib.parse import parse_qs, quote

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 2**20  # limit of a request's body
_TOO_LARGE = f"a request has at most {MOST_BYTES} bytes"
COOKIE = "linkzoo_token"
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        "style-src-elem 'self' 'unsafe-inline'; "  # drawings bring their colours in the dark
        "img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


_PATH = re.compile(r"""(?<![\w.:/~<])(?:~|[A-Za-z]:)?[\\/](?:[^\s\\/'",;:()\[\]]+[\\/])+(?=\w)""")


def without_paths(text: str) -> str:
    """Returns a message in one line, with absolute paths cut down to their last names."""
    return _PATH.sub("", " ".join(text.split()))


def is_loopback(host: str) -> bool:
    """Returns whether an address is reachable from this machine only."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def own_address(host: str) -> str:
    """Returns the address to open: for a server on all addresses, this machine's in its network."""
    if host not in ("", "0.0.0.0", "::"):  # noqa: S104 - a comparison
        return host
    if host == "::":
        return _route(socket.AF_INET6, "2001:db8::1", unconnected="::1")
    return _route(socket.AF_INET, "192.0.2.1", unconnected="127.0.0.1")


def _route(family: socket.AddressFamily, other: str, unconnected: str) -> str:
    """Returns the address of this machine that is used to reach another one; sends nothing."""
    with socket.socket(family, socket.SOCK_DGRAM) as route:
        try:
            route.connect((other, 9))
        except OSError:
            return unconnected
        return str(route.getsockname()[0])


@dataclass(frozen=True)
class Address:
    """The server's address; `token` is None on loopback."""

    host: str
    port: int
    token: str | None = None

    def takes(self, host: str) -> bool:
        """Returns whether a Host header is allowed.

        Without a token it must be this server's, which prevents DNS rebinding.
        """
        if self.token is not None:
            return bool(host)
        return host in [f"{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]")]

    @property
    def url(self) -> str:
        """The URL to open in the browser, here or on another device."""
        host = own_address(self.host)
        if ":" in host:  # IPv6
            host = f"[{host}]"
        url = f"http://{host}:{self.port}/"
        if self.token is not None:
            url += f"?token={quote(self.token)}"
        return url


class Guard:
    """Middleware that admits only requests from the page itself, and adds security headers."""

    def __init__(self, app: ASGIApp, address: Address) -> None:
        self.app = app
        self.address = address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles a request, or refuses it with 4xx and a message."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def respond(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        received = 0

        async def read() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > MOST_BYTES:
                raise HTTPException(413, _TOO_LARGE)
            return message

        refusal = self._refusal(scope)
        if refusal is None:
            await self.app(scope, read, respond)
        else:
            await refusal(scope, receive, respond)

    def _refusal(self, scope: Scope) -> Response | None:
        """Returns the refusal of a request that isn't from the page, else None."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self.address.takes(host):
            return _refuse(403, f"the Host {host!r} isn't this server")
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return _refuse(403, f"the Origin {origin!r} isn't this server's page")
        if headers.get("sec-fetch-site") == "cross-site" and scope["path"].startswith("/api"):
            return _refuse(403, "the request comes from another site")
        length = headers.get("content-length", "0")
        if not length.isdecimal():
            return _refuse(400, "the Content-Length is no number")
        if len(length) > 12 or int(length) > MOST_BYTES:
            return _refuse(413, _TOO_LARGE)
        return self._without_token(scope, headers)

    def _without_token(self, scope: Scope, headers: Headers) -> Response | None:
        """Moves a token from the URL into a cookie; refuses requests without one."""
        token = self.address.token
        if token is None:
            return None
        query = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=9)
        if scope["path"] == "/" and _same(query.get("token", [""])[0], token):
            redirect = RedirectResponse("/", 303)
            redirect.set_cookie(COOKIE, token, httponly=True, samesite="strict")
            return redirect
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            cookie = None
        if cookie is None or not _same(cookie.value, token):
            return _refuse(401, "open the address that the server printed, with its token")
        return None


def _same(text: str, token: str) -> bool:
    return secrets.compare_digest(text.encode(errors="replace"), token.encode())


def _refuse(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": message}, status)
