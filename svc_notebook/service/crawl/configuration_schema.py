"""The schema of a crawler's configuration: all members and the values that each accepts.

The members and their bounds are those of a hosted crawler (`api-notes.md`, section 13). Members
that were at the top level before they moved into the actions (`cache`, `discoveryPatterns`,
aliases) are accepted in both places.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Required, TypedDict

from msgspec import Meta

Patterns = Annotated[list[str], Meta(max_length=100)]
Urls = Annotated[list[str], Meta(max_length=9999)]
Milliseconds = Annotated[float, Meta(ge=0)]
Headers = dict[str, str]
HostnameAliases = dict[str, str]
PathAliases = dict[str, dict[str, str]]
FileType = Literal["doc", "email", "html", "odp", "ods", "odt", "pdf", "ppt", "xls"]

# Not a class: Python would take `__type` for a private name.
Function = TypedDict("Function", {"__type": Required[Literal["function"]], "source": Required[str]})


class Cache(TypedDict, total=False):
    """Whether pages that did not change are read again."""

    enabled: bool


class WaitTime(TypedDict, total=False):
    """How long a browser waits."""

    min: Milliseconds
    max: Milliseconds


class RenderJavaScript(TypedDict, total=False):
    """Which pages a browser renders."""

    enabled: Required[bool]
    patterns: list[str]
    adBlock: bool
    waitTime: WaitTime


class CrawlRequestOptions(TypedDict, total=False):
    """How pages are asked for."""

    proxy: str
    timeout: Annotated[float, Meta(ge=1, le=600_000)]
    retries: Annotated[int, Meta(ge=0, le=20)]
    headers: Headers


class LoginOptions(TypedDict, total=False):
    """The request that logs in."""

    method: Literal["GET", "POST", "PUT", "PATCH"]
    headers: Headers
    body: str
    timeout: Annotated[float, Meta(ge=1, le=600_000)]


class FetchRequest(TypedDict, total=False):
    """Log in by one request; its cookies go with every later one."""

    url: Required[str]
    requestOptions: LoginOptions


class BrowserRequest(TypedDict, total=False):
    """Log in with a browser."""

    url: Required[str]
    username: Required[str]
    password: Required[str]
    waitTime: WaitTime


class ExtraParameters(TypedDict, total=False):
    """Further members of a request for a token."""

    resource: str


class AccessTokenRequest(TypedDict, total=False):
    """Ask for a token by client credentials (RFC 6749, 4.4)."""

    url: Required[str]
    grantType: Required[Literal["client_credentials"]]
    clientId: Required[str]
    clientSecret: Required[str]
    scope: str
    extraParameters: ExtraParameters


class OauthRequest(TypedDict):
    """Log in by a token."""

    accessTokenRequest: AccessTokenRequest


class Login(TypedDict, total=False):
    """One way to log in."""

    fetchRequest: FetchRequest
    browserRequest: BrowserRequest
    oauthRequest: OauthRequest


class ExternalSource(TypedDict):
    """A table by address: a column or member `url`, and what each page's extractor gets of it."""

    dataSourceId: str
    type: Literal["csv", "json"]
    url: str


class BeforePublishing(TypedDict, total=False):
    """What stops a crawl from being published."""

    maxLostRecordsPercentage: Annotated[float, Meta(ge=0, le=100)]
    maxFailedUrls: Annotated[int, Meta(ge=0)] | None


class SafetyChecks(TypedDict, total=False):
    """What is checked after a crawl."""

    beforeIndexPublishing: BeforePublishing


class ActionShape(TypedDict, total=False):
    """What to make of the pages that match."""

    indexName: Required[Annotated[str, Meta(min_length=1, max_length=256)]]
    recordExtractor: Required[Function]
    pathsToMatch: Annotated[list[str], Meta(min_length=1, max_length=100)]
    selectorsToMatch: Annotated[list[str], Meta(max_length=100)]
    fileTypesToMatch: Annotated[list[FileType], Meta(max_length=100)]
    discoveryPatterns: Patterns
    autoGenerateObjectIDs: bool
    cache: Cache
    name: Annotated[str, Meta(min_length=1)] | None
    schedule: str | None
    hostnameAliases: HostnameAliases
    pathAliases: PathAliases


class ConfigurationShape(TypedDict, total=False):
    """Everything a crawler is told."""

    appId: Required[str]
    rateLimit: Required[Annotated[float, Meta(ge=1, le=100)]]
    actions: Required[Annotated[list[ActionShape], Meta(min_length=1, max_length=30)]]
    apiKey: str | None
    cache: Cache
    discoveryPatterns: Patterns
    exclusionPatterns: Patterns
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
