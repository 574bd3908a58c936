"""The judgment editor: its value is judgments as rows, and `frame` is the same as a DataFrame."""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, ClassVar

import traitlets
from pandas import DataFrame

from svc_notebook.core.api.validation import same
from svc_notebook.core.display import format_count, write_table
from svc_notebook.errors import BadOption, SvcError
from svc_notebook.faces.editors.base import JSON, Editor, Step
from svc_notebook.faces.editors.bundle import read_module, read_styles
from svc_notebook.faces.editors.changes import Draft
from svc_notebook.faces.editors.fallback import write_line
from svc_notebook.faces.editors.hit_cards import DENSITIES, draw_hits, list_attributes
from svc_notebook.faces.editors.judgment_editor import judgments as table
from svc_notebook.faces.editors.judgment_editor.judgments import (
    Pooled,
    PoolVariant,
    append_point,
    describe_score,
    fetch,
    list_metrics,
    measure,
    pool,
    read_variants,
    shuffle,
    to_runs,
)
from svc_notebook.faces.editors.rpc import call, explain
from svc_notebook.faces.editors.snippets import write_judgments
from svc_notebook.tuning.evaluation import (
    RECORD_HASH,
    digest_record,
    find_changed,
    find_records,
    read_records,
)
from svc_notebook.tuning.tables import Question, read_questions
from svc_notebook.tuning.tables import write_table as write_file

Rows = list[table.Row]
OwnJudgments = dict[tuple[str, str, str], table.Row]  # by query, filters and objectID
CARD_MEMBERS = ("id", "title", "lines", "more", "image", "json")
JUDGED_MEMBERS = ("query", "filters", "objectID", "rating", "unrateable")
LABELS = {"0": "irrelevant", "1": "related", "2": "good", "3": "perfect"}


