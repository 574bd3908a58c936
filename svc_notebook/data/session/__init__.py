"""Profiles, secrets, the current client, and the local service."""

from __future__ import annotations

from svc_notebook.data.session import config, connection
from svc_notebook.data.session.config import check_choice, profiles
from svc_notebook.data.session.connection import (
    AnyClient,
    advise,
    asynchronous,
    client_of,
    connect,
    connect_local,
    current,
    folder_in_use,
    follow_connection,
    make_client,
    profile_of,
    use,
)
from svc_notebook.data.session.foreground_server import serve_application
from svc_notebook.data.session.local_service import (
    LocalService,
    all_running,
    attach,
    default_folder,
    describe_missing_extra,
    find_running,
    known_folders,
    local,
    remember,
)
from svc_notebook.data.session.profile_files import VARIABLES, user_file
from svc_notebook.data.session.trust import trust_folder

__all__ = [
    "VARIABLES",
    "AnyClient",
    "LocalService",
    "advise",
    "all_running",
    "asynchronous",
    "attach",
    "check_choice",
    "client_of",
    "config",
    "connect",
    "connect_local",
    "connection",
    "current",
    "default_folder",
    "describe_missing_extra",
    "find_running",
    "folder_in_use",
    "follow_connection",
    "known_folders",
    "local",
    "make_client",
    "profile_of",
    "profiles",
    "remember",
    "serve_application",
    "trust_folder",
    "use",
    "user_file",
]
