"""The decorators that declare public functions and verbs, where the functions are defined.

Everything else is derived from a declaration: the blocking variant, `svc.NAME` and `svc.aio.NAME`,
the verb with its options, help, completion and the pages of the documentation.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, cast

from svc_notebook.data.declarations.arguments import check_arguments
from svc_notebook.data.declarations.signatures import (
    PARAMETERS,
    RAISES,
    RETURNS,
    accept_former_names,
    find_section,
    insert_section,
    read_entries,
    shape_of,
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
    "gains": SharedEntry(
        "gains : dict of float, default None",
        "Gain of each rating; None uses the rating itself. Gains of several raters are\n"
        "    averaged.",
        None,
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
    "metric": SharedEntry("metric : str, default the first", "Name of the metric.", None),
    "note": SharedEntry('note : str, default ""', "Note in the journal.", ""),
    "object_id": SharedEntry("object_id : str or int", "objectID of the record."),
    "query": SharedEntry('query : str, default ""', 'Query; "" matches every record.', ""),
    "relevant": SharedEntry(
        "relevant : float, default 1", "Minimum gain of a relevant record.", 1.0
    ),
    "reveal": SharedEntry(
        "reveal : bool, default False", "Return the key as text instead of masked.", False
    ),
    "seed": SharedEntry("seed : int, default 0", "Seed of the random numbers.", 0),
    "unjudged": SharedEntry(
        "unjudged : {'zero', 'skip', 'bound'}, default 'zero'",
        "Treatment of hits without a judgment: no gain, left out, or both bounds of the\n"
        "    score.",
        "zero",
    ),
    "since": SharedEntry(
        "since : str or datetime, default seven days before `until`",
        "First day, in UTC: a date, `today`, `yesterday` or an age such as `30d`.",
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
    "BadRecord": "If a judgment is not valid.",
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


if TYPE_CHECKING:
    from svc_notebook.data.client import Client

F = TypeVar("F", bound=Callable[..., Any])
Face = Literal["magic", "command"]
BOTH: tuple[Face, ...] = ("magic", "command")
Spares = Callable[[Mapping[str, Any]], bool]
Settles = Callable[[Mapping[str, Any], "Client"], tuple[str, dict[str, Any]]]
_ATTRIBUTE = "__declaration__"


@dataclass(frozen=True)
class BodyDocument:
    """The content of a body other than options: objects of a shape, for one argument.

    With `script`, the function also takes JavaScript, as text.
    """

    argument: str
    shape: Any
    many: bool = True
    script: bool = False


@dataclass(frozen=True)
class VerbDeclaration:
    """A verb of `%svc` and `svc` that calls a function.

    The parameters of the function are the options of the verb: positional parameters are operands,
    keyword-only ones are `--name` options. Types come from the annotations, descriptions from the
    docstring, and the summary from its first line.

    - `operands`: the positional parameters, in order, where they differ from the function's.
    - `options`: the only keyword-only parameters that are options; `without`: those that are not.
    - `names`: the word for a parameter where it is not the parameter's name.
    - `help`, `types`, `completes`: by parameter, where they cannot be derived.
    - `rest`: the operand that takes all remaining words; by default the last one, if it is a list
      or the query.
    - `variable`: the argument that `--from VARIABLE` sets in a notebook.
    - `spread`: the TypedDict whose members are options and members of a body.
    - `document`: the objects that a body contains, if it does not contain options.
    - `fixed`: arguments that every call has; `result`: what converts the result of the
      function to that of the verb.
    - `lists`: whether the word `list` may follow the name.
    - `destructive`: what the verb does, for the confirmation; `{name}` is replaced by an argument.
      `spares` returns whether these arguments need no confirmation, and `settles` the description
      that only the client can give, with arguments that bind the call to it. `writes_to` is the
      argument with the profile that the verb writes to, if it is not the client's.
    - `checks`: returns whether these arguments ask for a verdict. The command then has the exit
      status 0 or 1 for the outcome, and 2 for every failure.
    """

    name: str
    examples: tuple[str, ...]
    summary: str = ""
    operands: tuple[str, ...] | None = None
    options: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    help: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, Any] = field(default_factory=dict)
    completes: Mapping[str, str | None] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    rest: str | None = None
    variable: str | None = None
    spread: Any = None
    body: str = ""
    document: BodyDocument | None = None
    faces: tuple[Face, ...] = BOTH
    profile: bool = True
    format: bool = True
    lists: bool = False
    fixed: Mapping[str, Any] = field(default_factory=dict)
    result: Callable[[Any], Any] | None = None
    destructive: str = ""
    spares: Spares | None = None
    checks: Spares | None = None
    settles: Settles | None = None
    writes_to: str = ""


def verb(name: str, *examples: str, **facts: Any) -> VerbDeclaration:
    """Declare a verb by its name and the lines that are its examples."""
    return VerbDeclaration(name, examples, **facts)


@dataclass(frozen=True)
class AccessorMethod:
    """A method of `df.svc`, `series.svc` or `ddf.svc` that calls a function with the data.

    - `path`: its name, such as `df.svc.push`.
    - `data`: the parameter that gets the data; none if it is empty.
    - `index`: the parameter that defaults to the index that is attached to the data.
    - `column`: the column of the data to pass, by default; the method then has a parameter `id`.
    - `convert`: what converts the data for the function.
    """

    path: str
    data: str = ""
    index: str = ""
    column: str = ""
    convert: Callable[[Any], Any] | None = None


def accessor(path: str, data: str = "", **facts: Any) -> AccessorMethod:
    """Declare the accessor method that passes the data to a parameter of a function."""
    return AccessorMethod(path, data, **facts)


@dataclass(frozen=True)
class Declaration:
    """The declaration of one function; `name` is empty if only verbs or accessors call it.

    - `endpoints`: the endpoints of the API that the function calls, the main one first.
    - `replaces`: endpoints that only `svc.call` calls, each with the expression that does the same.
    - `accessors`: the accessor methods that call it.
    - `stream`: the parameter that can be a stream of records.
    - `bar`: the unit that its progress bar counts; `label` is the bar's text, or the parameter
      whose value it is.
    - `described_by`: the path of the function that has the signature and the docstring, if it
      cannot be imported with this module.
    - `awaited`: whether it is offered in `aio` alone, as an asynchronous context manager.
    - `renamed`: former names of parameters, which are accepted with a `DeprecationWarning`.
    """

    function: Callable[..., Any]
    signature: inspect.Signature
    name: str = ""
    endpoints: tuple[str, ...] = ()
    replaces: Mapping[str, str] = field(default_factory=dict)
    accessors: tuple[AccessorMethod, ...] = ()
    verbs: tuple[VerbDeclaration, ...] = ()
    stream: str = ""
    bar: str = ""
    label: str = "index"
    described_by: str = ""
    awaited: bool = False
    renamed: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_async(self) -> bool:
        """Whether the function is a coroutine function, which has a blocking variant."""
        return inspect.iscoroutinefunction(self.function)


def public(*verbs: VerbDeclaration, name: str = "", **facts: Any) -> Callable[[F], F]:
    """Declare a function of `svc`, under its own name unless `name` is given, and its verbs."""

    def declare(function: F) -> F:
        return _declare(function, name=name or function.__name__, verbs=verbs, **facts)

    return declare


def verb_only(*verbs: VerbDeclaration, **facts: Any) -> Callable[[F], F]:
    """Declare a function that only verbs call."""

    def declare(function: F) -> F:
        return _declare(function, verbs=verbs, **facts)

    return declare


def described(like: str | None = None) -> Callable[[F], F]:
    """Complete the docstring of a function that is offered where it is defined."""

    def complete_docstring(function: F) -> F:
        signature = inspect.signature(function)
        function.__doc__ = complete(function.__doc__ or "", signature, calls=False, like=like)
        return function

    return complete_docstring


def accessor_only(*accessors: AccessorMethod, **facts: Any) -> Callable[[F], F]:
    """Declare a function that only accessors call."""

    def declare(function: F) -> F:
        return _declare(function, accessors=accessors, **facts)

    return declare


def _declare(function: F, *, like: str | None = None, **facts: Any) -> F:
    """Declare a function; `like` is a docstring with the entries that its docstring lacks."""
    declared = Declaration(function, _spell_shared(function), **facts)
    calls = declared.is_async and "client" in declared.signature.parameters
    function.__doc__ = complete(
        function.__doc__ or "", declared.signature, calls=calls, unit=declared.bar, like=like
    )
    offered: Any = function
    if not declared.awaited:
        offered = check_arguments(function, advises=calls)
    if declared.renamed:
        offered = accept_former_names(offered, declared.renamed)
    setattr(offered, _ATTRIBUTE, declared)
    return cast(F, offered)


def _spell_shared(function: Callable[..., Any]) -> Signature:
    """Return a function's signature, with members of `**options` as parameters like the others.

    These are the members of an `Unpack[Shape]` that all have shared entries, which describe them
    and have their defaults. Members of other shapes are spelled out when `help` needs them.
    """
    signature = inspect.signature(function)
    parameters = [*signature.parameters.values()]
    shapes = [shape_of(function, p) for p in parameters if p.kind is Parameter.VAR_KEYWORD]
    kinds = getattr(shapes[0], "__annotations__", {}) if shapes else {}
    if not kinds or kinds.keys() - ENTRIES.keys():
        return signature
    annotations = {name: kind.__forward_arg__ for name, kind in kinds.items()}
    function.__annotations__ |= annotations
    placed = [p for p in parameters if p.kind is not Parameter.KEYWORD_ONLY][:-1]
    named = [p for p in parameters if p.kind is Parameter.KEYWORD_ONLY]
    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=ENTRIES[name].default, annotation=kind)
        for name, kind in annotations.items()
    ]
    # The client and what follows it come last, as in every function.
    end = [*annotations].index("client") if "client" in annotations else len(options)
    spelled = signature.replace(parameters=[*placed, *options[:end], *named, *options[end:]])
    function.__signature__ = spelled  # type: ignore[attr-defined]
    return spelled


def declaration_of(function: Callable[..., Any]) -> Declaration | None:
    """Return the declaration of a function, if it has one."""
    declared: Declaration | None = getattr(function, "__dict__", {}).get(_ATTRIBUTE)
    return declared
