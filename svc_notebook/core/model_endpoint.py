"""An HTTP endpoint of models by the protocol of OpenAI: requests, retries and cost."""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import SplitResult, urlsplit

import httpx
import msgspec

from svc_notebook.core.display import format_count
from svc_notebook.errors import SvcError

# Seconds before a failed request is sent again, unless the response has a longer time.
RETRY_SECONDS = (1.0, 2.0, 4.0, 8.0)
MAX_RETRY_AFTER_SECONDS = 60.0
RETRIED_STATUS = {408, 409, 425, 429, 500, 502, 503, 504}
MAX_SHOWN_CHARACTERS = 200
_LOOPBACK = re.compile(r"localhost|::1|127(\.\d+){3}")

T = TypeVar("T")


class TokenUsage(msgspec.Struct):
    """The tokens of one response."""

    total_tokens: int = 0


@dataclass(frozen=True)
class EndpointRole:
    """The purpose of an endpoint: its name in errors, its path, and its environment variables.

    `error` is raised if it fails, or if its address, key or price is not valid.
    """

    name: str
    path: str
    key_variable: str
    price_variable: str  # of a million tokens, in any currency
    error: Callable[[str], SvcError]


def _split(address: str) -> SplitResult | None:
    """Return the parts of an HTTP address without a user; None for any other text."""
    try:
        parts = urlsplit(address)
        is_http = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return None
    is_plain = address.isprintable() and " " not in address
    return parts if is_http and is_plain and not (parts.username or parts.password) else None


class ModelEndpoint:
    """One endpoint and model, `URL#MODEL`; counts its requests and tokens.

    `model` is sent with each request if it is not empty. Key and price are read from the
    environment.
    """

    def __init__(self, name: str, role: EndpointRole) -> None:
        address, _, self.model = name.partition("#")
        parts = _split(address)
        if parts is None:
            raise role.error(
                f"the URL of the {role.name} is https://HOST/PATH#MODEL; its key is read from "
                f"{role.key_variable}"
            )
        key = os.environ.get(role.key_variable, "").strip()
        if key and parts.scheme == "http" and not _LOOPBACK.fullmatch(parts.hostname or ""):
            raise role.error(
                f"{role.key_variable} is sent by https only, or to this machine: use https://"
            )
        url = address.rstrip("/")
        self.url = url if url.endswith(role.path) else f"{url}{role.path}"
        self.price = _read_price(role)
        self._role = role
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.requests = self._tokens = 0

    def send(
        self, body: Mapping[str, Any], shape: type[T], timeout: float, retries: Sequence[float]
    ) -> T:
        """Return the response to a request; a request that fails temporarily is repeated."""
        sent = {**body, **({"model": self.model} if self.model else {})}
        for seconds in (*retries, None):
            self.requests += 1
            try:
                response = httpx.post(self.url, json=sent, headers=self._headers, timeout=timeout)
            except httpx.HTTPError as error:
                fault, retried, wait = f"{type(error).__name__}: {error}", True, 0.0
            else:
                if response.is_success:
                    return self._decode(response, shape)
                fault = f"status {response.status_code}: {response.text[:MAX_SHOWN_CHARACTERS]}"
                retried, wait = response.status_code in RETRIED_STATUS, _retry_after(response)
            if seconds is None or not retried or wait > MAX_RETRY_AFTER_SECONDS:
                break
            time.sleep(max(seconds, wait))
        raise self._failed(fault)

    def _failed(self, fault: str) -> SvcError:
        is_unknown = "status 401" in fault and not self._headers
        advice = f"; set {self._role.key_variable}" if is_unknown else ""
        return self._role.error(f"the {self._role.name} {self.url} failed: {fault}{advice}")

    def take_usage(self, *more: str) -> str:
        """Return the requests and tokens since the last time, more counts, and the price."""
        requests, tokens = self.requests, self._tokens
        self.requests = self._tokens = 0
        counts = (format_count(requests, "request"), format_count(tokens, "token"), *more)
        return ", ".join([*counts, *([f"cost {self.price_of(tokens):.4f}"] if self.price else [])])

    def price_of(self, tokens: float) -> float:
        """Return the price of a number of tokens; 0 if it is not known."""
        return tokens / 1e6 * self.price

    def _decode(self, response: httpx.Response, shape: type[T]) -> T:
        try:
            decoded = msgspec.json.decode(response.content, type=shape)
        except msgspec.MsgspecError as error:
            raise self._role.error(
                f"the {self._role.name} {self.url} returned another form of response: {error}"
            ) from error
        usage = getattr(decoded, "usage", None)
        self._tokens += usage.total_tokens if isinstance(usage, TokenUsage) else 0
        return decoded


def _read_price(role: EndpointRole) -> float:
    text = os.environ.get(role.price_variable, "").strip()
    try:
        price = float(text or 0)
    except ValueError:
        price = -1.0
    if not 0 <= price < math.inf:
        raise role.error(f"{role.price_variable} is {text!r}: use the price of a million tokens")
    return price


def _retry_after(response: httpx.Response) -> float:
    """Return the seconds of the header; 0 without it, or if it is a date."""
    try:
        return max(0.0, float(response.headers.get("Retry-After", 0)))
    except ValueError:
        return 0.0
