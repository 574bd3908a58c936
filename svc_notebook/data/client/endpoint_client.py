"""A client with one awaited method for each endpoint, and calls that no endpoint declares."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack, get_args, overload
from urllib.parse import quote

from svc_notebook.core.api import (
    AnalyticsApi,
    CrawlerApi,
    Endpoint,
    EventsApi,
    RequestSpec,
    SearchApi,
    SuggestionsApi,
)
from svc_notebook.core.api.declaration import Asynchronous
from svc_notebook.core.api.endpoint import Interface, Verb
from svc_notebook.core.api.validation import LONE_SURROGATE, write_query
from svc_notebook.core.foreign_names import suggest_method
from svc_notebook.data.client import tasks as waiting
from svc_notebook.data.client.background_loop import regular_wake_ups
from svc_notebook.data.client.config import ClientConfig, Options, Response
from svc_notebook.data.client.response_checks import check_answer
from svc_notebook.data.client.tasks import OnProgress, Tasks, WriteHistory
from svc_notebook.data.client.transport.sender import HttpSender
from svc_notebook.errors import BadArgument, BadInput, did_you_mean, lacking_attribute

# Characters of a path that are not encoded; a percent sign starts an encoded character.
PATH_SAFE = "/%~!$&'()*+,;=:@"
WITH_BODY = ("POST", "PUT", "PATCH")
_INDEX_PLACE = 3  # /1/indexes/NAME/...


class EndpointClient(Asynchronous, SearchApi, CrawlerApi, EventsApi, AnalyticsApi, SuggestionsApi):
    """A client with the endpoints, custom calls and the wait for tasks, on any event loop."""

    def __init__(self, connection: ClientConfig, sender: HttpSender | None = None) -> None:
        if not isinstance(connection, ClientConfig):
            raise BadArgument(
                "a client takes a ClientConfig; svc.connect(url=..., app_id=..., api_key=...) "
                "returns a client"
            )
        self.connection = connection
        self.sender = sender or HttpSender(connection)
        self.written = WriteHistory()

    if not TYPE_CHECKING:  # a type checker knows all names

        def __getattr__(self, name: str) -> Any:
            raise lacking_method(self, name)

    def with_options(self, **options: Unpack[Options]) -> Self:
        """Return a client over the same connections whose calls have these options.

        Parameters
        ----------
        headers : dict, default none
            Further headers by name.
        query : dict, default none
            Further query parameters by name.
        connect_timeout : float, default that of the connection
            Maximum wait for a connection in seconds.
        read_timeout : float, default that of the connection
            Maximum wait for the response of a read in seconds.
        write_timeout : float, default that of the connection
            Maximum wait for the response of a write in seconds.
        user_id : str, default None
            User whose data the call is for, sent as the header `X-Service-User-ID`.
        forwarded_for : str, default None
            Address of the caller on whose behalf this client calls, sent as
            `X-Forwarded-For`.
        forwarded_api_key : str or Secret, default None
            Key of that caller, sent as `X-Forwarded-API-Key`.
        extra : dict, default none
            Members to add to each body, or to each object of a list, without validation.
        max_answer_bytes : int, default 256 MB
            Maximum size of a response in bytes.
        on_response : callable, default None
            Function that is called with each `Response`.

        Returns
        -------
        AsyncClient
            The new client; this one is unchanged.

        Raises
        ------
        BadInput
            If an option is unknown or cannot be sent.

        Examples
        --------
        >>> patient = client.with_options(read_timeout=60)
        >>> patient.search("products", "desk lamp")["nbHits"]
        10
        """
        other = copy(self)
        other.sender = self.sender.with_options(self.sender.options.changed(**options))
        return other

    async def perform(self, endpoint: Endpoint, spec: RequestSpec) -> Any:
        """Send one request and return the checked response.

        Parameters
        ----------
        endpoint : Endpoint
            Declaration of the endpoint.
        spec : RequestSpec
            Encoded request.

        Returns
        -------
        object
            The decoded response.

        Raises
        ------
        CallFailed
            If the service cannot be reached or refuses the call.

        Examples
        --------
        >>> from svc_notebook.core.api import SearchApi
        >>> endpoint = SearchApi.get_settings.endpoint
        >>> client.perform(endpoint, endpoint.encode("products"))["hitsPerPage"]
        20
        """
        with regular_wake_ups():
            answer = check_answer(endpoint, await self.sender.send(endpoint, spec), spec)
        self.written.note(endpoint, spec, answer)
        return answer

    @overload
    async def custom(
        self,
        verb: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        interface: Interface = "search",
        reads: bool | None = None,
        raw: Literal[False] = False,
    ) -> Any: ...
    @overload
    async def custom(
        self,
        verb: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        interface: Interface = "search",
        reads: bool | None = None,
        raw: Literal[True],
    ) -> Response: ...
    async def custom(
        self,
        verb: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        interface: Interface = "search",
        reads: bool | None = None,
        raw: bool = False,
    ) -> Any:
        """Call an endpoint that this package does not declare.

        Parameters
        ----------
        verb : str
            HTTP method, such as `POST`.
        path : str
            Path, such as `/1/indexes/products/newFeature`. Characters that a URL cannot
            contain are percent-encoded, except slashes: use `quote(name, safe="")` for a
            name.
        query : dict, default None
            Query parameters by name.
        body : JSON value, default None
            Body of POST, PUT and PATCH.
        interface : {'search', 'crawler', 'events'}, default 'search'
            API whose hosts are called.
        reads : bool, default True for GET
            Use the hosts and timeouts of reads. A POST that does not read is never
            repeated.
        raw : bool, default False
            Return a `Response` with status, headers and body.

        Returns
        -------
        object
            The decoded JSON of the response, or a `Response`.

        Raises
        ------
        BadInput
            If an argument is not valid.
        CallFailed
            If the service cannot be reached or refuses the call.

        Examples
        --------
        >>> client.custom("GET", "/1/indexes/products/settings")["hitsPerPage"]
        20
        """
        row, spec = make_custom(
            verb, path, query=query, body=body, interface=interface, reads=reads
        )
        if not raw:
            return await self.perform(row, spec)
        other = copy(self)
        other.sender = self.sender.with_options(replace(self.sender.options, raw=True))
        return await other.perform(row, spec)

    async def wait(
        self,
        tasks: Tasks,
        *,
        index: str | None = None,
        timeout: float | None = 600,  # noqa: ASYNC109 - the error at the timeout names the pending tasks
        on_progress: OnProgress | None = None,
    ) -> int:
        """Wait until tasks are published.

        Parameters
        ----------
        tasks : int, dict, tuple or list of these
            Task numbers, responses of writes, `(index, number)` or `{index: number}`.
        index : str, default None
            Name of the index of tasks that do not name theirs; None for tasks of the
            application.
        timeout : float, default 600
            Maximum wait in seconds; None waits without limit.
        on_progress : callable, default None
            Function that is called with the number of tasks published and the total number
            of tasks.

        Returns
        -------
        int
            The number of tasks.

        Raises
        ------
        TaskFailed
            If tasks are not published at the timeout; its `tasks` are the remaining ones.
        CallFailed
            If the service cannot be reached or refuses the call.

        Examples
        --------
        >>> response = client.clear_synonyms("products")
        >>> client.wait(response, index="products")
        1
        """
        with regular_wake_ups():
            return await waiting.wait(
                self, tasks, index=index, timeout=timeout, on_progress=on_progress
            )

    async def close(self) -> None:
        """Close the connections of the running event loop; a later call opens new ones.

        Examples
        --------
        >>> import asyncio
        >>> asyncio.run(client.aio.close())
        """
        await self.sender.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return describe_client(self)


def _write_query(query: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the parameters of a query string as texts; those without a value are omitted."""
    if not isinstance(query, Mapping | None):
        raise BadInput("`query` must be a dict of names and values: query={'page': 2}")
    return write_query(query or {})


