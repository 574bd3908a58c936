"""A saved notebook, opened again with a kernel that ran nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser

from tests.browser.lab import Lab
from tests.browser.notebook import Notebook


@contextmanager
def reopened(notebook: Notebook, lab: Lab, chromium: Browser) -> Iterator[Notebook]:
    """Save a notebook and open a copy of it, as one does who was not here before."""
    notebook.save()
    copy = notebook.path.with_name(f"later-{notebook.path.name}")
    copy.write_bytes(notebook.path.read_bytes())
    context = chromium.new_context(viewport={"width": 1180, "height": 1000})
    yield Notebook(context.new_page(), lab, copy.name)
    context.close()
