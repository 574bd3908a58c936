"""Create secured keys and read their restrictions."""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime
from typing import Any, Unpack

from pandas import DataFrame

from svc_notebook.core.api.secured_keys import Restrictions, make_secured_key, read_secured_key
from svc_notebook.data.client import Secret
from svc_notebook.data.declarations import describe_member, public
from svc_notebook.data.session import connection
from svc_notebook.errors import BadInput, SvcError
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
