"""Parameters of functions: members of `**params: Unpack[Shape]`, described, and former names.

For `help` and completion in a kernel; a type checker reads the shape itself. Docstrings have the
format of numpydoc, with an entry for each parameter in the section `Parameters`.
"""

from __future__ import annotations

import inspect
import re
import textwrap
import typing
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import MISSING, fields
from functools import cache, wraps
from inspect import Parameter
from typing import Any, NamedTuple, cast, get_args

import msgspec

from svc_notebook.core.api import parameters
from svc_notebook.core.api.validation import hints, type_name
from svc_notebook.errors import BadInput

_SECTION = re.compile(r"^(?P<title>[A-Z][\w ]+)\n-{3,}$", re.M)
_HEAD = re.compile(r"^(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : (?P<type>.*))?$", re.M)
PARAMETERS, RETURNS, RAISES = "Parameters", "Returns", "Raises"
# The order of sections is that of numpydoc.
SECTIONS = (PARAMETERS, RETURNS, "Yields", RAISES, "Warns", "See Also", "Notes", "Examples")
LINE_WIDTH = 96
ROWS_SHAPE = "RowOptions"
_SPELLED, _WRITTEN_DOC = "__spelled_out__", "__written_doc__"

ABOVE_COROUTINE, ABOVE_BLOCKING = 3, 4  # frames from the warning to the caller

KEY_MEMBERS = {
    "acl": "rights of the key, such as `search` or `addObject`",
    "description": "purpose of the key",
    "indexes": "only these indices; `*` at the start or the end matches anything",
    "maxHitsPerQuery": "maximum number of hits of one query",
    "maxQueriesPerIPPerHour": "maximum queries per IP address and hour",
    "queryParameters": "search parameters forced on every query, URL-encoded",
    "referers": "only requests from these referers; `*` at the start or the end matches anything",
    "validity": "seconds until the key expires, or a duration such as `24h` or `7d`",
    "validUntil": "Unix time at which the key expires",
    "restrictIndices": "only these indices",
    "restrictSources": "only requests from this network",
}
ROW_MEMBERS = {
    "id": "column of the objectIDs, several columns whose values are joined by `-`, or a template "
    "such as `{brand}-{sku}`; by default detected, or derived from the content of the row",
    "columns": "send only these columns",
    "rename": "new names of columns, which all other options use; in a command line, as old=new "
    "or as JSON",
    "computed": "columns made of others, by templates such as `{title} {size}`; in a command line, "
    "as name=TEMPLATE or as JSON",
    "dtype": "type by column: string, integer, number, boolean, date, timestamp, epoch, epoch_ms, "
    "json, list (texts such as `a|b`) or levels (`A > B` as lvl0, lvl1), also by the names of "
    "pandas and SQL; in a command line, as price=number or as JSON",
    "list_separator": "separator of the texts that `dtype` makes lists or levels; a dict sets it "
    "per column; detected by default",
    "geo": "columns of latitudes and longitudes, which are sent as `_geoloc`",
    "split": "column of long texts that become several records, with the maximum size of a part in "
    "characters; parts end with sentences if possible, and have ids such as `7#1`; in a command "
    "line, as text=2000 or as JSON",
    "distinct": "attribute that all parts of a text share, `document_id` by default; the setting "
    "`attributeForDistinct` shows one hit of them",
    "nulls": "what to do with missing values: omit the attribute, send null, or reject the row; "
    "a dict sets one of these per column",
    "timezone": "time zone of times that have none",
    "duplicates": "what to do with rows that have the same objectID: reject all but the first, "
    "send the last, keep all in their order, or fail with an error",
    "action": "replace whole records, update the attributes of rows, update only those of existing "
    "records, or delete",
    "operations": "operation by column with an update: Increment, Decrement, Add, AddUnique, "
    "Remove, IncrementFrom or IncrementSet; in a command line, as stock=Increment or as JSON",
    "nest": "build nested objects from columns such as `a.b`",
    "replace_records": "whether rows may delete attributes of existing records that they do not "
    "have; without it, such a load is refused",
    "limit": "maximum number of rows to send, from the first one",
    "record_bytes": "maximum size of a record, in bytes",
    "batch": "number of records in one batch",
    "batch_bytes": "maximum size of a batch, in bytes, up to 8,000,000",
    "separator": "character between the columns of a CSV; detected by default",
    "quote": "character around the values of a CSV; detected by default",
    "header": "whether the first line of a CSV names its columns; detected by default",
    "header_rows": "number of rows of the header of a CSV, whose names are joined; detected by "
    "default",
    "strict": "reject rows of a CSV with another number of cells than the header, or with "
    "misplaced quotes",
    "skip": "number of lines before the table of a CSV; detected by default",
    "comment": "character that begins lines of a CSV to skip; `#` is detected",
    "encoding": "encoding of the file; detected by default",
    "decimal": "separator of decimals in columns of text, `.` or `,`; detected by default",
    "thousands": "separator of thousands in columns of text: `.`, `,`, a blank or an apostrophe; "
    "detected by default",
    "dates": "order of day, month and year in columns of text with dates: dmy, mdy or ymd; the "
    "columns are sent as YYYY-MM-DD, otherwise as they are written",
    "path": "the records inside a JSON or XML file, for example `data.items`",
    "sheet": "the sheet of a workbook or table of a database; by default the first with rows",
}
LOG_MEMBERS = {
    "offset": "number of the newest requests to skip",
    "indexName": "only requests to this index",
    "type": "only requests of this type",
}
CONNECTION_MEMBERS = {
    "url": "address of a service",
    "app_id": "application id",
    "api_key": "API key; if omitted, a prompt requests it, and the history does not contain it",
    "vendor": "vendor whose header names are used",
    "domain": "the vendor's domain, from which host names are derived",
    "fallback_domain": "domain of the hosts that are tried after those of `domain`",
    "hosts": "host names, instead of those derived from `domain`",
    "region": "region of the hosts that receive events, such as us or de; all regions by default",
    "crawler_user_id": "user id for the crawler's API",
    "crawler_api_key": "key for the crawler's API",
    "allow_http": "permit that a key is sent without encryption to another computer",
    "connect_timeout": "seconds to wait for a connection, 2 by default",
    "read_timeout": "seconds to wait for the response of a read, 5 by default",
    "write_timeout": "seconds to wait for the response of a write, 30 by default",
}
OTHER_MEMBERS = {
    "forwardToReplicas": "apply the change to the replicas of the index too",
    "client": "client to use, by default the current client",
    "progress": "draw a progress bar; None draws one in notebooks and terminals",
}
_OF_SHAPE = {"LogOptions": LOG_MEMBERS, "RowOptions": ROW_MEMBERS}
_DESCRIPTIONS = KEY_MEMBERS | CONNECTION_MEMBERS | OTHER_MEMBERS


