"""The client that a verb's function uses; `session.clients` finds it."""

from __future__ import annotations

from svc_notebook.session.clients import AnyClient, asynchronous

__all__ = ["AnyClient", "asynchronous"]
