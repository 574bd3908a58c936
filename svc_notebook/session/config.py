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
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from svc_notebook.client import ClientConfig, RetryPolicy, Secret
from svc_notebook.client.request_options import TIMEOUTS
from svc_notebook.client.retry import check_seconds
from svc_notebook.errors import BadInput, BadOption, NotConnected, did_you_mean

VARIABLES = {
    "url": "SVC_URL",
    "app_id": "SVC_APP_ID",
    "api_key": "SVC_API_KEY",
    "vendor": "SVC_VENDOR",
    "domain": "SVC_DOMAIN",
    "crawler_user_id": "SVC_CRAWLER_USER_ID",
    "crawler_api_key": "SVC_CRAWLER_API_KEY",
}
FIELDS = (*VARIABLES, "fallback_domain", "hosts", "region", *TIMEOUTS)
KEYS = ("api_key", "crawler_api_key")
LOGINS = {"api_key": "{}", "crawler_api_key": "{}/crawler"}  # keys of a profile in the keyring
# The address is one choice: a source that sets one of these sets all of them.
ADDRESS = ("url", "domain", "fallback_domain", "hosts")
# An address has a scheme, a dot or a port; a single word is more likely a profile.
ADDRESS_LIKE = re.compile(r"://|\.|:\d|^localhost\b")
LOCAL = "local"

Values = Mapping[str, Any]


@dataclass(frozen=True)
class ProfileFile:
    """The profiles of one file."""

    path: Path
    profiles: Mapping[str, Values] = field(default_factory=dict)
    default: str | None = None


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
    if _address_of(_present(given)):
        return False
    return profile == LOCAL or (
        name_profile(profile) == LOCAL and not _address_of(_from_environment())
    )


def profile_meant(profile: str | None, given: Values) -> str | None:
    """Return the profile that provides the address, or None if an address was given directly."""
    if profile or means_local(profile, given):
        return profile or LOCAL
    alone = _address_of(_present(given)) or _address_of(_from_environment())
    return None if alone else name_profile(None)


def check_choice(profile: object, given: Values) -> None:
    """Reject arguments that name no service, or two of them."""
    if profile is not None and not isinstance(profile, str):
        raise BadInput(
            f"`profile` must be the name of a profile, not {profile!r}: connect('local')"
        )
    url = given.get("url")
    if profile == LOCAL and (named := list(_address_of(_present(given)))):
        raise BadInput(
            f"the local service has a fixed address: omit {named[0]}=, or omit 'local' to connect "
            "to another service"
        )
    if url is not None and not (isinstance(url, str) and ADDRESS_LIKE.search(url)):
        raise BadInput(f"`{url}` is not an address such as https://search.example")


def resolve(profile: str | None, given: Values) -> ClientConfig:
    """Take each value from the first source that has it; raise `NotConnected` with advice."""
    name = name_profile(profile)
    sources = read_sources()
    if name is not None:
        _check_known(name, sources)
    layers = [_present(given), _from_environment(), *_layers_of(name, sources)]
    values = {key: value for layer in reversed(layers) for key, value in layer.items()}
    values = {key: value for key, value in values.items() if key not in ADDRESS}
    values |= next((found for layer in layers if (found := _address_of(layer))), {})
    wanted = KEYS if "crawler_user_id" in values else KEYS[:1]
    if name is not None and (missing := [key for key in wanted if key not in values]):
        values |= _from_keyring(name, missing)
    if not any(key in values for key in KEYS):
        raise NotConnected(_advice(name))
    return make_connection(values)


def resolve_profile(name: str) -> ClientConfig:
    """Take each value from the profile, and from the environment only what the profile lacks.

    So two profiles stay two services in one process. A key of the environment counts only if the
    environment names no other application.
    """
    sources = read_sources()
    _check_known(name, sources)
    layers = list(_layers_of(name, sources))
    values = {key: value for layer in reversed(layers) for key, value in layer.items()}
    values = {key: value for key, value in values.items() if key not in ADDRESS}
    values |= next((found for layer in layers if (found := _address_of(layer))), {})
    if missing := [key for key in KEYS[:1] if key not in values]:
        values |= _from_keyring(name, missing)
    around = _from_environment()
    if around.get("app_id", values.get("app_id")) == values.get("app_id", around.get("app_id")):
        lacking = {key: value for key, value in around.items() if key not in values}
        if _address_of(values):
            lacking = {key: value for key, value in lacking.items() if key not in ADDRESS}
        values |= lacking
    if "api_key" not in values:
        raise NotConnected(_advice(name))
    return make_connection(values)


def check_application(connection: ClientConfig, profile: str | None) -> None:
    """Reject a key without an application, which every service refuses."""
    if connection.api_key and not connection.app_id:
        raise NotConnected(_advice_on_application(name_profile(profile)))


def make_connection(values: Values) -> ClientConfig:
    """Build a connection from plain values; timeouts are in seconds."""
    for name in TIMEOUTS.keys() & values.keys():
        check_seconds(name, values[name])
    own = {name: value for name, value in values.items() if name not in TIMEOUTS}
    retry_policy = RetryPolicy().changed(
        **{TIMEOUTS[n]: values[n] for n in TIMEOUTS.keys() & values.keys()}
    )
    return ClientConfig(**_hide_keys(own), retry_policy=retry_policy)


def _hide_keys(values: Values) -> dict[str, Any]:
    """Mask the keys among values as early as possible: tracebacks and reprs show plain values."""
    return {
        name: _hide_key(name, value) if name in KEYS else value for name, value in values.items()
    }


