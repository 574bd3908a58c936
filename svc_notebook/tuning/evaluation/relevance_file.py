"""Files of required scores, `*.judgments.yaml`, which pytest collects.

```
index: products
at_least:
  ndcg@10: 0.70
no_worse_than: baseline.parquet    # beside this file
queries:
  desk lamp:
    LMP-001: 3
    LMP-003: 1
```
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypedDict

from svc_notebook.api.parameters import SearchParams
from svc_notebook.api.validation import check_members
from svc_notebook.errors import BadInput, unreadable
from svc_notebook.tuning.evaluation.metric_names import read_measures
from svc_notebook.tuning.evaluation.requirements import RelevanceVerdict
from svc_notebook.tuning.evaluation.scores import METRICS, Unjudged
from svc_notebook.yaml_nodes import build_value, read_document


class RelevanceFile(TypedDict, total=False):
    """The members of a file.

    Judgments are in `queries`, the rating of each record by objectID, or in the file `judgments`.
    """

    index: str
    at_least: dict[str, float]
    no_worse_than: str
    metrics: list[str]
    margin: float
    strict: bool
    params: SearchParams
    k: int
    unjudged: Unjudged
    relevant: float
    profile: str
    judgments: str
    queries: dict[str, dict[str, float]]


def read_relevance_file(path: Path) -> RelevanceFile:
    """Read a file; raise `BadInput` with its name if it is not valid."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8 text") from None
    except OSError as error:
        raise unreadable(path, error) from None
    node = read_document(text, str(path))
    if node is None or node.id != "mapping":
        raise BadInput(f"{path} must contain `index`, `queries` and `at_least`")
    try:
        found: Any = check_members(build_value(node, RelevanceFile, text), RelevanceFile, "")
        if "index" not in found:
            raise BadInput("`index` is missing; add the name of the index")
        if ("queries" in found) == ("judgments" in found):
            raise BadInput("give either `queries` or `judgments`, the name of a file")
        if not found.get("at_least") and "no_worse_than" not in found:
            raise BadInput("nothing is required: `at_least` or `no_worse_than` is missing")
        list_requirements(found)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    read: RelevanceFile = found
    return read


def list_requirements(found: RelevanceFile) -> list[tuple[str, str]]:
    """Return the kind and the metric of each requirement, in the order of the verdict."""
    bounds = found.get("at_least", {})
    names = [each.name for each in read_measures([*bounds])] if bounds else []
    listed = [("at least", name) for name in names]
    if "no_worse_than" in found:
        metrics = read_measures([*found.get("metrics", ()), *bounds] or METRICS)
        listed += [("no worse", each.name) for each in metrics]
    return listed


def check_file(path: Path, found: RelevanceFile, profile: str | None) -> RelevanceVerdict:
    """Search and check, with the profile of the file, the given one, or the environment."""
    from svc_notebook.session.connection import make_client
    from svc_notebook.tuning.blocking import check_relevance

    options: Any = {
        name: value
        for name, value in found.items()
        if name not in ("index", "profile", "judgments", "queries", "no_worse_than")
    }
    if "no_worse_than" in found:
        options["no_worse_than"] = path.parent / found["no_worse_than"]
    judged: Any = (
        path.parent / found["judgments"]
        if "judgments" in found
        else [
            {"query": query, "objectID": one, "rating": rating}
            for query, records in found["queries"].items()
            for one, rating in records.items()
        ]
    )
    with make_client(found.get("profile", profile)) as client:
        return check_relevance(found["index"], judged, client=client, progress=False, **options)
