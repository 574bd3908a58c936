"""A notebook as a front end saves it, from the messages of its kernel."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

OUTPUTS = ("stream", "display_data", "execute_result", "error")


def save_notebook(heard: Iterable[Any]) -> Any:
    """Gather cells, their outputs and the widgets' states."""
    v4 = load_v4()
    cells: dict[str, Any] = {}
    displays: dict[str, Any] = {}
    widgets: dict[str, Any] = {}
    for message in heard:
        _take(message, cells, displays, widgets)
    state = {"state": widgets, "version_major": 2, "version_minor": 0}
    metadata = {"widgets": {"application/vnd.jupyter.widget-state+json": state}}
    return v4.new_notebook(cells=list(cells.values()), metadata=metadata)


def load_v4() -> Any:
    """Import the functions that make notebooks, which takes a second; they have no types."""
    from nbformat import v4

    return v4


def _take(
    message: Any, cells: dict[str, Any], displays: dict[str, Any], widgets: dict[str, Any]
) -> None:
    v4 = load_v4()
    kind, content = message["msg_type"], message["content"]
    if kind == "execute_input":
        cells[message["parent_header"]["msg_id"]] = v4.new_code_cell(
            content["code"], execution_count=content["execution_count"]
        )
    elif kind in OUTPUTS and (cell := cells.get(message["parent_header"]["msg_id"])):
        output = v4.output_from_msg(message)
        cell.outputs.append(output)
        if name := content.get("transient", {}).get("display_id"):
            displays[name] = output
    elif kind == "update_display_data":
        displays[content["transient"]["display_id"]].data = content["data"]
    elif kind in ("comm_open", "comm_msg"):
        _follow(content["comm_id"], content["data"], widgets)


def _follow(widget: str, data: Any, widgets: dict[str, Any]) -> None:
    if state := data.get("state"):
        known = widgets.setdefault(widget, {"state": {}})
        known["state"].update(state)
