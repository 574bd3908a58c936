"""Cells, buttons and threads on every supported release of ipykernel."""

from __future__ import annotations

import time
from typing import Any
from uuid import uuid4

import pytest

from tests.conftest import Running
from tests.faces.magics.kernel import PATIENCE, Kernel
from tests.kernels.saved_notebook import save_notebook

SETUP = """
import asyncio, os, threading, time
import ipywidgets
from svc_notebook.data.client import background_loop as portal
with open("rows.csv", "w") as file:
    file.write("objectID,text,number\\n")
    file.writelines(f"{n},word{n % 977} word{n % 991},{n}\\n" for n in range(5_000))

class Speaking(ipywidgets.Button):
    def __init__(self, work):
        super().__init__()
        self.said = []
        self.on_click(lambda _: self.answer(work))
    def answer(self, work):
        self.said.append(threading.current_thread() is threading.main_thread())
        try:
            self.said.append(work())
        except BaseException as error:
            self.said.append(type(error).__name__)
"""
LONG_WORK = "portal.run(asyncio.sleep(60))"
KINDS = {"plain": "", "await": "await asyncio.sleep(0)\n"}


@pytest.fixture(autouse=True, scope="module")
def names(kernel: Kernel) -> None:
    """What these tests call by name: an index `words` among it."""
    kernel.good(SETUP)
    kernel.good("svc.load('rows.csv', 'words', batch=1000, progress=False) and None")


def button(kernel: Kernel, name: str, work: str) -> str:
    """Make a button; return the id by which a front end speaks to it."""
    return kernel.good(f"{name} = Speaking(lambda: {work})\n{name}.model_id").result.strip("'")


def tell(kernel: Kernel, model: str, content: Any, subshell: str | None = None) -> None:
    """Tell a widget something, as a front end does."""
    data = {"method": "custom", "content": content}
    message = kernel.client.session.msg("comm_msg", {"comm_id": model, "data": data})
    if subshell:
        message["header"]["subshell_id"] = subshell
    kernel.client.shell_channel.send(message)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.sampled(2)
def test_cells_queued_behind_a_load_run_after_it(kernel: Kernel, kind: str) -> None:
    kernel.good("ran = []")
    loading = f"{KINDS[kind]}ran.append(svc.load('rows.csv', 'queued', batch=1000).published)"
    counting = "ran.append(client.search('queued', hitsPerPage=0)['nbHits'])"
    cells = [loading, *(f"ran.append({n})" for n in range(3)), counting, loading, "ran.append('z')"]

    statuses = [kernel.finish(request).status for request in [kernel.start(c) for c in cells]]

    assert statuses == ["ok"] * len(cells)
    assert kernel.good("ran").result == "[5000, 0, 1, 2, 5000, 5000, 'z']"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.sampled(2)
def test_a_load_that_is_stopped_is_resumed_in_the_next_cell(
    kernel: Kernel, service: Running, kind: str
) -> None:
    index = f"stopped-{uuid4()}"
    load = f"svc.load('rows.csv', {index!r}, batch=20, in_flight=1, resume=True)"
    request = kernel.start(KINDS[kind] + load)
    with service.client() as http:
        while http.get(f"/1/indexes/{index}", params={"query": ""}).json().get("nbHits", 0) < 100:
            time.sleep(0.02)

    kernel.stop()
    stopped = kernel.finish(request)
    kernel.good(f"result = {load}")

    assert (stopped.status, stopped.error[:8]) == ("error", "Stopped:")
    assert kernel.good("0 < result.resumed < 5_000, result.complete").result == "(True, True)"
    assert kernel.good(f"client.search({index!r}, hitsPerPage=0)['nbHits']").result == "5000"


@pytest.mark.slow
def test_stop_ends_what_a_button_started(kernel: Kernel) -> None:
    tell(kernel, button(kernel, "stopping", LONG_WORK), {"event": "click"})
    kernel.await_busy()
    time.sleep(0.5)  # from the start of the handler to that of the work

    kernel.stop()

    assert kernel.good("stopping.said").result == "[True, 'KeyboardInterrupt']"
    assert kernel.good("client.search('words')['page']").result == "0"


def test_an_editor_answers_while_a_cell_is_busy_where_kernels_have_subshells(
    kernel: Kernel,
) -> None:
    shell = open_subshell(kernel)
    model = kernel.good("editor = svc.edit.query('words')\neditor.model_id").result.strip("'")
    busy = kernel.start(
        "patience = iter(range(30))\n"
        "while not editor.value and next(patience, None) is not None:\n"
        "    portal.run(asyncio.sleep(0.1))\n"
        "bool(editor.value)"
    )

    tell(kernel, model, {"id": 1, "call": "edit", "args": {"value": {"page": 0}}}, shell)

    assert kernel.finish(busy).result == f"{shell is not None}"
    # A message that waited for the cell is handled after it, and its search takes a moment.
    kernel.await_true("editor.value == {'page': 0} and len(editor.hits) == 20")


