"""Stands in for a service that starts: writes its note, listens, and ends as it is told.

Run as `fake_service.py MODE --json --data DIR [--idle SECONDS]`.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import sys
import time
from pathlib import Path

from svc_notebook.service.folder import Idleness


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("mode")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--idle", type=float)
    given = parser.parse_args()
    if given.mode == "fail":
        sys.stderr.write("the disk is full\n")
        return 1
    if given.mode == "hang":
        time.sleep(60)
    return serve(given.data, given.idle)


def serve(data: Path, idle: float | None) -> int:
    ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: ended.append(number))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        with (data / "started").open("a") as file:
            file.write(f"{os.getpid()}\n")
        note = data / "service.json"
        note.write_text(json.dumps(describe(listener.getsockname()[1])))
        idleness = Idleness(data, idle, lambda: 0.0)
        while not ended and not idleness.is_over():
            time.sleep(0.02)
        note.unlink()
    return 0


def describe(port: int) -> dict[str, object]:
    keys = {name: f"{name}-text" for name in ("adminKey", "searchKey", "crawlerApiKey")}
    facts = {"url": f"http://127.0.0.1:{port}", "appId": "LOCAL", "crawlerUserId": "crawler"}
    return {**keys, **facts, "pid": os.getpid()}


if __name__ == "__main__":
    sys.exit(main())
