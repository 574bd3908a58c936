"""A crawler's configuration: the schema of all members, and its validated form.

The members and their bounds are those of a hosted crawler (`api-notes.md`, section 13). Members
that were at the top level before they moved into the actions (`cache`, `discoveryPatterns`,
aliases) are accepted in both places.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal, Protocol, Required, TypedDict
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from svc_notebook.core.api.validation import check_members
from svc_notebook.core.api.values import Natural
from svc_notebook.errors import BadInput
from svc_notebook.service.crawl.request_options import (
    BrowserLogin,
    LoginRequest,
    Rendering,
    Requests,
    read_login,
    read_rendering,
    read_requests,
    read_url,
)
from svc_notebook.service.crawl.schedule import Schedule, read_schedule
from svc_notebook.service.crawl.url_patterns import Patterns, read_patterns
from svc_notebook.service.crawl.urls import UrlNormalizer

# The limit stops endless crawls, such as calendars, which would fill the disk.
MAX_CRAWLED_URLS = 1_000_000


PatternList = Annotated[list[str], Meta(max_length=100)]
Urls = Annotated[list[str], Meta(max_length=9999)]
Milliseconds = Annotated[float, Meta(ge=0)]
Headers = dict[str, str]
HostnameAliases = dict[str, str]
PathAliases = dict[str, dict[str, str]]
FileType = Literal["doc", "email", "html", "odp", "ods", "odt", "pdf", "ppt", "xls"]

# Not a class, in which Python would mangle the name `__type`.
Function = TypedDict("Function", {"__type": Required[Literal["function"]], "source": Required[str]})


class Cache(TypedDict, total=False):
    """Whether unchanged pages are skipped."""

    enabled: bool


class WaitTime(TypedDict, total=False):
    """How long a browser waits, in milliseconds."""

    min: Milliseconds
    max: Milliseconds


class RenderJavaScript(TypedDict, total=False):
    """Which pages a browser renders."""

    enabled: Required[bool]
    patterns: list[str]
    adBlock: bool
    scrollToEnd: bool
    waitTime: WaitTime


class CrawlRequestOptions(TypedDict, total=False):
    """Options of page requests; `timeout` is in milliseconds."""

    proxy: str
    timeout: Annotated[float, Meta(ge=1, le=600_000)]
    retries: Annotated[int, Meta(ge=0, le=20)]
    headers: Headers


class LoginOptions(TypedDict, total=False):
    """Options of the login request; `timeout` is in milliseconds."""

    method: Literal["GET", "POST", "PUT", "PATCH"]
    headers: Headers
    body: str
    timeout: Annotated[float, Meta(ge=1, le=600_000)]


class FetchRequest(TypedDict, total=False):
    """Log in with one request; its cookies are sent with all later requests."""

    url: Required[str]
    requestOptions: LoginOptions


class BrowserRequest(TypedDict, total=False):
    """Log in with a browser."""

    url: Required[str]
    username: Required[str]
    password: Required[str]
    waitTime: WaitTime


class ExtraParameters(TypedDict, total=False):
    """Additional parameters of a token request."""

    resource: str


class AccessTokenRequest(TypedDict, total=False):
    """Request a token with client credentials (RFC 6749, 4.4)."""

    url: Required[str]
    grantType: Required[Literal["client_credentials"]]
    clientId: Required[str]
    clientSecret: Required[str]
    scope: str
    extraParameters: ExtraParameters


class OauthRequest(TypedDict):
    """Log in with an OAuth token."""

    accessTokenRequest: AccessTokenRequest


class Login(TypedDict, total=False):
    """One way to log in."""

    fetchRequest: FetchRequest
    browserRequest: BrowserRequest
    oauthRequest: OauthRequest


class ExternalSource(TypedDict):
    """An external table by URL; rows are matched to pages by the column or member `url`."""

    dataSourceId: str
    type: Literal["csv", "json"]
    url: str


class BeforePublishing(TypedDict, total=False):
    """Conditions that prevent a crawl from being published."""

    maxLostRecordsPercentage: Annotated[float, Meta(ge=0, le=100)]
    maxFailedUrls: Natural | None


class SafetyChecks(TypedDict, total=False):
    """Checks after a crawl."""

    beforeIndexPublishing: BeforePublishing


class ActionShape(TypedDict, total=False):
    """How to process matching pages."""

    indexName: Required[Annotated[str, Meta(min_length=1, max_length=256)]]
    recordExtractor: Required[Function]
    pathsToMatch: Annotated[list[str], Meta(min_length=1, max_length=100)]
    selectorsToMatch: Annotated[list[str], Meta(max_length=100)]
    fileTypesToMatch: Annotated[list[FileType], Meta(max_length=100)]
    discoveryPatterns: PatternList
    autoGenerateObjectIDs: bool
    cache: Cache
    name: Annotated[str, Meta(min_length=1)] | None
    schedule: str | None
    hostnameAliases: HostnameAliases
    pathAliases: PathAliases


class ConfigurationShape(TypedDict, total=False):
    """The complete configuration of a crawler."""

    appId: Required[str]
    rateLimit: Required[Annotated[float, Meta(ge=1, le=100)]]
    actions: Required[Annotated[list[ActionShape], Meta(min_length=1, max_length=30)]]
    apiKey: str | None
    cache: Cache
    discoveryPatterns: PatternList
    exclusionPatterns: PatternList
    externalData: Annotated[list[str | ExternalSource], Meta(max_length=10)]
    extraUrls: Urls
    hostnameAliases: HostnameAliases
    ignoreCanonicalTo: bool | list[str]
    ignoreNoFollowTo: bool
    ignoreNoIndex: bool
    ignorePaginationAttributes: bool
    ignoreQueryParams: Urls
    ignoreRobotsTxtRules: bool
    indexPrefix: Annotated[str, Meta(max_length=64)]
    initialIndexSettings: dict[str, dict[str, Any]]
    linkExtractor: Function | None
    login: Login | None
    maxDepth: Annotated[int, Meta(ge=1, le=100)] | None
    maxUrls: Annotated[int, Meta(ge=1, le=15_000_000)] | None
    pathAliases: PathAliases
    renderJavaScript: bool | list[str] | RenderJavaScript
    requestOptions: CrawlRequestOptions
    safetyChecks: SafetyChecks
    saveBackup: bool
    schedule: str | None
    sitemaps: Urls
    startUrls: Urls


@dataclass(frozen=True)
class Action:
    """How to process matching pages; `paths` is None to match every page of the site."""

    index: str  # the full name: indexPrefix + indexName
    name: str | None
    schedule: Schedule | None
    extractor: str
    paths: Patterns | None
    discovery: Patterns
    selectors: tuple[str, ...]
    file_types: frozenset[str]
    makes_ids: bool
    caches: bool


@dataclass(frozen=True)
class ExternalTable:
    """An external table by URL, whose rows extractors read in `dataSources`.

    Without a `kind`, the URL does not imply the format, and the response decides.
    """

    name: str
    kind: str | None
    url: str


@dataclass(frozen=True)
class Configuration:
    """A validated configuration: URLs to visit, request options and actions."""

    app_id: str
    api_key: str | None = field(repr=False)
    index_prefix: str
    actions: tuple[Action, ...]
    rate_limit: float
    start_urls: tuple[str, ...]  # startUrls and extraUrls
    sitemaps: tuple[str, ...]
    exclusions: Patterns
    discovery: Patterns
    url_normalizer: UrlNormalizer
    sources: tuple[ExternalTable, ...]
    link_extractor: str | None
    max_depth: int | None
    max_urls: int
    ignores_robots: bool
    ignores_noindex: bool
    ignores_nofollow: bool
    ignores_canonical: bool | Patterns
    ignores_pagination: bool
    requests: Requests = field(repr=False)
    login: LoginRequest | BrowserLogin | None = field(repr=False)
    rendering: Rendering | None
    schedule: Schedule | None
    initial_settings: Mapping[str, Mapping[str, Any]]  # by full index name
    max_lost_percentage: float
    max_failed_urls: int | None
    save_backup: bool
    # Hash of all members that affect records: if it changes, pages are read again.
    fingerprint: str

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts of the start URLs: the site of actions without paths."""
        return frozenset(urlsplit(url).netloc for url in (*self.start_urls, *self.sitemaps))


