"""Docstrings of everything public are complete, and their examples run."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, get_args

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.core.api.validation import hints
from svc_notebook.data.client.endpoint_client import EndpointClient
from svc_notebook.data.frames.schemas import SCHEMAS
from svc_notebook.data.loading import Export, LoadPlan, LoadResult
from svc_notebook.faces.accessors import FrameAccessor, SeriesAccessor
from svc_notebook.faces.dask_accessor import DaskAccessor
from svc_notebook.faces.functions.hit_renderer import ShownHits
from svc_notebook.tuning import Comparison, Scratch, Snapshot
from svc_notebook.tuning.deployment.clone import Clone
from svc_notebook.tuning.deployment.configuration_files import ConfigurationDrift
from svc_notebook.tuning.deployment.plan import Deployment, DeploymentPlan
from svc_notebook.tuning.diagnosis.result import RelevanceDiagnosis
from svc_notebook.tuning.evaluation.requirements import RelevanceVerdict
from svc_notebook.tuning.proposed_changes.change_impact import Impact
from svc_notebook.tuning.suggestions.custom_ranking_fit import CustomRankingFit
from svc_notebook.tuning.tables.schema import JUDGMENTS, QUERIES, RUNS
from svc_notebook.tuning.variants.result import Search
from tests.conftest import Running, set_current, start_service, stop_service
from tests.looping import loop_over
from tests.service.crawl.site import Site

Function = Callable[..., Any]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
TEMPLATE = "products-template"
SHOWN = ("display.width", 100, "display.max_columns", 20, "display.max_colwidth", 50)
TITLES = "({$}) => [{title: $('title').text()}]"
JUDGED = (
    "desk lamp", "mug", "wool blanket", "office chair", "frying pan", "rug", "kettle", "backpack",
)  # fmt: skip
CONFIGURATION: dict[str, Any] = {
    "settings": {
        "searchableAttributes": ["name", "description"],
        "attributesForFaceting": ["searchable(brand)", "category", "price"],
    },
    "synonyms": [{"objectID": "cups", "type": "synonym", "synonyms": ["mug", "cup"]}],
    "rules": [
        {
            "objectID": "lamps-on-sale",
            "conditions": [{"pattern": "lamp", "anchoring": "contains", "context": "sale"}],
            "consequence": {"params": {"filters": "category:Lighting"}},
        }
    ],
}
PROFILE = """\
[profiles.shop]
url = "{url}"
app_id = "{appId}"
"""


def functions_of(module: Any) -> dict[str, Function]:
    """Return the public functions that a module offers by its `__dir__`."""
    found = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    return {name: one for name, one in found.items() if inspect.isfunction(one)}


def methods_of(owner: type) -> dict[str, Function]:
    """Return the public methods that are written in a class, not those of endpoints."""
    found = {name: getattr(owner, name) for name in vars(owner) if not name.startswith("_")}
    return {name: one for name, one in found.items() if inspect.isfunction(one)}


FUNCTIONS: dict[str, Function] = {
    **{f"svc.{name}": one for name, one in functions_of(svc).items()},
    **{f"svc.tuning.{name}": one for name, one in functions_of(svc.tuning).items()},
    **{f"svc.tuning.clicks.{name}": one for name, one in functions_of(svc.tuning.clicks).items()},
    **{f"svc.edit.{name}": one for name, one in functions_of(svc.edit).items()},
    "svc.samples.products": svc.samples.products,
}
CLIENTS = (svc.Client, svc.AsyncClient, EndpointClient)
ACCESSORS = (FrameAccessor, SeriesAccessor, DaskAccessor)
METHODS: dict[str, Function] = {
    f"{owner.__name__}.{name}": one
    for owner in CLIENTS + ACCESSORS
    for name, one in methods_of(owner).items()
}
PUBLIC = {**FUNCTIONS, **METHODS}
CLASSES: dict[str, type] = {
    one.__name__: one
    for one in (
        Clone, Comparison, ConfigurationDrift, CustomRankingFit, Deployment, DeploymentPlan, Export,
        Impact, LoadPlan, LoadResult, RelevanceDiagnosis, RelevanceVerdict, Scratch, Search,
        ShownHits, Snapshot,
    )
}  # fmt: skip


def read_sections(function: Any) -> dict[str, str]:
    """Split a docstring in the format of numpydoc."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.getdoc(function) or "", flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def read_entries(text: str) -> dict[str, str]:
    """Return the entries of a section, each with its description."""
    parts = re.split(r"^ {0,2}(\*{0,2}\w+)(?: :.*)?\n", f"{text}\n", flags=re.MULTILINE)
    return dict(zip(parts[1::2], map(str.strip, parts[2::2]), strict=True))


# A name, or a dtype in parentheses, after which a remark may follow.
COLUMN = re.compile(r"`([^`]+)`|\((datetime64\[[^]]*\]|\w+)(?:,[^()]*)?\)")


def read_columns(text: str) -> dict[str, str]:
    """Return the columns that a text names with their dtypes: `a` and `b` (int64, bytes)."""
    columns: dict[str, str] = {}
    pending: list[str] = []
    for name, dtype in COLUMN.findall(" ".join(text.split())):
        if name:
            pending.append(name)
        elif dtype in DTYPES:
            columns |= dict.fromkeys(pending, dtype)
            pending = []
    return columns