def _hide_key(name: str, value: Any) -> Secret:
    """Mask a key; raise `BadInput` for what is no text, without showing it."""
    if isinstance(value, str):
        return Secret(value)
    if isinstance(value, Secret):
        return value
    member = (
        f", its member `key` for instance: {name}=answer['key']"
        if isinstance(value, Mapping)
        else ""
    )
    raise BadInput(f"`{name}` must be text, not {type(value).__name__}: pass the key alone{member}")


def _advice(name: str | None) -> str:
    if name:
        return (
            f"the profile `{name}` has no API key; set SVC_API_KEY, put api_key into "
            f"{user_file()}, or type: keyring set svc-notebook {name}"
        )
    known = ", ".join(f'connect("{other}")' for other in profiles())
    return (
        'no API key is known; connect("local") starts the local service, '
        f"{f'{known} uses a profile, ' if known else ''}"
        "connect(url=..., app_id=..., api_key=...) any other"
    )


def _advice_on_application(name: str | None) -> str:
    place = f"put app_id into the profile `{name}`" if name else "pass a profile that has one"
    return (
        "no application id is known, and a key works only with its application; pass it to "
        f"connect(..., app_id=...), or set SVC_APP_ID, or {place}"
    )


def _present(values: Values) -> Values:
    return _hide_keys({key: value for key, value in values.items() if value is not None})


def _from_environment() -> Values:
    return _hide_keys(
        {key: os.environ[name] for key, name in VARIABLES.items() if os.environ.get(name)}
    )


def _address_of(layer: Values) -> Values:
    return {key: layer[key] for key in ADDRESS if key in layer}


def _layers_of(name: str | None, sources: list[ProfileFile]) -> Iterator[Values]:
    for source in sources:
        values = source.profiles.get(name or "", {})
        if source.path != user_file() and any(key in values for key in KEYS):
            warnings.warn(
                f"{source.path} contains the key of the profile `{name}` and may be shared; "
                f"move the key to {user_file()} or to the keyring",
                stacklevel=5,
            )
        yield values


def _check_known(name: str, sources: list[ProfileFile]) -> None:
    known = sorted({LOCAL, *(own for source in sources for own in source.profiles)})
    if name not in known:
        places = ", ".join(str(source.path) for source in sources) or str(user_file())
        there = f"there are {', '.join(known)}" if known[1:] else f"there is only {LOCAL}"
        raise NotConnected(
            f"there is no profile `{name}` in {places}{did_you_mean(name, known)}; {there}"
        )


def read_sources() -> list[ProfileFile]:
    """Read the project's file and the user's file, if they exist."""
    found = [_read_project(), _read_file(user_file(), _parse(user_file()))]
    return [source for source in found if source]


def user_file() -> Path:
    """Return the path of the user's profiles: `SVC_CONFIG`, or in the system's folder."""
    if named := os.environ.get("SVC_CONFIG"):
        return Path(named).expanduser()
    from platformdirs import user_config_path

    return user_config_path("svc-notebook", appauthor=False) / "config.toml"


def _read_project() -> ProfileFile | None:
    for folder in (Path.cwd(), *Path.cwd().parents):
        own = folder / "svc.toml"
        if source := _read_file(own, _parse(own)):
            return source
        shared = folder / "pyproject.toml"
        tools = (_parse(shared) or {}).get("tool", {})
        if source := _read_file(shared, tools.get("svc-notebook")):
            return source
    return None


def _parse(path: Path) -> dict[str, Any] | None:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, PermissionError, IsADirectoryError):
        return None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        if path.name == "pyproject.toml":
            return None  # another tool reports it
        raise BadInput(f"{path} is not TOML: {error}") from error


def _read_file(path: Path, content: Any) -> ProfileFile | None:
    if content is None:
        return None
    tables = content.get("profiles", {}) if isinstance(content, dict) else None
    if not isinstance(tables, dict):
        raise BadOption(f"{path}: write [profiles.NAME] and its values below")
    default = content.get("default_profile")
    if not isinstance(default, str | None):
        raise BadOption(f"{path}: default_profile must be text in quotes")
    for name, values in tables.items():
        _check_values(path, name, values)
    hidden = {name: _hide_keys(values) for name, values in tables.items()}
    return ProfileFile(path, hidden, default)


def _check_values(path: Path, name: str, values: Any) -> None:
    if not isinstance(values, dict):
        raise BadOption(f"{path}: write [profiles.{name}] and its values below")
    for key, value in values.items():
        if key not in FIELDS:
            raise BadOption(f"{path}: profile {name}: no `{key}`{did_you_mean(key, FIELDS)}")
        if key in TIMEOUTS:
            _check_seconds(path, name, key, value)
        elif not isinstance(value, (str, list, dict) if key == "hosts" else str):
            raise BadOption(f"{path}: profile {name}: `{key}` must be text in quotes")


def _check_seconds(path: Path, name: str, key: str, value: object) -> None:
    try:
        check_seconds(key, value)
    except BadInput as error:
        raise BadOption(f"{path}: profile {name}: {error}") from None


def _from_keyring(profile: str, missing: list[str]) -> dict[str, Any]:
    """Read a value from the system's keyring; a missing or broken keyring is ignored."""
    try:
        import keyring

        found = {
            key: keyring.get_password("svc-notebook", LOGINS[key].format(profile))
            for key in missing
        }
    except Exception:
        return {}
    return dict(_present(found))