def spell_out(function: Callable[..., Any]) -> None:
    """List what a function takes by name, with type, default and description."""
    if vars(function).get(_SPELLED):
        return
    # Another thread can run this at the same time. Both read the docstring as it is written, which
    # is kept, and the signature once, which has the members as soon as one of them has set it. The
    # signature is set last, so that it is never new beside an old docstring.
    doc = inspect.cleandoc(vars(function).setdefault(_WRITTEN_DOC, function.__doc__) or "")
    signature = inspect.signature(function)
    for parameter in signature.parameters.values():
        if parameter.kind is Parameter.VAR_KEYWORD and (shape := shape_of(function, parameter)):
            _spell_members(function, doc, signature, parameter, shape)
    function.__dict__[_SPELLED] = True


def _spell_members(
    function: Callable[..., Any],
    doc: str,
    signature: inspect.Signature,
    spread: Parameter,
    shape: Any,
) -> None:
    """List the members of a shape instead of the parameter `**spread`."""
    named = [p for p in signature.parameters.values() if p.name != spread.name]
    names = _member_names(shape, {parameter.name for parameter in named})
    more = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in names]
    entries = _describe_members(shape, names)
    described = spread.name in read_entries(doc)
    function.__doc__ = (
        replace_entry(doc, spread.name, entries) if described else add_entries(doc, entries)
    )
    function.__signature__ = signature.replace(parameters=[*named, *more])  # type: ignore[attr-defined]


def _member_names(shape: Any, taken: set[str]) -> tuple[str, ...]:
    """Return the members of a TypedDict that can be parameters, besides those taken."""
    return tuple(name for name in hints(shape) if name.isidentifier() and name not in taken)


def shape_of(function: Callable[..., Any], spread: Parameter) -> Any:
    """Return the TypedDict of `**params: Unpack[Shape]`; None for other annotations."""
    kind = spread.annotation
    if isinstance(kind, str):
        kind = eval(kind, inspect.unwrap(function).__globals__)  # our own annotation, postponed
    shape = next(iter(get_args(kind)), None)
    return shape if typing.is_typeddict(shape) else None


@cache
def _describe_members(shape: Any, names: tuple[str, ...]) -> str:
    return "\n".join(line for name in names for line in _lines(shape, name, hints(shape)[name]))


def _lines(shape: Any, name: str, kind: Any) -> Iterator[str]:
    default, text = describe_default(shape, name), describe_member(name, shape)
    yield f"{name} : {_type(kind)}{f', default {default}' if default else ''}"
    if text:
        yield from textwrap.wrap(text, LINE_WIDTH, initial_indent="    ", subsequent_indent="    ")


def _type(kind: Any) -> str:
    try:
        return type_name(kind)
    except (TypeError, IndexError):
        return str(kind)


