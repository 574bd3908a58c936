"""A server that records the keys it is sent."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWER = b'{"items": [], "nbPages": 0, "hits": [], "nbHits": 0, "keys": [], "results": []}'


class KeySink:
    """The address of a server, and the path and the headers of every request."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.received: list[str] = []

    def take(self, key: str, app_id: str = "") -> bool:
        """Return whether a key was sent, with this application, and forget all requests."""
        requests, self.received = self.received, []
        return any(key in request and app_id in request for request in requests)


@contextmanager
def open_sink() -> Iterator[KeySink]:
    """Run the server in a thread."""
    sink: KeySink

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            sink.received.append(f"{self.path} {self.headers}")
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(ANSWER)))
            self.end_headers()
            self.wfile.write(ANSWER)

        do_GET = do_POST = do_PUT = do_DELETE = answer

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sink = KeySink(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield sink
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
