"""Invalid and extreme requests, generated from the declarations and a seed."""

from __future__ import annotations

import base64
import gzip
import json
import types
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle
from random import Random
from typing import Annotated, Any, Literal, Union
from urllib.parse import quote, quote_from_bytes, urlencode

from msgspec import Meta

from svc_notebook.core.api import ENDPOINTS, Endpoint
from svc_notebook.core.api.secured_keys import make_secured_key
from svc_notebook.core.api.validation import hints, required
from tests.conftest import Running, credentials
from tests.service.request_parts import (
    BOMB,
    BROKEN_PARTS,
    GARBAGE,
    HEADERS,
    NAMES,
    NUMBERS,
    PLAIN,
    SCRAPS,
    TEXTS,
)


@dataclass(frozen=True)
class Shot:
    """One request as bytes; a `whole` one leaves its connection usable."""

    verb: str
    row: Endpoint | None
    raw: bytes
    whole: bool = True


class Attack:
    """Shots without end, the same for the same seed."""

    def __init__(
        self, seed: int, service: Running, names: list[str], crawler: str, victim: str, task: str
    ) -> None:
        """Aim at a crawler and its task; deletions aim at another one, so that the first lasts."""
        self._dice = Random(seed)
        self._service = service
        self._values = Values(self._dice)
        self._names = [*NAMES, *names]
        self._crawler_id, self._victim_id, self._task_id = crawler, victim, task
        self._spoils = True
        self._crawler = b"authorization: " + basic_word(service).encode()
        secured = make_secured_key(service.searchKey, hitsPerPage=3, filters="n > 0")
        self._keys = [service.searchKey, secured, "", "wrong", "k" * 5000, "\xff"]

    def shots(self) -> Iterator[Shot]:
        """Turn to one endpoint after the other."""
        for row in cycle(ENDPOINTS):
            if self._odds(0.02):
                yield Shot("GET", None, self._dice.choice(GARBAGE), whole=False)
            # Some requests are valid, so that each endpoint is also reached behind its checks.
            self._spoils = self._odds(0.85)
            yield self._shoot(row)

    def _odds(self, chance: float) -> bool:
        return self._dice.random() < chance

    def _fault(self, chance: float) -> bool:
        return self._spoils and self._odds(chance)

    def _shoot(self, row: Endpoint) -> Shot:
        verb: str = row.verb
        if self._fault(0.04):
            verb = self._dice.choice(["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"])
        body = self._body(row)
        headers = [*self._credentials(row), b"content-length: %d" % len(body)]
        if "header" in row.places.values() and self._odds(0.9):
            headers.append(b"x-service-user-id: " + quote(self._dice.choice("abcé")).encode())
        if self._fault(0.05):
            body = self._dice.choice([BOMB[:9000], gzip.compress(body), gzip.compress(body)[:-5]])
            headers[-1:] = [b"content-encoding: gzip", b"content-length: %d" % len(body)]
        headers += self._dice.choices(HEADERS, k=int(self._fault(0.25)) * self._dice.randint(1, 3))
        self._dice.shuffle(headers)
        head = b"%s %s HTTP/1.1\r\n" % (verb.encode(), self._target(row))
        return Shot(verb, row, head + b"\r\n".join([b"host: local", *headers, b"", b""]) + body)

    def _credentials(self, row: Endpoint) -> list[bytes]:
        if row.interface == "crawler" and not self._fault(0.1):
            return [self._crawler]
        key = self._dice.choice(self._keys) if self._fault(0.12) else self._service.adminKey
        named = credentials(self._service.appId, key).items()
        return [f"{name}: {value}".encode("latin-1") for name, value in named]

    def _target(self, row: Endpoint) -> bytes:
        names = [name for name, place in row.places.items() if place == "path"]
        parts = {name: self._part(row.types[name]) for name in names}
        if "crawler" in parts and not self._fault(0.3):
            deletes = row.name == "delete_crawler"
            parts["crawler"] = self._victim_id if deletes else self._crawler_id
        if row.interface == "crawler" and "task_id" in parts and not self._spoils:
            parts["task_id"] = self._task_id
        path = row.path.format_map(parts)
        if self._fault(0.03):
            path = self._dice.choice([path + "/", "/" + path, path[:-1], path + "/x/y", path * 30])
        query = self._query(row)
        return (path + ("?" + query if query else "")).encode()

    def _part(self, kind: Any) -> str:
        if self._fault(0.03):
            return self._dice.choice(BROKEN_PARTS)
        fitting = self._dice.choice("ab1") if kind is str else str(self._values.fit(kind))
        name = self._dice.choice(self._names) if self._fault(0.25) else fitting
        return quote_from_bytes(name.encode("utf-8", "surrogatepass"), safe="")

    def _query(self, row: Endpoint) -> str:
        kinds = {name: row.types[name] for name, place in row.places.items() if place == "query"}
        kinds |= row.members if row.verb == "GET" else {}
        if self._fault(0.02):
            return self._dice.choice(["&&==&", "%ff=%fe", "a" * 9000, "a=b&" * 1500, "?", "[]=1"])
        few = self._dice.choices(list(kinds), k=self._dice.randint(0, 2)) if kinds else []
        if self._fault(0.05):
            few.append(self._dice.choice(["x", "x-service-agent", "X-Service-API-Key", "é", ""]))
        given = [(name, self._text(kinds.get(name))) for name in few]
        return urlencode(given, errors="surrogatepass")

    def _text(self, kind: Any) -> str:
        fits = kind is not None and not self._fault(0.2)
        value = self._values.fit(kind) if fits else self._values.wild()
        return value if isinstance(value, str) else json.dumps(value)

    def _body(self, row: Endpoint) -> bytes:
        if row.verb in ("GET", "DELETE") and not self._fault(0.1):
            return b""
        if self._fault(0.12):
            return self._dice.choice(SCRAPS)
        body = self._fitting(row)
        for _ in range(self._dice.choice([0, 0, 0, 1, 1, 2]) * self._spoils):
            body = self._values.spoil(body)
        raw = json.dumps(body, separators=(",", ":")).encode()
        return raw[: -self._dice.randint(1, 3)] if self._fault(0.02) else raw

    def _fitting(self, row: Endpoint) -> Any:
        if not self._spoils and row.name in VALID:
            return VALID[row.name]
        whole = [name for name, place in row.places.items() if place == "body"]
        if "config" in whole and not self._fault(0.3):
            return {**CRAWL}
        if whole:
            return self._values.fit(row.types[whole[0]])
        kinds = row.members
        needed = [
            n for n, p in row.signature.parameters.items() if n in kinds and p.default is p.empty
        ]
        few = self._dice.sample(list(kinds), min(len(kinds), self._dice.randint(0, 4)))
        fitting = {name: self._values.fit(kinds[name]) for name in dict.fromkeys([*needed, *few])}
        if "config" in fitting and not self._fault(0.3):
            fitting["config"] = {**CRAWL}
        if "url" in fitting:
            fitting["url"] = CRAWL["startUrls"][0]
        return fitting


