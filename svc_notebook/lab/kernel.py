"""The comm by which the extension calls a kernel.

The extension evaluates `attach()` by a silent request, which registers the comm target. A comm then
carries the messages that `editors.rpc` describes. Calls run on the editors' event loop: they do not
delay the next cell, and where the kernel has subshells they do not wait for the running one.
"""

from __future__ import annotations

from typing import Any

from comm import get_comm_manager
from comm.base_comm import BaseComm

from svc_notebook.editors.rpc import CallDispatcher
from svc_notebook.lab.cells import CellCalls
from svc_notebook.lab.changes import ChangeCalls
from svc_notebook.lab.explorer import ExplorerCalls
from svc_notebook.lab.files import FileCalls
from svc_notebook.lab.tabs import TabCalls

TARGET = "svc_notebook.lab"


class LabCalls(ExplorerCalls, ChangeCalls, CellCalls, FileCalls, TabCalls):
    """All calls that the extension may make."""


def attach() -> str:
    """Register the comm target in this kernel; doing so twice changes nothing."""
    get_comm_manager().register_target(TARGET, _accept)
    return "ready"


def _accept(comm: BaseComm, _: Any) -> None:
    """Answer the calls of one page over one comm; the page waits for the first message."""
    dispatcher = CallDispatcher(LabCalls(), comm.send)
    comm.on_msg(lambda message: dispatcher.accept(message["content"]["data"]))
    comm.send({"event": "opened"})
