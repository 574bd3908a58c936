"""Passwords, tokens and signatures in the address of a source are shown nowhere."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import svc_notebook as svc
from svc_notebook.core.redaction import describe_failure, mask_secrets, show_address
from svc_notebook.data.client import Client
from svc_notebook.data.loading import plan
from svc_notebook.errors import BadInput, SvcError
from tests.conftest import ROOT

CANARY = "cAnArY"
CLOSED = "127.0.0.1:9"
GZIP = b"\x1f\x8b\x08\x00broken"
ANSWERS = {
    "missing": (404, b"no"),
    "forbidden": (403, b"no"),
    "broken": (500, b"no"),
    "binary": (200, bytes(range(256)) * 20),
    "archive": (200, b"PK\x03\x04broken"),
    "compressed": (200, GZIP),
    "empty": (200, b""),
    "page": (200, b"<!doctype html><html><body>Sign in</body></html>"),
    "workbook": (200, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)),
    "documents": (200, b'{"a": [1}'),
    "parquet": (200, b"PAR1broken"),
    "redirect": (302, b""),
    "short": (200, b"a,b\n1"),
}


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    """A server whose answers fail, each in its own way."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.partition("?")[0].rpartition("/")[2].partition(".")[0]
            status, body = ANSWERS[name]
            self.send_response(status)
            if status == 302:
                self.send_header("location", self.path)
            self.send_header("content-length", str(len(body) + (9 if name == "short" else 0)))
            self.end_headers()
            self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def forms_of(error: BaseException) -> str:
    """Everything that an error shows, in a notebook, a script and a log."""
    rendered: list[str] = getattr(error, "_render_traceback_", list)()
    parts = [str(error), repr(error), *rendered, *getattr(error, "__notes__", ())]
    return "\n".join([*parts, *traceback.format_exception(error)])


def check(work: Callable[[], object], caplog: pytest.LogCaptureFixture) -> SvcError | None:
    """Check all that is shown of a failure, or of a result; return the error."""
    failure = None
    with caplog.at_level(logging.INFO):
        try:
            shown = repr(work())
        except SvcError as error:
            failure, shown = error, forms_of(error)
    assert CANARY not in shown, shown
    assert CANARY not in caplog.text, caplog.text
    return failure


