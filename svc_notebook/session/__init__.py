"""Profiles, secrets, the current client, and the local service."""

from __future__ import annotations

from svc_notebook.session import advice as advice  # registers itself
from svc_notebook.session.config import profiles
from svc_notebook.session.connection import (
    client_of,
    connect,
    connect_local,
    current,
    folder_in_use,
    profile_of,
    use,
)
from svc_notebook.session.local_service import LocalService, local

__all__ = [
    "LocalService",
    "client_of",
    "connect",
    "connect_local",
    "current",
    "folder_in_use",
    "local",
    "profile_of",
    "profiles",
    "use",
]
