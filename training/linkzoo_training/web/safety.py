"""Request guard: hosts, origins, tokens and body sizes."""

import secrets
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
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def is_loopback(host: str) -> bool:
    """Returns whether an address is reachable from this machine only."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


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
        """The URL to open in the browser."""
        host = f"[{self.host}]" if ":" in self.host else self.host
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