def basic_word(service: Running) -> str:
    """The word that opens a service's crawlers."""
    word = f"{service.crawlerUserId}:{service.crawlerApiKey}".encode()
    return f"Basic {base64.b64encode(word).decode()}"


# A crawler of a site that nobody may visit.
CRAWL: dict[str, Any] = {
    "rateLimit": 5,
    "startUrls": ["http://127.0.0.1:9/"],
    "actions": [
        {
            "indexName": "crawled",
            "pathsToMatch": ["http://127.0.0.1:9/**"],
            "recordExtractor": {"__type": "function", "source": "() => []"},
        }
    ],
}

# Bodies with rules between their members, which values of the declared types seldom keep.
VALID: dict[str, Any] = {
    "save_synonym": {"objectID": "a", "type": "synonym", "synonyms": ["fox", "vixen"]},
    "save_rule": {"objectID": "a", "consequence": {"params": {"hitsPerPage": 3}}},
    "delete_by": {"filters": "n > 1000000"},
    "append_source": {"source": "127.0.0.1/32"},
    "assign_user": {"cluster": "local-1"},
    "assign_users": {"cluster": "local-1", "users": ["ann"]},
    "crawl_urls": {"urls": CRAWL["startUrls"], "save": False},
    "estimate_ab_test": {
        "configuration": {"minimumDetectableEffect": {"size": 0.1, "metric": "clickThroughRate"}},
        "variants": [
            {"index": "a", "trafficPercentage": 50},
            {"index": "b", "trafficPercentage": 50},
        ],
    },
    "push_events": {
        "events": [
            {"eventType": "view", "eventName": "seen", "index": "a", "userToken": "ann",
             "objectIDs": ["1"]}
        ]
    },
}  # fmt: skip


