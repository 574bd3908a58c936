"""The request part of a change: parameters that belong to each search, not into the index.

A value may be a template that is filled from each query: `{"words": "all"}` with the whole query,
`{"words": "all but rarest"}`, and `{"words": "rare", "records": n}` with the words that fewer
than n records contain. A query is cut at blanks alone: the service itself splits a word such as
`doesn't`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pprint import pformat
from typing import Any

from pandas import DataFrame, Series

from svc_notebook.core.api.parameters import PARAMETERS, SearchParams
from svc_notebook.core.api.validation import check_members
from svc_notebook.core.display import shorten
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client import AsyncClient
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.tuning.evaluation.runs import FIXED, FailedSearch, search_all
from svc_notebook.tuning.tables.tables import Queries, check_queries

REQUEST = "request"
# The name of parameters of single queries: a dict of query texts and their parameters.
BY_QUERY = "params"
TEMPLATE = "words"
CHOICES = ("all", "all but rarest", "rare")
TEMPLATED = ("optionalWords", "similarQuery")
# The count of a word that could not be counted, which is not rare.
MANY = sys.maxsize
MAX_LISTED, MAX_LISTED_LETTERS = 3, 40  # words in a warning
# A count of records that contain a word as it is written.
EXACT_WORD = {
    "hitsPerPage": 0, "analytics": False, "queryType": "prefixNone", "typoTolerance": False,
    "synonyms": False, "enableRules": False, "ignorePlurals": False, "removeStopWords": False,
    "decompoundQuery": False, "removeWordsIfNoResults": "none", "optionalWords": [],
}  # fmt: skip


def is_template(value: Any) -> bool:
    """Return whether a value is filled from the words of each query."""
    return isinstance(value, Mapping) and TEMPLATE in value


def belongs_to_request(name: str, value: Any) -> bool:
    """Return whether a value cannot be saved in an index: a parameter only, or a template."""
    if name == BY_QUERY:
        return True
    return is_template(value) or (name in PARAMETERS and PARAMETERS[name].scope == "parameter")


def split_change(change: Any) -> tuple[Any, dict[str, Any]]:
    """Split a change in what an index can save and the request part, which is checked."""
    if not isinstance(change, Mapping) or REQUEST not in change:
        return change, {}
    given = change[REQUEST]
    if not isinstance(given, Mapping):
        raise BadInput("`request` must be a dict of search parameters")
    rest = {name: part for name, part in change.items() if name != REQUEST}
    return rest, check_request(given)


def check_request(given: Mapping[str, Any]) -> dict[str, Any]:
    """Check the request part of a change; raise `BadInput` for what no search can have."""
    for name, value in given.items():
        if name in (*FIXED, "query"):
            raise BadInput(f"`{name}` has no bearing on which hits come first")
        if name == BY_QUERY:
            _check_by_query(value)
        elif is_template(value):
            _check_template(str(name), value)
        else:
            check_members({str(name): value}, SearchParams, "")
    return dict(given)


def _check_by_query(value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, Mapping):
        raise BadInput(f"`{BY_QUERY}` must be a dict of query texts and their parameters")
    for query, params in value.items():
        if not isinstance(params, Mapping):
            raise BadInput(f"`{BY_QUERY}`: the parameters of {query!r} must be a dict")
        check_request({name: member for name, member in params.items() if name != BY_QUERY})


def _check_template(name: str, value: Mapping[str, Any]) -> None:
    if name not in TEMPLATED:
        raise BadInput(f"`{name}` cannot be filled from a query; {' and '.join(TEMPLATED)} can")
    choice = value[TEMPLATE]
    if choice not in CHOICES:
        suggestion = did_you_mean(str(choice), CHOICES)
        raise BadInput(f"`{name}`: words are {', '.join(CHOICES)}, not {choice!r}{suggestion}")
    allowed = {TEMPLATE, "records"} if choice == "rare" else {TEMPLATE}
    if other := next((entry for entry in value if entry not in allowed), None):
        raise BadInput(f"`{name}`: words {choice!r} have no `{other}`")
    records = value.get("records")
    if choice == "rare" and (isinstance(records, bool) or not isinstance(records, int)):
        raise BadInput(f'`{name}`: give a number of records, {{"words": "rare", "records": 5}}')


def written_words(query: str) -> list[str]:
    """Return what stands between the blanks of a query, each once."""
    return list(dict.fromkeys(query.split()))


class WordCounts:
    """The number of records that contain each word as it is written; each is read once."""

    def __init__(self, client: AsyncClient, index: str) -> None:
        self._client = client
        self._index = index
        self.known: dict[str, int] = {}

    async def read(self, words: Sequence[str]) -> None:
        """Read the counts of words that are not known; the empty word counts all records.

        Warns about words whose search fails: their counts stay unknown, and are not 0.
        """
        new = [word for word in dict.fromkeys(words) if word not in self.known]
        requests = [{"indexName": self._index, "query": word, **EXACT_WORD} for word in new]
        answers = await search_all(self._client, requests) if requests else []
        failed: dict[str, FailedSearch] = {}
        for word, answer in zip(new, answers, strict=True):
            if isinstance(answer, FailedSearch):
                failed[word] = answer
            else:
                self.known[word] = answer["nbHits"]
        if "" in failed:
            raise failed[""].error
        if failed:
            _warn_uncounted(failed, len(new))


def _warn_uncounted(failed: Mapping[str, FailedSearch], words: int) -> None:
    listed = ", ".join(repr(shorten(word, MAX_LISTED_LETTERS)) for word in [*failed][:MAX_LISTED])
    warn_user(
        f"the records with {len(failed):,} of {words:,} words could not be counted, such as "
        f"{listed}: {next(iter(failed.values())).error}; these words count as neither rare nor "
        "missing"
    )


class RequestFiller:
    """Fills the request part of changes for the queries of one index."""

    def __init__(self, counts: WordCounts) -> None:
        self._counts = counts

    async def fill(self, queries: Queries, request: Mapping[str, Any]) -> DataFrame:
        """Return queries with the parameters in `params`; a query's own take precedence."""
        table = check_queries(queries)
        texts = table["query"].tolist()
        if _needs_counts(request):
            await self._counts.read([word for text in texts for word in written_words(text)])
        filled = [fill_request(text, request, self._counts.known) for text in texts]
        params_of_queries = table["params"].tolist()
        both = [
            {**params, **given} for params, given in zip(filled, params_of_queries, strict=True)
        ]
        table["params"] = Series(both, index=table.index, dtype=object)
        return table