def make_custom(
    verb: str,
    path: str,
    *,
    query: Mapping[str, Any] | None,
    body: Any,
    interface: str,
    reads: bool | None,
) -> tuple[Endpoint, RequestSpec]:
    """Build the endpoint and the request of a custom call; raises `BadInput` if invalid."""
    method = verb.upper() if isinstance(verb, str) else verb
    _check_word("verb", method, get_args(Verb))
    _check_word("interface", interface, get_args(Interface))
    if body is not None and method not in WITH_BODY:
        raise BadInput(f"a {method} request has no body; pass its parameters as `query`")
    texts = _write_query(query)
    is_reading = method == "GET" if reads is None else reads
    encoded = _read_path(path)
    row: Any = Endpoint(
        name=f"custom {method} {encoded}", verb=method, path=_template(encoded), acl="any",  # type: ignore[arg-type]
        interface=interface, reads=is_reading, status=200,  # type: ignore[arg-type]
        # A POST that does not read creates something new, so it is not sent twice.
        repeatable=is_reading or method != "POST",
        doc="", signature=inspect.Signature(), types={},
    )  # fmt: skip
    content = {} if body is None and method in WITH_BODY else body
    return row, RequestSpec(row.verb, encoded, texts, content)


def _check_word(name: str, word: object, words: tuple[str, ...]) -> None:
    if word not in words:
        advice = did_you_mean(word, words) if isinstance(word, str) else ""
        raise BadInput(f"`{name}` must be one of {', '.join(words)}, not {word!r}{advice}")


def _read_path(path: object) -> str:
    """Percent-encode a path; a name that contains a slash must be encoded by the caller."""
    if not isinstance(path, str) or not path.strip("/"):
        raise BadInput(
            "`path` must be the path of an endpoint, such as '/1/indexes/films/settings'"
        )
    if "://" in path or "?" in path or "#" in path:
        raise BadInput(
            f"`{path}` must be a path without a host, which the connection sets; pass "
            "parameters as `query`"
        )
    try:
        return "/" + quote(path.removeprefix("/"), safe=PATH_SAFE)
    except UnicodeEncodeError:
        raise BadInput(f"`path` {LONE_SURROGATE}") from None


def _template(path: str) -> str:
    """Replace the index in a path by a placeholder, by which the task history recognizes writes."""
    parts = path.replace("{", "%7B").replace("}", "%7D").split("/")
    if parts[1:_INDEX_PLACE] == ["1", "indexes"] and len(parts) > _INDEX_PLACE + 1:
        parts[_INDEX_PLACE] = "{index}"
    return "/".join(parts)


def lacking_method(client: Any, name: str) -> AttributeError:
    """Return the error for a name that a client does not have."""
    kind = type(client)
    methods = [method for method in dir(kind) if not method.startswith("_")]
    return lacking_attribute(f"{kind.__name__!r} object", name, methods, suggest_method)


def describe_client(client: Any) -> str:
    """Return the text of a client in a notebook, without its keys."""
    connection = client.connection
    return f"{type(client).__name__}(app_id={connection.app_id!r}, address={connection.address!r})"
