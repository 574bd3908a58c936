"""Searches whose hits two variants contribute in turn, as a function and as an ASGI application."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

from svc_notebook.core.api.parameters import PARAMETERS, SearchParams, default_of
from svc_notebook.core.api.validation import check_members
from svc_notebook.core.files import expand_path
from svc_notebook.data.client import background_loop
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, CallFailed, Refused
from svc_notebook.tuning.interleaving.outcome import A, B, draft_teams

DEFAULT_HITS_PER_PAGE, MAX_HITS = 20, 1000
# Parameters of a page that the interleaving sets itself.
PAGED = ("offset", "length")
MAX_BODY_BYTES = 100_000
QUERIES = "/1/indexes/*/queries"
TEXTS = ("filters", "userToken")  # besides those with a text as default
HEADERS = [
    (b"content-type", b"application/json"),
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-headers", b"*"),
]

Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Variant = str | Mapping[str, Any]


class Interleaving:
    """Searches of an index whose hits two variants contribute in turn; see `interleave`.

    It is an ASGI application, too: `POST /1/indexes/INDEX/query` and `POST /1/indexes/*/queries`
    answer as the service does, so that a page calls it in place of the service. It searches with
    the key of its client, whatever the page sends: give it a client with a search key.
    """

    def __init__(
        self, index: str, a: Variant, b: Variant, log: str | Path, client: AnyClient | None
    ) -> None:
        self.index = index
        self.log = expand_path(log)
        self._variants = {name: _read_variant(index, given) for name, given in ((A, a), (B, b))}
        if self._variants[A] == self._variants[B]:
            raise BadInput("`a` and `b` are the same: there is nothing to compare")
        self._client = asynchronous(client)
        background_loop.run(self._check_indices())
        self._append("")
        self._salt = json.dumps(self._variants, sort_keys=True, default=str)

    def search(self, query: str = "", **params: Any) -> dict[str, Any]:
        """Search by both variants and return the interleaved hits of a page.

        The parameters of a variant override those of the search. `_queryID` of a hit is that of
        the variant that contributed it: send it with the events of this hit. The same user has
        the same hits for the same query.

        Parameters
        ----------
        query : str, default ''
            Text of the query.
        **params
            Search parameters; `userToken` names the user.

        Returns
        -------
        dict
            The response of variant a with the interleaved `hits`.

        Raises
        ------
        BadInput
            If a parameter is not valid.

        Examples
        --------
        >>> mixed = svc.tuning.interleave("products", {}, {"typoTolerance": False}, log="t.jsonl")
        >>> len(mixed.search("mug", userToken="anna", hitsPerPage=2)["hits"])
        2
        """
        return background_loop.run(self.asearch(query, **params))

    async def _check_indices(self) -> None:
        """Raise an error now, not for the first user, if a variant cannot be searched."""
        names = {self.index, *(index for index, _ in self._variants.values())}
        requests: Any = [
            {"indexName": name, "query": "", "hitsPerPage": 0, "analytics": False}
            for name in sorted(names)
        ]
        await self._client.search_many(requests)

    async def asearch(self, query: str = "", **params: Any) -> dict[str, Any]:
        """Search as `search` does, as a coroutine."""
        given = {"query": query, **params}
        check_members(given, SearchParams, "params")
        for name in PAGED:
            if given.get(name) is not None:
                raise BadInput(f"`{name}` cannot be interleaved: use `page` and `hitsPerPage`")
        size = DEFAULT_HITS_PER_PAGE if given.get("hitsPerPage") is None else given["hitsPerPage"]
        page = given.get("page") or 0
        reach = min(size * (page + 1), MAX_HITS)
        paging = {"page": 0, "hitsPerPage": reach, "clickAnalytics": True}
        requests: Any = [
            {"indexName": index, **given, **changes, **paging}
            for index, changes in self._variants.values()
        ]
        results: Any = (await self._client.search_many(requests))["results"]
        answers = dict(zip((A, B), results, strict=True))
        return self._mix(given, answers, slice(size * page, reach), size)

    def _mix(
        self, given: Mapping[str, Any], answers: dict[str, Any], span: slice, size: int
    ) -> dict[str, Any]:
        hits = {
            name: {
                hit["objectID"]: {**hit, "_queryID": answer.get("queryID")}
                for hit in answer["hits"]
            }
            for name, answer in answers.items()
        }
        user = str(given.get("userToken") or "")
        seed = "\n".join([self._salt, user, str(given["query"])])
        drafted = draft_teams([*hits[A]], [*hits[B]], span.stop, seed)[span]
        # Equal lists say nothing about their variants.
        if drafted and [*hits[A]][span] != [*hits[B]][span]:
            self._write(user, str(given["query"]), answers, dict(drafted))
        shown = [hits[team][name] for name, team in drafted]
        first = answers[A]
        pages = -(-min(first["nbHits"], MAX_HITS) // size) if size else 0
        paging = {"page": given.get("page") or 0, "hitsPerPage": size, "nbPages": pages}
        return {**first, **paging, "hits": shown, "index": self.index}

    def _write(
        self, user: str, query: str, answers: Mapping[str, Any], teams: Mapping[str, str]
    ) -> None:
        entry = {
            "timestamp": datetime.now(UTC).isoformat(),
            "user": user,
            "query": query,
            "queryIDs": {name: answer.get("queryID") for name, answer in answers.items()},
            "teams": teams,
        }
        self._append(json.dumps(entry, ensure_ascii=False) + "\n")

    def _append(self, line: str) -> None:
        try:
            descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            # One write at the end of the file: several processes may write the same log.
            try:
                os.write(descriptor, line.encode("utf-8", "replace"))
            finally:
                os.close(descriptor)
        except OSError as error:
            raise BadInput(f"the log {self.log} cannot be written: {error.strerror}") from error

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request of the ASGI protocol."""
        if scope["type"] == "lifespan":
            await _end_lifespan(receive, send)
            return
        if scope["type"] != "http":
            return
        try:
            status, answer = 200, await self._answer(scope, await _read_body(receive))
        except BadInput as error:
            status, answer = 400, {"message": str(error), "status": 400}
        except CallFailed as error:
            status = error.status if isinstance(error, Refused) and error.status else 502
            answer = {"message": str(error), "status": status}
        await send({"type": "http.response.start", "status": status, "headers": HEADERS})
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})

    async def _answer(self, scope: Mapping[str, Any], body: bytes) -> dict[str, Any]:
        if scope["method"] == "OPTIONS":
            return {}
        path = unquote(scope["path"])
        if scope["method"] == "POST" and path == QUERIES:
            requests = _decode(body).get("requests")
            if not isinstance(requests, list):
                raise BadInput("`requests` must be a list of searches")
            return {"results": [await self._search_one(request) for request in requests]}
        if scope["method"] == "POST" and path == f"/1/indexes/{self.index}/query":
            return await self._search_one({**_decode(body), "indexName": self.index})
        raise BadInput(
            f"this address answers POST /1/indexes/{self.index}/query and POST {QUERIES}"
        )

    async def _search_one(self, request: Any) -> dict[str, Any]:
        """Interleave a search of the index; search another index as it is."""
        if not isinstance(request, Mapping):
            raise BadInput("a search must be an object")
        params = {**request}
        index = params.pop("indexName", None)
        params.update(_decode_params(str(params.pop("params", "") or "")))
        if index == self.index:
            return await self.asearch(**params)
        searches: Any = [{"indexName": index, **params}]
        answer: Any = (await self._client.search_many(searches))["results"][0]
        return dict(answer)