@pytest.mark.sampled(quick=13)
@pytest.mark.parametrize("name", [*ANSWERS])
@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".json.gz", ""])
def test_no_failure_of_a_download_shows_them(
    name: str, suffix: str, host: str, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"http://user:{CANARY}@{host}/{name}{suffix}?X-Amz-Signature={CANARY}&table=1#{CANARY}"
    if name == "empty" and suffix == ".json.gz":
        pytest.skip("an empty file is not compressed")

    failure = check(lambda: plan(url, "films"), caplog)

    assert failure or ANSWERS[name][0] == 200


ADDRESSES = [
    f"https://user:{CANARY}@{CLOSED}/a.csv",
    f"https://{CANARY}@{CLOSED}/a.csv",
    f"https://{CLOSED}/a.csv?sig={CANARY}&se=2030",
    f"https://{CLOSED}/a.csv?{CANARY}",
    f"https://{CLOSED}/a.csv#access_token={CANARY}",
    f"https://user:{CANARY}/x@{CLOSED}/a.csv",
    f"https://user:{CANARY}@[::1]:9/a.csv?token={CANARY}",
    f"https://user:{CANARY}@host:notaport/a.csv",
    f"http://[{CANARY}@/a.csv",
    f"s3://AKIA:{CANARY}@bucket/a.csv",
    f"s3://bucket/a.csv?X-Amz-Security-Token={CANARY}",
    f"gs://bucket/a.csv?X-Goog-Signature={CANARY}",
    f"az://container/a.csv?sv=2024&sig={CANARY}",
    f"abfss://user:{CANARY}@container.dfs.core.windows.net/a.csv",
    f"ftp://user:{CANARY}@{CLOSED}/a.csv",
    f"ftp://user:p@ss/{CANARY}@{CLOSED}/a.csv",
    f"sftp://user:{CANARY}@{CLOSED}/a.csv",
    f"ssh://user:{CANARY}@{CLOSED}/a.csv",
    f"smb://user:{CANARY}@{CLOSED}/share/a.csv",
    f"webhdfs://user:{CANARY}@{CLOSED}/a.csv",
    f"github://org:repo@{CLOSED}/a.csv?token={CANARY}",
    f"hf://datasets/org/name/a.csv?token={CANARY}",
    f"postgresql://user:{CANARY}@{CLOSED}/db",
    f"postgresql+psycopg2://user:{CANARY}@{CLOSED}/db?sslkey=x",
    f"mysql+pymysql://user:{CANARY}@{CLOSED}/db",
    f"mssql+pyodbc://user:{CANARY}@{CLOSED}/db?driver=ODBC",
    f"snowflake://user:{CANARY}@account/db",
    f"simplecache::https://user:{CANARY}@{CLOSED}/a.csv?sig={CANARY}",
    f"zip://a.csv::https://user:{CANARY}@{CLOSED}/a.zip?sig={CANARY}",
    f"nowhere://user:{CANARY}@{CLOSED}/a.csv?key={CANARY}",
    f"host=localhost password={CANARY} dbname=shop",
    f"Server=localhost;Pwd={CANARY};Database=shop",
    f"select * from read_csv('https://user:{CANARY}@{CLOSED}/a.csv')",
    f"select * from read_parquet('s3://bucket/a.parquet?sig={CANARY}')",
    f"select * from postgres_scan('host={CLOSED} password={CANARY}', 'public', 't')",
]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("address", ADDRESSES, ids=lambda text: text[:40].replace(CANARY, "x"))
def test_no_scheme_shows_them(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)

    assert check(lambda: plan(address, "films"), caplog)


@pytest.mark.parametrize("address", ADDRESSES[:3], ids=["password", "token", "signature"])
def test_other_functions_show_none(
    address: str, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    for work in (
        lambda: svc.load(address, "films", client=client),
        lambda: svc.export("films", address, client=client),
        lambda: svc.connect(url=address, app_id="A", api_key="k"),
        lambda: svc.connect(url="ht" + address[4:], app_id="A", api_key="k"),
    ):
        assert check(work, caplog)


@pytest.mark.slow
def test_the_command_shows_none() -> None:
    url = f"http://user:{CANARY}@{CLOSED}/a.csv?sig={CANARY}"

    done = subprocess.run(
        [sys.executable, "-m", "svc_notebook", "load", url, "films", "--dry-run"],
        capture_output=True, text=True, cwd=ROOT,
        env={"SVC_URL": f"http://{CLOSED}", "SVC_APP_ID": "A", "SVC_API_KEY": "k"},
    )  # fmt: skip

    assert done.returncode == 1
    assert f"http://***@{CLOSED}/a.csv?sig=***" in done.stderr
    assert CANARY not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://a.example/x.csv", "https://a.example/x.csv"),
        ("https://a.example:8080/@user/x.csv", "https://a.example:8080/@user/x.csv"),
        ("https://u:p@a.example/x.csv?a=1&b", "https://***@a.example/x.csv?a=***&***"),
        ("http://[::1]:80/x?sig=abc", "http://[::1]:80/x?sig=***"),
        ("abfss://data@a.dfs.example/x.csv", "abfss://data@a.dfs.example/x.csv"),
        ("s3://bucket/part-?.csv", "s3://bucket/part-?.csv"),
        ("zip://a.csv::https://u:p@h/a.zip?t=1", "zip://a.csv::https://***@h/a.zip?t=***"),
        ("hf://datasets/org/name@main/x.csv", "hf://datasets/org/name@main/x.csv"),
        ("films.csv", "films.csv"),
    ],
)
def test_the_rest_of_an_address_is_shown(address: str, shown: str) -> None:
    assert show_address(address) == shown


@pytest.mark.parametrize(
    "text",
    [
        "https://shop.example/page?id=3&keyword=lamp is not in the sitemap",
        "pass `id` = 'sku', or monkey=1",
        "C:/data/films.csv cannot be read",
        "there are 3 files: a@b.csv, c.csv",
    ],
)
def test_texts_without_secrets_are_kept(text: str) -> None:
    assert mask_secrets(text) == text
    assert str(BadInput(text)) == text


def test_the_password_alone_is_replaced_in_the_message_of_a_library() -> None:
    error = ValueError("530 Login incorrect: p%40ss or p@ss for ann")

    text = describe_failure(error, "ftp://ann:p%40ss@host/a.csv")

    assert text == "530 Login incorrect: *** or *** for ann"
