"""Start the service as a process: `python -m svc_notebook.service --json`."""

from __future__ import annotations

import argparse
import inspect
import sys
import typing
from types import NoneType

from svc_notebook.service.server import serve


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of the command line: one option for each parameter of `serve`."""
    parser = argparse.ArgumentParser(prog="svc serve", description="Run the local service.")
    kinds = typing.get_type_hints(serve)
    for name, parameter in inspect.signature(serve).parameters.items():
        option = f"--{name.replace('_', '-')}"
        if kinds[name] is bool:
            parser.add_argument(option, action="store_true")
        else:
            [kind] = {*(typing.get_args(kinds[name]) or (kinds[name],))} - {NoneType}
            parser.add_argument(option, type=kind, default=parameter.default)
    return parser


def main() -> int:
    """Parse the command line and serve."""
    return serve(**vars(build_parser().parse_args()))


if __name__ == "__main__":
    sys.exit(main())
