"""The source of each value of a connection."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svc_notebook.data.client import ClientConfig
from svc_notebook.data.session.config import profiles, resolve
from svc_notebook.data.session.profile_files import user_file
from svc_notebook.data.session.trust import trust_folder
from svc_notebook.errors import BadInput, BadOption, NotConnected, SvcError
from tests.data.session.conftest import Ring

SHOP = """
[profiles.shop]
url = "https://{0}.example"
app_id = "{0}"
api_key = "{0}-key"
"""


def key_of(connection: ClientConfig) -> str:
    return connection.api_key.reveal()


def test_each_value_comes_from_the_first_place_that_has_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_file().write_text(
        '[profiles.shop]\nurl = "https://user.example"\napp_id = "USER"\n'
        'vendor = "User"\napi_key = "user-key"\n'
    )
    (project / "svc.toml").write_text('[profiles.shop]\nread_timeout = 7\nvendor = "Project"\n')
    monkeypatch.setenv("SVC_VENDOR", "Environment")
    monkeypatch.setenv("SVC_PROFILE", "shop")

    found = resolve(None, {})

    assert found.url == "https://user.example"
    assert found.app_id == "USER"
    assert found.retry_policy.read == 7
    assert found.vendor == "Environment"
    assert key_of(found) == "user-key"
    assert resolve(None, {"vendor": "Argument"}).vendor == "Argument"


@pytest.mark.parametrize(
    ("variable", "field", "value"),
    [
        ("SVC_APP_ID", "app_id", "X1"),
        ("SVC_URL", "url", "https://x.example"),
        ("SVC_VENDOR", "vendor", "X1"),
        ("SVC_CRAWLER_USER_ID", "crawler_user_id", "x"),
    ],
)
def test_the_environment_gives_values(
    variable: str, field: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_URL", "https://a.example")
    monkeypatch.setenv("SVC_API_KEY", "k")
    monkeypatch.setenv(variable, value)

    assert getattr(resolve(None, {}), field) == value


def test_keys_of_the_environment_are_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVC_API_KEY", "one-key")
    monkeypatch.setenv("SVC_CRAWLER_API_KEY", "other-key")

    found = resolve(None, {"url": "https://a.example"})

    assert (key_of(found), found.crawler_api_key.reveal()) == ("one-key", "other-key")
    assert "-key" not in repr(found)


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    user_file().write_text(SHOP.format("USER"))
    monkeypatch.setenv("SVC_APP_ID", "")

    assert resolve("shop", {}).app_id == "USER"


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ({"url": "https://a.example"}, "https://a.example"),
        ({"domain": "a.example"}, "USER.a.example"),
        ({"hosts": ["a.example"]}, "https://a.example"),
        ({}, "https://USER.example"),
    ],
)
def test_an_address_is_taken_whole_from_one_place(given: dict[str, Any], address: str) -> None:
    user_file().write_text(SHOP.format("USER"))

    assert resolve("shop", {**given, "api_key": "k"}).address == address


def test_a_pyproject_may_hold_the_projects_profiles(project: Path) -> None:
    (project / "pyproject.toml").write_text(
        '[tool.svc-notebook]\ndefault_profile = "shop"\n'
        '[tool.svc-notebook.profiles.shop]\nurl = "https://a.example"\nvendor = "Acme"\n'
    )
    trust_folder(project)

    assert resolve(None, {"api_key": "k"}).vendor == "Acme"


def test_the_nearest_file_up_the_folders_is_the_projects(project: Path) -> None:
    (project / "svc.toml").write_text('[profiles.far]\nurl = "https://far.example"\n')
    (project / "deep" / "svc.toml").write_text('[profiles.near]\nurl = "https://near.example"\n')

    assert profiles() == {"near": project / "deep" / "svc.toml"}


def test_another_tools_broken_pyproject_is_no_concern(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool")

    assert profiles() == {}


def test_profiles_name_the_file_they_come_from(project: Path) -> None:
    user_file().write_text(SHOP.format("USER") + "[profiles.own]\n")
    (project / "svc.toml").write_text("[profiles.shop]\n")

    assert profiles() == {"shop": project / "svc.toml", "own": user_file()}


def test_a_default_profile_is_used_without_a_name(project: Path) -> None:
    user_file().write_text('default_profile = "shop"\n' + SHOP.format("USER"))

    assert resolve(None, {}).app_id == "USER"


def test_hosts_by_role_may_stand_in_a_file() -> None:
    user_file().write_text(
        '[profiles.shop]\napp_id = "APP"\napi_key = "k"\ndomain = "a.example"\n'
        'hosts = { crawler = "https://crawler.example", events = ["https://events.example"] }\n'
    )

    hosts = resolve("shop", {}).open_hosts()

    assert hosts.order("crawler") == ["https://crawler.example"]
    assert hosts.order("write")[0] == "https://APP.a.example"


def test_a_key_in_the_projects_file_is_warned_of(project: Path) -> None:
    (project / "svc.toml").write_text(SHOP.format("OPEN"))

    with pytest.warns(UserWarning, match=r"svc.toml contains the key .*config.toml") as caught:
        found = resolve("shop", {})

    assert key_of(found) == "OPEN-key"
    assert "OPEN-key" not in str(caught[0].message)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("[profiles", BadInput, "is not TOML"),
        ("[profiles.shop]\nurll = 'x'", BadOption, "no `urll`; did you mean `url`"),
        ("[profiles.shop]\napi_key = 5", BadOption, "`api_key` must be text in quotes"),
        ("[profiles]\nshop = 5", BadOption, r"write \[profiles.shop\]"),
        ("profiles = 5", BadOption, r"write \[profiles.NAME\]"),
        ("default_profile = 5", BadOption, "default_profile must be text"),
    ],
)
def test_a_wrong_file_is_refused_by_its_name(text: str, kind: type[SvcError], message: str) -> None:
    user_file().write_text(text)

    with pytest.raises(kind, match=message) as caught:
        resolve("shop", {})

    assert str(user_file()) in str(caught.value)


def test_an_unknown_profile_is_named_with_those_there_are() -> None:
    user_file().write_text(SHOP.format("USER"))

    with pytest.raises(NotConnected, match=r"no profile `shp` .*did you mean `shop`.*local, shop"):
        resolve("shp", {})


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ({}, r'connect\("local"\)'),
        ({"url": "https://a.example"}, r"connect\(url=..., app_id=..., api_key=...\)"),
        ({"api_key": "k"}, "pass url= or domain="),
        ({"api_key": "k", "domain": "a.example"}, "an app_id is needed"),
    ],
)
def test_a_missing_value_is_reported_with_advice(given: dict[str, Any], advice: str) -> None:
    with pytest.raises(NotConnected, match=advice):
        resolve(None, given)


def test_a_profile_without_a_key_says_where_to_put_one() -> None:
    user_file().write_text('[profiles.shop]\nurl = "https://a.example"\n')

    with pytest.raises(NotConnected, match="keyring set svc-notebook shop"):
        resolve("shop", {})


def test_a_keyring_gives_the_keys_of_a_profile(install_keyring: Callable[..., None]) -> None:
    user_file().write_text('[profiles.shop]\nurl = "https://a.example"\ncrawler_user_id = "me"\n')
    keys = {("svc-notebook", "shop"): "ring", ("svc-notebook", "shop/crawler"): "crawl"}
    install_keyring(Ring(keys))

    found = resolve("shop", {})

    assert (key_of(found), found.crawler_api_key.reveal()) == ("ring", "crawl")


@pytest.mark.parametrize("ring", [Ring(None), Ring({}), None], ids=["broken", "empty", "missing"])
def test_a_broken_keyring_is_ignored(
    ring: Ring | None, install_keyring: Callable[..., None]
) -> None:
    user_file().write_text('[profiles.shop]\nurl = "https://a.example"\n')
    install_keyring(ring)

    with pytest.raises(NotConnected, match="has no API key"):
        resolve("shop", {})
    assert key_of(resolve("shop", {"api_key": "k"})) == "k"


def test_the_keyring_is_not_read_for_known_values(install_keyring: Callable[..., None]) -> None:
    user_file().write_text(SHOP.format("USER"))
    ring = Ring({})
    install_keyring(ring)

    resolve("shop", {})

    assert not ring.was_read


def test_a_crawlers_key_alone_is_enough_to_connect() -> None:
    found = resolve(None, {"url": "https://a.example", "crawler_api_key": "crawl"})

    assert found.crawler_api_key.reveal() == "crawl"


def test_the_users_file_is_where_the_system_wants_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SVC_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    assert user_file().parts[-2:] == ("svc-notebook", "config.toml")


@pytest.mark.parametrize("name", ["api_key", "crawler_api_key"])
@pytest.mark.parametrize("value", [{"key": "s3cret"}, 5, b"s3cret"], ids=["dict", "int", "bytes"])
def test_a_key_that_is_no_text_is_refused_and_not_shown(name: str, value: Any) -> None:
    with pytest.raises(BadInput, match=f"`{name}` must be text, not {type(value).__name__}") as got:
        resolve(None, {"url": "https://a.example", "app_id": "A", name: value})

    assert "s3cret" not in str(got.value)
    assert ("member `key`" in str(got.value)) == isinstance(value, dict)
