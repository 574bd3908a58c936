"""The configuration of a connection: from arguments, environment, files and keyring.

```
[profiles.shop]            in svc.toml, [tool.svc-notebook.profiles.shop] in pyproject.toml
app_id = "MYAPP"
domain = "search.example"
region = "de"              of events, where the vendor has several
read_timeout = 10          in seconds; so connect_timeout and write_timeout
```
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from svc_notebook.core.redaction import show_address
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client import ClientConfig, RetryPolicy
from svc_notebook.data.client.config import TIMEOUTS
from svc_notebook.data.client.retry import check_seconds
from svc_notebook.data.session.profile_files import (
    DESTINATION,
    KEYS,
    LOCAL,
    VARIABLES,
    ProfileFile,
    Values,
    address_of,
    destination_of,
    hide_keys,
    merge_destinations,
    present,
    read_sources,
    user_file,
)
from svc_notebook.data.session.trust import Destination, check_trust
from svc_notebook.errors import BadInput, NotConnected, did_you_mean

_LOGINS = {"api_key": "{}", "crawler_api_key": "{}/crawler"}  # keys of a profile in the keyring
# An address has a scheme, a dot or a port; a single word is more likely a profile.
ADDRESS_LIKE = re.compile(r"://|\.|:\d|^localhost\b")
# What no name of a profile looks like.
ADDRESS = re.compile(r"://|:\d+$")
TRUE = ("1", "true", "yes", "on")


def profiles() -> dict[str, Path]:
    """Return the names of all profiles, each with the file that defines it."""
    return {name: source.path for source in reversed(read_sources()) for name in source.profiles}


def name_profile(profile: str | None) -> str | None:
    """Return the profile to use: the given one, the environment's, or the files' default."""
    if profile or (profile := os.environ.get("SVC_PROFILE")):
        return profile
    return next((source.default for source in read_sources() if source.default), None)


def means_local(profile: str | None, given: Values) -> bool:
    """Return whether the local service is meant: by name, or by default if no address is given."""
    if address_of(present(given)):
        return False
    return profile == LOCAL or (
        name_profile(profile) == LOCAL and not address_of(_read_environment().values)
    )


def profile_meant(profile: str | None, given: Values) -> str | None:
    """Return the profile that provides the address, or None if an address was given directly."""
    if profile or means_local(profile, given):
        return profile or LOCAL
    alone = address_of(present(given)) or address_of(_read_environment().values)
    return None if alone else name_profile(None)


def take_address(profile: str | None, given: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """Take an address that is given in the place of a profile as the address of the service."""
    if isinstance(profile, str) and ADDRESS.search(profile) and given.get("url") is None:
        return None, {**given, "url": profile}
    return profile, given


def check_choice(profile: object, given: Values) -> None:
    """Reject arguments that name no service, or two of them."""
    if profile is not None and not isinstance(profile, str):
        raise BadInput(
            f"`profile` must be the name of a profile, not {profile!r}: svc.connect('local')"
        )
    url = given.get("url")
    if profile == LOCAL and (named := list(address_of(present(given)))):
        raise BadInput(
            f"the local service has a fixed address: omit {named[0]}=, or omit 'local' to connect "
            "to another service"
        )
    if url is not None and not (isinstance(url, str) and ADDRESS_LIKE.search(url)):
        shown = show_address(f"{url}")
        raise BadInput(f"`{shown}` is not an address such as https://search.example")


def resolve(profile: str | None, given: Values) -> ClientConfig:
    """Take each value from the first source that has it; raise `NotConnected` with advice."""
    name = name_profile(profile)
    around = [Layer("the call", present(given)), _read_environment()]
    return _combine([*around, *_read_layers(name)], name)


def resolve_profile(name: str) -> ClientConfig:
    """Take each value from the profile, and from the environment only what the profile lacks.

    So two profiles stay two services in one process. A key of the environment counts only if the
    environment names no other application.
    """
    layers = _read_layers(name)
    around = _read_environment()
    app_id = next((layer.values["app_id"] for layer in layers if "app_id" in layer.values), None)
    if app_id is None or around.values.get("app_id", app_id) == app_id:
        layers.append(around)
    connection = _combine(layers, name)
    if not connection.api_key:
        raise NotConnected(_advice(name))
    return connection


@dataclass(frozen=True)
class Layer:
    """The values of one source, and the addresses that its keys belong to.

    - `name`: the source in messages.
    - `is_profile`: whether the values are those of a profile in a file.
    - `file`: the file, if it is a project's.
    - `keyring`: the profile whose keys are read from the keyring when they are needed.
    - `bound`: the destination of the keys, where the source or its profile has one.
    """

    name: str
    values: Values
    is_profile: bool = False
    file: Path | None = None
    keyring: str | None = None
    bound: Values = field(default_factory=dict)

    def key(self, key: str) -> Any:
        """Return a key of this source; None if it has none."""
        if self.keyring is not None:
            return _from_keyring(self.keyring, [key]).get(key)
        return self.values.get(key)

    def gives_key_to(self, values: Values) -> bool:
        """Return whether the keys of this source may be sent to the destination of values."""
        address = address_of(self.bound)
        app_id = self.bound.get("app_id")
        return address in ({}, address_of(values)) and app_id in (None, values.get("app_id"))


def _combine(layers: list[Layer], profile: str | None) -> ClientConfig:
    """Combine the sources, each key only with the address that it belongs to."""
    values, project = _find_destination(layers, profile)
    plain = {name: value for layer in reversed(layers) for name, value in layer.values.items()}
    values = {n: v for n, v in plain.items() if n not in (*KEYS, *DESTINATION)} | values
    keys, sources = _find_keys(layers, values)
    if not keys:
        raise NotConnected(_describe_elsewhere(layers, values) or _advice(profile))
    connection = make_connection({**values, **keys})
    if project and profile:
        _check_trust(project, profile, connection.address, sources)
    return connection


def _check_trust(project: Layer, profile: str, address: str, sources: Iterable[Layer]) -> None:
    """Check that the keys of the user may be sent to the address of a project's file."""
    others = [source.name for source in sources if source.file is None]
    if project.file and others:
        destination = Destination(project.file, profile, destination_of(project.values))
        check_trust(destination, address, " and ".join(dict.fromkeys(others)))