class Checks(Protocol):
    """Checks texts that engines of extractors read: JavaScript functions and selectors."""

    def check(self, source: str) -> None:
        """Raise `BadInput` if the source is not a function."""
        ...

    def check_selectors(self, selectors: Sequence[str]) -> None:
        """Raise `BadInput` if a selector is invalid."""
        ...


def merge(config: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration with top-level members replaced; null removes a member."""
    merged = {**config, **changes}
    return {name: value for name, value in merged.items() if value is not None}


def read_configuration(config: Mapping[str, Any]) -> Configuration:
    """Validate a configuration's JSON; raises `BadInput` with the member and its valid values."""
    check_members(config, ConfigurationShape, "")
    given = {name: value for name, value in config.items() if value is not None}
    actions = tuple(
        _read_action(action, given, f"actions[{at}]") for at, action in enumerate(given["actions"])
    )
    _refuse_repeated([action.name for action in actions])
    checks = given.get("safetyChecks", {}).get("beforeIndexPublishing", {})
    prefix = given.get("indexPrefix", "")
    url_normalizer = _read_spelling(given)
    canonical = given.get("ignoreCanonicalTo", False)
    return Configuration(
        app_id=given["appId"],
        api_key=given.get("apiKey"),
        index_prefix=prefix,
        actions=actions,
        rate_limit=given["rateLimit"],
        start_urls=_read_urls(given, ("startUrls", "extraUrls"), url_normalizer),
        sitemaps=_read_urls(given, ("sitemaps",), url_normalizer),
        exclusions=read_patterns(given.get("exclusionPatterns", ()), "exclusionPatterns"),
        discovery=read_patterns(given.get("discoveryPatterns", ()), "discoveryPatterns"),
        url_normalizer=url_normalizer,
        sources=_read_sources(given.get("externalData", ())),
        link_extractor=given.get("linkExtractor", {}).get("source"),
        max_depth=given.get("maxDepth"),
        max_urls=min(given.get("maxUrls", MAX_CRAWLED_URLS), MAX_CRAWLED_URLS),
        ignores_robots=given.get("ignoreRobotsTxtRules", False),
        ignores_noindex=given.get("ignoreNoIndex", False),
        ignores_nofollow=given.get("ignoreNoFollowTo", False),
        ignores_canonical=canonical
        if isinstance(canonical, bool)
        else read_patterns(canonical, "ignoreCanonicalTo"),
        ignores_pagination=given.get("ignorePaginationAttributes", True),
        requests=read_requests(given.get("requestOptions", {})),
        login=read_login(given.get("login", {})),
        rendering=read_rendering(given.get("renderJavaScript", False)),
        schedule=_read_schedule(given.get("schedule"), "schedule"),
        initial_settings={
            prefix + name: settings
            for name, settings in given.get("initialIndexSettings", {}).items()
        },
        max_lost_percentage=checks.get("maxLostRecordsPercentage", 10),
        max_failed_urls=checks.get("maxFailedUrls"),
        save_backup=given.get("saveBackup", False),
        fingerprint=_fingerprint(given),
    )


def check_functions(config: Mapping[str, Any], checker: Checks) -> None:
    """Check the functions and selectors of a validated configuration; raises `BadInput`."""
    functions = [
        (f"actions[{at}].recordExtractor", action["recordExtractor"])
        for at, action in enumerate(config["actions"])
    ]
    if config.get("linkExtractor"):
        functions.append(("linkExtractor", config["linkExtractor"]))
    for name, function in functions:
        try:
            checker.check(function["source"])
        except BadInput as error:
            raise BadInput(f"`{name}.source`: {error}") from error
    for at, action in enumerate(config["actions"]):
        if selectors := action.get("selectorsToMatch"):
            try:
                checker.check_selectors(selectors)
            except BadInput as error:
                raise BadInput(f"`actions[{at}]`, {error}") from error


def _read_action(action: ActionShape, config: Mapping[str, Any], name: str) -> Action:
    schedule = _read_schedule(action.get("schedule"), f"{name}.schedule")
    if schedule and not action.get("name"):
        raise BadInput(f"`{name}.name` is missing: an action with a schedule needs one")
    paths = action.get("pathsToMatch")
    cache = action.get("cache", config.get("cache", {}))
    return Action(
        index=config.get("indexPrefix", "") + action["indexName"],
        name=action.get("name"),
        schedule=schedule,
        extractor=action["recordExtractor"]["source"],
        paths=None if paths is None else read_patterns(paths, f"{name}.pathsToMatch"),
        discovery=read_patterns(action.get("discoveryPatterns", ()), f"{name}.discoveryPatterns"),
        selectors=tuple(action.get("selectorsToMatch", ())),
        file_types=frozenset(action.get("fileTypesToMatch", ("html",))),
        makes_ids=action.get("autoGenerateObjectIDs", True),
        caches=cache.get("enabled", True),
    )


def _refuse_repeated(names: Sequence[str | None]) -> None:
    for at, name in enumerate(names):
        if name is not None and name in names[:at]:
            raise BadInput(
                f"`actions[{at}].name`: `{name}` is the name of another action; use a unique name"
            )


def _read_urls(
    config: Mapping[str, Any], members: Iterable[str], url_normalizer: UrlNormalizer
) -> tuple[str, ...]:
    urls = [
        url_normalizer.normalize_seed(read_url(url, f"{member}[{at}]"))
        for member in members
        for at, url in enumerate(config.get(member, ()))
    ]
    return tuple(dict.fromkeys(urls))


def _read_spelling(config: Mapping[str, Any]) -> UrlNormalizer:
    """Collect the aliases of the top level and all actions: a found URL has no action yet."""
    places = [config, *config["actions"]]
    hosts = {
        old.lower(): new for section in places for old, new in _items(section, "hostnameAliases")
    }
    paths: dict[str, dict[str, str]] = {}
    for section in places:
        for host, changes in _items(section, "pathAliases"):
            paths.setdefault(host.lower(), {}).update(changes)
    return UrlNormalizer(tuple(config.get("ignoreQueryParams", ())), hosts, paths)


def _items(section: Mapping[str, Any], member: str) -> Iterable[tuple[str, Any]]:
    return section.get(member, {}).items()  # type: ignore[no-any-return] # checked by its shape


def _read_sources(given: Sequence[Any]) -> tuple[ExternalTable, ...]:
    sources = tuple(_read_source(entry, f"externalData[{at}]") for at, entry in enumerate(given))
    names = [source.name for source in sources]
    for at, name in enumerate(names):
        if name in names[:at]:
            raise BadInput(f"`externalData[{at}]`: `{name}` is another source's name")
    return sources


def _read_source(entry: Any, name: str) -> ExternalTable:
    if isinstance(entry, dict):
        return ExternalTable(
            entry["dataSourceId"], entry["type"], read_url(entry["url"], f"{name}.url")
        )
    if "://" not in entry:
        raise BadInput(
            f"`{name}`: no data source `{entry}` is registered; use its URL, or"
            ' {"dataSourceId": ..., "type": "csv" or "json", "url": ...}'
        )
    url = read_url(entry, name)
    path = PurePosixPath(urlsplit(url).path)
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return ExternalTable(plain.stem or urlsplit(url).netloc, _KINDS.get(plain.suffix.lower()), url)


_KINDS = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
}


def _read_schedule(text: str | None, name: str) -> Schedule | None:
    """Parse a schedule; hosted crawlers write `never` for none."""
    return read_schedule(text, name) if text and text.strip().lower() != "never" else None


# Members about timing and limits, which do not affect the records.
_TIMING = ("rateLimit", "schedule", "safetyChecks", "saveBackup", "maxUrls", "maxDepth", "apiKey")


def _fingerprint(config: Mapping[str, Any]) -> str:
    shaping = {name: value for name, value in config.items() if name not in _TIMING}
    return hashlib.sha256(msgspec.json.encode(shaping, order="sorted")).hexdigest()
