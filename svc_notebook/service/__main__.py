"""Start the service as a process: `python -m svc_notebook.service --json`."""

from __future__ import annotations

import argparse
import inspect
import sys
import typing
from typing import Any

from svc_notebook.service.server import serve


def main() -> int:
    """Parse the command line and serve."""
    parser = argparse.ArgumentParser(prog="svc serve", description="Run the local service.")
    for name, kind in typing.get_type_hints(serve).items():
        if name != "return":
            _add_option(parser, name, kind)
    return serve(**vars(parser.parse_args()))


def _add_option(parser: argparse.ArgumentParser, name: str, kind: Any) -> None:
    option = f"--{name.replace('_', '-')}"
    default = inspect.signature(serve).parameters[name].default
    if kind is bool:
        parser.add_argument(option, action="store_true")
    else:
        one = next(iter(typing.get_args(kind)), kind)
        parser.add_argument(option, type=one, default=default)


if __name__ == "__main__":
    sys.exit(main())