class JudgmentEditor(Editor):
    """Grade the hits of queries by hand.

    `value` is the judgments of all raters as rows; `frame` is the same as a DataFrame, with which a
    later editor continues. `blind` hides the positions of hits, `shuffled` shuffles them,
    `only_changed` shows those whose record has changed since they were judged. `scores`
    has the score of each query and of all of them by `metric`. `judged` is the judged pairs of this
    rater: `{query, filters, objectID, rating, unrateable}`.
    """

    title: ClassVar[str] = "Judgment editor"
    _esm = read_module("judgments.js")
    _css = read_styles("kit/kit.css", "query.css", "judgments.css")

    decided = ("judged",)

    judged: Any = traitlets.List(read_only=True)  # not synced: it can have thousands of rows
    hit_density = traitlets.Enum(DENSITIES, "rows").tag(sync=True)
    value: Any = traitlets.Any()  # not synced: a view draws the sheet of one query
    sheet: Any = traitlets.Dict().tag(sync=True, **JSON)
    questions: Any = traitlets.List().tag(sync=True, **JSON)
    blind = traitlets.Bool(False).tag(sync=True)
    shuffled = traitlets.Bool(False).tag(sync=True)
    only_changed = traitlets.Bool(False, read_only=True).tag(sync=True)
    labels: Any = traitlets.Dict().tag(sync=True, **JSON)
    metric = traitlets.Unicode().tag(sync=True)
    scores: Any = traitlets.Dict().tag(sync=True, **JSON)

    def __init__(
        self,
        index: str,
        *,
        queries: Any = (),
        judgments: Any = None,
        variants: Any = None,
        depth: int = 10,
        rater: str = "",
        seed: int = 0,
        labels: Mapping[int, str] | None = None,
        file: str | PathLike[str] | None = None,
        **options: Any,
    ) -> None:
        if not 1 <= depth <= 1000:
            raise BadOption(f"`depth` must be from 1 to 1000, not {depth}")
        self._file = None if file is None else table.check_file(file)
        initial = table.read_initial(self._file, judgments)
        questions = read_questions(queries) or [
            Question(query, filters)
            for query, filters in dict.fromkeys((row["query"], row["filters"]) for row in initial)
        ]
        self.variants: Sequence[PoolVariant] = read_variants(variants, index)
        self._variants = variants  # as passed, for the code snippet
        self.rater, self.depth, self.seed = rater, depth, seed
        self._initial, self._questions = initial, questions
        self._pools: list[list[Pooled]] = []
        self._hits: dict[str, Any] = {}
        self._digests: dict[str, str] = {}  # of the records of the sheet
        self._changed: set[tuple[str, str, str]] = set()  # when the editor was opened
        self._place = 0
        self._metrics = list_metrics(depth)
        self._runs: DataFrame | None = None  # None if pools have changed
        self._is_scored = True
        self._score_lock = asyncio.Lock()
        names = LABELS if labels is None else {str(grade): text for grade, text in labels.items()}
        super().__init__(index, labels=names, metric=self._metrics[0], **options)

    # Methods of the base class.

    async def load(self) -> Rows:
        """Return the initial judgments."""
        await self._read_searchable()
        return self._initial

    def check(self, value: Any) -> Rows:
        """Validate judgments, given as rows or as a DataFrame."""
        return table.read_judgments(value)

    def list_decisions(self, draft: Draft) -> dict[str, Any]:
        """Return the pairs that this rater has judged."""
        judged = [
            {name: row[name] for name in JUDGED_MEMBERS}
            for row in draft.value
            if row["rater"] == self.rater and table.is_judged(row)
        ]
        return {"judged": judged}

    def write_html(self) -> str:
        """Return the judgments as an HTML table."""
        rows = [
            (row["query"], row["filters"], row["objectID"], _grade(row), row["note"])
            for row in self.value
        ]
        head = ("query", "filters", "objectID", "rating", "note")
        scores = "".join(f"; {describe_score(score)}" for score in self.scores.get("whole", ()))
        measured = f"; {self.metric}{scores}" if scores else ""
        return write_line(format_count(len(rows), "judgment") + measured) + write_table(head, rows)

    def codes(self) -> dict[str, str]:
        """Return the code that continues with the judgments, and the judgments as CSV."""
        code = write_judgments(
            self.index, self._questions, file=None if self._file is None else str(self._file),
            variants=self._variants, depth=self.depth, rater=self.rater,
        )  # fmt: skip
        return {"Python": code, "CSV": self.frame.to_csv(index=False)}

    def draw_hits_again(self) -> None:
        """Draw the sheet in another display."""
        self._draw()

    # Methods for cells.

    @property
    def is_unsaved(self) -> bool:
        """Whether closing the editor loses judgments, which only a file keeps."""
        return self._file is None and self.dirty

    @property
    def frame(self) -> DataFrame:
        """The judgments as a DataFrame; see `svc_notebook.tuning.tables.tables`."""
        return table.to_frame(self.value)

    @property
    def missing(self) -> DataFrame:
        """The pooled hits without a judgment: `query, filters, objectID`."""
        rows = self._own_judgments()
        return DataFrame(
            [
                (*question.key, hit.id)
                for question, hits in zip(self._questions, self._pools, strict=True)
                for hit in hits
                if not table.is_judged(rows.get((*question.key, hit.id)))
            ],
            columns=["query", "filters", "objectID"],
        )

    # Calls for views.

    @call
    def grade(self, id: str, rating: float | None, unrateable: bool = False) -> None:  # noqa: A002
        """Rate a hit of the sheet, mark it as unrateable, or with neither remove its judgment."""
        self._judge(id, {"rating": rating, "unrateable": unrateable})

    @call
    def note(self, id: str, text: str) -> None:  # noqa: A002 - the name in the view
        """Set the note of a hit of the sheet."""
        self._judge(id, {"note": text.strip()})

    @call
    async def turn(self, place: int) -> None:
        """Open the sheet of another query."""
        await self._open(max(0, min(len(self._questions) - 1, place)))

    @call
    async def turn_to_open(self) -> None:
        """Open the sheet of the next query with unjudged hits."""
        places = [*range(self._place + 1, len(self._questions)), *range(self._place + 1)]
        if (position := self._find_open(places)) is None:
            raise BadOption("all hits of all queries are judged")
        await self._open(position)

    @call
    async def ask(self, query: str, filters: str = "") -> None:
        """Add a query, or open its sheet if it exists."""
        question = Question(query, filters)
        if question.key not in [other.key for other in self._questions]:
            [hits] = await pool(self.client, self.variants, [question], self.depth)
            self._pools.append(hits)
            self._questions.append(question)
            self._runs = None
            self._score_soon()
        await self._open([other.key for other in self._questions].index(question.key))

    @call
    async def arrange(self, blind: bool, shuffled: bool, only_changed: bool = False) -> None:
        """Set whether hits have no positions, are shuffled, and are those that have changed."""
        self.blind, self.shuffled = blind, shuffled
        self.set_trait("only_changed", only_changed)
        self._draw()
        self._score_soon()  # with the judgments of others, or without them

    @call
    def record(self, id: str) -> dict[str, Any]:  # noqa: A002
        """Return one complete hit."""
        if id not in self._hits:
            raise BadOption(f"`{id}` is not on this sheet")
        hit = self._hits[id]
        return {name: value for name, value in hit.items() if name[:1] != "_" or name == "_geoloc"}

    @call
    async def go(self, step: Step) -> None:  # type: ignore[override]  # it can search
        """Undo, redo or revert, and open the sheet that it changes."""
        before = {table.key_of(row): row for row in self.value}
        getattr(self, step)()
        after = {table.key_of(row): row for row in self.value}
        touched = [key for key in {**before, **after} if before.get(key) != after.get(key)]
        keys = [question.key for question in self._questions]
        if (
            touched
            and (touched_key := touched[-1][:2]) in keys
            and keys.index(touched_key) != self._place
        ):
            await self._open(keys.index(touched_key))

    # Internals.

    async def _begin(self, value: Any) -> None:
        await super()._begin(value)
        pools = await pool(self.client, self.variants, self._questions, self.depth)
        gone = await self._find_gone(pools)
        self._changed = await self._find_changed()
        self._update_state(gone=len(gone), changed=len(self._changed))
        self._pools = self._with_judged(pools, gone)
        await self._open(self._find_open(range(len(self._questions))) or 0)
        self._score_soon()

    def _find_open(self, places: Iterable[int]) -> int | None:
        """Return the place of the first query with unjudged hits."""
        judgments = self._own_judgments()
        left = (at for at in places if self._count_judged(at, judgments) < len(self._pools[at]))
        return next(left, None)

    async def _find_gone(self, pools: Sequence[Sequence[Pooled]]) -> set[str]:
        """Return the objectIDs of judged hits that the index no longer has."""
        pooled = {hit.id for hits in pools for hit in hits}
        ids = list({row["objectID"]: None for row in self.value if row["objectID"] not in pooled})
        hits = await find_records(self.client, self.variants[0].index, ids, ["objectID"])
        return {object_id for object_id, record in zip(ids, hits, strict=True) if record is None}

    async def _find_changed(self) -> set[tuple[str, str, str]]:
        """Return the pairs of this rater whose records have changed since they were judged."""
        rows = [row for row in self.value if row["rater"] == self.rater]
        frame = await find_changed(self.variants[0].index, rows, client=self.client)
        columns = (frame[name] for name in ("query", "filters", "objectID"))
        return {*zip(*columns, strict=True)}

    def _with_judged(
        self, pools: Sequence[Sequence[Pooled]], gone: Container[str]
    ) -> list[list[Pooled]]:
        """Append to each pool the hits that this rater has judged and no variant finds now."""
        judged: dict[tuple[str, str], list[str]] = {}
        for query, filters, object_id in self._own_judgments():
            judged.setdefault((query, filters), []).append(object_id)
        return [
            [*hits, *(Pooled(hit, {}) for hit in judged.get(question.key, [])
                       if hit not in gone and hit not in {other.id for other in hits})]
            for question, hits in zip(self._questions, pools, strict=True)
        ]  # fmt: skip

    async def _open(self, position: int) -> None:
        self._place = position
        if self._questions:
            ids = [hit.id for hit in self._pools[position]]
            self._hits, records = await asyncio.gather(
                fetch(self.client, self.variants, self._questions[position], ids),
                read_records(self.client, self.variants[0].index, ids),
            )
            self._digests = {name: digest_record(record) for name, record in records.items()}
        self._draw()

    def _set_draft(self, draft: Draft) -> None:
        before = self._draft.value
        super()._set_draft(draft)
        self._draw()
        self._score_soon()
        if self._file and not same(before, draft.value):
            write_file(self.frame, self._file)

    def _draw(self) -> None:
        """Update the sheet of the current query, and the progress of all queries."""
        if len(self._pools) != len(self._questions):
            return
        judgments = self._own_judgments()
        self.questions = [
            {"query": question.query, "filters": question.filters,
             "frequency": question.frequency, "total": len(self._pools[number]),
             "done": self._count_judged(number, judgments),
             "changed": sum(key[:2] == question.key for key in self._changed)}
            for number, question in enumerate(self._questions)
        ]  # fmt: skip
        if self._questions:
            question = self._questions[self._place]
            self.sheet = {
                "place": self._place, "query": question.query, "filters": question.filters,
                "hits": self._cards(question, judgments),
                "attributes": list_attributes(self._hits.values()),
            }  # fmt: skip

    @traitlets.validate("metric")
    def _check_metric(self, proposal: Any) -> str:
        metric: str = proposal["value"]
        if metric not in self._metrics:
            raise BadOption(f"`metric` must be one of {', '.join(self._metrics)}, not {metric!r}")
        return metric

    @traitlets.observe("metric")
    def _follow_metric(self, _: Any) -> None:
        if self._ready:
            self.scores = {**self.scores, "history": []}
            self._score_soon()

    def _score_soon(self) -> None:
        """Compute the scores in another thread: grading does not wait for them."""
        if len(self._pools) != len(self._questions) or not self._questions:
            return
        self._is_scored = False
        self._begin_follow_up(self._score())

    async def _score(self) -> None:
        async with self._score_lock:
            if self._is_scored:  # a waiting call has computed these scores
                return
            self._is_scored = True
            questions, metric = list(self._questions), self.metric
            if self._runs is None:
                self._runs = to_runs(questions, self._pools, self.variants)
            rows = [row for row in self.value if not self.blind or row["rater"] == self.rater]
            try:
                scores = await asyncio.to_thread(measure, self._runs, rows, questions, metric)
            except SvcError as error:
                self._update_state(error=explain(error))
                return
            history = append_point(self.scores.get("history", []), scores[0])
            self.scores = {"metric": metric, "metrics": self._metrics, "whole": scores[0],
                           "each": scores[1], "history": history}  # fmt: skip
            self._fallback.follow()

    def _cards(self, question: Question, judgments: OwnJudgments) -> list[dict[str, Any]]:
        pooled = self._list_shown(question)
        others = self._others(question)
        hits = [self._hits.get(hit.id, {"objectID": hit.id}) for hit in pooled]
        cards: Any = draw_hits(hits, [], display=self._hit_display)
        return [
            {
                **{name: card[name] for name in CARD_MEMBERS if name in card},
                **_judgment_members(judgments.get((*question.key, hit.id))),
                "changed": self._is_changed(judgments.get((*question.key, hit.id))),
                "found": [] if self.blind else self._places(hit),
                "others": [] if self.blind else others.get(hit.id, []),
            }
            for card, hit in zip(cards, pooled, strict=True)
        ]

    def _list_shown(self, question: Question) -> Sequence[Pooled]:
        """Return the hits of the sheet that are shown, in the order in which they are shown."""
        pooled: Sequence[Pooled] = self._pools[self._place]
        if self.shuffled:
            pooled = shuffle(pooled, question, self.seed)
        if self.only_changed:
            pooled = [hit for hit in pooled if (*question.key, hit.id) in self._changed]
        return pooled

    def _is_changed(self, row: table.Row | None) -> bool:
        """Return whether the record of a judgment was another one; one graded again is not."""
        digest = row and row.get(RECORD_HASH)
        return bool(row and digest and self._digests.get(row["objectID"], digest) != digest)

    def _places(self, hit: Pooled) -> list[list[str | int]]:
        """List the rank of a hit in each variant; a single variant needs no name."""
        named = len(self.variants) > 1
        return [[name if named else "rank", rank] for name, rank in hit.places.items()]

    def _own_judgments(self) -> OwnJudgments:
        return {table.key_of(row)[:3]: row for row in self.value if row["rater"] == self.rater}

    def _others(self, question: Question) -> dict[str, list[str]]:
        ratings: dict[str, list[str]] = {}
        for row in self.value:
            if (row["query"], row["filters"]) == question.key and row["rater"] != self.rater:
                ratings.setdefault(row["objectID"], []).append(f"{row['rater']}: {_grade(row)}")
        return ratings

    def _count_judged(self, position: int, judgments: OwnJudgments) -> int:
        key = self._questions[position].key
        return sum(table.is_judged(judgments.get((*key, hit.id))) for hit in self._pools[position])

    def _judge(self, id: str, changes: Mapping[str, Any]) -> None:  # noqa: A002
        question = self._questions[self._place]
        if id not in [hit.id for hit in self._pools[self._place]]:
            raise BadOption(f"`{id}` is not on this sheet")
        key = (*question.key, id, self.rater)
        before = table.find_row(self.value, key)
        about = {"query": question.query, "filters": question.filters, "objectID": id}
        stamp = {"rater": self.rater, "judged_at": table.now(), "source": "human"}
        if "rating" in changes and id in self._digests:
            stamp[RECORD_HASH] = self._digests[id]
        [row] = table.read_judgments([{**before, **about, **changes, **stamp}])
        unchanged = all(same(before.get(name), row[name]) for name in changes)
        if before and unchanged and not self._is_changed(before):
            return
        self._set_draft(self._draft.put(table.replace_row(self.value, key, row)))


def _judgment_members(row: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: row[name] if row else None for name in ("rating", "unrateable", "note")}


def _grade(row: Mapping[str, Any]) -> str:
    if row["unrateable"]:
        return "unrateable"
    return "" if row["rating"] is None else f"{row['rating']:g}"
