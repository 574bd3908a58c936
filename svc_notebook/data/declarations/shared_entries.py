"""Entries of docstrings that many functions share; a declaration supplies those not written."""

from __future__ import annotations

import inspect
import re
from inspect import Parameter, Signature
from typing import NamedTuple

from svc_notebook.data.declarations.docstrings import (
    PARAMETERS,
    RAISES,
    RETURNS,
    find_section,
    insert_section,
    read_entries,
)


class SharedEntry(NamedTuple):
    """The entry of a parameter, for functions in which it has this default."""

    head: str
    text: str
    default: object = Parameter.empty


ENTRIES = {
    "axes": SharedEntry(
        "axes : Axes or sequence of Axes, default None",
        "Axes to draw into; None creates a figure.",
        None,
    ),
    "client": SharedEntry(
        "client : Client or AsyncClient, default the current client", "Client to use.", None
    ),
    "columns": SharedEntry(
        "columns : list of str, default all attributes", "Attributes to return.", None
    ),
    "crawler": SharedEntry("crawler : str", "Name or id of the crawler."),
    "dictionary": SharedEntry(
        "dictionary : {'stopwords', 'plurals', 'compounds'}", "Name of the dictionary."
    ),
    "dtype_backend": SharedEntry(
        "dtype_backend : {'numpy_nullable', 'pyarrow'}, default None",
        "Dtypes of the result, as in pandas; None selects the dtypes listed below.",
        None,
    ),
    "extra": SharedEntry(
        "extra : dict, default None",
        'Search parameters to send without validation, such as `{"newParameter": 1}`.',
        None,
    ),
    "flatten": SharedEntry(
        "flatten : bool, default False",
        "Give each member of an object its own column, such as `size.width`.",
        False,
    ),
    "forward": SharedEntry(
        "forward : bool, default False", "Make the same changes to the replicas.", False
    ),
    "height": SharedEntry(
        "height : int, default 560",
        "Height in pixels, at least 240; None is as high as the content.",
        560,
    ),
    "images": SharedEntry(
        "images : bool, default False", "Fetch pictures from other hosts.", False
    ),
    "index": SharedEntry("index : str", "Name of the index."),
    "judgments": SharedEntry(
        "judgments : DataFrame, list of dict or path",
        "Judgments with the columns `query`, `objectID` and `rating`, or a CSV or Parquet\n"
        "    file of them.",
    ),
    "k": SharedEntry("k : int, default 10", "Number of hits of each query.", 10),
    "limit": SharedEntry("limit : int, default 1000", "Maximum number of rows, up to 1,000.", 1000),
    "note": SharedEntry('note : str, default ""', "Note in the journal.", ""),
    "object_id": SharedEntry("object_id : str or int", "objectID of the record."),
    "query": SharedEntry('query : str, default ""', 'Query; "" matches every record.', ""),
    "reveal": SharedEntry(
        "reveal : bool, default False", "Return the key as text instead of masked.", False
    ),
    "unjudged": SharedEntry(
        "unjudged : {'zero', 'skip', 'bound'}, default 'zero'",
        "Treatment of hits without a judgment: no gain, left out, or both bounds of the\n"
        "    score.",
        "zero",
    ),
    "since": SharedEntry(
        "since : str or datetime, default seven days before `until`",
        "First day, in UTC, or age such as `30d`.",
        None,
    ),
    "tags": SharedEntry(
        "tags : str, default None",
        "Analytics tags of the searches that count, with AND and OR between them.",
        None,
    ),
    "undo_rows": SharedEntry(
        "undo_rows : int, default 100000",
        "Maximum number of records that the load may change to be undone by `undo_load`: their\n"
        "    previous versions are read before, and kept on this machine. 0 keeps nothing.",
        100_000,
    ),
    "until": SharedEntry(
        "until : str or datetime, default today", "Last day, in UTC, or age.", None
    ),
    "user": SharedEntry("user : str", "Id of the user."),
}
CALLBACK = "on_progress"
CALL_FAILED = "CallFailed"
# A name alone below `Raises` gets its text from here.
ERRORS = {
    CALL_FAILED: "If the service cannot be reached or refuses the call.",
    "NotFound": "If the index does not exist.",
    "TaskFailed": "If the service accepts the write but does not publish it within 600 seconds.",
}
_BARE_ERROR = re.compile(rf"^({'|'.join(ERRORS)})$(?!\n )", re.M)


def complete(
    doc: str, signature: Signature, *, calls: bool, unit: str = "", like: str | None = None
) -> str:
    """Return a docstring with the shared entries that it does not contain.

    `calls` says whether the function calls the service; `unit` is what its progress counts.
    `like` is a docstring with entries of parameters and sections that this one may lack.
    """
    doc, like = inspect.cleandoc(doc), inspect.cleandoc(like or "")
    for title in (RETURNS, RAISES):
        start, end = find_section(like, title)
        if end and not find_section(doc, title)[1]:
            doc = insert_section(doc, title, like[start:end].strip("\n"))
    start, end = find_section(doc, RAISES)
    raised = doc[start:end]
    if calls and not re.search(rf"^{CALL_FAILED}$", raised, re.M):
        doc = insert_section(doc, RAISES, CALL_FAILED)
        start, end = find_section(doc, RAISES)
    raised = _BARE_ERROR.sub(lambda match: f"{match[0]}\n    {ERRORS[match[0]]}", doc[start:end])
    return _complete_parameters(f"{doc[:start]}{raised}{doc[end:]}", signature, unit, like)


def _complete_parameters(doc: str, signature: Signature, unit: str, like: str) -> str:
    """Insert the entries of parameters before the entry of the next parameter."""
    written = read_entries(doc)
    templates = {
        name: like[entry.start : entry.end].rstrip("\n")
        for name, entry in read_entries(like).items()
    }
    following: int | None = None
    last: list[str] = []
    for parameter in reversed([*signature.parameters.values()]):
        if parameter.name in written:
            following = written[parameter.name].start
        elif entry := templates.get(parameter.name) or _entry(parameter, unit):
            if following is None:
                last.insert(0, entry)
            else:
                doc = f"{doc[:following]}{entry}\n{doc[following:]}"
    return insert_section(doc, PARAMETERS, "\n".join(last)) if last else doc


def _entry(parameter: Parameter, unit: str) -> str:
    if parameter.name == CALLBACK and unit:
        return (
            f"{CALLBACK} : callable, default None\n"
            f"    Function that is called with the number of {unit} done and their total number,\n"
            "    or None if it is not known."
        )
    shared = ENTRIES.get(parameter.name)
    if shared is None or shared.default != parameter.default:
        return ""
    return f"{shared.head}\n    {shared.text}"
