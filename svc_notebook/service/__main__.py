"""Start the service as a process: `python -m svc_notebook.service --json`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from svc_notebook.service.server import serve


def main() -> int:
    """Parse the command line and serve."""
    parser = argparse.ArgumentParser(prog="svc serve", description="Run the local service.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--clusters", type=int, default=1)
    parser.add_argument("--allow-private-crawl", action="store_true")
    parser.add_argument("--app-id")
    parser.add_argument("--admin-key")
    parser.add_argument("--admin-key-file")
    parser.add_argument("--parent", type=int)
    parser.add_argument("--reset-allowlist", action="store_true")
    parser.add_argument("--search-timeout", type=float)
    return serve(**vars(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
