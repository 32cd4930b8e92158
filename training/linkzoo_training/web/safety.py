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
_BEHIND_A_PROXY = "behind a proxy, name the page's address with --origin"
_TOO_LARGE = f"a request has at most {MOST_BYTES} bytes"
COOKIE = "linkzoo_token"  # the ports follow: browsers share cookies between them
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


# Names that always mean the user's own machine: no other page can be opened by them.
_LOOPBACK = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?")
_PORT = re.compile(r":(\d{1,5})$")
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
    """The server's address.

    Attributes:
        host: The address that the server listens on.
        port: The port that it listens on.
        token: The secret of every client; None for a server that only this machine reaches.
        origin: Scheme, host and port of the page behind a proxy, such as `https://play.example`;
            None without a proxy.
    """

    host: str
    port: int
    token: str | None = None
    origin: str | None = None

    def takes_host(self, host: str) -> bool:
        """Returns whether a Host header is allowed.

        Without a token it must be a name of the user's own machine: a page whose name was made to
        lead there (DNS rebinding) has another one. The port may be that of an SSH tunnel.
        """
        if self.token is not None:
            return bool(host)
        return _LOOPBACK.fullmatch(host) is not None

    def takes_origin(self, origin: str, host: str) -> bool:
        """Returns whether an Origin header, beside a Host header, is the page's own."""
        return origin == (self.origin or f"http://{host}")

    def cookie(self, host: str) -> str:
        """Returns the name of the token's cookie, beside a Host header.

        Several servers may share a host: they differ by their ports, or by those of SSH tunnels.
        """
        seen = _PORT.search(host)
        return f"{COOKIE}_{self.port}_{seen[1] if seen else ''}"

    @property
    def url(self) -> str:
        """The URL to open in the browser, here or on another device."""
        host = own_address(self.host)
        if ":" in host:  # IPv6
            host = f"[{host}]"
        origin = self.origin or f"http://{host}:{self.port}"
        url = f"{origin}/"
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
        if not self.address.takes_host(host):
            return _refuse(403, f"the Host {host!r} isn't this server: {_BEHIND_A_PROXY}")
        origin = headers.get("origin")
        if origin is not None and not self.address.takes_origin(origin, host):
            return _refuse(403, f"the Origin {origin!r} isn't this page: {_BEHIND_A_PROXY}")
        site = headers.get("sec-fetch-site", "same-origin")
        if site not in ("same-origin", "none") and scope["path"].startswith("/api"):
            return _refuse(403, "the request comes from another page")
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
        name = self.address.cookie(headers.get("host", ""))
        query = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=9)
        if scope["path"] == "/" and _same(query.get("token", [""])[0], token):
            redirect = RedirectResponse("/", 303)
            secure = (self.address.origin or "").startswith("https:")
            redirect.set_cookie(name, token, secure=secure, httponly=True, samesite="strict")
            return redirect
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(name)
        except CookieError:
            cookie = None
        if cookie is None or not _same(cookie.value, token):
            return _refuse(401, "open the address that the server printed, with its token")
        return None


def _same(text: str, token: str) -> bool:
    return secrets.compare_digest(text.encode(errors="replace"), token.encode())


def _refuse(status: int, message: str) -> JSONResponse:
    return JSONResponse({"error": message}, status)
