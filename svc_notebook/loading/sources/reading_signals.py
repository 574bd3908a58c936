"""The signals by which a delimited file is read: what speaks for each possible reading."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from svc_notebook.loading.sources.csv_dialect import NO_QUOTE, USUAL_SEPARATORS, Row, parse_rows
from svc_notebook.loading.sources.csv_separator import rate_separator
from svc_notebook.loading.text_cells.header_score import score_header

# The characters of a file's beginning whose signals are shown.
MAX_SHOWN_CHARACTERS = 20_000
NAMES = {"\t": "tab", " ": "blank", NO_QUOTE: "none"}


class ReadingSignal(NamedTuple):
    """A row of `LoadPlan.explain`: a signal for or against one reading of a source."""

    decision: str
    reading: str
    chosen: bool
    signal: str
    points: float


@dataclass(frozen=True)
class DelimitedReading:
    """The beginning of a delimited file, and how it is read."""

    text: str
    separator: str
    quote: str
    header: bool
    encoding: str = ""
    # The lines above and below the table that are left out.
    titles: int = 0
    footers: int = 0

    def signals(self) -> Iterator[ReadingSignal]:
        """Yield the signals, decision by decision."""
        if self.encoding:
            yield ReadingSignal("encoding", self.encoding, True, "the bytes are not UTF-8", 1.0)
        else:
            yield ReadingSignal("encoding", "utf-8", True, "all bytes are UTF-8", 1.0)
        yield from self._separator_signals()
        shown = NAMES.get(self.quote, self.quote)
        quotes = self.text.count(self.quote)
        yield ReadingSignal("quote", shown, True, f"occurs {quotes:,} times", float(quotes > 0))
        if self.titles:
            what = f"{self.titles:,} lines above have another form than the rows"
            yield ReadingSignal("titles", str(self.titles), True, what, 1.0)
        if self.footers:
            what = f"{self.footers:,} lines below are totals or remarks"
            yield ReadingSignal("footer", str(self.footers), True, what, 1.0)
        yield from self._header_signals()

    def _rows(self, separator: str) -> list[Row]:
        return parse_rows(self.text, separator, self.quote)

    def _separator_signals(self) -> Iterator[ReadingSignal]:
        candidates = [mark for mark in USUAL_SEPARATORS if mark in self.text]
        if self.separator not in candidates:
            candidates.append(self.separator)
        rated = []
        for mark in candidates:
            share, begins, torn, width = rate_separator(
                self.text, mark, self.quote, self._rows(mark)
            )
            what = f"{share:.0%} of the rows have {width:,} cells" if width else "one cell in a row"
            what += f"; {-torn:.0%} of the cells contain another separator" if torn else ""
            what += "" if begins or not width else "; the first rows have another number of cells"
            chosen, points = mark == self.separator, share + torn - (bool(width) and not begins)
            rated.append(ReadingSignal("separator", NAMES.get(mark, mark), chosen, what, points))
        yield from sorted(rated, key=lambda each: (not each.chosen, -each.points))

    def _header_signals(self) -> Iterator[ReadingSignal]:
        rows = [row for _, row in self._rows(self.separator)]
        signals = score_header(rows) if len(rows) > 1 else []
        reading = "first row" if self.header else "none"
        for signal in signals:
            points = signal.points if self.header else -signal.points
            yield ReadingSignal("header", reading, True, signal.what, points)
        if not signals:
            what = "nothing speaks against a header" if self.header else "an option, or one row"
            yield ReadingSignal("header", reading, True, what, 0.0)
