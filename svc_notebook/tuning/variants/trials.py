"""Trials of variants, one after the other: by search parameters if possible, else on one copy."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import msgspec
import numpy as np
import pandas as pd
from pandas import DataFrame

from svc_notebook.core.files import add_checksum, expand_path, verify_checksum
from svc_notebook.data.client import AsyncClient
from svc_notebook.errors import BadInput, unreadable, unwritable
from svc_notebook.tuning.changes.request_part import RequestFiller, WordCounts
from svc_notebook.tuning.changes.scratch_copy import AsyncScratch
from svc_notebook.tuning.changes.state import (
    IndexConfiguration,
    Objects,
    Scope,
    as_parameters,
    compare,
    write_parts,
)
from svc_notebook.tuning.evaluation.runs import FIXED, add_missing_rows, run
from svc_notebook.tuning.evaluation.scores import count_failures, evaluate, score_runs
from svc_notebook.tuning.statistics import t_interval
from svc_notebook.tuning.tables.tables import QUESTION
from svc_notebook.tuning.variants.spaces import AS_IT_IS, Result, Variant

# The metric of suggestions, and the columns of their gain.
METRIC = "ndcg@10"
GAIN_COLUMNS = [
    "proposed", "measured", "before", "after", "delta", "low", "high", "document",
]  # fmt: skip


class TrialIndex:
    """An index on which variants are tried; leaving it drops the copy, if one was made."""

    def __init__(
        self,
        client: AsyncClient,
        index: str,
        state: IndexConfiguration,
        *,
        k: int,
        counts: WordCounts | None = None,
    ) -> None:
        self.index = index
        self._client = client
        self._state = state
        self._k = k
        self._copy: AsyncScratch | None = None
        self._set: dict[Scope, Objects] = {}
        self._filler = RequestFiller(counts or WordCounts(client, index))

    async def run(self, variant: Variant, queries: DataFrame) -> DataFrame:
        """Search with the settings of a variant."""
        where, filled, params = await self.prepare(variant, queries)
        hits: DataFrame = await run(
            where, filled, params, k=self._k, name=str(variant), client=self._client
        )
        return hits

    async def compare(self, variant: Variant, queries: DataFrame) -> tuple[DataFrame, DataFrame]:
        """Search without a variant and with it."""
        return await self.run(AS_IT_IS, queries), await self.run(variant, queries)

    async def prepare(self, variant: Variant, queries: DataFrame) -> tuple[str, DataFrame, Any]:
        """Return the index, the queries and the parameters of a search with a variant."""
        parts = variant.parts
        settings = parts.get("settings", {})
        params, others = as_parameters(settings, {**self._state.settings, **settings})
        index_settings = {name: settings[name] for name in others}
        lists: dict[Scope, Objects] = {s: part for s, part in parts.items() if s != "settings"}
        where = await self._configure(
            {**lists, **({"settings": index_settings} if index_settings else {})}
        )
        if variant.request:
            queries = await self._filler.fill(queries, variant.request)
        return where, queries, {name: value for name, value in params.items() if name not in FIXED}

    async def _configure(self, proposed: dict[Scope, Objects]) -> str:
        """Return an index with the changes that no parameter can make, or the index itself."""
        if not proposed:
            return self.index
        if self._copy is None:
            self._copy = await AsyncScratch(self.index, self._client).open()
        changes: dict[Scope, Objects] = {}
        for scope in {**self._set, **proposed}:
            before = self._set.get(scope, {})
            back = {name: self._state.part(scope).get(name) for name in before}
            changes[scope] = {**back, **proposed.get(scope, {})}
            changes[scope] = compare(scope, {**back, **before}, changes[scope]).after
        await write_parts(self._client, self._copy.name, changes)
        self._set = proposed
        return self._copy.name

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        if self._copy:
            await asyncio.shield(self._copy.drop())


def score(
    hits: DataFrame, queries: DataFrame, judgments: DataFrame, metric: str, options: Any
) -> tuple[list[float | None], float | None, int]:
    """Score a run: the value of each query in order, the judged share, the zero-result queries.

    A search that fails has no hits and scores 0: left out, it would raise the mean of the others.
    """
    scored = count_failures(evaluate(hits, judgments, metric, **options)).set_index(QUESTION)
    values = scored["value"].reindex(_keys(queries))
    scores: list[float | None] = [None if np.isnan(value) else float(value) for value in values]
    judged = float(scored["judged_at_k"].mean())
    return scores, None if np.isnan(judged) else judged, int((scored["n_hits"] == 0).sum())


def _keys(queries: DataFrame) -> list[tuple[str, str]]:
    return list(zip(queries["query"], queries["filters"], strict=True))


@dataclass
class Notes:
    """The trials of a search in a file, so that a stopped search resumes; or without a file."""

    path: Path | None
    done: dict[str, Result] = field(default_factory=dict)

    @classmethod
    def open(cls, path: str | Path | None, facts: Sequence[Any]) -> Notes:
        """Read existing trials; raise `BadInput` for the trials of another search."""
        if path is None:
            return cls(None)
        target, state = expand_path(path), _digest(facts)
        try:
            complete, _, torn = target.read_bytes().rpartition(b"\n")
        except FileNotFoundError:
            _write(target, "wb", {"search": state})
            return cls(target)
        except OSError as error:
            raise unreadable(Path(path), error) from None
        first, *lines = complete.split(b"\n")
        if _read(first) != {"search": state}:
            raise BadInput(
                f"{path} contains trials of another search, or of an index that has changed since; "
                "pass another file, or delete this one"
            )
        rows = [row for line in lines if (row := _read(line))]
        if torn:
            target.write_bytes(complete + b"\n")
        results = {row["key"]: msgspec.convert(row["result"], Result) for row in rows}
        return cls(target, results)

    def keep(self, key: str, result: Result) -> None:
        """Write a trial; if the disk is full, the trial is run again later."""
        self.done[key] = result
        if self.path:
            with suppress(BadInput):
                _write(self.path, "ab", {"key": key, "result": result})


def _digest(facts: Sequence[Any]) -> str:
    return hashlib.sha256(msgspec.json.encode(facts, order="sorted")).hexdigest()[:32]


def _write(path: Path, mode: str, row: Mapping[str, Any]) -> None:
    line = add_checksum(msgspec.json.encode(row))
    try:
        with path.open(mode) as file:
            file.write(line)
    except OSError as error:
        raise unwritable(path, error) from None


def _read(line: bytes) -> Any:
    json = verify_checksum(line)
    return None if json is None else msgspec.json.decode(json)


class HeldOutGain(NamedTuple):
    """Mean scores of the measured queries before and after, and the 95 % t interval of the gain.

    The queries that contain a word are divided into two halves. What one half suggests is
    measured on the other, so that no query measures what its own judgments suggested.
    """

    measured: int
    before: float
    after: float
    delta: float
    low: float
    high: float

    @property
    def cells(self) -> dict[str, Any]:
        """The cells of a suggestion's row; one without a measured gain is listed last."""
        return {"proposed": self.measured > 0 and self.delta > 0, **self._asdict()}


