"""Who may ask: the right host and origin, the token where one is needed, requests of some size, and not too many."""

from __future__ import annotations

import hmac
import ipaddress
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from windrow.serve.values import json_bytes

LARGEST_BODY = 256 << 10
READS_A_SECOND, WRITES_A_SECOND, MISTAKES_A_SECOND = 5000.0, 20.0, 2.0
MOST_CLIENTS = 1024
"""So many clients are told apart; of more, the one that was quiet longest is forgotten."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:;"
    " font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


@dataclass(slots=True)
class _Bucket:
    """So many requests at once at most, filled again at a rate."""

    rate: float
    left: float
    at: float = field(default_factory=time.monotonic)

    def take(self) -> bool:
        now = time.monotonic()
        self.left, self.at = min(self.rate * 2, self.left + (now - self.at) * self.rate), now
        if self.left < 1:
            return False
        self.left -= 1
        return True


def is_loopback(host: str) -> bool:
    """
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Stands before the application, and turns away what may not come in.

    Beyond loopback all but the page itself needs the token; what changes a job needs it everywhere. The page holds
    nothing that is secret, and asks its reader for the token. A request whose Host is not one of ours comes from a page
    that has had its name pointed here, and one with another Origin from a page elsewhere.
    """

    def __init__(self, app: ASGIApp, token: str, host: str, hosts: Iterable[str] = ()) -> None:
        self._app, self._token = app, token.encode()
        self._local = is_loopback(host)
        self._hosts = {"localhost", "127.0.0.1", "::1", *(name.lower() for name in hosts)}
        self._hosts |= {host} if host not in ("0.0.0.0", "::") else set()
        self._any_address = host in ("0.0.0.0", "::")
        self._buckets: OrderedDict[tuple[str, str], _Bucket] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = {name: value for name, value in scope["headers"]}
        refused = self._refused(scope, headers)
        if refused is None:
            await self._app(scope, _bounded(receive), _with_headers(send))
            return
        status, code, message = refused
        await _answer(_with_headers(send), status, json_bytes({"error": {"code": code, "message": message}}))

    def _refused(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str, str] | None:
        client = scope["client"][0] if scope.get("client") else ""
        host = _host_of(headers.get(b"host", b"").decode("latin-1"))
        if not self._is_ours(host):
            return 421, "HOST", "this server is not known by that name"
        origin = headers.get(b"origin")
        if origin is not None and not self._same_origin(origin.decode("latin-1"), headers[b"host"].decode("latin-1")):
            return 403, "ORIGIN", "a page from elsewhere may not ask"
        if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            return 403, "ORIGIN", "a page from elsewhere may not ask"
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > LARGEST_BODY:
            return 413, "SIZE", f"a request has at most {LARGEST_BODY:,} bytes"
        writes = scope["method"] not in ("GET", "HEAD")
        kind, rate = ("writes", WRITES_A_SECOND) if writes else ("reads", READS_A_SECOND)
        if not self._bucket(client, kind, rate).take():
            return 429, "RATE", "too many requests: wait a second"
        if writes or (not self._local and not _is_page(scope["path"])):
            if self._bucket(client, "mistakes", MISTAKES_A_SECOND).left < 1 and not self._refill(client):
                return 429, "RATE", "too many wrong tokens: wait a second"
            if not self._has_token(headers):
                self._bucket(client, "mistakes", MISTAKES_A_SECOND).take()
                return 401, "TOKEN", "the token is missing or wrong: it was printed when the server started"
        return None

    def _refill(self, client: str) -> bool:
        """Whether a client that had too many wrong tokens may try again."""
        bucket = self._bucket(client, "mistakes", MISTAKES_A_SECOND)
        if bucket.take():
            bucket.left += 1
            return True
        return False

    def _has_token(self, headers: dict[bytes, bytes]) -> bool:
        kind, _, given = headers.get(b"authorization", b"").partition(b" ")
        return hmac.compare_digest(given.strip(), self._token) and kind.lower() == b"bearer"

    def _is_ours(self, host: str) -> bool:
        if host in self._hosts:
            return True
        if not self._any_address:
            return False
        try:  # an address cannot be pointed elsewhere, as a name can
            ipaddress.ip_address(host)
        except ValueError:
            return False
        return True

    def _same_origin(self, origin: str, host: str) -> bool:
        try:
            return urlsplit(origin).netloc.lower() == host.lower()
        except ValueError:
            return False

    def _bucket(self, client: str, kind: str, rate: float) -> _Bucket:
        key = (client, kind)
        if key not in self._buckets:
            self._buckets[key] = _Bucket(rate, rate * 2)
            if len(self._buckets) > 3 * MOST_CLIENTS:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(key)
        return self._buckets[key]


def _is_page(path: str) -> bool:
    return path == "/" or path.startswith("/static/")


def _host_of(header: str) -> str:
    """
    >>> _host_of("localhost:8080"), _host_of("[::1]:8080"), _host_of("Example.org")
    ('localhost', '::1', 'example.org')
    """
    try:
        return (urlsplit(f"//{header}").hostname or "").lower()
    except ValueError:
        return ""


class TooLarge(Exception):
    """A body that goes on for longer than it may."""


def _bounded(receive: Receive) -> Receive:
    got = 0

    async def bounded() -> Message:
        nonlocal got
        message = await receive()
        got += len(message.get("body", b""))
        if got > LARGEST_BODY:
            raise TooLarge
        return message

    return bounded


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *HEADERS]
        await send(message)

    return sending


async def _answer(send: Send, status: int, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="windrow"'))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
