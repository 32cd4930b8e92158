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
    """Returns an address to listen on, or for all of them this machine's in its network."""
    if host not in ("", "0.0.0.0", "::"):  # noqa: S104 - a comparison
        return host
    family, other = (
        (socket.AF_INET6, "2001:db8::1") if host == "::" else (socket.AF_INET, "192.0.2.1")
    )
    with socket.socket(family, socket.SOCK_DGRAM) as route:
        try:
            route.connect((other, 9))  # sends nothing: it finds out which address would be used
        except OSError:
            return "::1" if host == "::" else "127.0.0.1"
        return str(route.getsockname()[0])


@dataclass(frozen=True)
class Address:
    """The server's address; `token` is None on loopback."""

    host: str
    port: int
    token: str | None = None

    def takes(self, host: str) -> bool:
        """Returns whether a Host header is this server's, or any with a token: no DNS rebinding."""
        if self.token is not None:
            return bool(host)
        return host in [f"{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]")]

    @property
    def url(self) -> str:
        """The URL to open in the browser, here or on another device."""
        host = own_address(self.host)
        host = f"[{host}]" if ":" in host else host
        page = f"http://{host}:{self.port}/"
        return page if self.token is None else f"{page}?token={quote(self.token)}"


class Guard:
    """Middleware that admits only requests from the page itself, and adds security headers."""

    def __init__(self, app: ASGIApp, address: Address) -> None:
        self.app, self.address = app, address

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

        taken = 0

        async def read() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > MOST_BYTES:
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
            welcome = RedirectResponse("/", 303)
            welcome.set_cookie(COOKIE, token, httponly=True, samesite="strict")
            return welcome
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            cookie = None
        if cookie is None or not _same(cookie.value, token):
            return _refuse(401, "open the address that the server printed, with its token")
        return None


def _same(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(errors="replace"), other.encode())


def _refuse(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": message}, status)
