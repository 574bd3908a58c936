"""The allowlist: the networks that may call the service; an empty list allows all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import ip_address, ip_network

from svc_notebook.core.api.shapes import Source
from svc_notebook.errors import BadInput, KeyRefused, NotFound
from svc_notebook.service.store import Store

# Special values (api.md, Allowed source): all addresses, and a support team that never calls here.
ALL_ADDRESSES = "0.0.0.0/0"
SUPPORT_TEAM = "SERVICE_SUPPORT"
MAX_SOURCES = 1000


class Sources:
    """The allowlist; an empty list allows all callers."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._networks = self._read_networks()

    def _read_networks(self) -> list[str]:
        return [source["source"] for source in self.all()]

    def all(self) -> list[Source]:
        """Return the list."""
        rows = self._store.read("SELECT source, description FROM sources ORDER BY source")
        return [
            {"source": name, "description": text} if text is not None else {"source": name}
            for name, text in rows
        ]

    def check(self, address: str) -> None:
        """Raise `KeyRefused` for an address that is not on the allowlist."""
        if self._networks and ALL_ADDRESSES not in self._networks:
            networks = ",".join(name for name in self._networks if name != SUPPORT_TEAM)
            if not is_in_networks(address, networks):
                raise KeyRefused(f"{address} is not an allowed source", status=403)

    def replace(self, sources: Sequence[Source]) -> None:
        """Replace the list."""
        self._write(sources, clear=True)

    def append(self, source: Source) -> None:
        """Add a network, or change its description."""
        if len(self._networks) >= MAX_SOURCES:
            raise BadInput(f"at most {MAX_SOURCES} sources are allowed")
        self._write([source], clear=False)

    def delete(self, source: str) -> None:
        """Remove a network; raises `NotFound`."""
        if source not in self._networks:
            raise NotFound(f"{source} is not on the allowlist", status=404)
        with self._store.writing() as connection:
            connection.execute("DELETE FROM sources WHERE source = ?", [source])
        self._networks = self._read_networks()

    def reset(self) -> None:
        """Clear the list, which allows all callers."""
        self.replace([])

    def _write(self, sources: Iterable[Source], *, clear: bool) -> None:
        rows = [(check_source(s["source"]), s.get("description")) for s in sources]
        with self._store.writing() as connection:
            if clear:
                connection.execute("DELETE FROM sources")
            connection.executemany("INSERT OR REPLACE INTO sources VALUES (?, ?)", rows)
        self._networks = self._read_networks()


def check_source(source: str) -> str:
    """Return a network in prefix notation; raises `BadInput`."""
    try:
        if source != SUPPORT_TEAM:
            ip_network(source, strict=False)
    except ValueError as error:
        raise BadInput(f"`source`: {error}; write a network such as 10.0.0.0/8") from None
    return source


def is_in_networks(address: str, network: str) -> bool:
    """Return whether an address is in a list of networks such as `10.0.0.0/8,192.168.1.7`."""
    try:
        caller_address = ip_address(address)
        networks = [ip_network(part.strip(), strict=False) for part in network.split(",")]
    except ValueError:
        return False
    return any(caller_address in net for net in networks if net.version == caller_address.version)
