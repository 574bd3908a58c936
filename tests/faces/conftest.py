"""What tests of functions, commands and editors share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ipywidgets import Widget

from svc_notebook.data.session import connection


@pytest.fixture(autouse=True)
def _editors_of_this_test() -> Iterator[None]:
    """Close the editors that a test opens: each would read again whenever a later test connects."""
    before = {*connection._followers}
    yield
    for editor in {*connection._followers} - before:
        assert isinstance(editor, Widget)
        editor.close()
