"""Create secured keys, read their restrictions, and take keys from where they are not visible.

In a shell an argument is seen by everyone on the machine, and stays in its history; in a cell it
stays in the notebook.
"""

from __future__ import annotations

import math
import os
import sys
import time
from datetime import UTC, datetime
from typing import Any, Unpack

from pandas import DataFrame

from svc_notebook.core.api.secured_keys import Restrictions, make_secured_key, read_secured_key
from svc_notebook.core.terminal import prompt_for_key, warn_user
from svc_notebook.data.client import Secret
from svc_notebook.data.declarations import describe_member, public, verb, verb_only
from svc_notebook.data.session import AnyClient, connection
from svc_notebook.errors import BadInput, BadOption, SvcError
from svc_notebook.faces.functions import blocking
from svc_notebook.faces.functions.curation import WriteSummary
from svc_notebook.faces.functions.keys import AnyKey, key_text, mask_key


@public()
def secured_key(
    parent: AnyKey, *, reveal: bool = False, **restrictions: Unpack[Restrictions]
) -> Secret | str:
    """Create a secured key, which has the rights of its parent within restrictions.

    Nothing is sent to the service, unless the parent is the key of the current client: services
    refuse secured keys of an admin key (`api.md`, API keys), so it is then checked for its rights.

    Parameters
    ----------
    parent : str, Secret or dict
        Key with the right `search`, or the result of `add_key`.

    Returns
    -------
    Secret or str
        The secured key.

    Raises
    ------
    BadInput
        If the parent is not a key, is itself a secured key or an admin key, or a restriction is
        wrong or unknown.

    Examples
    --------
    >>> parent = svc.add_key(acl=["search"])
    >>> key = svc.secured_key(parent, filters="brand:Norrvik", validUntil=2000000000)
    >>> key
    Secret(...)
    """
    text = key_text(parent)
    if read_secured_key(text) is not None:
        raise BadInput(f"a secured key cannot be the parent of another one; {_PARENT_ADVICE}")
    secured = make_secured_key(text, **restrictions)
    if _is_admin_key(text):
        raise BadInput(
            "this is an admin key, and services refuse secured keys that are made from one; "
            f"{_PARENT_ADVICE}"
        )
    return mask_key(secured, reveal)


_PARENT_ADVICE = "make a parent with `svc.add_key(acl=['search'])`"


def _is_admin_key(text: str) -> bool:
    """Return whether a key is the current client's and may list keys, which is the admin's right.

    Other keys are not known to this process, and an admin key is not listed among the keys.
    """
    try:
        client = connection.current()
        if client.connection.api_key.reveal() != text:
            return False
        client.list_keys()
    except SvcError:
        return False
    return True


@public()
def explain_key(key: AnyKey) -> DataFrame:
    """Return the restrictions of a secured key.

    Nothing is sent to the service; only the service can verify the signature.

    Parameters
    ----------
    key : str, Secret or dict
        Secured key.

    Returns
    -------
    DataFrame
        One row per restriction, sorted by name: `restriction`, `value` and `meaning` (str).

    Raises
    ------
    BadInput
        If the key is not a secured key.

    Examples
    --------
    >>> key = svc.secured_key("parent-key", filters="brand:Norrvik")
    >>> svc.explain_key(key)[["restriction", "value"]]
      restriction          value
    0     filters  brand:Norrvik
    """
    secured = read_secured_key(key_text(key))
    if secured is None:
        raise BadInput("this is not a secured key; use `svc.get_key` for the rights of other keys")
    rows = [(name, f"{value}", _meaning(name, f"{value}")) for name, value in _sorted(secured)]
    return DataFrame(rows, columns=["restriction", "value", "meaning"]).astype("str")


@public(like=explain_key.__doc__)
def get_remaining_validity(key: AnyKey) -> float:
    """Return the remaining validity of a secured key in seconds.

    Nothing is sent to the service.

    Returns
    -------
    float
        Seconds; negative for an expired key, infinite for a key without an end.

    Examples
    --------
    >>> svc.get_remaining_validity(svc.secured_key("parent-key", filters="brand:Norrvik"))
    inf
    """
    secured = read_secured_key(key_text(key))
    if secured is None:
        raise BadInput(
            "this is not a secured key; use `svc.get_key` for the validity of other keys"
        )
    until = secured.restrictions().get("validUntil")
    if until is None:
        return math.inf
    if not until.isdigit():
        raise BadInput(f"this key's `validUntil` must be a Unix time, not {until[:40]!r}")
    return int(until) - time.time()


def _sorted(secured: Any) -> list[tuple[str, Any]]:
    return sorted(secured.restrictions().items())


def _meaning(name: str, value: str) -> str:
    if name == "validUntil" and value.isdigit():
        return _validity(int(value))
    return describe_member(name)


def _validity(until: int) -> str:
    left = until - time.time()
    try:
        when = datetime.fromtimestamp(until, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return "for ever"
    return f"expired at {when}" if left <= 0 else f"until {when}"


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
