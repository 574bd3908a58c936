"""What takes one text or several takes a plain str for one, and never for its letters.

The functions are found by their signatures, so that a new one is held to it by itself. An argument
that none of the functions here has needs a value in `GIVEN`.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
import pandas as pd
import pytest

import svc_notebook as svc
import svc_notebook.faces.editors.functions  # the classes, too
from svc_notebook import tuning
from svc_notebook.core.api.parameters import PARAMETERS, SearchParams, Settings
from svc_notebook.core.api.secured_keys import Restrictions
from svc_notebook.core.api.shapes import KeyFields
from svc_notebook.core.api.validation import check_members, hints
from svc_notebook.core.api.values import list_texts
from svc_notebook.data.client import Client, ClientConfig, Secret
from svc_notebook.data.client.transport.sender import HttpSender
from svc_notebook.data.loading.options import RowOptions
from svc_notebook.errors import BadInput, SvcError
from svc_notebook.faces import accessors, editors
from svc_notebook.faces.editors.base import Editor
from svc_notebook.faces.editors.rpc import wait_for
from tests.conftest import Running, set_current

# Letters that nothing else here has: wherever one stands alone, the text was split.
TEXT = "ξψω θφ"
LETTER = re.compile(r"(?<!\w)[ξψωθφ](?!\w)")
SEVERAL = re.compile(
    r"\b(OneOrMany|Queries|Tasks)\b"
    r"|\b(Iterable|Sequence|Collection|Container|Set|list|tuple|set|frozenset)"
    r"\[(str|Any|Hashable|Include|Scope|float)\b"
)
NAMES = {
    "attributes", "columns", "crawlers", "facets", "ids", "indices", "metrics", "names",
    "queries", "tags", "urls", "users", "values", "words",
}  # fmt: skip
LOCAL = {"local"}  # starts a process; see the tests of the local service


class Taker(NamedTuple):
    """A function, and the argument of it that takes one or several."""

    name: str
    function: Callable[..., Any]
    argument: str


def find_takers() -> Iterator[Taker]:
    for name, function in public_functions():
        code = inspect.unwrap(function).__code__
        own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        for parameter in inspect.signature(inspect.unwrap(function)).parameters.values():
            if parameter.name in PARAMETERS and parameter.name not in own:
                continue  # `**params` takes it: checked by its declared type
            written = str(parameter.annotation)
            wide = SEVERAL.search(written) or (
                parameter.name in NAMES and "Mapping[" not in written
            )
            if wide and parameter.kind is not parameter.VAR_KEYWORD:
                yield Taker(name, function, parameter.name)


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for where, module in (("svc", svc), ("svc.tuning", tuning), ("svc.edit", editors)):
        for name in dir(module):
            found = getattr(module, name)
            if name[0] != "_" and inspect.isfunction(found) and name not in LOCAL:
                yield f"{where}.{name}", found
    owners: dict[str, type] = {
        "df.svc": accessors.FrameAccessor, "series.svc": accessors.SeriesAccessor,
        "scratch": tuning.Scratch, "client": Client,
        **{one.__name__: one for one in every_editor()},
    }  # fmt: skip
    for where, owner in owners.items():
        for name, written in inspect.getmembers_static(owner):
            member = getattr(owner, name) if isinstance(written, accessors.LazyMethod) else written
            if (
                name[0] != "_"
                and inspect.isfunction(member)
                and member.__module__.startswith("svc_notebook")
            ):
                yield f"{where}.{name}", member


def every_editor(of: type = Editor) -> Iterator[type]:
    """The editors themselves, without what they share."""
    below: list[type] = type.__subclasses__(of)
    own = [one for one in below if one.__module__.startswith("svc_notebook")]
    for one in own:
        yield from every_editor(one)
    if not own:
        yield of


TAKERS = list(find_takers())


class Noting(HttpSender):
    """A sender that keeps what it sends."""

    sent: list[Any]

    async def send(self, endpoint: Any, parcel: Any) -> Any:
        self.sent.append((parcel.path, parcel.query, parcel.body))
        return await super().send(endpoint, parcel)


class Place(NamedTuple):
    """An index and a crawler to call functions on, and the client that notes what is sent."""

    name: str
    client: Client
    sent: list[Any]


@pytest.fixture
def place(service: Running) -> Iterator[Place]:
    connection = ClientConfig(
        url=service.url, app_id=service.appId, api_key=Secret(service.adminKey),
        crawler_user_id=service.crawlerUserId, crawler_api_key=Secret(service.crawlerApiKey),
    )  # fmt: skip
    sender = Noting(connection)
    sender.sent = []
    index = f"one-{uuid4().hex[:8]}"
    with Client(connection, sender) as client:
        set_current(client)
        client.replace_all(index, [{"objectID": "1", "name": "Jaws", "brand": "A"}])
        client.wait(client.set_settings(index, {"attributesForFaceting": ["brand"]}), index=index)
        yield Place(index, client, sender.sent)


def given(place: Place, folder: Path) -> dict[str, Any]:
    """Values for the arguments that a call cannot do without."""
    frame = pd.DataFrame({"objectID": ["1"], "name": ["Jaws"]})
    judged = pd.DataFrame({"query": ["jaws"], "objectID": ["1"], "rating": [1]})
    runs = judged.assign(run="a", rank=1)
    return {
        "index": place.name, "facet": "name", "destination": f"{place.name}-2",
        "dictionary": "stopwords", "endpoint": "list_indices", "crawler": "none",
        "cluster": "c1", "path": folder / "out.csv", "by": "brand", "df": frame, "n": 1,
        "judgments": judged, "runs": runs, "a": runs, "b": runs,
        "scores": tuning.evaluate(runs, judged),
        "ids": ["1"], "change": {"settings": {"hitsPerPage": 3}},
        "changes": {"settings": {"hitsPerPage": 3}}, "space": {"ignorePlurals": [False, True]},
        "queries": ["jaws"], "frame": frame, "source": frame,
        "file": folder / "t.csv", "shown": frame, "run": runs, "pairs": judged,
        "judge": lambda pairs: [1] * len(pairs),
        "from_": "none", "to": "none", "folder": folder, "sources": [place.name],
        "params": {}, "at": None, "step": "search", "words": [],
    }  # fmt: skip


def owner_of(taker: Taker, place: Place, stack: contextlib.ExitStack) -> list[Any]:
    """What a method is called on; nothing for a function."""
    where = taker.name.split(".")[0]
    frame: Any = pd.DataFrame({"objectID": ["1"], "id": ["none"]})
    if where == "svc":
        return []
    if where == "df":
        return [frame.svc]
    if where == "series":
        return [frame["objectID"].svc]
    if where == "client":
        return [place.client]
    if where == "scratch":
        return [stack.enter_context(tuning.scratch(place.name))]
    openers: dict[str, Callable[..., Any]] = {
        "RuleEditor": editors.rules, "SynonymEditor": editors.synonyms,
        "SettingsEditor": editors.settings, "QueryEditor": editors.query,
        "JudgmentEditor": editors.judgments, "AnalyticsPanel": editors.analytics,
    }  # fmt: skip
    return [openers[where](place.name)]


@pytest.mark.sampled(12)
@pytest.mark.filterwarnings("ignore:.* no row in:UserWarning")  # the text is a query of no run
@pytest.mark.parametrize("taker", TAKERS, ids=lambda one: f"{one.name}({one.argument})")
def test_a_text_is_taken_for_one(taker: Taker, place: Place, tmp_path: Path) -> None:
    needed = [
        parameter.name
        for parameter in inspect.signature(inspect.unwrap(taker.function)).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    ]
    held = given(place, tmp_path)
    arguments = {name: held[name] for name in needed if name not in ("self", taker.argument)}

    with contextlib.ExitStack() as stack:
        owner = owner_of(taker, place, stack)
        place.sent.clear()
        told = call(taker, owner, arguments)

    assert not LETTER.search(f"{told} {place.sent}")


def call(taker: Taker, owner: list[Any], arguments: dict[str, Any]) -> str:
    """Call a function with a text; return all that it answers, or how it refuses."""
    kind = inspect.signature(inspect.unwrap(taker.function)).parameters[taker.argument].kind
    try:
        if kind is inspect.Parameter.VAR_POSITIONAL:
            answer = taker.function(*owner, *arguments.values(), TEXT)
        else:
            answer = taker.function(*owner, **arguments, **{taker.argument: TEXT})
        if inspect.iscoroutine(answer):
            answer = wait_for(answer)
        if isinstance(answer, types.GeneratorType):
            answer = list(answer)
    except SvcError as error:
        return f"{error}"
    if isinstance(answer, pd.DataFrame):
        return f"{answer.to_dict('records')} {answer.attrs}"
    state = {name: getattr(answer, name, "") for name in ("queries", "urls", "questions")}
    return f"{answer!r} {state}"


@pytest.mark.parametrize("shape", [SearchParams, Settings, KeyFields, Restrictions, RowOptions])
def test_a_member_that_is_a_list_takes_no_text_for_its_letters(shape: Any) -> None:
    lists = [
        name
        for name, kind in hints(shape).items()
        if re.search(r"\b(list|Sequence)\[", str(kind)) and not re.match(r"str \|", str(kind))
    ]

    plan: Any = svc.plan
    for name in lists:
        if shape is RowOptions:
            with pytest.raises(BadInput, match=r"must be (a list of names|two columns)"):
                plan(pd.DataFrame({"objectID": ["1"]}), "films", **{name: TEXT})
            continue
        told = ""
        try:
            assert check_members({name: TEXT}, shape, "")[name] == TEXT
        except BadInput as refusal:
            told = str(refusal)
        assert not told or "not text" in told or "is not one of" in told

    assert lists


def test_functions_are_found() -> None:
    found = {f"{taker.name}({taker.argument})" for taker in TAKERS}

    assert found >= {
        "svc.search_many(queries)", "svc.read_records(ids)", "svc.crawl_urls(urls)",
        "svc.dictionary_settings(off)", "svc.call(arguments)", "svc.tuning.run(queries)",
        "svc.tuning.evaluate(metrics)", "svc.edit.rules(queries)", "svc.edit.crawler(urls)",
        "RuleEditor.impact(queries)", "scratch.run(queries)", "df.svc.records(columns)",
    }  # fmt: skip


FORMS: dict[str, Callable[[list[str]], Any]] = {
    "list": list,
    "tuple": tuple,
    "Series": pd.Series,
    "Index": pd.Index,
    "array": np.array,
    "generator": lambda texts: (text for text in texts),
    "keys": lambda texts: dict.fromkeys(texts).keys(),
    "column": lambda texts: pd.DataFrame({"query": texts})["query"],
    "table": lambda texts: pd.DataFrame({"query": texts, "seen": 1}),
}
OPENED: dict[str, Callable[..., Any]] = {
    "settings": editors.settings, "synonyms": editors.synonyms, "rules": editors.rules,
    "judgments": editors.judgments,
}  # fmt: skip


@pytest.mark.sampled(quick=9)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("editor", OPENED)
def test_an_editor_takes_queries_in_every_form(place: Place, editor: str, form: str) -> None:
    opened = OPENED[editor](place.name, FORMS[form](["best comedy", "jaws"]))

    assert queries_of(opened) == ["best comedy", "jaws"]


@pytest.mark.parametrize("editor", OPENED)
def test_an_editor_takes_a_text_for_one_query(place: Place, editor: str) -> None:
    assert queries_of(OPENED[editor](place.name, "best comedy")) == ["best comedy"]


@pytest.mark.parametrize("editor", ["settings", "synonyms", "rules"])
def test_queries_of_an_open_editor_may_be_changed_alike(place: Place, editor: str) -> None:
    opened = OPENED[editor](place.name, ["jaws"])

    opened.queries = "best comedy"

    assert opened.queries == ["best comedy"]
    with pytest.raises(BadInput, match=r"entry 1 is (nan|None): drop missing values"):
        opened.queries = pd.Series(["jaws", None])


def test_the_query_editor_has_one_query_and_says_so(place: Place) -> None:
    assert editors.query(place.name, "best comedy").value == {"query": "best comedy"}
    with pytest.raises(BadInput, match="`query` must be text, not a list"):
        editors.query(place.name, ["best", "comedy"])  # type: ignore[arg-type]


@pytest.mark.parametrize("form", ["text", *FORMS])
def test_the_crawler_editor_takes_urls_in_every_form(place: Place, form: str) -> None:
    start, one = "https://shop.example/", "https://shop.example/lamp"
    config: Any = {
        "appId": place.client.connection.app_id, "rateLimit": 5,
        "startUrls": [start],
        "actions": [{
            "indexName": place.name, "pathsToMatch": ["https://shop.example/**"],
            "recordExtractor": {"__type": "function", "source": "() => []"},
        }],
    }  # fmt: skip
    name = f"shop-{uuid4().hex[:8]}"
    place.client.create_crawler(name, config)
    urls: Any = one if form == "text" else FORMS[form]([one])
    if form == "table":
        urls = urls.rename(columns={"query": "url"})

    opened = editors.crawler(name, urls)

    assert opened.urls == [one, start]


def queries_of(editor: Any) -> list[str]:
    listed = getattr(editor, "queries", None)
    return [one["query"] for one in editor.questions] if listed is None else listed


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([1, "b"], "entry 0 is 1: "),
        ({"a": 1}, r"a list of texts, not \{'a': 1\}"),
        (b"ab", "a list of texts, not b'ab'"),
        (np.array("ab"), "a list of texts, not array"),
        (7, "a list of texts, not 7"),
        (None, "a list of texts, not None"),
        (pd.DataFrame({"querry": ["a"]}), r"df\['query'\]; did you mean `querry`"),
    ],
)
def test_what_is_no_text_is_refused_with_advice(wrong: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        list_texts(wrong, "queries", column="query")
