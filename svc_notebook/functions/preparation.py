"""What the first load and the first browse compute once per process, computed in advance."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from svc_notebook import loading
from svc_notebook.api import SearchApi
from svc_notebook.client.response_checks import prepare_check
from svc_notebook.client.transport.sender import user_agent
from svc_notebook.frames.columns import Columns
from svc_notebook.frames.page_decoder import PageReader
from svc_notebook.functions import blocking

# The endpoints whose responses the first calls check.
ENDPOINTS = (SearchApi.batch, SearchApi.get_task, SearchApi.browse)
ROWS = "objectID,name,size,price,new\n1,lamp,2,0.5,true\n2,,3,,false\n"
PAGE = b"""{"hits":[{"objectID":"1","name":"lamp","size":2,"price":0.5,"new":true},
{"objectID":"2","size":3,"new":false}],"cursor":"1"}"""


def prepare_calls() -> Iterator[None]:
    """Do one piece of the work at each step: the process may end between two of them."""
    user_agent()
    yield
    for name in ("load", "read_browse"):
        getattr(blocking, name)
        yield
    for method in ENDPOINTS:
        prepare_check(method.endpoint)
    yield
    _read_pages()
    yield
    _plan_file()


def _read_pages() -> None:
    reader, columns = PageReader(peek=True), Columns()
    for _ in range(2):
        columns.add(reader(PAGE)["hits"])
        reader.expect(columns.kinds)
    columns.frame()


def _plan_file() -> None:
    with TemporaryDirectory(prefix="svc-") as folder:
        path = Path(folder) / "few.csv"
        path.write_text(ROWS, encoding="utf-8")
        loading.plan(path, "few")
