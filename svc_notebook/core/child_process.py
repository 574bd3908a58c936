"""The Python processes that this package starts: none of them imports modules of a user's folder.

`python -m` puts the working folder first on the path, so that a `json.py` or `numpy.py` in it would
run. `-P` leaves the folder out; a folder in `PYTHONPATH` is the user's own decision and stays.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# The folder from which this process imports the package: on the path of every child.
ROOT = Path(__file__).parents[2]
INSTALLED = ("site-packages", "dist-packages")  # folders that are on the path without a variable


def python_command(module: str, *arguments: str) -> tuple[str, ...]:
    """Return the command that runs a module of this package."""
    return (sys.executable, "-P", "-m", module, *arguments)


def script_command(code: str, *arguments: str) -> tuple[str, ...]:
    """Return the command that runs this code."""
    return (sys.executable, "-P", "-c", code, *arguments)


def start_process(
    command: Sequence[str],
    *,
    folder: Path = ROOT,
    environment: Mapping[str, str] | None = None,
    **options: Any,
) -> subprocess.Popen[bytes]:
    """Start a process; its working folder is not that of the user.

    - `folder`: the working folder.
    - `environment`: the variables, default those of this process.
    - `options`: further options of `subprocess.Popen`.
    """
    variables = add_package_path(os.environ if environment is None else environment)
    return subprocess.Popen(command, cwd=folder, env=variables, **options)


def add_package_path(variables: Mapping[str, str]) -> dict[str, str]:
    """Return variables by which a process in another folder finds the modules of this one.

    Relative folders in `PYTHONPATH` become absolute, and empty entries, which name the working
    folder, are left out. `PYTHONHOME` is left out if it names the library of another Python, with
    which the process could not start.
    """
    given = variables.get("PYTHONPATH", "").split(os.pathsep)
    paths = [str(Path(path).absolute()) for path in given if path]
    if ROOT.name not in INSTALLED:
        paths.insert(0, str(ROOT))
    named = {"PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))} if paths else {}
    changed = {"PYTHONPATH"}
    if variables.get("PYTHONHOME", "").partition(os.pathsep)[0] != sys.base_prefix:
        changed.add("PYTHONHOME")
    return {**{n: v for n, v in variables.items() if n not in changed}, **named}


def find_program(name: str) -> str | None:
    """Return the path of a program of the system.

    A program in the working folder, which Windows searches first, is not one.
    """
    path = shutil.which(name)
    return path if path and Path(path).is_absolute() else None
