"""Validate the parts of a rule against each other, beyond their declared types."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from svc_notebook.core.api.validation import MemberCheck, Part, place
from svc_notebook.errors import BadInput

# Maximum bytes of a rule's userData (api-notes, section 9).
MAX_USER_DATA_BYTES = 1024
_CONTEXT = re.compile(r"[A-Za-z0-9_-]*")


_TOGETHER = "is missing; pattern and anchoring are required together"
CONDITION = (
    MemberCheck("anchoring", lambda c: "pattern" in c and "anchoring" not in c, _TOGETHER),
    MemberCheck("pattern", lambda c: "anchoring" in c and "pattern" not in c, _TOGETHER),
    MemberCheck(
        "pattern",
        lambda c: c.get("pattern") == "" and c["anchoring"] != "is",
        "is empty, which is allowed only with the anchoring `is`",
    ),
    MemberCheck(
        "context",
        lambda c: not _CONTEXT.fullmatch(c.get("context") or ""),
        "may contain only letters, digits, _ and -",
    ),
    MemberCheck(
        "",
        lambda c: not {"pattern", "context", "filters"} & c.keys(),
        "needs a pattern, a context or filters",
    ),
)
CONSEQUENCE = (
    MemberCheck(
        "userData",
        lambda c: len(msgspec.json.encode(c.get("userData"))) > MAX_USER_DATA_BYTES,
        f"is larger than {MAX_USER_DATA_BYTES} bytes",
    ),
)
PROMOTED = (
    MemberCheck(
        "", lambda p: ("objectID" in p) == ("objectIDs" in p), "needs an objectID or objectIDs"
    ),
)
EDIT = (
    MemberCheck(
        "insert",
        lambda e: e["type"] == "replace" and "insert" not in e,
        "is missing; it is required in a replace",
    ),
)
SPAN = (MemberCheck("", lambda s: operator.gt(*read_span(s)), "ends before it begins"),)


def read_span(span: Part) -> tuple[float, float]:
    """Return start and end (exclusive) of a time range.

    Both are Unix times in seconds, and infinite if the range is open. A range that starts and ends
    at the same moment is empty: the public specification allows it, and the rule never applies.
    """
    return span.get("from", -math.inf), span.get("until", math.inf)


def check_parts(rule: Part, at: str = "") -> None:
    """Raise `BadInput` for inconsistent parts of a rule; `at` is the prefix of their positions."""
    for where, part, checks in _parts(rule):
        for member, is_wrong, text in checks:
            if is_wrong(part):
                wrong = place(where, member) if member else where
                raise BadInput(f"`{place(at, wrong)}` {text}")


def _parts(rule: Part) -> Iterator[tuple[str, Part, Iterable[MemberCheck]]]:
    consequence = rule["consequence"]
    query = (consequence.get("params") or {}).get("query")
    edits = query.get("edits") if isinstance(query, Mapping) else ()
    yield from _each("conditions", rule.get("conditions"), CONDITION)
    yield "consequence", consequence, CONSEQUENCE
    yield from _each("consequence.promote", consequence.get("promote"), PROMOTED)
    yield from _each("consequence.params.query.edits", edits, EDIT)
    yield from _each("validity", rule.get("validity"), SPAN)


def _each(
    where: str, parts: Iterable[Part] | None, checks: Iterable[MemberCheck]
) -> Iterator[tuple[str, Part, Iterable[MemberCheck]]]:
    for number, part in enumerate(parts or ()):
        yield f"{where}[{number}]", part, checks
