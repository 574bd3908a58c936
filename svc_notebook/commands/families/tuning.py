"""Verbs that measure relevance, as rows of the verb table."""

from __future__ import annotations

from typing import Literal

from svc_notebook.api.parameters import SearchOptions
from svc_notebook.commands.options import INDEX, PARAMS
from svc_notebook.commands.verb import PROFILE, Option, Verb, operand

_JUDGMENTS = operand(
    "judgments", "a CSV or Parquet file of query, objectID, rating", completes="path",
    required=False,
)  # fmt: skip
_OPTIONS = (
    Option(
        "from", "a variable holding the judgments", completes="variable", argument="judgments",
        faces=("magic",),
    ),
    Option("metrics", "ndcg@10 unless told otherwise; ndcg_exp@k p@k r@k rr@k ap@k err@k rbp(p)",
           list[str]),
    Option("k", "hits of each query, as many as the metrics want, 10 at least", int),
    Option("unjudged", "what hits without a judgment count: no gain, not there, or both ends",
           Literal["zero", "skip", "bound"]),
    Option("relevant", "the least rating that is relevant, 1 unless told otherwise", float),
    PARAMS,
)  # fmt: skip

MEASURING: tuple[Verb, ...] = (
    Verb(
        "evaluate", "Search for every judged query, and say how good the answers are",
        "svc_notebook.functions.evaluation.evaluate",
        operands=(INDEX, _JUDGMENTS),
        options=_OPTIONS,
        spread=SearchOptions,
        body="search parameters",
        examples=(
            "evaluate products judged.csv",
            "evaluate products judged.csv --metrics ndcg@10,p@5,judged@10 --typoTolerance false",
        ),
    ),
    Verb(
        "compare", "Measure an index against another, or against itself with parameters",
        "svc_notebook.functions.evaluation.compare",
        operands=(INDEX, operand("other", "the index to hold against it, searched with the "
                                 "parameters", completes="index"), _JUDGMENTS),
        options=(*_OPTIONS, Option("seed", "makes intervals and tests come out the same", int)),
        spread=SearchOptions,
        body="search parameters",
        common=(PROFILE,),
        examples=(
            "compare products products_new judged.csv",
            "compare products products judged.csv --ignorePlurals true --metrics ndcg@10",
        ),
    ),
)  # fmt: skip
