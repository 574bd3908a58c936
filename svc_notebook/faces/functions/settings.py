"""Change, compare and reset an index's settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

import msgspec
from pandas import DataFrame

from svc_notebook.core.api import SearchApi
from svc_notebook.core.api.body_forms import READ_ONLY_SETTINGS, read_aliases, rename_settings
from svc_notebook.core.api.parameters import Settings, default_of
from svc_notebook.core.api.validation import UnknownName, advise_extra, check_members, hints
from svc_notebook.core.api.values import OneOrMany, list_texts
from svc_notebook.core.files import expand_path
from svc_notebook.data import frames
from svc_notebook.data.client import (
    AsyncClient,
    Confirm,
    check_attributes,
    with_extra,
    write_and_wait,
)
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, KeyRefused, NotFound, did_you_mean, unreadable
from svc_notebook.faces.functions.curation import Forward
from svc_notebook.tuning.changes import holds, noting


class SettingsChange(Settings, Forward, total=False):
    """Settings to change, and whether the replicas change too."""


@public(
    verb(
        "settings",
        "settings products",
        "settings products --searchableAttributes name,brand --hitsPerPage 10",
        spread=Settings,
        body="settings (null resets one)",
    ),
    endpoints=("get_settings", "set_settings"),
)
async def settings(
    index: str,
    *,
    client: AnyClient | None = None,
    extra: Mapping[str, Any] | None = None,
    **changes: Unpack[SettingsChange],
) -> DataFrame:
    """Read the settings of an index, or change some.

    Without changes, this is `read_settings`; with changes, it is `set_settings`.

    Parameters
    ----------
    extra : dict, default None
        Settings to send without validation.

    Returns
    -------
    DataFrame
        Without changes, one row per setting: `setting` (str) and `value` (object). With
        changes, one row per changed setting: `setting`, `before` and `after` (object).

    Raises
    ------
    BadInput
        If a setting is unknown or has a wrong type.
    NotFound
    TaskFailed

    Examples
    --------
    >>> svc.settings("products", hitsPerPage=10)
           setting before after
    0  hitsPerPage     20    10
    >>> svc.settings("products", hitsPerPage=None)
           setting before after
    0  hitsPerPage     10    20
    """
    if not changes and not extra:
        return await read_settings(index, client=client)
    return await set_settings(index, client=client, extra=extra, **changes)


@public(
    verb(
        "settings set",
        "settings set products --file settings.json",
        "settings set products --customRanking 'desc(sales)' --forwardToReplicas",
        operands=("index",),
        spread=Settings,
        body="settings (null resets one)",
    ),
    endpoints=("set_settings",),
)
async def set_settings(
    index: str,
    given: SettingsChange | None = None,
    *,
    file: str | Path | None = None,
    client: AnyClient | None = None,
    extra: Mapping[str, Any] | None = None,
    **changes: Unpack[SettingsChange],
) -> DataFrame:
    """Change settings of an index and wait until the change is published.

    Where a setting is given several times, named settings precede those of `given`, and those
    of `given` precede those of `file`. An attribute that none of a sample of 1,000 records has
    causes an `UnknownAttributeWarning`; the setting is changed all the same. `undo` reverts
    everything but `extra`.

    Parameters
    ----------
    given : dict, default None
        Settings by name; a value of None resets the setting to its default.
    file : path, default None
        JSON file with an object of settings.
    extra : dict, default None
        Settings to send without validation, for a service that has more of them.

    Returns
    -------
    DataFrame
        One row per setting: `setting`, `before` and `after` (object). In `attrs["svc"]`:
        `index`, `unknown_attributes` (list), `unchecked` if the key may not search, `unread` if
        the key may not read settings (`before` is then empty and `after` is what was sent), and
        `status` if the key may not read tasks.

    Raises
    ------
    BadInput
        If no setting is given, or one is unknown or has a wrong type.
    TaskFailed

    Examples
    --------
    >>> svc.set_settings("products", {"hitsPerPage": 10, "ignorePlurals": ["en"]})
             setting before after
    0    hitsPerPage     20    10
    1  ignorePlurals   None  [en]
    """
    values = _join_changes(file, given, changes)
    forward = values.pop("forwardToReplicas", False)
    if not values and not extra:
        raise BadInput("no settings to change; pass settings by name, or a file")
    SearchApi.set_settings.endpoint.encode(index, values)  # refused before anything is sent
    aio = asynchronous(client)
    before = await _settings_of(aio, index)
    check = await check_attributes(aio, index, values)
    check.warn()
    async with noting(aio, index, {"settings": values}, note="settings"):
        changing = with_extra(aio, extra)
        outcome = await write_and_wait(
            aio,
            changing.set_settings(index, values, forwardToReplicas=forward),
            index=index,
            confirm=_confirm(aio, index, values),
        )
    after = None if before is None else await _settings_of(aio, index)
    unread: dict[str, str] = {}
    if before is None or after is None:
        before, after = {}, {**values, **(extra or {})}
        unread = {"unread": "this key may not read settings; `after` contains the values sent"}
    names = [*rename_settings(values), *(extra or ())]
    rows = [(name, before.get(name), after.get(name)) for name in names]
    frame = DataFrame(rows, columns=["setting", "before", "after"], dtype=object)
    frame.attrs["svc"] = {"index": index, **check.facts(), **unread, **outcome.facts()}
    return frame


def _join_changes(
    file: str | Path | None, given: SettingsChange | None, changes: SettingsChange
) -> SettingsChange:
    if not isinstance(given, Mapping | None):
        raise BadInput(
            "settings must be a dict, such as svc.set_settings('films', {'hitsPerPage': 10})"
        )
    read = read_settings_file(file) if file else {}
    return {**read, **(given or {}), **changes}  # type: ignore[typeddict-item]


def _confirm(client: AsyncClient, index: str, values: Mapping[str, Any]) -> Confirm | None:
    """Return the check that settings are changed; there is none for `extra` alone."""
    named = rename_settings(values)
    return (lambda: holds(client, index, "settings", named)) if named else None


@public(
    verb(
        "settings reset",
        "settings reset products hitsPerPage",
        "settings reset products --yes",
        options=("forwardToReplicas",),
        completes={"names": "setting"},
        destructive="reset settings of {index}",
    ),
    endpoints=("get_settings", "set_settings"),
)
async def reset_settings(
    index: str,
    names: OneOrMany | None = None,
    *,
    client: AnyClient | None = None,
    **more: Unpack[SettingsChange],
) -> DataFrame:
    """Reset settings of an index to their defaults.

    Parameters
    ----------
    names : str or list of str, default None
        Settings to reset; None resets all that differ from their defaults.

    Returns
    -------
    DataFrame
        One row per reset setting: `setting`, `before` and `after` (object); empty if nothing
        was to reset.

    Raises
    ------
    BadInput
        If the setting does not exist.
    NotFound
    TaskFailed

    Examples
    --------
    >>> svc.reset_settings("products", "searchableAttributes")
                    setting               before after
    0  searchableAttributes  [name, description]  None
    """
    aio = asynchronous(client)
    chosen = None if names is None else list_texts(names, "names", column="setting")
    for name in chosen or ():
        if name not in hints(Settings):
            raise BadInput(f"`{name}` is not a setting{did_you_mean(name, hints(Settings))}")
    if chosen is None:
        present = await aio.get_settings(index)
        chosen = [
            name for name in present if name not in READ_ONLY_SETTINGS and _differs(name, present)
        ]
    if not chosen:
        return DataFrame([], columns=["setting", "before", "after"], dtype=object)
    nothing: Any = dict.fromkeys(chosen)
    return await set_settings(index, client=aio, **more, **nothing)


def _differs(name: str, values: Mapping[str, Any]) -> bool:
    return name in hints(Settings) and _value(values, name) != default_of(name)


@public(
    verb(
        "settings diff",
        "settings diff products",
        "settings diff products products-new",
        "settings diff products --file settings.json",
        completes={"other": "index"},
        variable="other",
    ),
    endpoints=("get_settings",),
    like=set_settings.__doc__,
)
async def diff_settings(
    index: str,
    other: str | Path | Mapping[str, Any] | None = None,
    *,
    file: str | Path | None = None,
    client: AnyClient | None = None,
) -> DataFrame:
    """Compare the settings of an index with those of another, a file, a dict or the defaults.

    Parameters
    ----------
    other : str, path or dict, default None
        Name of another index, JSON file as a path, or settings by name; None compares with
        the defaults.

    Returns
    -------
    DataFrame
        One row per setting that differs, sorted by name: `setting` (object), then the value of
        each side (object) in a column named by the index and a column named by the other index,
        the file, `given` or `default`.

    Raises
    ------
    BadInput
        If both `other` and `file` are given, or the file is not valid.
    NotFound

    Examples
    --------
    >>> svc.diff_settings("products", {"searchableAttributes": ["name"]})["setting"].tolist()
    ['attributesForFaceting', 'searchableAttributes']
    """
    if other is not None and file is not None:
        raise BadInput("`other` and `file` are both given; pass one of them")
    aio = asynchronous(client)
    here = dict(await aio.get_settings(index))
    name, there = await _other_side(aio, other, file)
    rows = [
        (setting, _value(here, setting), _value(there, setting))
        for setting in sorted({*here, *there} - {*READ_ONLY_SETTINGS})
        if _value(here, setting) != _value(there, setting)
    ]
    return DataFrame(rows, columns=["setting", index, name], dtype=object)


async def _other_side(
    client: AsyncClient,
    other: str | Path | Mapping[str, Any] | None,
    file: str | Path | None,
) -> tuple[str, dict[str, Any]]:
    if file is not None or isinstance(other, Path):
        path = expand_path(file or str(other))
        return path.name, read_settings_file(path)
    if isinstance(other, Mapping):
        return "given", check_members(other, Settings, "")
    if other is None:
        return "default", {}
    return (other, dict(await client.get_settings(other)))


def _value(values: Mapping[str, Any], name: str) -> Any:
    """Return the value of a setting; a missing setting has its default."""
    declared = name in hints(Settings)
    value = values.get(name)
    return default_of(name) if value is None and declared else value


def read_settings_file(path: str | Path) -> dict[str, Any]:
    """Read a JSON object of settings; former names of settings are accepted."""
    try:
        content = msgspec.json.decode(expand_path(path).read_bytes())
    except OSError as error:
        raise unreadable(Path(path), error) from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadInput(f"{path} is not valid JSON: {error}") from None
    if not isinstance(content, dict):
        raise BadInput(f"{path} must contain a JSON object of settings")
    try:
        return check_members(read_aliases(content), Settings, "")
    except UnknownName as error:
        raise advise_extra(error) from None


async def _settings_of(client: AsyncClient, index: str) -> dict[str, Any] | None:
    """Return the settings; None if the key may not read them."""
    try:
        return dict(await client.get_settings(index))
    except NotFound:
        return {}  # the change creates the index
    except KeyRefused:
        return None


@public(verb("settings show", "settings show products"), endpoints=("get_settings",))
async def read_settings(index: str, *, client: AnyClient | None = None) -> DataFrame:
    """Read the settings of an index.

    Returns
    -------
    DataFrame
        One row per setting that the service returns, sorted by name: `setting` (str) and
        `value` (object).

    Raises
    ------
    NotFound

    Examples
    --------
    >>> svc.read_settings("products").set_index("setting")["value"]["searchableAttributes"]
    ['name', 'description']
    """
    return await frames.read_settings(asynchronous(client), index)
