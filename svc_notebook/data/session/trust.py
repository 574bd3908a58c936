"""Which addresses of project files may receive the user's keys, as the user has decided."""

from __future__ import annotations

import json
import shlex
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from svc_notebook.core.files import user_state_folder, write_atomically
from svc_notebook.core.terminal import ask, is_yes, runs_in_kernel
from svc_notebook.data.session.profile_files import (
    ProfileFile,
    Values,
    address_of,
    destination_of,
    read_project,
)
from svc_notebook.errors import BadInput, NotTrusted

ENTRY_HEX_DIGITS = 32
NO = ("n", "no")


@dataclass(frozen=True)
class Destination:
    """The address that a profile of a project's file gives; another address needs a new answer."""

    file: Path
    profile: str
    values: Values

    def read_answer(self) -> bool | None:
        """Return whether the user trusts this address; None if the user has not answered."""
        try:
            answer = json.loads(self._entry().read_text(encoding="utf-8"))["trusted"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return answer is True

    def remember(self, trusted: bool) -> None:
        """Write the answer to the user's state folder; raise `BadInput` if that fails."""
        entry = self._entry()
        content = json.dumps({**self._identity(), "trusted": trusted})
        try:
            entry.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomically(entry, content, mode=0o600)
        except OSError as error:
            raise BadInput(f"the answer cannot be written to {entry}: {error.strerror}") from None

    def forget(self) -> None:
        """Remove the answer, so that the next use asks again."""
        self._entry().unlink(missing_ok=True)

    def describe(self) -> str:
        """Describe the address and the application."""
        named = ", ".join(_list_addresses(self.values)) or "the address of another source"
        app_id = self.values.get("app_id")
        return f"{named} (application {app_id})" if app_id else named

    def add_addresses(self, address: str) -> str:
        """Add the other addresses of the profile, which receive the key too, to a shown one."""
        shown = address.split(", ")
        listed = _list_addresses({**self.values, "domain": self.values.get("fallback_domain")})
        return ", ".join(dict.fromkeys([*shown, *listed]))

    def _identity(self) -> dict[str, object]:
        return {
            "file": str(self.file),
            "profile": self.profile,
            "values": destination_of(self.values),
        }

    def _entry(self) -> Path:
        text = json.dumps(self._identity(), sort_keys=True)
        return user_state_folder("trust") / sha256(text.encode()).hexdigest()[:ENTRY_HEX_DIGITS]


def check_trust(destination: Destination, address: str, key_source: str) -> None:
    """Ask whether a project's address may receive a key; raise `NotTrusted` unless it may."""
    address = destination.add_addresses(address)
    answer = destination.read_answer()
    if answer is None:
        answer = _ask(destination, address, key_source)
    if not answer:
        raise NotTrusted(
            f"nothing was sent: {destination.file} gives the address {address} for the profile "
            f"`{destination.profile}`, and the API key of {key_source} is sent there only if you "
            f"trust the folder; to trust it, run {_name_command(destination.file.parent)}",
            folder=destination.file.parent,
            profile=destination.profile,
            address=address,
        )


def trust_folder(folder: Path, *, revoke: bool = False) -> dict[str, str]:
    """Trust the addresses of a project's profiles, or forget that; return them by profile."""
    source = read_project(folder)
    destinations = list(_list_destinations(source)) if source else []
    if not destinations:
        raise BadInput(
            f"no profile in {source.path} has an address"
            if source
            else f"there is no svc.toml and no [tool.svc-notebook] in {folder} or its project"
        )
    for destination in destinations:
        if revoke:
            destination.forget()
        else:
            destination.remember(True)
    return {destination.profile: destination.describe() for destination in destinations}


def _list_destinations(source: ProfileFile) -> Iterable[Destination]:
    for name, values in source.profiles.items():
        if named := destination_of(values):
            yield Destination(source.path, name, named)


def _list_addresses(values: Values) -> list[str]:
    """List the addresses, domains and hosts among values."""
    return list(dict.fromkeys(_flatten(list(address_of(values).values()))))


def _flatten(value: object) -> Iterator[str]:
    """Return the addresses in a value, a list, or lists by role."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _flatten(member)


def _ask(destination: Destination, address: str, key_source: str) -> bool:
    """Ask the user, if possible, and remember yes and no."""
    if threading.current_thread() is not threading.main_thread():
        return False
    answer = ask(
        f"{destination.file}, profile `{destination.profile}`: send the API key of {key_source} to "
        f"{address}, and trust this folder from now on? [y/N] ",
        needs_terminal=not runs_in_kernel(),
    )
    trusted = is_yes(answer)
    if trusted or (answer or "").strip().casefold() in NO:
        with suppress(BadInput):  # a folder that cannot be written: the next use asks again
            destination.remember(trusted)
    return trusted


def _name_command(folder: Path) -> str:
    """Return the command that trusts a folder, as it is typed here."""
    if runs_in_kernel():
        return f"svc.trust({str(folder)!r}) or %svc trust {shlex.quote(str(folder))}"
    return f"`svc trust {shlex.quote(str(folder))}` in a terminal"
