"""Input of unmasked keys from places where they are not visible.

In a shell an argument is seen by everyone on the machine, and stays in its history; in a cell it
stays in the notebook.
"""

from __future__ import annotations

import os
import sys
from typing import Unpack

from pandas import DataFrame

from svc_notebook.core.api.secured_keys import Restrictions
from svc_notebook.core.terminal import prompt_for_key, warn_user
from svc_notebook.data.client import Secret
from svc_notebook.data.declarations import verb, verb_only
from svc_notebook.data.session import AnyClient
from svc_notebook.errors import BadOption
from svc_notebook.faces.functions import blocking
from svc_notebook.faces.functions.curation import WriteSummary
from svc_notebook.faces.functions.keys import AnyKey

STANDARD_INPUT = "-"


@verb_only(
    verb("keys restore", "keys restore -", completes={"key": None}, faces=("command",)),
    endpoints=("restore_key",),
)
def restore_key_in_shell(
    key: str | None = None, *, env: str | None = None, client: AnyClient | None = None
) -> WriteSummary:
    """Restore a deleted key from standard input, the environment or a prompt.

    Parameters
    ----------
    key : str, default None
        `-` to read the key from standard input; a prompt requests it otherwise.
    env : str, default None
        Environment variable that contains the key.

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
    """Create a secured key of a parent key from standard input, the environment or a prompt.

    Parameters
    ----------
    parent : str, default None
        `-` to read the parent key from standard input; a prompt requests it otherwise.
    env : str, default None
        Environment variable that contains the parent key.

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
    ),
    like=restore_key_in_shell.__doc__,
)
def explain_key_in_shell(key: str | None = None, *, env: str | None = None) -> DataFrame:
    """Return the restrictions of a secured key from standard input, the environment or a prompt.

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
        help={"from": "variable that contains the key"},
        faces=("magic",),
    )
)
def restore_key_in_cell(
    key: AnyKey | None = None, *, client: AnyClient | None = None
) -> WriteSummary:
    """Restore a deleted key from a variable or a prompt.

    Parameters
    ----------
    key : str, Secret or dict, default None
        Variable that contains the key; a prompt requests it otherwise.

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
        help={"from": "variable that contains the parent key"},
        body="restrictions",
        faces=("magic",),
        profile=False,
        format=False,
    )
)
def secured_key_in_cell(
    parent: AnyKey | None = None, *, reveal: bool = False, **restrictions: Unpack[Restrictions]
) -> Secret | str:
    """Create a secured key of a parent key from a variable or a prompt.

    Parameters
    ----------
    parent : str, Secret or dict, default None
        Variable that contains the parent key; a prompt requests it otherwise.

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
        help={"from": "variable that contains the key"},
        faces=("magic",),
        profile=False,
    ),
    like=restore_key_in_cell.__doc__,
)
def explain_key_in_cell(key: AnyKey | None = None) -> DataFrame:
    """Return the restrictions of a secured key from a variable or a prompt.

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
            "a key passed as an argument is visible to other users of this machine: pass `-` and "
            "the key as standard input, pass --env NAME, or omit it to enter it at a prompt"
        )
    if env is not None:
        text = os.environ.get(env, "").strip()
        source = f"the environment variable {env}"
    elif key == STANDARD_INPUT:
        text, source = sys.stdin.readline().strip(), "standard input"
    else:
        text, source = prompt_for_key("Key"), "the prompt; pass `-` to read it from standard input"
    if not text:
        raise BadOption(f"no key was read from {source}")
    return text


def _from_cell(key: AnyKey | None) -> AnyKey:
    if isinstance(key, str):
        warn_user("a key in a cell is stored in the notebook; omit it to enter it at a prompt")
    text = prompt_for_key("Key") if key is None else key
    if not text:
        raise BadOption("the key is missing; pass a variable that contains it by --from")
    return text