UNMEASURED = HeldOutGain(0, np.nan, np.nan, np.nan, np.nan, np.nan)


def suggested_id(*parts: str) -> str:
    """Return the objectID of a suggested document, which is the same in each run."""
    return f"suggested-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:8]}"


def sort_by_gain(rows: DataFrame, then_by: Mapping[str, bool]) -> DataFrame:
    """Sort suggestions by their gain, then by columns, of which True are ascending."""
    typed = rows.astype({"proposed": "bool", "delta": "float64"})
    ascending = {"proposed": False, "delta": False, **then_by}
    return typed.sort_values(
        list(ascending), ascending=list(ascending.values()), na_position="last", kind="stable",
        ignore_index=True,
    )  # fmt: skip


def halves_of(queries: Iterable[str]) -> dict[str, int]:
    """Divide queries into two halves, by their texts alone."""
    ordered = sorted(set(queries), key=lambda text: hashlib.sha256(text.encode()).digest())
    return {text: number % 2 for number, text in enumerate(ordered)}


def other_queries(containing: Iterable[str], sources: Collection[str]) -> set[str]:
    """Return the queries that may measure a suggestion which comes from `sources`."""
    halves = halves_of(containing)
    suggesting = {halves[text] for text in sources if text in halves}
    return {text for text, half in halves.items() if suggesting - {half}}


def measure_gain(
    before: DataFrame,
    after: DataFrame,
    judged: DataFrame | None,
    queries: Collection[str],
) -> HeldOutGain:
    """Compare two runs on some of their queries."""
    if judged is None or not queries:
        return UNMEASURED
    scores_before, scores_after = (_scores(hits, judged, queries) for hits in (before, after))
    both = (
        pd.concat([scores_before, scores_after], axis=1, join="inner")
        .dropna()
        .to_numpy(dtype=np.float64)
    )
    if not len(both):
        return UNMEASURED
    delta, low, high = t_interval(both[:, 1] - both[:, 0])
    old, new = both.mean(axis=0)
    return HeldOutGain(len(both), float(old), float(new), delta, low, high)


def _scores(hits: DataFrame, judged: DataFrame, queries: Collection[str]) -> DataFrame:
    of_queries = hits[hits["query"].isin(list(queries))].reset_index(drop=True)
    judged_here = judged[judged["query"].isin(list(queries))].reset_index(drop=True)
    if of_queries.empty or judged_here.empty:
        return DataFrame({"value": []})
    complete, _ = add_missing_rows(of_queries, judged_here, None)
    scored: Any = score_runs(
        complete, judged_here, METRIC, unjudged="zero", gains=None, relevant=1.0, queries=None,
        warns=False,
    )  # fmt: skip
    return DataFrame(count_failures(scored).set_index(QUESTION)[["value"]])
