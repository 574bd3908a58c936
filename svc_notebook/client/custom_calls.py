"""Build calls to endpoints that the package does not declare."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, get_args
from urllib.parse import quote

from svc_notebook.api import Endpoint, RequestSpec
from svc_notebook.api.endpoint import Interface, Verb
from svc_notebook.api.validation import write_text
from svc_notebook.errors import BadInput, did_you_mean

# Characters of a path that are not encoded; a percent sign starts an encoded character.
PATH_SAFE = "/%~!$&'()*+,;=:@"
WITH_BODY = ("POST", "PUT", "PATCH")
_INDEX_PLACE = 3  # /1/indexes/NAME/...


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
        raise BadInput(f"a {method} has no body; give what it needs as `query`")
    if not isinstance(query, Mapping | None):
        raise BadInput("`query` is an object of names and values: query={'page': 2}")
    is_reading = method == "GET" if reads is None else reads
    encoded = _read_path(path)
    row: Any = Endpoint(
        name=f"custom {method} {encoded}", verb=method, path=_template(encoded), acl="any",  # type: ignore[arg-type]
        interface=interface, reads=is_reading, status=200,  # type: ignore[arg-type]
        # A POST that does not read creates something new, so it is not sent twice.
        repeatable=is_reading or method != "POST",
        doc="", signature=inspect.Signature(), types={},
    )  # fmt: skip
    texts = {name: write_text(value) for name, value in (query or {}).items() if value is not None}
    content = {} if body is None and method in WITH_BODY else body
    return row, RequestSpec(row.verb, encoded, texts, content)


def _check_word(name: str, word: object, known: tuple[str, ...]) -> None:
    if word not in known:
        advice = did_you_mean(word, known) if isinstance(word, str) else ""
        raise BadInput(f"`{name}` is one of {', '.join(known)}, not {word!r}{advice}")


def _read_path(path: object) -> str:
    """Percent-encode a path; a name that contains a slash must be encoded by the caller."""
    if not isinstance(path, str) or not path.strip("/"):
        raise BadInput("`path` is where the endpoint is, such as '/1/indexes/films/settings'")
    if "://" in path or "?" in path or "#" in path:
        raise BadInput(
            f"`{path}` should be a path alone: the host is the connection's, and parameters go "
            "into `query`"
        )
    try:
        return "/" + quote(path.removeprefix("/"), safe=PATH_SAFE)
    except UnicodeEncodeError:
        raise BadInput("`path` has half a character (a lone surrogate)") from None


def _template(path: str) -> str:
    """Replace the index in a path by a placeholder, by which the task history recognizes writes."""
    parts = path.replace("{", "%7B").replace("}", "%7D").split("/")
    if parts[1:_INDEX_PLACE] == ["1", "indexes"] and len(parts) > _INDEX_PLACE + 1:
        parts[_INDEX_PLACE] = "{index}"
    return "/".join(parts)
