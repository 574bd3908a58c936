"""The schema of a crawler's configuration: all members and the values that each accepts.

The members and their bounds are those of a hosted crawler (`api-notes.md`, section 13). Members
that were at the top level before they moved into the actions (`cache`, `discoveryPatterns`,
aliases) are accepted in both places.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Required, TypedDict

from msgspec import Meta

from svc_notebook.core.api.values import Natural

Patterns = Annotated[list[str], Meta(max_length=100)]
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
    discoveryPatterns: Patterns
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