def open_subshell(kernel: Kernel) -> str | None:
    """Ask for a subshell as JupyterLab does; a kernel without them has no answer."""
    if "kernel subshells" not in kernel.features:
        return None
    message = kernel.client.session.msg("create_subshell_request", {})
    kernel.client.control_channel.send(message)
    reply = kernel.client.get_control_msg(timeout=PATIENCE)
    found: str = reply["content"]["subshell_id"]
    return found


@pytest.mark.parametrize("kind", [*KINDS, "thread"])
def test_a_bar_lands_in_the_cell_that_began_the_load(kernel: Kernel, kind: str) -> None:
    kernel.good(
        "from svc_notebook.data.client import progress\nprogress.PROGRESS_DELAY_SECONDS = 0"
    )
    load = "svc.load('rows.csv', 'drawn', batch=1000)"
    threaded = f"t = threading.Thread(target=lambda: {load})\nt.start()\nt.join()"
    cells = [threaded if kind == "thread" else KINDS[kind] + load + " and None", "print('next')"]

    first, second = [kernel.finish(request) for request in [kernel.start(c) for c in cells]]

    drawing, after = save_notebook(kernel.heard).cells[-2:]
    assert ["100%" in output.data["text/plain"] for output in drawing.outputs] == [True]
    assert [output.output_type for output in after.outputs] == ["stream"]
    assert (first.printed, second.printed, first.warned, second.warned) == ("", "next\n", "", "")


def test_the_children_of_a_kernel_search_too(kernel: Kernel) -> None:
    """The portal's thread does not survive a fork; a child begins its own."""
    kernel.good("import multiprocessing, warnings\nwarnings.simplefilter('ignore')")
    kernel.good("def search(n): return client.search('words', f'word{n}', hitsPerPage=0)['nbHits']")

    cell = kernel.good(
        "with multiprocessing.get_context('fork').Pool(2) as pool:\n"
        "    counted = pool.map(search, range(6))\n"
        "counted == [search(n) for n in range(6)], min(counted) > 0"
    )

    assert cell.result == "(True, True)"


def test_a_forked_kernel_goes_on(kernel: Kernel) -> None:
    cell = kernel.good(
        "read, write = os.pipe()\n"
        "if not (child := os.fork()):\n"
        "    os.write(write, str(client.search('words', hitsPerPage=0)['nbHits']).encode())\n"
        "    os._exit(0)\n"
        "os.waitpid(child, 0)[1], os.read(read, 99), client.search('words')['page']"
    )

    assert cell.result == "(0, b'5000', 0)"


def test_loading_the_extension_over_and_over_is_silent(kernel: Kernel) -> None:
    kernel.good("import importlib, warnings\nwarnings.simplefilter('always')")

    cells = [
        kernel.good("%reload_ext svc_notebook\nimportlib.reload(svc)\nlen(films := [])")
        for _ in range(2)
    ]

    assert [(cell.printed, cell.warned) for cell in cells] == [("", "")] * 2
    assert "5000" in kernel.good("%svc indices").result
    assert kernel.complete("%svc sea") == ("sea", ["search"])


@pytest.mark.slow
def test_a_plot_of_tasks_is_one_picture_that_is_drawn_again(kernel: Kernel) -> None:
    before = len(kernel.heard)
    kernel.good(
        "from svc_notebook.faces.functions.tasks import blocking\n"
        "sent = [client.batch('slow', [{'action': 'addObject', 'body': {'objectID': str(n)}}]) "
        "for n in range(4)]\n"
        "read_tasks, reads = blocking.read_tasks, []\n"
        "def read_twice_as_running(*args, **options):\n"
        "    frame = read_tasks(*args, **options)\n"
        "    reads.append(frame)\n"
        "    return frame.assign(status='notPublished') if len(reads) < 3 else frame\n"
        "blocking.read_tasks = read_twice_as_running\n"
        "axes = svc.plot_tasks(sent, index='slow')\n"
        "blocking.read_tasks = read_tasks\n"
        "client.wait(sent, index='slow')\n"
        "title = axes.get_title(loc='left')"
    )

    # In a cell of its own: the last picture can arrive after the result of its cell.
    assert kernel.good("title").result == "'4 tasks, all published'"
    pictures = [
        (message["msg_type"], message["content"]["transient"].get("display_id"))
        for message in kernel.heard[before:]
        if "image/png" in message["content"].get("data", {})
    ]
    assert pictures[0][0] == "display_data"
    assert {kind for kind, _ in pictures[1:]} == {"update_display_data"}
    assert len({place for _, place in pictures}) == 1
