"""Whole keys, taken from where nobody sees them.

In a shell an argument is seen by everyone on the machine, and stays in its history; in a cell it
stays in the notebook.
"""

from __future__ import annotations

import os
import sys
from typing import Unpack

from pandas import DataFrame

from svc_notebook.api.secured_keys import Restrictions
from svc_notebook.api.warning import warn_user
from svc_notebook.client import Secret
from svc_notebook.errors import BadOption
from svc_notebook.functions import blocking
from svc_notebook.functions.curated_lists import Done
from svc_notebook.functions.keys import AnyKey
from svc_notebook.functions.prompt import ask_key
from svc_notebook.session.connection import AnyClient

STANDARD_INPUT = "-"


def restore_key_in_shell(
    key: str | None = None, *, env: str | None = None, client: AnyClient | None = None
) -> Done:
    """Bring back a deleted key that the shell's arguments do not hold."""
    return blocking.restore_key(_from_shell(key, env), client=client)


def secured_key_in_shell(
    parent: str | None = None,
    *,
    env: str | None = None,
    reveal: bool = False,
    **restrictions: Unpack[Restrictions],
) -> Secret | str:
    """Make a secured key of a parent that the shell's arguments do not hold."""
    return blocking.secured_key(_from_shell(parent, env), reveal=reveal, **restrictions)


def explain_key_in_shell(key: str | None = None, *, env: str | None = None) -> DataFrame:
    """Say what a secured key restricts that the shell's arguments do not hold."""
    return blocking.explain_key(_from_shell(key, env))


def restore_key_in_cell(key: AnyKey | None = None, *, client: AnyClient | None = None) -> Done:
    """Bring back a deleted key: one that a variable holds, or that is asked for."""
    return blocking.restore_key(_from_cell(key), client=client)


def secured_key_in_cell(
    parent: AnyKey | None = None, *, reveal: bool = False, **restrictions: Unpack[Restrictions]
) -> Secret | str:
    """Make a secured key of a parent that a variable holds, or that is asked for."""
    return blocking.secured_key(_from_cell(parent), reveal=reveal, **restrictions)


def explain_key_in_cell(key: AnyKey | None = None) -> DataFrame:
    """Say what a secured key restricts that a variable holds, or that is asked for."""
    return blocking.explain_key(_from_cell(key))


def _from_shell(key: str | None, env: str | None) -> str:
    if key not in (None, STANDARD_INPUT):
        raise BadOption(
            "everyone on this machine sees a key that is an argument: give `-` and the key as "
            "standard input, --env NAME if a variable holds it, or neither, and it is asked for"
        )
    if env is not None:
        found = os.environ.get(env, "").strip()
        source = f"the environment's {env}"
    elif key == STANDARD_INPUT:
        found, source = sys.stdin.readline().strip(), "standard input"
    else:
        found, source = ask_key("Key"), "the prompt; `-` reads it from standard input"
    if not found:
        raise BadOption(f"no key came from {source}")
    return found


def _from_cell(key: AnyKey | None) -> AnyKey:
    if isinstance(key, str):
        warn_user("a key in a cell stays in the notebook; leave it out, and it is asked for")
    found = ask_key("Key") if key is None else key
    if not found:
        raise BadOption("the key is missing: name a variable that holds it by --from")
    return found
