"""A small website on a real server, with pages that are difficult for crawlers."""

from __future__ import annotations

import gzip
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

TITLES = ("Lamp", "Chair", "Table", "Sofa", "Shelf")
EXTRACTOR = "({ url, $ }) => [{ url: url.href, title: $('title').text() }]"


@dataclass
class Reply:
    """What the site says to one request; `promised` is a length that it does not keep, `drip` the
    seconds between pieces of the body.
    """

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "text/html"})
    seconds: float = 0.0
    promised: int | None = None
    drip: float = 0.0


@dataclass(frozen=True)
class Asked:
    """One request that the site got."""

    path: str
    headers: Mapping[str, str]
    method: str = "GET"
    body: bytes = b""


Answering = Callable[[Asked], Reply]


class Site:
    """A website: `with Site() as site` serves it; what it was asked is in `asked`."""

    def __init__(self) -> None:
        self.pages: dict[str, Answering] = {}
        self.asked: list[Asked] = []
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.site = self
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def page(self, path: str, body: str | bytes = "", **reply: Any) -> None:
        """Put a page there, for good; `reply` are members of `Reply`."""
        raw = body.encode() if isinstance(body, str) else body
        self.pages[path] = lambda _: Reply(raw, **reply)

    def html(self, path: str, title: str, links: Iterable[str] = (), *, head: str = "") -> None:
        """Put a page there with a title and links."""
        self.page(path, html(title, links, head=head))

    def answer(self, path: str, answering: Answering) -> None:
        """Let a function answer a path."""
        self.pages[path] = answering

    def redirect(self, path: str, target: str, status: int = 302) -> None:
        """Let a path lead to another."""
        self.page(path, status=status, headers={"Location": target})

    def paths(self) -> list[str]:
        """List what was asked for, robots.txt aside."""
        return [asked.path for asked in self.asked if asked.path != "/robots.txt"]

    def config(self, **changes: Any) -> dict[str, Any]:
        """Return a crawler's configuration that takes every page of the site."""
        action = {
            "indexName": "pages",
            "pathsToMatch": [f"{self.url}/**"],
            "recordExtractor": {"__type": "function", "source": EXTRACTOR},
        }
        return {
            "appId": "app",
            "rateLimit": 100,
            "startUrls": [f"{self.url}/"],
            "actions": [action],
            **changes,
        }


def html(title: str, links: Iterable[str] = (), *, head: str = "", text: str = "") -> str:
    """Write a page."""
    anchors = "".join(f'<p><a href="{link}">{link}</a></p>' for link in links)
    return (
        f"<!doctype html><html><head><title>{title}</title>{head}</head>"
        f"<body><h1>{title}</h1><p>{text}</p>{anchors}</body></html>"
    )


def fill_shop(site: Site, products: int = 5) -> list[str]:
    """Put a small shop there, in order and without traps; returns the addresses of its pages."""
    paths = [f"/products/{number}" for number in range(products)]
    site.html("/", "Shop", ["/about", "/products"])
    site.html("/about", "About", ["/"])
    site.html("/products", "Products", paths)
    for number, path in enumerate(paths):
        title = f"{TITLES[number % len(TITLES)]} {number}"
        site.html(path, title, ["/products", f"/products/{(number + 1) % products}#more"])
    site.page("/robots.txt", "User-agent: *\nDisallow: /private\n", headers={})
    return [f"{site.url}{path}" for path in ("/", "/about", "/products", *paths)]


def fill_traps(site: Site) -> None:
    """Put all kinds of traps there, each behind a link of `/traps`."""
    site.html("/traps", "Traps", [*TRAPS, "//elsewhere.invalid/", "javascript:void(0)", "mailto:x"])
    site.redirect("/circle", "/circle/2")
    site.redirect("/circle/2", "/circle")
    site.redirect("/itself", "/itself")
    site.redirect("/out", "http://elsewhere.invalid/")
    site.redirect("/nowhere", "")
    site.answer("/calendar", _calendar)
    site.page("/truncated", html("Truncated"), promised=5000)
    site.page("/huge", b"<title>Huge</title>" + b"x" * (11 << 20))
    site.page("/bomb", gzip.compress(bytes(30 << 20)), headers=_PACKED)
    site.page("/garbled", b"no gzip at all", headers=_PACKED)
    site.page("/charset", "<title>Caf\u00e9</title>".encode("latin-1"), headers=_WRONG)
    site.page("/gone", status=410)
    site.page("/broken", status=500)
    site.page("/picture.png", b"\x89PNG", headers={"Content-Type": "image/png"})
    site.html(
        "/noindex", "Hidden", ["/from-noindex"], head='<meta name="robots" content="noindex">'
    )
    site.html("/from-noindex", "Found")
    site.html("/nofollow", "Alone", ["/unseen"], head='<meta name="robots" content="nofollow">')
    site.html("/copy", "Copy", head='<link rel="canonical" href="/original">')
    site.html("/original", "Original")
    site.html("/private/secret", "Secret")
    site.page("/robots.txt", "User-agent: *\nDisallow: /private\n", headers={})


_PACKED = {"Content-Type": "text/html", "Content-Encoding": "gzip"}
_WRONG = {"Content-Type": "text/html; charset=utf-8"}
TRAPS = (
    "/circle", "/itself", "/out", "/nowhere", "/truncated", "/huge", "/bomb", "/garbled",
    "/charset", "/gone", "/broken", "/picture.png", "/noindex", "/nofollow", "/copy", "/missing",
    "/private/secret",
)  # fmt: skip


def _calendar(asked: Asked) -> Reply:
    """A month that leads to the next one, without end."""
    month = int(parse_qs(urlsplit(asked.path).query).get("month", ["0"])[0])
    return Reply(html(f"Month {month}", [f"/calendar?month={month + 1}"]).encode())


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    site: Site

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A crawler that hangs up is no error of the site."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def handle_any(self) -> None:
        site = self.server.site
        length = int(self.headers.get("Content-Length") or 0)
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.path, headers, self.command, self.rfile.read(length))
        site.asked.append(asked)
        path = re.split(r"[?#]", self.path)[0]
        answering = site.pages.get(self.path) or site.pages.get(path)
        reply = answering(asked) if answering else Reply(b"not here", status=404)
        time.sleep(reply.seconds)
        self._say(reply)

    do_GET = do_POST = do_OPTIONS = handle_any

    def _say(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        bare = reply.status == 304
        self.send_header("Content-Length", str(reply.promised or len(reply.body)))
        self.end_headers()
        for start in range(0, 0 if bare else len(reply.body), 64 if reply.drip else 1 << 30):
            self.wfile.write(reply.body[start : start + (64 if reply.drip else 1 << 30)])
            time.sleep(reply.drip)
        self.close_connection = self.close_connection or reply.promised is not None

    def log_message(self, *args: Any) -> None:
        """Keep the tests' output clean."""
