"""The judgment editor: its value is judgments as rows, and `frame` is the same as a DataFrame."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from os import PathLike
from typing import Any, ClassVar

import traitlets
from pandas import DataFrame

from svc_notebook.api.validation import same
from svc_notebook.display import write_table
from svc_notebook.editors.base import JSON, Editor, Step
from svc_notebook.editors.bundle import read_module, read_styles
from svc_notebook.editors.draft import Draft
from svc_notebook.editors.hit_cards import draw_hits
from svc_notebook.editors.judgment_editor import file as keeping
from svc_notebook.editors.judgment_editor import rows as table
from svc_notebook.editors.judgment_editor.pool import (
    Pooled,
    PoolVariant,
    fetch,
    get_all,
    pool,
    read_variants,
    shuffle,
)
from svc_notebook.editors.rpc import call
from svc_notebook.editors.snapshot import write_line
from svc_notebook.editors.snippets import write_judgments
from svc_notebook.errors import BadOption
from svc_notebook.tuning.tables.queries import Question, read_questions

Rows = list[table.Row]
Own = dict[tuple[str, str, str], table.Row]  # by query, filters and objectID
LABELS = {"0": "irrelevant", "1": "related", "2": "good", "3": "perfect"}


class JudgmentEditor(Editor):
    """Grade the hits of queries by hand.

    `value` is the judgments of every rater as rows; `frame` is the same as a DataFrame, with which
    a later editor continues. `blind` hides the positions of hits, `shuffled` shuffles them.
    """

    title: ClassVar[str] = "Judgment editor"
    _esm = read_module("judgments.js")
    _css = read_styles("kit/kit.css", "query.css", "judgments.css")

    value: Any = traitlets.Any()  # not sent to views: they draw one sheet of it at a time
    sheet: Any = traitlets.Dict().tag(sync=True, **JSON)
    questions: Any = traitlets.List().tag(sync=True, **JSON)
    blind = traitlets.Bool(False).tag(sync=True)
    shuffled = traitlets.Bool(False).tag(sync=True)
    labels: Any = traitlets.Dict().tag(sync=True, **JSON)
    images = traitlets.Bool(False).tag(sync=True)

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
            raise BadOption(f"depth is from 1 to 1000 hits, not {depth}")
        self._file = None if file is None else keeping.find_file(file)
        if self._file and self._file.exists():
            if judgments is not None:
                raise BadOption(f"{self._file} has judgments already; leave `judgments` out")
            judgments = keeping.read_file(self._file)
        given = [] if judgments is None else table.read_judgments(judgments)
        asked = read_questions(queries) or [
            Question(query, filters)
            for query, filters in dict.fromkeys((row["query"], row["filters"]) for row in given)
        ]
        self.variants: Sequence[PoolVariant] = read_variants(variants, index)
        self._variants = variants  # as they were given
        self.rater, self.depth, self.seed = rater, depth, seed
        self._given, self._asked = given, asked
        self._pools: list[list[Pooled]] = []
        self._hits: dict[str, Any] = {}
        self._at = 0
        names = LABELS if labels is None else {str(grade): text for grade, text in labels.items()}
        super().__init__(index, labels=names, **options)

    # What an editor says of itself.

    async def load(self) -> Rows:
        """The judgments it began with."""
        return self._given

    def check(self, value: Any) -> Rows:
        """Take judgments only, as rows or as a DataFrame."""
        return table.read_judgments(value)

    def picture(self) -> str:
        """Write the judgments as a table."""
        rows = [
            (row["query"], row["filters"], row["objectID"], _grade(row), row["note"])
            for row in self.value
        ]
        head = ("query", "filters", "objectID", "rating", "note")
        return write_line(f"{len(rows):,} judgments") + write_table(head, rows)

    def codes(self) -> dict[str, str]:
        """How to go on later with the table, and the table itself."""
        code = write_judgments(
            self.index, self._asked, file=None if self._file is None else str(self._file),
            variants=self._variants, depth=self.depth, rater=self.rater,
        )  # fmt: skip
        return {"Python": code, "CSV": self.frame.to_csv(index=False)}

    # For cells.

    @property
    def frame(self) -> DataFrame:
        """The judgments as a DataFrame; see `svc_notebook.tuning.tables.tables`."""
        return table.to_frame(self.value)

    @property
    def missing(self) -> DataFrame:
        """The pooled hits without a judgment: `query, filters, objectID`."""
        rows = self._own()
        return DataFrame(
            [
                (*question.key, one.id)
                for question, found in zip(self._asked, self._pools, strict=True)
                for one in found
                if not table.is_judged(rows.get((*question.key, one.id)))
            ],
            columns=["query", "filters", "objectID"],
        )

    # For views.

    @call
    def grade(self, id: str, rating: float | None, unrateable: bool = False) -> None:  # noqa: A002
        """Rate a hit of the sheet, find it impossible to rate, or with neither take that back."""
        self._note(id, {"rating": rating, "unrateable": unrateable})

    @call
    def note(self, id: str, text: str) -> None:  # noqa: A002 - as the view says it
        """Write a note to a hit of the sheet."""
        self._note(id, {"note": text.strip()})

    @call
    async def turn(self, place: int) -> None:
        """Go to another query."""
        await self._open(max(0, min(len(self._asked) - 1, place)))

    @call
    async def turn_to_open(self) -> None:
        """Go to the next query with hits that are not judged."""
        places = [*range(self._at + 1, len(self._asked)), *range(self._at + 1)]
        own = self._own()
        left = (place for place in places if self._done(place, own) < len(self._pools[place]))
        if (place := next(left, None)) is None:
            raise BadOption("every hit of every query is judged")
        await self._open(place)

    @call
    async def ask(self, query: str, filters: str = "") -> None:
        """Judge one query more, or go to it."""
        question = Question(query, filters)
        if question.key not in [other.key for other in self._asked]:
            [found] = await pool(self.client, self.variants, [question], self.depth)
            self._pools.append(found)
            self._asked.append(question)
        await self._open([other.key for other in self._asked].index(question.key))

    @call
    async def arrange(self, blind: bool, shuffled: bool) -> None:
        """Hide where hits were found or show it, mix them or keep their order."""
        self.blind, self.shuffled = blind, shuffled
        self._draw()

    @call
    def record(self, id: str) -> dict[str, Any]:  # noqa: A002
        """Give one hit whole."""
        if id not in self._hits:
            raise BadOption(f"`{id}` is not on this sheet")
        hit = self._hits[id]
        return {name: value for name, value in hit.items() if name[:1] != "_" or name == "_geoloc"}

    @call
    async def go(self, step: Step) -> None:  # type: ignore[override]  # may have to search
        """Undo, redo or revert, and go to where that was."""
        before = {table.key_of(row): row for row in self.value}
        getattr(self, step)()
        after = {table.key_of(row): row for row in self.value}
        touched = [key for key in {**before, **after} if before.get(key) != after.get(key)]
        keys = [question.key for question in self._asked]
        if touched and (place := touched[-1][:2]) in keys and keys.index(place) != self._at:
            await self._open(keys.index(place))

    # The rest.

    async def _begin(self, value: Any) -> None:
        await super()._begin(value)
        pools = await pool(self.client, self.variants, self._asked, self.depth)
        gone = await self._find_gone(pools)
        self._tell(gone=len(gone))
        self._pools = self._with_judged(pools, gone)
        places, own = range(len(self._asked)), self._own()
        left = (place for place in places if self._done(place, own) < len(self._pools[place]))
        await self._open(next(left, 0))

    async def _find_gone(self, pools: Sequence[Sequence[Pooled]]) -> set[str]:
        """Find judged hits that the index no longer has."""
        pooled = {one.id for found in pools for one in found}
        ids = list({row["objectID"]: None for row in self.value if row["objectID"] not in pooled})
        found = await get_all(self.client, self.variants[0].index, ids, ["objectID"])
        return {object_id for object_id, record in zip(ids, found, strict=True) if record is None}

    def _with_judged(
        self, pools: Sequence[Sequence[Pooled]], gone: Container[str]
    ) -> list[list[Pooled]]:
        """Put what this rater judged earlier, and nothing finds now, after what is found."""
        judged: dict[tuple[str, str], list[str]] = {}
        for query, filters, object_id in self._own():
            judged.setdefault((query, filters), []).append(object_id)
        return [
            [*found, *(Pooled(one, {}) for one in judged.get(question.key, [])
                       if one not in gone and one not in {other.id for other in found})]
            for question, found in zip(self._asked, pools, strict=True)
        ]  # fmt: skip

    async def _open(self, place: int) -> None:
        self._at = place
        if self._asked:
            ids = [one.id for one in self._pools[place]]
            self._hits = await fetch(self.client, self.variants, self._asked[place], ids)
        self._draw()

    def _settle(self, draft: Draft) -> None:
        before = self._draft.value
        super()._settle(draft)
        self._draw()
        if self._file and not same(before, draft.value):
            keeping.write_file(self._file, self.frame)

    def _draw(self) -> None:
        """Draw the sheet of the query at hand, and how far every query is."""
        if len(self._pools) != len(self._asked):
            return
        own = self._own()
        self.questions = [
            {"query": question.query, "filters": question.filters,
             "done": self._done(place, own), "total": len(self._pools[place])}
            for place, question in enumerate(self._asked)
        ]  # fmt: skip
        if self._asked:
            question = self._asked[self._at]
            self.sheet = {"place": self._at, "query": question.query, "filters": question.filters,
                          "hits": self._cards(question, own)}  # fmt: skip

    def _cards(self, question: Question, own: Own) -> list[dict[str, Any]]:
        found: Sequence[Pooled] = self._pools[self._at]
        if self.shuffled:
            found = shuffle(found, question, self.seed)
        others = self._others(question)
        hits = [self._hits.get(one.id, {"objectID": one.id}) for one in found]
        cards = draw_hits(hits, [])
        return [
            {
                **{name: card[name] for name in ("id", "title", "lines", "more", "image")},
                **_said(own.get((*question.key, one.id))),
                "found": [] if self.blind else [list(place) for place in one.places.items()],
                "others": [] if self.blind else others.get(one.id, []),
            }
            for card, one in zip(cards, found, strict=True)
        ]

    def _own(self) -> Own:
        return {table.key_of(row)[:3]: row for row in self.value if row["rater"] == self.rater}

    def _others(self, question: Question) -> dict[str, list[str]]:
        told: dict[str, list[str]] = {}
        for row in self.value:
            if (row["query"], row["filters"]) == question.key and row["rater"] != self.rater:
                told.setdefault(row["objectID"], []).append(f"{row['rater']}: {_grade(row)}")
        return told

    def _done(self, place: int, own: Own) -> int:
        key = self._asked[place].key
        return sum(table.is_judged(own.get((*key, one.id))) for one in self._pools[place])

    def _note(self, id: str, said: Mapping[str, Any]) -> None:  # noqa: A002
        question = self._asked[self._at]
        if id not in [one.id for one in self._pools[self._at]]:
            raise BadOption(f"`{id}` is not on this sheet")
        key = (*question.key, id, self.rater)
        before: table.Row = next((row for row in self.value if table.key_of(row) == key), {})
        about = {"query": question.query, "filters": question.filters, "objectID": id}
        stamp = {"rater": self.rater, "judged_at": table.now(), "source": "human"}
        [row] = table.read_judgments([{**before, **about, **said, **stamp}])
        if before and all(same(before[name], row[name]) for name in said):
            return
        self._settle(self._draft.put(_replaced(self.value, key, row)))


def _replaced(rows: Rows, key: table.Key, row: table.Row) -> Rows:
    """Put a row in its place, last where it is new; one that says nothing goes."""
    kept = [row] if table.says_something(row) else []
    place = next((n for n, other in enumerate(rows) if table.key_of(other) == key), len(rows))
    return [*rows[:place], *kept, *rows[place + 1 :]]


def _said(row: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: row[name] if row else None for name in ("rating", "unrateable", "note")}


def _grade(row: Mapping[str, Any]) -> str:
    if row["unrateable"]:
        return "unrateable"
    return "" if row["rating"] is None else f"{row['rating']:g}"
