"""Records that database clients print with a line for each value: `\\G` of MySQL, `\\x` of psql."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

# The line before each record, and a name with its value.
FORMS = (
    (re.compile(r"\*{5,} \d+\. row \*{5,}"), re.compile(r" *([^\s:][^:]*): ?(.*)", re.S)),
    (re.compile(r"-\[ RECORD \d+ \][-+]*"), re.compile(r"([^\s|][^|]*?) *\| ?(.*)", re.S)),
)
END = re.compile(r"\d+ rows? in set.*|\(\d+ rows?\)")
# Between the lines of a record that are joined.
LINE_END = "\x1e"


@dataclass(frozen=True)
class PrintedRecords:
    """The form of the records of a file, and the names of their values."""

    start: re.Pattern[str]
    pair: re.Pattern[str]
    names: tuple[str, ...]

    def join(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the lines of each record as one line, and other lines by themselves."""
        return _join(lines, self.start)

    def read(self, record: str) -> list[str] | None:
        """Return the values of a record in the order of the names; None for another line.

        A line without a name belongs to the value before it.
        """
        first, *lines = record.split(LINE_END)
        values: list[list[str]] = []
        for line in lines:
            match = self.pair.fullmatch(line)
            if match and len(values) < len(self.names) and match[1] == self.names[len(values)]:
                values.append([match[2]])
            elif values:
                values[-1].append(line)
        complete = self.start.fullmatch(first.strip()) and len(values) == len(self.names)
        # A blank line after the last record does not belong to the last value.
        return ["\n".join(value).rstrip("\n") for value in values] if complete else None


def find_printed_records(lines: Sequence[str]) -> PrintedRecords | None:
    """Return the form of records that are printed with a line for each value; None for a table."""
    first = next((line.strip() for line in lines if line.strip()), "")
    for start, pair in FORMS:
        if start.fullmatch(first):
            _, *values = next(_join(lines, start)).split(LINE_END)
            names = dict.fromkeys(match[1] for line in values if (match := pair.fullmatch(line)))
            return PrintedRecords(start, pair, (*names,)) if names else None
    return None


def _join(lines: Iterable[str], start: re.Pattern[str]) -> Iterator[str]:
    record: list[str] = []
    for line in lines:
        body = line.rstrip("\r\n")
        if start.fullmatch(body.strip()):
            yield from [LINE_END.join(record)] if record else []
            record = [body]
        elif record and not END.fullmatch(body.strip()):
            record.append(body)
        elif body.strip():
            yield body
    yield from [LINE_END.join(record)] if record else []
