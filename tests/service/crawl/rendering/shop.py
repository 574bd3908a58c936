"""A crawl of `shop.example` and `rebind.example`, names that only the crawler's guard knows."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import httpcore

from svc_notebook.service.crawl.configuration import read_configuration
from svc_notebook.service.crawl.extraction import Extractors
from svc_notebook.service.crawl.frontier import crawl
from svc_notebook.service.crawl.transport.fetcher import Fetcher
from svc_notebook.service.crawl.transport.ssrf_guard import AddressGuard
from tests.service.crawl.memory_ledger import MemoryLedger
from tests.service.crawl.site import Site

SHOP = "http://shop.example"


class NamedSiteGuard(AddressGuard):
    """The guard of addresses, for which names ending in `.example` are the public site.

    `rebind.example` is that site once, and then this machine.
    """

    def __init__(self, site: Site) -> None:
        super().__init__(allow_private=False)
        self._port = int(site.url.rpartition(":")[2])
        self._rebound = False

    async def connect_tcp(
        self, host: str, port: int, timeout: float | None = None,  # noqa: ASYNC109
        local_address: str | None = None, socket_options: Any = None,
    ) -> httpcore.AsyncNetworkStream:  # fmt: skip
        if not host.endswith(".example"):
            return await super().connect_tcp(host, port, timeout, local_address, socket_options)
        if host == "rebind.example" and self._rebound:
            [address] = self._check_addresses(host, ["127.0.0.1"])
            return await self._connect(address, port, timeout, local_address, socket_options)
        self._rebound = self._rebound or host == "rebind.example"
        return await self._connect("127.0.0.1", self._port, timeout, local_address, socket_options)


def crawl_shop(
    site: Site, engine: Extractors, config: dict[str, Any], ledger: MemoryLedger | None = None
) -> MemoryLedger:
    """Crawl `shop.example`; the ledger has the outcomes."""
    return asyncio.run(_crawl(site, engine, config, ledger or MemoryLedger()))


async def _crawl(
    site: Site, engine: Extractors, config: dict[str, Any], ledger: MemoryLedger
) -> MemoryLedger:
    configuration = read_configuration(config)
    fetcher = Fetcher(configuration, backoff=0.01)
    fetcher._ssrf_guard = NamedSiteGuard(site)
    async with fetcher:
        await crawl(
            configuration, ledger, fetcher=fetcher, extractors=engine, stopped=asyncio.Event()
        )
    return ledger


def wait_for_browsers(seconds: float = 10.0) -> list[int]:
    """Wait until this process has no browser; returns the processes that do not end."""
    until = time.monotonic() + seconds
    while (left := browsers_of()) and time.monotonic() < until:
        time.sleep(0.1)
    return left


def browsers_of(pid: int | None = None) -> list[int]:
    """Return the ids of the browsers' processes that descend from a process, by default this."""
    parents, names = {}, {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            stat = (folder / "stat").read_text().rpartition(") ")[2].split()
            names[int(folder.name)] = (folder / "cmdline").read_text()
        except OSError:  # it ended meanwhile
            continue
        if stat[0] != "Z":
            parents[int(folder.name)] = int(stat[1])
    found, known = [], {pid or os.getpid()}
    while more := {one for one, parent in parents.items() if parent in known} - known:
        known |= more
        found += [one for one in more if "chrom" in names.get(one, "")]
    return found