TABLES = {"check_judgments": JUDGMENTS, "check_queries": QUERIES, "run": RUNS}
COLUMNS: dict[str, dict[str, str]] = {
    **{f"svc.{name}": schema for name, schema in SCHEMAS.items()},
    **{
        f"svc.tuning.{name}": {column: kind.dtype for column, kind in table.items()}
        for name, table in TABLES.items()
    },
}
DTYPES = {dtype for schema in COLUMNS.values() for dtype in schema.values()}


@loop_over("name", PUBLIC)
def test_a_docstring_names_each_parameter(name: str) -> None:
    function = PUBLIC[name]

    named = read_entries(read_sections(function).get("Parameters", ""))

    assert {*named} == names_of(function, named)
    assert all(named.values()), "a parameter without a description"


def names_of(function: Function, named: Collection[str]) -> set[str]:
    """Return the parameters, with the members of `**options` unless that itself is named."""
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    spread = [p for p in parameters if p.kind is p.VAR_KEYWORD]
    own = {p.name for p in parameters if p not in spread}
    for parameter in spread:
        if f"**{parameter.name}" in named:
            own.add(f"**{parameter.name}")
        else:
            scope = vars(inspect.getmodule(inspect.unwrap(function)))
            own |= {*hints(get_args(eval(parameter.annotation, scope))[0])}
    return own


@loop_over("name", PUBLIC)
def test_a_docstring_has_its_sections(name: str) -> None:
    function = PUBLIC[name]
    parts = read_sections(function)
    returns = inspect.signature(function).return_annotation

    assert parts[""].split("\n")[0].endswith(".")
    assert "Examples" in parts
    assert ("Returns" in parts or "Yields" in parts) == (returns not in (None, "None"))


@loop_over("name", CLASSES)
def test_a_docstring_names_each_field(name: str) -> None:
    parts = read_sections(CLASSES[name])
    fields = getattr(CLASSES[name], "__dataclass_fields__", {})

    named = read_entries(parts["Attributes"])

    assert {*named} >= {*fields}
    assert all(hasattr(CLASSES[name], field) for field in {*named} - {*fields, "frame"})
    assert all(named.values()), "an attribute without a description"


@loop_over("name", COLUMNS)
def test_a_docstring_names_the_columns_with_their_dtypes(name: str) -> None:
    returns = read_sections(PUBLIC[name])["Returns"]

    assert read_columns(returns) == COLUMNS[name]


class Checker(doctest.OutputChecker):
    """Accepts any output where an example shows none."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return not want or super().check_output(want, got, optionflags)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as site:
        site.html("/", "Desk lamps", ["/compact"])
        site.html("/compact", "Compact steel desk lamp")
        yield site


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A working folder with the files that examples name."""
    folder = tmp_path_factory.mktemp("work")
    svc.samples.products().to_csv(folder / "products.csv", index=False)
    judge(svc.samples.products()).to_csv(folder / "judgments.csv", index=False)
    mpl.use("agg")
    with pytest.MonkeyPatch.context() as patch, pd.option_context(*SHOWN):
        patch.chdir(folder)
        set_current(None)
        yield folder
    set_current(None)


def judge(products: pd.DataFrame) -> pd.DataFrame:
    """Rate the three products of each query that have most reviews."""
    parts = [
        products[products["name"].str.contains(query, regex=False)]
        .nlargest(3, "reviews")
        .assign(query=query, rating=[3, 2, 1])
        for query in JUDGED
    ]
    judged = pd.concat(parts).rename(columns={"sku": "objectID"})
    return judged[["query", "objectID", "rating"]]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, folder: Path, site: Site) -> Iterator[Running]:
    """A service with a template of the index `products`, and with the crawler `shop`."""
    options = ("--clusters", "2", "--allow-private-crawl")
    process, running = start_service(tmp_path_factory.mktemp("shop"), *options)
    (folder / "svc.toml").write_text(PROFILE.format(**vars(running)))
    connect(running)
    svc.push(svc.samples.products(), TEMPLATE, id="sku")
    svc.tuning.apply(TEMPLATE, CONFIGURATION)
    config = site.config(appId=running.appId, apiKey=running.adminKey)
    config["actions"][0]["recordExtractor"] = TITLES
    svc.create_crawler("shop", config)
    svc.reindex_crawler("shop", wait=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SVC_API_KEY", running.adminKey)
        svc.trust(folder)
        yield running
    stop_service(process)


def connect(running: Running) -> None:
    svc.connect(
        url=running.url, app_id=running.appId, api_key=running.adminKey,
        crawler_user_id=running.crawlerUserId, crawler_api_key=running.crawlerApiKey,
    )  # fmt: skip


def reset(running: Running) -> None:
    """Put back what an earlier example may have changed."""
    connect(running)
    svc.copy_index(TEMPLATE, "products")
    svc.clear_entries("stopwords")


@pytest.mark.parametrize("name", [*PUBLIC, *CLASSES])
@pytest.mark.sampled(60, quick=15)
def test_an_example_runs(name: str, shop: Running) -> None:
    reset(shop)
    text = read_sections({**PUBLIC, **CLASSES}[name])["Examples"]
    namespace = {"svc": svc, "pd": pd, "client": svc.current()}
    example = doctest.DocTestParser().get_doctest(text, namespace, name, None, 0)
    assert example.examples
    report: list[str] = []

    doctest.DocTestRunner(Checker(), optionflags=FLAGS).run(example, out=report.append)

    plt.close("all")
    assert not report, "".join(report)
