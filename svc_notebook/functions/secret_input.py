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
from svc_notebook.declarations.declaration import verb, verb_only
from svc_notebook.errors import BadOption
from svc_notebook.functions import blocking
from svc_notebook.functions.curated_lists import Done
from svc_notebook.functions.keys import AnyKey
from svc_notebook.functions.prompt import ask_key
from svc_notebook.session.connection import AnyClient

STANDARD_INPUT = "-"


@verb_only(
    verb("keys restore", "keys restore -", completes={"key": None}, faces=("command",)),
    endpoints=("restore_key",),
)
def restore_key_in_shell(
    key: str | None = None, *, env: str | None = None, client: AnyClient | None = None
) -> Done:
    """Restore a deleted key that is not an argument of the command.

    Parameters
    ----------
    key : str, default None
        `-` to read the key from standard input; a prompt requests it otherwise.
    env : str, default None
        Environment variable that contains the key.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `key` (masked) and `createdAt`.

    Raises
    ------
    BadOption
        If the key is an argument, or no key is given.
    NotFound
        If the key is not among the deleted keys.
    """
    return blocking.restore_key(_from_shell(key, env), client=client)


@verb_only(
    verb(
        "keys secure",
        "keys secure - --filters owner:42 --reveal",
        "keys secure --restrictIndices products",
        body="restrictions",
        faces=("command",),
        profile=False,
        format=False,
    )
)
def secured_key_in_shell(
    parent: str | None = None,
    *,
    env: str | None = None,
    reveal: bool = False,
    **restrictions: Unpack[Restrictions],
) -> Secret | str:
    """Create a secured key of a parent that is not an argument of the command.

    Parameters
    ----------
    parent : str, default None
        `-` to read the parent key from standard input; a prompt requests it otherwise.
    env : str, default None
        Environment variable that contains the parent key.
    reveal : bool, default False
        Return the key as text instead of masked.

    Returns
    -------
    Secret or str
        The secured key.

    Raises
    ------
    BadOption
        If the parent key is an argument, or no key is given.
    """
    return blocking.secured_key(_from_shell(parent, env), reveal=reveal, **restrictions)


@verb_only(
    verb(
        "keys explain", "keys explain -", completes={"key": None}, faces=("command",), profile=False
    )
)
def explain_key_in_shell(key: str | None = None, *, env: str | None = None) -> DataFrame:
    """Return the restrictions of a secured key that is not an argument of the command.

    Parameters
    ----------
    key : str, default None
        `-` to read the key from standard input; a prompt requests it otherwise.
    env : str, default None
        Environment variable that contains the key.

    Returns
    -------
    DataFrame
        One row per restriction: `restriction`, `value` and `meaning` (str).

    Raises
    ------
    BadOption
        If the key is an argument, or no key is given.
    """
    return blocking.explain_key(_from_shell(key, env))


@verb_only(
    verb(
        "keys restore",
        "keys restore --from answer",
        completes={"key": None},
        variable="key",
        faces=("magic",),
    )
)
def restore_key_in_cell(key: AnyKey | None = None, *, client: AnyClient | None = None) -> Done:
    """Restore a deleted key that a variable or a prompt provides.

    Parameters
    ----------
    key : str, Secret or dict, default None
        Variable that contains the key; a prompt requests it otherwise.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    dict
        `key` (masked) and `createdAt`.

    Raises
    ------
    BadOption
        If no key is given.
    NotFound
        If the key is not among the deleted keys.
    """
    return blocking.restore_key(_from_cell(key), client=client)


@verb_only(
    verb(
        "keys secure",
        "keys secure --from answer --filters owner:42 --reveal",
        "keys secure --restrictIndices products",
        variable="parent",
        body="restrictions",
        faces=("magic",),
        profile=False,
        format=False,
    )
)
def secured_key_in_cell(
    parent: AnyKey | None = None, *, reveal: bool = False, **restrictions: Unpack[Restrictions]
) -> Secret | str:
    """Create a secured key of a parent that a variable or a prompt provides.

    Parameters
    ----------
    parent : str, Secret or dict, default None
        Variable that contains the parent key; a prompt requests it otherwise.
    reveal : bool, default False
        Return the key as text instead of masked.

    Returns
    -------
    Secret or str
        The secured key.

    Raises
    ------
    BadOption
        If no parent key is given.
    """
    return blocking.secured_key(_from_cell(parent), reveal=reveal, **restrictions)


@verb_only(
    verb(
        "keys explain",
        "keys explain --from answer",
        completes={"key": None},
        variable="key",
        faces=("magic",),
        profile=False,
    )
)
def explain_key_in_cell(key: AnyKey | None = None) -> DataFrame:
    """Return the restrictions of a secured key that a variable or a prompt provides.

    Parameters
    ----------
    key : str, Secret or dict, default None
        Variable that contains the key; a prompt requests it otherwise.

    Returns
    -------
    DataFrame
        One row per restriction: `restriction`, `value` and `meaning` (str).

    Raises
    ------
    BadOption
        If no key is given.
    """
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
