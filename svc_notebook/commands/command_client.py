"""The client of a command: the configured application, otherwise the running local service."""

from __future__ import annotations

import os
from collections.abc import Callable

from svc_notebook.api.warning import warn_user
from svc_notebook.client import Client
from svc_notebook.errors import NotConnected
from svc_notebook.session import config
from svc_notebook.session.connection import connect_local, make_client
from svc_notebook.session.local_service import (
    LocalService,
    all_running,
    default_folder,
    find_running,
    local,
)


def command_client(profile: str | None, ask: Callable[[str], str | None]) -> Client:
    """Create the client of one command; raise `NotConnected` with advice.

    `ask` asks the user a question, and returns None where there is no terminal.
    """
    try:
        return make_client(profile)
    except NotConnected:
        if profile or _is_configured():
            raise
    running = find_running(default_folder()) or _start(ask)
    warn_user(f"no service is configured: the local one at {running.url} is used")
    return connect_local(running)


def _is_configured() -> bool:
    """Return whether environment or files configure a service, at least in part."""
    said = any(os.environ.get(name) for name in config.VARIABLES.values())
    return said or config.name_profile(None) is not None


def _start(ask: Callable[[str], str | None]) -> LocalService:
    """Start the local service, if the user confirms it."""
    folder = default_folder()
    answer = ask(f"no local service runs on {folder}; start one, to run until `svc stop`? [y/N] ")
    if answer is not None and answer.strip().casefold() in ("y", "yes"):
        return local(folder, stay=True)
    raise NotConnected(
        "no service is configured, and no local service runs: type `svc serve` in another "
        "terminal, or `--profile local` after the command, which runs one for this command; "
        f"{_named()}SVC_URL, SVC_APP_ID and SVC_API_KEY use any other{_others()}"
    )


def _named() -> str:
    names = ", ".join(f"`--profile {name}`" for name in config.profiles())
    return f"{names} uses a profile; " if names else ""


def _others() -> str:
    """Describe the local services that run on other folders than the default."""
    found = [f"{each.url} on {each.data}" for each in all_running()]
    return f". Local services of other folders run at {', '.join(found)}" if found else ""
