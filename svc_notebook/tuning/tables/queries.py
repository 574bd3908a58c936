"""Queries with their own filters and parameters, as search requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from svc_notebook.core.api.parameters import SearchParams
from svc_notebook.core.api.validation import check_members
from svc_notebook.tuning.tables.schema import is_missing
from svc_notebook.tuning.tables.tables import Queries, check_queries

Params = Mapping[str, Any]


@dataclass(frozen=True)
class Question:
    """One query to judge; the same words with other filters are another query.

    `weight` is its share of an average, `frequency` the number of its searches, if known.
    """

    query: str
    filters: str = ""
    params: Params = field(default_factory=dict, compare=False)
    weight: float = field(default=1.0, compare=False)
    frequency: int | None = field(default=None, compare=False)

    @property
    def key(self) -> tuple[str, str]:
        """Return its identity."""
        return self.query, self.filters

    def request(self, index: str, params: Params, more: Params) -> dict[str, Any]:
        """Return its search request: its own parameters take precedence, all filters must match."""
        both = [part for part in (params.get("filters"), self.filters) if part]
        filters = " AND ".join(f"({part})" for part in both) if len(both) > 1 else "".join(both)
        request = {"query": self.query, "analytics": False, "page": 0}
        return {
            **params, **self.params, **request, **more, "indexName": index,
            **({"filters": filters} if filters else {}),
        }  # fmt: skip


def read_questions(given: Queries) -> list[Question]:
    """Read queries: texts, dicts, or a table with a column `query`; see `check_queries`."""
    columns = ["query", "filters", "params", "weight", "frequency"]
    rows = check_queries(given)[columns].to_dict("records")
    # An object column of pandas 2 holds the texts of a NumPy array as `numpy.str_`.
    return [
        Question(
            str(row["query"]),
            str(row["filters"]),
            check_members(row["params"], SearchParams, "params"),
            float(row["weight"]),
            None if is_missing(row["frequency"]) else int(row["frequency"]),
        )
        for row in rows
    ]
