"""The overview of a service in a tab: the static page of `svc.overview()`, with a reload."""

from __future__ import annotations

from typing import Any, ClassVar

import traitlets

from svc_notebook.faces.editors.base import Editor
from svc_notebook.faces.editors.bundle import read_module, read_styles
from svc_notebook.faces.functions import aio


class OverviewPanel(Editor):
    """The page of an overview; `name` is that of the service, for the title."""

    title: ClassVar[str] = "Overview"
    _esm = read_module("overview.js")
    _css = read_styles("kit/kit.css")

    page: Any = traitlets.Unicode().tag(sync=True)

    async def load(self) -> None:
        """Read the overview."""
        overview = await aio.overview(client=self.client)
        self.page = overview._repr_html_()

    def write_html(self) -> str:
        """Return the page."""
        return str(self.page)