class Values:
    """JSON values: such as a declaration asks for, and any others."""

    def __init__(self, dice: Random) -> None:
        self._dice = dice

    def fit(self, kind: Any) -> Any:
        """A value of a declared type."""
        origin, args = typing.get_origin(kind), typing.get_args(kind)
        if origin is Annotated:
            return self._limited(args[0], [mark for mark in args[1:] if isinstance(mark, Meta)])
        if origin in (typing.Required, typing.NotRequired):
            return self.fit(args[0])
        if origin in (Union, types.UnionType):
            return self.fit(self._dice.choice(args))
        if origin is Literal:
            return self._dice.choice(args)
        if origin is list:
            return [self.fit(args[0]) for _ in range(self._dice.randint(0, 3))]
        if origin is dict:
            return {self.text(): self.fit(args[1]) for _ in range(self._dice.randint(0, 3))}
        if typing.is_typeddict(kind):
            return self._shaped(kind)
        return self._plain[kind](self)

    def _limited(self, kind: Any, marks: list[Meta]) -> Any:
        if kind is not int or not marks:
            return self.fit(kind)
        low = max((int(m.ge) for m in marks if m.ge is not None), default=0)
        high = min((int(m.le) for m in marks if m.le is not None), default=1000)
        return self._dice.choice([low, high, min(high, low + 3)])

    def _shaped(self, shape: Any) -> dict[str, Any]:
        kinds = hints(shape)
        few = self._dice.sample(list(kinds), min(len(kinds), self._dice.randint(0, 3)))
        names = dict.fromkeys([*sorted(required(shape)), *few])  # the same order in each process
        return {name: self.fit(kinds[name]) for name in names}

    def text(self) -> str:
        """A text that means something somewhere."""
        return self._dice.choice(PLAIN if self._dice.random() < 0.8 else TEXTS)

    def wild(self, depth: int = 2) -> Any:
        """A value of any type."""
        kind = self._dice.randrange(7 if depth else 5)
        if kind == 5:
            return [self.wild(depth - 1) for _ in range(self._dice.randint(0, 3))]
        if kind == 6:
            return {self.text(): self.wild(depth - 1) for _ in range(self._dice.randint(0, 3))}
        texts = self._dice.choices(TEXTS, k=2)
        return self._dice.choice([None, True, *texts, self._dice.choice(NUMBERS)])

    def spoil(self, value: Any) -> Any:
        """Put any value in one place of another."""
        if isinstance(value, dict) and value and self._dice.random() < 0.85:
            name = self._dice.choice(list(value))
            return {**value, name: self.spoil(value[name])}
        if isinstance(value, list) and value and self._dice.random() < 0.85:
            at = self._dice.randrange(len(value))
            return [*value[:at], self.spoil(value[at]), *value[at + 1 :]]
        return self.wild()

    _plain: typing.ClassVar[dict[Any, Callable[[Values], Any]]] = {
        str: text,
        int: lambda self: self._dice.choice([0, 1, 5, -1, 2**40]),
        float: lambda self: self._dice.choice([0.0, 1.5, -2.25]),
        bool: lambda self: self._dice.random() < 0.5,
        Any: wild,
        types.NoneType: lambda self: None,
    }