def _needs_counts(request: Mapping[str, Any]) -> bool:
    by_query = (request.get(BY_QUERY) or {}).values()
    values = [*request.values(), *(value for params in by_query for value in params.values())]
    return any(is_template(entry) and entry[TEMPLATE] != "all" for entry in values)


def fill_request(
    query: str, request: Mapping[str, Any], counts: Mapping[str, int]
) -> dict[str, Any]:
    """Fill a request part for one query; `counts` are the records that contain each word."""
    filled = {
        name: _fill(name, value, query, counts) if is_template(value) else value
        for name, value in request.items()
        if name != BY_QUERY and value is not None
    }
    of_query = (request.get(BY_QUERY) or {}).get(query)
    return {**filled, **(fill_request(query, of_query, counts) if of_query else {})}


def _fill(name: str, template: Mapping[str, Any], query: str, counts: Mapping[str, int]) -> Any:
    choice = template[TEMPLATE]
    words = [query] if choice == "all" else written_words(query)
    if choice == "all but rarest":
        counted = [word for word in words if counts.get(word, 0) > 0]
        rarest = min(counted, key=lambda word: counts[word], default=None)
        words = [word for word in words if word != rarest]
    elif choice == "rare":
        words = [word for word in words if counts.get(word, MANY) < template["records"]]
    return " ".join(words) if name == "similarQuery" else words


def write_code(index: str, request: Mapping[str, Any]) -> str:
    """Write the request part as Python code: a function of the query."""
    templates = {name: value for name, value in request.items() if is_template(value)}
    plain = {
        name: value
        for name, value in request.items()
        if name not in (BY_QUERY, *templates) and value is not None
    }
    lines = [f"    params = {pformat(plain, sort_dicts=False, width=80)}"]
    if any(value[TEMPLATE] != "all" for value in templates.values()):
        lines += _counting_code(index)
    lines += [_template_code(name, value) for name, value in templates.items()]
    by_query = request.get(BY_QUERY)
    if by_query:
        lines.append(f"    params |= {by_query!r}.get(query, {{}})")
    return "\n".join([
        "def search_params(query):",
        '    """Return the search parameters of one query."""',
        *lines,
        "    return params",
        "",
        "",
        f"svc.search({index!r}, query, **search_params(query))",
    ])  # fmt: skip


def _template_code(name: str, template: Mapping[str, Any]) -> str:
    """Write the line that sets the parameter of a template."""
    words = _CODE[template[TEMPLATE]].format(records=template.get("records"))
    if name == "similarQuery":
        words = "query" if template[TEMPLATE] == "all" else f'" ".join({words})'
    return f'    params["{name}"] = {words}'


_CODE = {
    "all": "[query]",
    "all but rarest": (
        "[word for word in words if word != min("
        "(each for each in words if counts[each]), key=counts.get, default=None)]"
    ),
    "rare": "[word for word in words if counts[word] < {records}]",
}


def _counting_code(index: str) -> list[str]:
    options = pformat(EXACT_WORD, sort_dicts=False, width=80).replace("\n", "\n    ")
    return [
        "    words = list(dict.fromkeys(query.split()))",
        f"    exact = {options}",
        "    counts = {",
        f'        word: svc.search({index!r}, word, **exact).attrs["svc"]["nbHits"]',
        "        for word in words",
        "    }",
    ]