def describe_default(shape: Any, name: str) -> str:
    """Return the default of a member of a shape as text, empty if there is none."""
    if shape.__name__ == ROWS_SHAPE:
        return _row_defaults().get(name, "")
    parameter = parameters.PARAMETERS.get(name)
    if parameter is None or parameter.default is None or shape.__name__ == "LogOptions":
        return ""
    return msgspec.json.encode(parameter.default).decode()


@cache
def _row_defaults() -> dict[str, str]:
    from svc_notebook.data.loading.options import LoadSettings  # it imports pandas

    return {
        field.name: repr(field.default)
        for field in fields(LoadSettings)
        if field.default is not MISSING and field.default is not None
    }


def accept_former_names(
    function: Callable[..., Awaitable[Any]], renamed: Mapping[str, str]
) -> Callable[..., Awaitable[Any]]:
    """Return a coroutine function that accepts former names of its parameters."""

    @wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        return await function(*args, **present_names(kwargs, renamed, ABOVE_COROUTINE))

    return cast(Callable[..., Awaitable[Any]], call)


def present_names(given: dict[str, Any], renamed: Mapping[str, str], frames: int) -> dict[str, Any]:
    """Return arguments by their present names; raise `BadInput` for one given by both names."""
    for old in renamed.keys() & given.keys():
        new = renamed[old]
        if new in given:
            raise BadInput(f"`{old}` is the former name of `{new}`; give one of them")
        message = f"the parameter `{old}` is now called `{new}`"
        warnings.warn(message, DeprecationWarning, stacklevel=frames)
        given = {**{name: value for name, value in given.items() if name != old}, new: given[old]}
    return given


def describe_member(name: str, shape: Any = None) -> str:
    """Return the description of a member of a shape, empty if there is none."""
    members = _OF_SHAPE.get(getattr(shape, "__name__", ""), {})
    if name in members:
        return members[name]
    parameter = parameters.PARAMETERS.get(name)
    return parameter.meaning if parameter else _DESCRIPTIONS.get(name, "")


class ParameterEntry(NamedTuple):
    """A parameter as a docstring describes it; `start` and `end` are its place in the text."""

    name: str
    type: str
    text: str
    start: int
    end: int


def summary(doc: str) -> str:
    """Return the first paragraph in one line, without the final period."""
    return " ".join(doc.strip().split("\n\n")[0].split()).removesuffix(".")


def read_entries(doc: str) -> dict[str, ParameterEntry]:
    """Return the parameters that a docstring describes, by name."""
    start, end = find_section(doc, PARAMETERS)
    heads = list(_HEAD.finditer(doc, start, end))
    ends = [*(head.start() for head in heads), end][1:]
    return {
        entry.name: entry
        for head, stop in zip(heads, ends, strict=True)
        for entry in _entries(head, doc[head.end() : stop], stop)
    }


def _entries(head: re.Match[str], body: str, stop: int) -> Iterator[ParameterEntry]:
    text = " ".join(body.split())
    for name in head["names"].split(", "):
        yield ParameterEntry(name.lstrip("*"), head["type"] or "", text, head.start(), stop)


def find_section(doc: str, title: str) -> tuple[int, int]:
    """Return where the content of a section begins and ends; an empty range without one."""
    sections = list(_SECTION.finditer(doc))
    for number, section in enumerate(sections):
        if section["title"] == title:
            following = sections[number + 1].start() if number + 1 < len(sections) else len(doc)
            return section.end() + 1, following
    return 0, 0


def replace_entry(doc: str, name: str, text: str) -> str:
    """Replace the entry of a parameter; add it if there is none.

    An empty text removes the entry.
    """
    entry = read_entries(doc).get(name)
    if entry is None:
        return add_entries(doc, text)
    if not text:
        return doc[: entry.start] + doc[entry.end :]
    gap = "\n\n" if doc[: entry.end].endswith("\n\n") else "\n"
    return f"{doc[: entry.start]}{text}{gap}{doc[entry.end :]}".rstrip("\n")


def add_entries(doc: str, text: str) -> str:
    """Add entries to the end of the section `Parameters`; make the section if there is none."""
    return insert_section(doc, PARAMETERS, text)


def insert_section(doc: str, title: str, text: str) -> str:
    """Add text to the end of a section; make the section, in its order, if there is none."""
    _, end = find_section(doc, title)
    if end:
        before, after = doc[:end].rstrip("\n"), doc[end:]
        return f"{before}\n{text}" + (f"\n\n{after}" if after else "")
    later_titles = SECTIONS[SECTIONS.index(title) + 1 :]
    later = [s.start() for s in _SECTION.finditer(doc) if s["title"] in later_titles]
    start = min(later, default=len(doc))
    before, after = doc[:start].rstrip("\n"), doc[start:]
    section = f"{title}\n{'-' * len(title)}\n{text}"
    return f"{before}\n\n{section}" + (f"\n\n{after}" if after else "")
