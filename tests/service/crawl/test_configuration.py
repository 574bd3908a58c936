"""A crawler's configuration: its members, defaults and errors."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.errors import BadInput
from svc_notebook.service.crawl.configuration import (
    MAX_CRAWLED_URLS,
    check_functions,
    merge,
    read_configuration,
)
from svc_notebook.service.crawl.extraction import Extractors

FUNCTION = {"__type": "function", "source": "() => []"}
ACTION = {"indexName": "pages", "recordExtractor": FUNCTION}
MIN_INTERVAL = {"appId": "app", "rateLimit": 8, "actions": [ACTION]}
FULL: dict[str, Any] = {
    **MIN_INTERVAL,
    "apiKey": "s3cr3t",
    "indexPrefix": "shop_",
    "startUrls": ["https://shop.test", "https://shop.test/#top"],
    "extraUrls": ["https://shop.test/extra?utm_source=x"],
    "sitemaps": ["https://shop.test/sitemap.xml"],
    "exclusionPatterns": ["**/*.png"],
    "discoveryPatterns": ["https://shop.test/list/**"],
    "ignoreQueryParams": ["utm_*"],
    "ignoreRobotsTxtRules": True,
    "ignoreNoIndex": True,
    "ignoreNoFollowTo": True,
    "ignoreCanonicalTo": ["https://shop.test/**"],
    "ignorePaginationAttributes": False,
    "linkExtractor": FUNCTION,
    "maxDepth": 10,
    "maxUrls": None,
    "renderJavaScript": False,
    "requestOptions": {"timeout": 5000, "retries": 0, "headers": {"Accept-Language": "fr"}},
    "login": {"fetchRequest": {"url": "https://shop.test/login"}},
    "externalData": ["https://shop.test/prices.csv"],
    "initialIndexSettings": {"pages": {"searchableAttributes": ["title"]}},
    "safetyChecks": {"beforeIndexPublishing": {"maxLostRecordsPercentage": 20, "maxFailedUrls": 3}},
    "saveBackup": True,
    "schedule": "every 1 day at 3:00 am",
    "cache": {"enabled": False},
    "actions": [
        {
            **ACTION,
            "name": "all",
            "schedule": "on Monday",
            "pathsToMatch": ["https://shop.test/**"],
            "selectorsToMatch": [".product", "!.draft"],
            "fileTypesToMatch": ["html", "pdf"],
            "autoGenerateObjectIDs": False,
            "hostnameAliases": {"dev.shop.test": "shop.test"},
            "pathAliases": {"shop.test": {"/old": "/new"}},
        }
    ],
}


def test_all_members_are_read() -> None:
    read = read_configuration(FULL)

    assert read.start_urls == ("https://shop.test/", "https://shop.test/extra")
    assert read.actions[0].index == "shop_pages"
    assert read.actions[0].file_types == {"html", "pdf"}
    assert not read.actions[0].caches
    assert read.initial_settings == {"shop_pages": {"searchableAttributes": ["title"]}}
    assert (
        read.url_normalizer.normalize_found("https://dev.shop.test/old/1")
        == "https://shop.test/new/1"
    )
    assert read.requests.timeout == 5
    assert (read.max_lost_percentage, read.max_failed_urls, read.save_backup) == (20, 3, True)
    assert read.hosts == {"shop.test"}


def test_missing_members_have_their_documented_defaults() -> None:
    read = read_configuration(MIN_INTERVAL)

    assert read.actions[0].file_types == {"html"}
    assert read.actions[0].makes_ids
    assert read.actions[0].caches
    assert read.ignores_pagination
    assert (read.ignores_robots, read.ignores_noindex, read.ignores_nofollow) == (False,) * 3
    assert (read.requests.timeout, read.requests.retries) == (30, 3)
    assert (read.max_lost_percentage, read.max_failed_urls) == (10, None)
    assert read.max_urls == MAX_CRAWLED_URLS


def test_never_is_no_schedule() -> None:
    read = read_configuration({**MIN_INTERVAL, "schedule": "never", **action(schedule="Never")})

    assert read.schedule is None
    assert read.actions[0].schedule is None


def test_secrets_do_not_show() -> None:
    shown = repr(read_configuration({**FULL, "requestOptions": {"headers": {"Cookie": "s3cr3t"}}}))

    assert "s3cr3t" not in shown


def action(**members: Any) -> dict[str, Any]:
    return {"actions": [{**ACTION, **members}]}


def token(**members: Any) -> dict[str, Any]:
    request = {"url": "https://a.test/", "grantType": "client_credentials", "clientId": "a"}
    return {"login": {"oauthRequest": {"accessTokenRequest": {**request, **members}}}}


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"maxUrl": 3}, "`maxUrl` is not known; did you mean `maxUrls`?"),
    ({"rateLimit": 0}, "`rateLimit` must be a number, at least 1"),
    ({"rateLimit": 101}, "`rateLimit` must be a number, at most 100"),
    ({"actions": []}, "`actions` must be a list of at least 1 entries"),
    ({"actions": [ACTION] * 31}, "`actions` must be a list of at most 30 entries"),
    (action(pathsToMatch=[]), "`actions[0].pathsToMatch` must be a list of at least 1"),
    (action(pathToMatch=["a"]), "`actions[0].pathToMatch` is not known; did you mean"),
    (action(pathsToMatch=["a", "{"]), "`actions[0].pathsToMatch[1]`: `{` cannot be read"),
    (action(recordExtractor="() => []"), "`actions[0].recordExtractor` must be an object"),
    (action(fileTypesToMatch=["htm"]), "`htm` is not one of doc, email, html, odp"),
    (action(schedule="on Monday"), "`actions[0].name` is missing: an action with a schedule"),
    (action(name="a", schedule="on Mondy"), "`actions[0].schedule`: `mondy` is not understood"),
    ({"actions": [{**ACTION, "name": "a"}] * 2}, "`a` is the name of another action"),
    ({"startUrls": ["shop.test"]}, "`startUrls[0]`: `shop.test` is not a URL"),
    ({"startUrls": ["https://a:b@shop.test"]}, "`startUrls[0]` contains a password"),
    ({"sitemaps": ["file:///etc/passwd"]}, "`sitemaps[0]`: `file:///etc/passwd` is not a URL"),
    ({"exclusionPatterns": ["a"] * 101}, "`exclusionPatterns` must be a list of at most 100"),
    ({"renderJavaScript": {"patterns": ["a"]}}, "`renderJavaScript"),
    ({"renderJavaScript": {"enabled": True, "patterns": []}}, "patterns` is empty: list patterns"),
    ({"renderJavaScript": {"enabled": True, "waitTime": {"min": 9, "max": 8}}}, "larger than"),
    ({"renderJavaScript": {"enabled": True, "waitTime": {"max": 60001}}}, "60,000 milliseconds"),
    ({"renderJavaScript": {"enabled": True, "adblock": True}}, "adblock"),
    ({"login": {"browserRequest": {"url": "x", "username": "a", "password": "b"}}},
     "`login.browserRequest.url`: `x` is not a URL"),
    ({"login": {"browserRequest": {"url": "https://a", "username": "a", "password": "b",
                                   "waitTime": {"min": 9, "max": 8}}}},
     "`login.browserRequest.waitTime`: `min` is larger than `max`"),
    ({"login": {"fetchRequest": {"url": "https://a"},
                "browserRequest": {"url": "https://a", "username": "a", "password": "b"}}},
     "give one of fetchRequest, browserRequest and oauthRequest, not several"),
    ({"login": {"fetchRequest": {"url": "x"}}}, "`login.fetchRequest.url`: `x` is not a URL"),
    (token(), "missing required field `clientSecret`"),
    (token(clientSecret="b", grantType="password"), "`password` is not one of client_credentials"),
    ({"requestOptions": {"headers": {"A": "b\nc"}}}, "`requestOptions.headers.A`: a header is"),
    ({"requestOptions": {"headers": {"A b": "c"}}}, "`A b` cannot be a header's name"),
    ({"requestOptions": {"headers": {"Host": "c"}}}, "is set by the crawler"),
    ({"externalData": ["myCSV"]}, "no data source `myCSV` is registered; use its URL"),
    ({"externalData": ["https://a/x.csv", "https://b/x.csv"]}, "`x` is another source's name"),
    ({"schedule": "every 1 hour"}, "`schedule`: `every 1 hour` occurs more than once in 24 hours"),
    ({"maxDepth": 101}, "`maxDepth` must be a whole number, at most 100"),
    ({"indexPrefix": "x" * 65}, "`indexPrefix` must be text of at most 64 characters"),
    ({"safetyChecks": {"beforeIndexPublishing": {"maxLostRecordsPercentage": -1}}},
     "`safetyChecks.beforeIndexPublishing.maxLostRecordsPercentage` must be"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "why"), WRONG, ids=[why[:50] for _, why in WRONG])
def test_an_error_names_the_member_and_its_valid_values(change: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=re.escape(why)):
        read_configuration({**MIN_INTERVAL, **change})


@pytest.mark.parametrize("member", ["appId", "rateLimit", "actions"])
def test_a_missing_required_member_is_reported(member: str) -> None:
    with pytest.raises(BadInput, match=f"`{member}` is missing"):
        read_configuration({name: value for name, value in MIN_INTERVAL.items() if name != member})


def test_a_disabled_renderer_is_accepted() -> None:
    assert read_configuration(
        {**MIN_INTERVAL, "renderJavaScript": {"enabled": False, "patterns": []}}
    )


def test_an_invalid_function_is_named(engine: Extractors) -> None:
    bad = {"__type": "function", "source": "() => {"}
    config = {**MIN_INTERVAL, "actions": [ACTION, {**ACTION, "recordExtractor": bad}]}

    with pytest.raises(BadInput, match=r"`actions\[1\]\.recordExtractor\.source`"):
        check_functions(config, engine)
    with pytest.raises(BadInput, match=r"`linkExtractor\.source`"):
        check_functions({**MIN_INTERVAL, "linkExtractor": bad}, engine)
    check_functions(MIN_INTERVAL, engine)


def test_an_invalid_selector_is_named(engine: Extractors) -> None:
    valid = {**ACTION, "selectorsToMatch": ["p:first", "!.draft"]}
    invalid = {**ACTION, "selectorsToMatch": [".product", "!a["]}
    check_functions({**MIN_INTERVAL, "actions": [valid]}, engine)

    with pytest.raises(
        BadInput, match=r"`actions\[1\]`, `selectorsToMatch`: .*`a\[` is not a valid"
    ):
        check_functions({**MIN_INTERVAL, "actions": [valid, invalid]}, engine)


def test_a_change_replaces_a_whole_member_and_null_removes_it() -> None:
    config = {**MIN_INTERVAL, "startUrls": ["https://a.test"], "maxUrls": 3}

    assert merge(config, {"startUrls": ["https://b.test"], "maxUrls": None}) == {
        **MIN_INTERVAL,
        "startUrls": ["https://b.test"],
    }


def test_pages_are_read_again_only_if_a_change_affects_records() -> None:
    fingerprint = read_configuration(FULL).fingerprint

    timing = {**FULL, "rateLimit": 1, "schedule": None, "maxUrls": 3, "apiKey": None}
    shaping = {**FULL, "ignoreQueryParams": []}
    assert read_configuration(timing).fingerprint == fingerprint
    assert read_configuration(shaping).fingerprint != fingerprint


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)


@given(st.sampled_from(sorted(FULL)), values)
def test_any_value_is_read_or_refused(member: str, value: Any) -> None:
    try:
        read_configuration({**MIN_INTERVAL, member: value})
    except BadInput as error:
        refusal = str(error)
    else:
        return

    assert member in refusal