def _find_destination(
    layers: list[Layer], profile: str | None
) -> tuple[dict[str, Any], Layer | None]:
    """Return the values that determine who receives the keys, and the project that sets one."""
    first = next((n for n, layer in enumerate(layers) if address_of(layer.values)), len(layers))
    # In a profile, `allow_http` is a permission of the profile's address.
    permitting = [*layers[: first + 1], *(x for x in layers[first + 1 :] if not x.is_profile)]
    addressing = layers[first : first + 1]
    values = address_of(addressing[0].values) if addressing else {}
    for name, choice in (("app_id", layers), ("allow_http", permitting)):
        if source := _first_with(name, choice):
            values[name] = source.values[name]
            addressing.append(source)
    project = next((source for source in addressing if source.file), None)
    if project:
        _check_redirection(project, layers, profile)
    return values, project


def _first_with(name: str, layers: list[Layer]) -> Layer | None:
    return next((layer for layer in layers if name in layer.values), None)


def _check_redirection(project: Layer, layers: list[Layer], profile: str | None) -> None:
    """Reject a project's file that gives another address to a profile of the user."""
    user = next((layer for layer in layers if layer.name == str(user_file())), None)
    if user is None:
        return
    first, second = project.values, user.values
    if merge_destinations(first, second) == merge_destinations(second, first):
        return
    raise NotConnected(
        f"{project.name} and {user.name} give different addresses to the profile `{profile}`, and "
        "a project cannot redirect a profile of yours; rename the profile in one of the files"
    )


def _find_keys(layers: list[Layer], values: Values) -> tuple[dict[str, Any], list[Layer]]:
    """Return the keys that belong to the destination, and their sources."""
    keys: dict[str, Any] = {}
    sources: list[Layer] = []
    for name in KEYS:
        for layer in layers:
            if layer.keyring and name == "crawler_api_key" and "crawler_user_id" not in values:
                continue
            if layer.gives_key_to(values) and (key := layer.key(name)) is not None:
                keys[name] = key
                sources.append(layer)
                break
    return keys, sources


