"""The client of a command: the configured application, otherwise the running local service."""

from __future__ import annotations

import os
from collections.abc import Callable

from svc_notebook.core.terminal import is_yes, warn_user
from svc_notebook.data.client import Client
from svc_notebook.data.session import (
    VARIABLES,
    LocalService,
    all_running,
    attach,
    config,
    connect_local,
    default_folder,
    describe_missing_extra,
    local,
    make_client,
)
from svc_notebook.errors import NotConnected


def command_client(profile: str | None, ask: Callable[[str], str | None]) -> Client:
    """Create the client of one command; raise `NotConnected` with advice.

    `ask` prompts the user, and returns None if no prompt is available.
    """
    try:
        return make_client(profile)
    except NotConnected:
        if profile or _is_configured():
            raise
    running = attach(default_folder()) or _start_local_service(ask)
    warn_user(f"no service is configured; using the local service at {running.url}")
    return connect_local(running)


def _is_configured() -> bool:
    """Return whether environment or files configure a service, at least in part."""
    has_variable = any(os.environ.get(name) for name in VARIABLES.values())
    return has_variable or config.name_profile(None) is not None


def _start_local_service(ask: Callable[[str], str | None]) -> LocalService:
    """Start the local service, if the user confirms it."""
    if lack := describe_missing_extra():
        raise NotConnected(
            f"no service is configured, and {lack}; {_describe_profiles()}for another service, set "
            "SVC_URL, SVC_APP_ID and SVC_API_KEY"
        )
    folder = default_folder()
    answer = ask(f"no local service runs on {folder}; start one that runs until `svc stop`? [y/N] ")
    if is_yes(answer):
        return local(folder, stay=True)
    raise NotConnected(
        "no service is configured, and no local service runs; run `svc serve` in another "
        "terminal, or pass `--profile local` to run one for this command; "
        f"{_describe_profiles()}for another service, set SVC_URL, SVC_APP_ID and SVC_API_KEY"
        f"{_describe_others()}"
    )


def _describe_profiles() -> str:
    names = ", ".join(f"`--profile {name}`" for name in config.profiles())
    return f"pass {names} to use a profile; " if names else ""


def _describe_others() -> str:
    """Describe the local services that run on other folders than the default."""
    services = [f"{service.url} on {service.data}" for service in all_running()]
    return f". Local services on other folders: {', '.join(services)}" if services else ""