def interleave(
    index: str, a: Variant, b: Variant, *, log: str | Path, client: AnyClient | None = None
) -> Interleaving:
    """Compare two variants on live traffic: each user sees hits of both in one list.

    Both variants contribute their best hits in turn (team draft); a coin decides which one begins.
    Users prefer the variant whose hits they click more. This needs far fewer searches than an A/B
    test, and every user sees good hits of both. `read_interleaving` reads the outcome.

    Parameters
    ----------
    index : str
        Index that the page searches.
    a : dict or str
        Variant: search parameters, `{}` for none, or the name of another index. Settings that
        are not search parameters need a copy of the index, whose name is the variant.
    b : dict or str
        The other variant.
    log : path
        File to which a line is written for each search; it is created, or continued.
    client : Client or AsyncClient, default the current client
        Client that searches.

    Returns
    -------
    Interleaving
        `search` returns interleaved hits; the object is an ASGI application, too.

    Raises
    ------
    BadInput
        If a variant is not valid, both are the same, or the log cannot be written.
    NotFound
        If an index does not exist.
    CallFailed
        If the service refuses a search, or cannot be reached.

    Examples
    --------
    >>> mixed = svc.tuning.interleave(
    ...     "products", {}, {"ignorePlurals": ["en"]}, log="plurals.jsonl"
    ... )
    >>> len(mixed.search("mug", userToken="anna", hitsPerPage=2)["hits"])
    2
    """
    return Interleaving(index, a, b, log, client)


def _read_variant(index: str, variant: Variant) -> tuple[str, dict[str, Any]]:
    """Return the index and the parameters of a variant."""
    if isinstance(variant, str):
        return variant, {}
    if not isinstance(variant, Mapping):
        raise BadInput("a variant is a dict of search parameters, or the name of an index")
    params = check_members(dict(variant), SearchParams, "variant")
    if refused := [name for name in ("query", "page", "hitsPerPage", *PAGED) if name in params]:
        raise BadInput(f"`{refused[0]}` belongs to the search of the user, not to a variant")
    return index, dict(params)


async def _read_body(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            raise BadInput(f"the body is longer than {MAX_BODY_BYTES:,} bytes")
        if not message.get("more_body"):
            return bytes(body)


def _decode(body: bytes) -> dict[str, Any]:
    try:
        decoded = json.loads(body or b"{}")
    except ValueError as error:
        raise BadInput(f"the body is not JSON: {error}") from error
    if not isinstance(decoded, dict):
        raise BadInput("the body must be an object")
    return decoded


def _decode_params(text: str) -> dict[str, Any]:
    """Return the parameters of an encoded text; values that are not texts are JSON."""
    return {
        name: _decode_value(name, value) for name, value in parse_qsl(text, keep_blank_values=True)
    }


def _decode_value(name: str, text: str) -> Any:
    if name in TEXTS or (name in PARAMETERS and isinstance(default_of(name), str)):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


async def _end_lifespan(receive: Receive, send: Send) -> None:
    while True:
        phase = (await receive())["type"]
        await send({"type": f"{phase}.complete"})
        if phase == "lifespan.shutdown":
            return
