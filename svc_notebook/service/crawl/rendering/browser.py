"""The browser of a crawl: find it, start it without a network, limit its memory, end it."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Awaitable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from svc_notebook.core.child_process import find_program
from svc_notebook.core.locked_folders import TemporaryFolder
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, CDPSession, Playwright

T = TypeVar("T")

# Names of a browser among the programs of a machine, and its places on macOS and Windows.
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Google/Chrome/Application/chrome.exe",
)
BROWSER_VARIABLE = "SVC_BROWSER"
# A process of a page that has more memory than this is killed.
MAX_PROCESS_BYTES = 768 << 20
MEMORY_POLL_SECONDS = END_POLL_SECONDS = 0.25
START_SECONDS, CRASH_SECONDS, STOP_SECONDS = 30.0, 1.0, 10.0
# The lowest limit of a socket's path on any system, less the path inside of Chromium's folder.
MAX_FOLDER_BYTES = 103 - len("/org.chromium.Chromium.XXXXXX/SingletonSocket")
# A second barrier behind the interception of all requests: names are not resolved, and the only
# proxy refuses every connection, so that a request that is not intercepted fails.
FLAGS = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-bypass-list=<-loopback>",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # the same, in older releases
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disk-cache-size=1",
    "--dns-prefetch-disable",
    "--js-flags=--max-old-space-size=512",
    "--no-first-run",
    "--no-pings",
)
# Flags of the driver. Without its limit on messages, a script that changes the address in a loop
# occupies the browser's main process, and with it all pages.
UNWANTED_DEFAULTS = ("--disable-ipc-flooding-protection",)


class BrowserEnded(Exception):
    """The browser ended or does not respond."""


def find_browser(named: str | None, member: str = "renderJavaScript") -> str:
    """Return the path of the browser: the named one, that of SVC_BROWSER, or one of the machine.

    Raises `BadInput` that says what to install if the package or the browser is missing; `member`
    of the configuration needs it.
    """
    if find_spec("playwright") is None:
        raise BadInput(
            f"`{member}` needs the package playwright:"
            ' pip install "svc-notebook[crawl,render]", then start the service again'
        )
    source = "--browser" if named else BROWSER_VARIABLE
    if requested := named or os.environ.get(BROWSER_VARIABLE):
        if program := shutil.which(requested):
            return program
        raise BadInput(f"`{member}`: {requested}, which {source} names, is not a program")
    places = (path for path in PLACES if Path(path).is_file())
    if program := next(filter(None, map(find_program, PROGRAMS)), None) or next(places, None):
        return program
    raise BadInput(
        f"`{member}` needs Chromium or Chrome, and this machine has none: install the"
        " package chromium of the system or Google Chrome, or name a browser with"
        f" `svc serve --browser PATH` or the environment variable {BROWSER_VARIABLE}"
    )


async def wait_for_browser(browser: Browser | None, work: Awaitable[T]) -> T:
    """Return what a browser answers; raises `BrowserEnded` if it ends, fails or does not respond.

    The driver leaves some calls without an answer if the browser ends meanwhile.
    """
    from playwright.async_api import Error

    task, until = asyncio.ensure_future(work), monotonic() + START_SECONDS
    try:
        while not (await asyncio.wait([task], timeout=END_POLL_SECONDS))[0]:
            if browser is None or not browser.is_connected():
                raise BrowserEnded("it ended")
            if monotonic() > until:
                raise BrowserEnded("it does not respond")
        return task.result()
    except Error as error:
        raise BrowserEnded(str(error)) from error
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class CrawlBrowser:
    """At most one browser, started for the first page and again after it ended."""

    def __init__(self, named: str | None, member: str = "renderJavaScript") -> None:
        self._named, self._member = named, member
        self._lock = asyncio.Lock()
        self._driver: Playwright | None = None
        self._browser: Browser | None = None
        self._watch: asyncio.Task[None] | None = None
        self._session: CDPSession | None = None
        self._refusing: socket.socket | None = None
        self._folder: TemporaryFolder | None = None
        self._pid: int | None = None
        self.killed = 0  # processes that used too much memory

    @property
    def is_running(self) -> bool:
        """Whether the browser runs."""
        return self._browser is not None and self._browser.is_connected()

    async def open_context(self, user_agent: str) -> BrowserContext:
        """Return a new context, which shares nothing with others; raises `BrowserEnded`."""
        async with self._lock:
            browser = await self._running()
        made = browser.new_context(
            accept_downloads=False,
            service_workers="block",
            user_agent=user_agent,
            viewport={"width": 1280, "height": 2000},
        )
        return await wait_for_browser(browser, made)

    async def end(self, context: BrowserContext, page: CDPSession | None) -> None:
        """Close a context with its pages; kill the browser if it does not do that in time.

        The process of the page is ended first: a script that never ends would delay the rest.
        """
        from playwright.async_api import Error

        if page:
            with suppress(Error, TimeoutError):
                async with asyncio.timeout(CRASH_SECONDS):
                    await page.send("Page.crash")
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await context.close()
        except TimeoutError:
            async with self._lock:
                if context.browser is self._browser:
                    await self._end()
        except Error:  # it ended with the browser
            return

    async def close(self) -> None:
        """End the browser and its driver, even if pages are open."""
        async with self._lock:
            await self._end()

    async def _end(self) -> None:
        driver, self._driver, self._browser, self._session = self._driver, None, None, None
        if self._watch:
            self._watch.cancel()
            self._watch = None
        if driver:
            # Its profile is temporary: there is nothing to save. The driver removes the folder.
            pid, self._pid = self._pid, None
            _kill_group(pid)
            # A driver that does not stop in time ends by itself: its standard input is closed.
            with suppress(Exception):
                async with asyncio.timeout(START_SECONDS):
                    await driver.stop()
        if self._refusing:
            self._refusing.close()
            self._refusing = None
        if self._folder:
            self._folder.remove()
            self._folder = None

    async def _running(self) -> Browser:
        if self._browser is not None and self._browser.is_connected():
            return self._browser
        await self._end()
        path = find_browser(self._named, self._member)
        from playwright.async_api import Error, async_playwright

        # A port that is bound but does not listen refuses connections, as long as it is bound.
        self._refusing = socket.socket()
        self._refusing.bind(("127.0.0.1", 0))
        # A browser that is killed leaves its temporary files.
        self._folder = TemporaryFolder()
        try:
            async with asyncio.timeout(START_SECONDS):
                self._driver = await async_playwright().start()
                self._browser = await self._driver.chromium.launch(
                    executable_path=path,
                    args=[*FLAGS],
                    ignore_default_args=[*UNWANTED_DEFAULTS],
                    chromium_sandbox=_has_sandbox(),
                    proxy={"server": f"http://127.0.0.1:{self._refusing.getsockname()[1]}"},
                    env=_environment(self._folder.path),
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                )
                self._session = await self._browser.new_browser_cdp_session()
                self._pid = await _process_id(self._session)
        except (Error, TimeoutError, OSError) as error:
            await self._end()
            reason = str(error).strip().splitlines() or ["it did not start in time"]
            raise BadInput(
                f"`{self._member}`: the browser {path} does not start: {reason[0]};"
                " try another one with `svc serve --browser PATH`"
            ) from error
        except BaseException:  # cancelled
            await self._end()
            raise
        self._watch = asyncio.create_task(self._watch_memory(self._session))
        return self._browser

    async def _watch_memory(self, session: CDPSession) -> None:
        """Kill processes of pages that use too much memory."""
        from playwright.async_api import Error

        while True:
            try:
                info = await session.send("SystemInfo.getProcessInfo")
            except Error:
                return
            for process in info["processInfo"]:
                if process["type"] != "renderer":
                    continue
                if (resident_bytes(process["id"]) or 0) > MAX_PROCESS_BYTES:
                    self.killed += 1
                    _kill(process["id"])
            await asyncio.sleep(MEMORY_POLL_SECONDS)


# What a browser needs of the environment; keys of the service are not among it.
_VARIABLES = (
    *("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TMP", "TEMP", "TZ", "USER", "LOGNAME"),
    *("SYSTEMROOT", "SYSTEMDRIVE", "LOCALAPPDATA", "APPDATA", "PROGRAMFILES", "USERPROFILE"),
    *("FONTCONFIG_PATH", "FONTCONFIG_FILE", "LD_LIBRARY_PATH", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"),
)


def _environment(temporary: Path) -> dict[str, str | float | bool]:
    """Return the environment of a browser with a folder for temporary files."""
    variables: dict[str, str | float | bool] = {
        name: os.environ[name] for name in _VARIABLES if name in os.environ
    }
    # Without room for the path of a socket the browser would not start.
    if len(os.fsencode(temporary)) <= MAX_FOLDER_BYTES:
        variables["TMPDIR"] = str(temporary)
    return variables


def resident_bytes(pid: int) -> int | None:
    """Return the memory of a process; None if it ended or the system does not tell."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        pass
    if not (program := find_program("ps")) or Path("/proc/self/statm").exists():
        return None
    output = subprocess.run([program, "-o", "rss=", "-p", str(pid)], capture_output=True, text=True)
    return int(output.stdout) * 1024 if output.stdout.strip().isdigit() else None


def _has_sandbox() -> bool:
    """Return whether Chromium can use its sandbox: it refuses to as root."""
    return not (hasattr(os, "geteuid") and os.geteuid() == 0)


async def _process_id(session: CDPSession) -> int | None:
    """Return the id of the browser's main process."""
    info = await session.send("SystemInfo.getProcessInfo")
    ids = (process["id"] for process in info["processInfo"] if process["type"] == "browser")
    return next(ids, None)


def _kill_group(pid: int | None) -> None:
    """Kill a browser, and all its processes where it leads a group of them (not on Windows)."""
    if pid is None:
        return
    with suppress(OSError):
        if hasattr(os, "killpg") and os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)
        else:
            _kill(pid)


def _kill(pid: int) -> None:
    with suppress(OSError):
        os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