def _describe_elsewhere(layers: list[Layer], values: Values) -> str:
    """Describe a key that was left out because it belongs to another address."""
    for layer in layers:
        if not layer.gives_key_to(values) and any(layer.key(name) is not None for name in KEYS):
            return (
                f"the API key of {layer.name} belongs to another address or application and is "
                "not sent to this one; pass api_key= together with the address"
            )
    return ""


def check_application(connection: ClientConfig, profile: str | None) -> None:
    """Reject a key without an application, which every service refuses."""
    if connection.api_key and not connection.app_id:
        raise NotConnected(_advice_on_application(name_profile(profile)))


def make_connection(values: Values) -> ClientConfig:
    """Build a connection from plain values; timeouts are in seconds."""
    for name in TIMEOUTS.keys() & values.keys():
        check_seconds(name, values[name])
    members = {name: value for name, value in values.items() if name not in TIMEOUTS}
    retry_policy = RetryPolicy().changed(
        **{TIMEOUTS[n]: values[n] for n in TIMEOUTS.keys() & values.keys()}
    )
    return ClientConfig(**hide_keys(members), retry_policy=retry_policy)


def _advice(name: str | None) -> str:
    if name:
        return (
            f"the profile `{name}` has no API key; set SVC_API_KEY, put api_key into "
            f"{user_file()}, or type: keyring set svc-notebook {name}"
        )
    calls = ", ".join(f'svc.connect("{other}")' for other in profiles())
    return (
        'no API key is known; svc.connect("local") starts the local service, '
        f"{f'{calls} uses a profile, ' if calls else ''}"
        "svc.connect(url=..., app_id=..., api_key=...) any other"
    )


def _advice_on_application(name: str | None) -> str:
    remedy = f"put app_id into the profile `{name}`" if name else "pass a profile that has one"
    return (
        "no application id is known, and a key works only with its application; pass it to "
        f"svc.connect(..., app_id=...), or set SVC_APP_ID, or {remedy}"
    )


def _read_environment() -> Layer:
    values: dict[str, Any] = {
        key: os.environ[name] for key, name in VARIABLES.items() if os.environ.get(name)
    }
    if "allow_http" in values:
        values["allow_http"] = values["allow_http"].casefold() in TRUE
    return Layer("the environment", hide_keys(values), bound=destination_of(values))


def _read_layers(name: str | None) -> list[Layer]:
    """Return the layers of a profile: the project's file, the user's file, the keyring."""
    sources = read_sources()
    if name is not None:
        _check_known(name, sources)
    tables = [(source, source.profiles.get(name or "", {})) for source in sources]
    # A key in the user's file or the keyring belongs to the address of its profile.
    bound = merge_destinations(*(values for _, values in reversed(tables)))
    layers = []
    for source, values in tables:
        if source.is_project:
            _warn_of_key(source, name, values)
        file = source.path if source.is_project else None
        limit = destination_of(values) if file else bound
        layers.append(Layer(str(source.path), values, True, file, bound=limit))
    if name is not None:
        layers.append(Layer("the keyring", {}, keyring=name, bound=bound))
    return layers


def _warn_of_key(source: ProfileFile, name: str | None, values: Values) -> None:
    if any(key in values for key in KEYS):
        warn_user(
            f"{source.path} contains the key of the profile `{name}` and may be shared; "
            f"move the key to {user_file()} or to the keyring"
        )


def _check_known(name: str, sources: list[ProfileFile]) -> None:
    names = sorted({LOCAL, *(profile for source in sources for profile in source.profiles)})
    if name not in names:
        places = ", ".join(str(source.path) for source in sources) or str(user_file())
        there = f"there are {', '.join(names)}" if names[1:] else f"there is only {LOCAL}"
        raise NotConnected(
            f"there is no profile `{name}` in {places}{did_you_mean(name, names)}; {there}"
        )


def _from_keyring(profile: str, missing: list[str]) -> dict[str, Any]:
    """Read a value from the system's keyring; a missing or broken keyring is ignored."""
    try:
        import keyring

        stored = {
            key: keyring.get_password("svc-notebook", _LOGINS[key].format(profile))
            for key in missing
        }
    except Exception:
        return {}
    return present(stored)
