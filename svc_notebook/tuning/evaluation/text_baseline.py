"""A baseline: BM25 over the records of an index, as a run to compare with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from pandas import DataFrame

from svc_notebook.data.client import AsyncClient, browse_pages
from svc_notebook.data.declarations import public
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.tuning.evaluation.record_texts import attribute_texts, searchable_names
from svc_notebook.tuning.evaluation.runs import MAX_HITS_PER_QUERY
from svc_notebook.tuning.tables.queries import Question, read_questions
from svc_notebook.tuning.tables.schema import now
from svc_notebook.tuning.tables.tables import Queries, Table, check_judgments, check_runs

Method = Literal["lucene", "robertson", "atire", "bm25l", "bm25+"]
METHODS = ("lucene", "robertson", "atire", "bm25l", "bm25+")
MAX_WEIGHT = 20


@public()
async def baseline(
    index: str,
    judgments: Table | None = None,
    queries: Queries | None = None,
    *,
    attributes: Sequence[str] | Mapping[str, int] | None = None,
    k: int = 10,
    k1: float = 1.2,
    b: float = 0.75,
    method: Method = "lucene",
    stemmer: str | None = "english",
    stop_words: str | Sequence[str] | None = None,
    name: str = "bm25",
    client: AnyClient | None = None,
) -> DataFrame:
    """Rank the records of an index by BM25, as a run to compare with.

    All records are read, which needs a key with the right `browse`, and ranked by the library
    `bm25s`, with neither settings nor synonyms nor rules of the index. Filters of queries count.
    Needs the extra `tuning`.

    Parameters
    ----------
    judgments : DataFrame, list of dict or path, default None
        Judgments whose queries are searched; not used for the ranking.
    queries : str, list, DataFrame or path, default those of the judgments
        Queries to search for.
    attributes : list of str, or dict of int, default the searchable attributes
        Attributes whose text is searched; a dict repeats the text of each that many times.
        Without searchable attributes, all attributes with text.
    k : int, default 10
        Number of hits of each query, up to 1,000.
    k1 : float, default 1.2
        Saturation of the term frequency, 0 or more.
    b : float, default 0.75
        Normalization by length, from 0 to 1.
    method : {'lucene', 'robertson', 'atire', 'bm25l', 'bm25+'}, default 'lucene'
        Variant of BM25.
    stemmer : str, default 'english'
        Language of the Snowball stemmer; None compares whole words.
    stop_words : str or list of str, default None
        Language of the stop words to remove, or the words; None removes none.
    name : str, default 'bm25'
        Name of the run.

    Returns
    -------
    DataFrame
        One row per hit, with the columns of `run`: `rank` (Int64, from 1), `objectID` (str),
        `score` (float64, of BM25) and `nbHits` (Int64, records with a score above 0).
        `attrs["svc"]` contains the parameters.

    Raises
    ------
    BadInput
        If there are neither judgments nor queries, an option is not valid, or the extra
        `tuning` is not installed.
    NotFound

    Examples
    --------
    >>> text = svc.tuning.baseline("products", queries=["desk lamp"], k=2)
    >>> text[["run", "query", "rank"]]
        run      query  rank
    0  bm25  desk lamp     1
    1  bm25  desk lamp     2
    """
    given: Any = queries
    if given is None:
        if judgments is None:
            raise BadInput("pass `judgments` or `queries`")
        given = check_judgments(judgments)
    _check_options(k, k1, b, method)
    library = _Library.load(stemmer, stop_words)
    caller = asynchronous(client)
    questions = read_questions(given)
    weights = await _read_weights(caller, index, attributes)
    ids, texts, text_attributes = await _read_texts(caller, index, weights)
    if attributes is not None:
        _check_attributes(index, list(weights or ()), text_attributes)
    allowed = await _read_allowed(caller, index, questions)
    engine = library.build(texts, k1=k1, b=b, method=method)
    rows: list[dict[str, Any]] = []
    for question in questions:
        scores = engine.score(question.query)
        if question.filters:
            scores[[name not in allowed[question.filters] for name in ids]] = 0
        shared = {"run": name, "query": question.query, "filters": question.filters}
        rows += [{**shared, **row} for row in _rank(scores, ids, k)]
    ranked = check_runs(rows)
    ranked.attrs["svc"] = {
        "index": index, "library": "bm25s", "attributes": weights, "k": k, "k1": k1, "b": b,
        "method": method, "stemmer": stemmer, "records": len(ids), "when": now(),
    }  # fmt: skip
    return ranked


async def _read_allowed(
    client: AsyncClient, index: str, questions: Sequence[Question]
) -> dict[str, set[str]]:
    """Return the objectIDs of the records that pass each of the filters."""
    return {
        filters: await _read_ids(client, index, filters)
        for filters in dict.fromkeys(asked.filters for asked in questions)
        if filters
    }


def _check_options(k: int, k1: float, b: float, method: str) -> None:
    if not 1 <= k <= MAX_HITS_PER_QUERY:
        raise BadInput(f"`k` is from 1 to {MAX_HITS_PER_QUERY} hits, not {k!r}")
    if not k1 >= 0 or not 0 <= b <= 1:
        raise BadInput(f"`k1` is 0 or more and `b` from 0 to 1, not {k1!r} and {b!r}")
    if method not in METHODS:
        methods = ", ".join(METHODS)
        raise BadInput(f"`method` is {methods}, not {method!r}{did_you_mean(str(method), METHODS)}")


class _Library:
    """The library of BM25, with its words of a text."""

    def __init__(self, bm25s: Any, stemmer: Any, stop_words: Any) -> None:
        self._bm25s = bm25s
        self._stemmer = stemmer
        self._stop_words = stop_words

    @classmethod
    def load(cls, stemmer: str | None, stop_words: str | Sequence[str] | None) -> _Library:
        """Import the libraries; raise `BadInput` if they are missing, or know no such language."""
        try:
            import bm25s
            import Stemmer
        except ModuleNotFoundError:
            raise BadInput(
                'the baseline needs bm25s and PyStemmer: pip install "svc-notebook[tuning]"'
            ) from None
        if stemmer is None:
            return cls(bm25s, None, stop_words)
        stemmers = Stemmer.algorithms()
        if stemmer not in stemmers:
            raise BadInput(
                f"there is no stemmer {stemmer!r}{did_you_mean(str(stemmer), stemmers)}; "
                f"known are {', '.join(stemmers)}, and None for none"
            )
        return cls(bm25s, Stemmer.Stemmer(stemmer), stop_words)

    def words(self, texts: Sequence[str]) -> list[list[str]]:
        """Split texts into stems."""
        try:
            split = self._bm25s.tokenize(
                list(texts), stopwords=self._stop_words or None, stemmer=self._stemmer,
                return_ids=False, show_progress=False,
            )  # fmt: skip
        except ValueError as error:
            raise BadInput(f"`stop_words`: {error}") from None
        return [list(words) for words in split]

    def build(self, texts: Sequence[str], *, k1: float, b: float, method: Method) -> _TextRanking:
        """Index texts."""
        words = self.words(texts)
        if not any(words):
            return _TextRanking(self, None, len(texts))
        engine = self._bm25s.BM25(k1=k1, b=b, method=method)
        engine.index(words, show_progress=False)
        return _TextRanking(self, engine, len(texts))


class _TextRanking:
    """The indexed texts."""

    def __init__(self, library: _Library, engine: Any, size: int) -> None:
        self._library = library
        self._engine = engine
        self._size = size

    def score(self, query: str) -> Any:
        """Return the score of each text, 0 without a word of the query."""
        [words] = self._library.words([query])
        vocabulary = {} if self._engine is None else self._engine.vocab_dict
        indexed = [word for word in words if word in vocabulary]
        if not indexed:
            return np.zeros(self._size)
        return np.array(self._engine.get_scores(indexed), dtype=np.float64)


def _rank(scores: Any, ids: Sequence[str], k: int) -> list[dict[str, Any]]:
    """Return the rows of one query; records with equal scores are ordered by objectID."""
    positive = np.flatnonzero(scores > 0)
    if not len(positive):
        return [{"nbHits": 0}]
    order = sorted(positive.tolist(), key=lambda row: (-scores[row], ids[row]))[:k]
    return [
        {"rank": rank, "objectID": ids[row], "score": float(scores[row]),
         "nbHits": len(positive)}
        for rank, row in enumerate(order, 1)
    ]  # fmt: skip


async def _read_weights(client: AsyncClient, index: str, attributes: Any) -> dict[str, int] | None:
    """Return how often the text of each attribute counts; None for every attribute once."""
    if isinstance(attributes, str):
        raise BadInput('`attributes` is a list or a dict, such as {"title": 3, "text": 1}')
    if isinstance(attributes, Mapping):
        for name, weight in attributes.items():
            if (
                isinstance(weight, bool)
                or not isinstance(weight, int)
                or not (1 <= weight <= MAX_WEIGHT)
            ):
                raise BadInput(f"the weight of `{name}` is from 1 to {MAX_WEIGHT}, not {weight!r}")
        return dict(attributes)
    if attributes is not None:
        return dict.fromkeys(attributes, 1)
    settings: Mapping[str, Any] = await client.get_settings(index)
    return dict.fromkeys(searchable_names(settings), 1) or None


async def _read_texts(
    client: AsyncClient, index: str, weights: Mapping[str, int] | None
) -> tuple[list[str], list[str], set[str]]:
    """Read the objectIDs and the texts of all records, and the names of attributes with text."""
    ids: list[str] = []
    texts: list[str] = []
    attributes: set[str] = set()
    params: Any = {} if weights is None else {"attributesToRetrieve": ["objectID", *weights]}
    async for page in browse_pages(client, index, **params):
        for record in page["hits"]:
            parts = []
            for path, text in attribute_texts(record):
                attributes.add(path)
                parts += [text] * _weight(path, weights)
            ids.append(record["objectID"])
            texts.append("\n".join(parts))
    return ids, texts, attributes


def _weight(path: str, weights: Mapping[str, int] | None) -> int:
    if weights is None:
        return 1
    parts = path.split(".")
    prefixes = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((weights[prefix] for prefix in prefixes if prefix in weights), 0)


def _check_attributes(index: str, names: Sequence[str], attributes: set[str]) -> None:
    for name in names:
        if not any(path == name or path.startswith(f"{name}.") for path in attributes):
            raise BadInput(f"no record of {index} has a text `{name}`")


async def _read_ids(client: AsyncClient, index: str, filters: str) -> set[str]:
    pages = browse_pages(client, index, filters=filters, attributesToRetrieve=["objectID"])
    return {record["objectID"] async for page in pages for record in page["hits"]}
