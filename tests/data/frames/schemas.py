"""Schemas as the installed pandas has them."""

from __future__ import annotations

from collections.abc import Mapping

from svc_notebook.data.frames.page_decoder import TEXT


def with_text_dtype(schema: Mapping[str, str]) -> dict[str, str]:
    """Return a schema with the dtype that texts have: `str` from pandas 3 on, before `object`."""
    return {name: str(TEXT) if dtype == "str" else dtype for name, dtype in schema.items()}
