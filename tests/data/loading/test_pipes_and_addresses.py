"""Sources that are read once: the standard input, pipes, and addresses that redirect."""

from __future__ import annotations

import gzip
import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import svc_notebook as svc
from svc_notebook.data import loading
from svc_notebook.data.client import Client, background_loop
from svc_notebook.errors import BadInput

CSV = b"id,n\n1,5\n2,6\n"
RECORDS = [{"objectID": "1", "id": 1, "n": 5}, {"objectID": "2", "id": 2, "n": 6}]


class Answers(BaseHTTPRequestHandler):
    """Redirects `/r…`, and encodes what is asked for."""

    def do_GET(self) -> None:
        encoded = gzip.compress(CSV)
        body = encoded if "encoded" in self.path or self.path.endswith(".gz") else CSV
        self.send_response(302 if self.path.startswith("/r") else 200)
        if self.path.startswith("/r"):
            self.send_header("Location", self.path[2:])
            body = b""
        if "encoded" in self.path:
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Stay silent."""


@pytest.fixture
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.slow
def test_redirects_and_encodings_of_addresses(site: str) -> None:
    paths = ["/a.csv", "/encoded.csv", "/a.csv.gz", "/r/a.csv", "/r/r/a.csv.gz", "/r/get?file=3"]
    for path in paths:
        assert [*svc.plan(f"{site}{path}", "x").sample] == RECORDS, path


@pytest.mark.slow
def test_the_standard_input_and_a_pipe_are_read_once(
    client: Client, tmp_path: Path, standard_input: Callable[..., None]
) -> None:
    pipe = tmp_path / "rows"
    os.mkfifo(pipe)
    for source in ("-", pipe):
        for content in (CSV, gzip.compress(CSV), b'{"id": 1, "n": 5}\n{"id": 2, "n": 6}\n'):
            standard_input(content)
            writer = threading.Thread(target=pipe.write_bytes, args=(content,))
            if source == pipe:
                writer.start()

            result = background_loop.run(loading.load(client.aio, source, "pipes", id="id"))

            assert result.published == 2
            if source == pipe:
                writer.join()
    standard_input(None)
    with pytest.raises(BadInput, match="standard-input cannot be read"):
        svc.plan("-", "x")
    with pytest.raises(BadInput, match="a pipe can be read once"):
        background_loop.run(loading.load(client.aio, "-", "pipes", accept="plan"))
