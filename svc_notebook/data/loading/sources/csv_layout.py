"""The layout of a delimited file: decisions on a sample of it, of which the best are compared.

The quote, the separator, the lines above and below the table, and the header are decided by the
points of signals. Where separators are nearly as likely, the whole readings are compared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from svc_notebook.core.display import format_count
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.csv_candidates import (
    SAMPLE_ROWS,
    SHOWN,
    UNUSUAL_SEPARATORS,
    Row,
    Sample,
    escape_of,
    find_bare_words,
    find_quote,
    find_separator,
    is_padded,
    parse_line,
    usual_width,
)
from svc_notebook.data.loading.sources.csv_cells import (
    NO_QUOTE,
    Dialect,
    is_well_quoted,
    read_cell,
    repair_cells,
    split_cells,
)
from svc_notebook.data.loading.sources.csv_lines import (
    Layout,
    SkippedLines,
    choose_table,
    describe_titles,
    find_tables,
    has_marks,
    show_lines,
    without_comments,
)
from svc_notebook.data.loading.table import Advice
from svc_notebook.data.loading.text_cells.footers import count_footer_rows, may_be_footer
from svc_notebook.data.loading.text_cells.header_names import (
    NO_HEADER,
    Names,
    count_tall_header,
    name_columns,
)
from svc_notebook.data.loading.text_cells.header_score import (
    find_titles,
    is_certain_header,
    rate_header,
)
from svc_notebook.data.loading.text_cells.signals import Decision, Hypothesis, Signal, decide, state

# The last lines among which a footer is looked for.
MAX_END_LINES, MIN_END_LINES = 30, 4
DEFAULT_COMMENT, MIN_ANNOTATIONS = "#", 2
# Marks that the first lines of other files have.
OTHER_COMMENTS = ("!", "%", "//")
SEPARATOR_LINE = re.compile(r'"?sep=(?P<separator>[^"\r\n])"?\r?\n', re.IGNORECASE)
LEADING_COMMENT = re.compile(r"\s*/\*.*?\*/[ \t]*(?:\r\n?|\n)", re.S)
# Whole readings are compared if their separators differ by less than these points, and a runner-up
# that lacks no more than the second number is proposed.
NEAR_POINTS, PROPOSED_POINTS = 1.5, 0.5
# The maximum points of a header for each column, so that a wide table does not outweigh the rows,
# and the points of decisions to leave out lines.
MAX_HEADER_POINTS, LEFT_OUT_POINTS = 2, -1
# The points of a header without a signal but that it contains no value.
DOUBTFUL_NAME_POINTS = 0.25
LINES_LEFT_OUT = ("titles", "table", "footer")
GIVEN = Signal("an option or the file names it", 1)


@dataclass(frozen=True)
class _Given:
    """The decisions that precede the choice of the separator."""

    sample: Sample
    options: LoadSettings
    quote: Decision
    skipped: int
    comment: str
    # Whether the sample is the whole file, and the last lines of a longer one.
    whole: bool
    end: Sequence[str]

    @property
    def likely(self) -> Sample:
        """The lines that can be rows."""
        lines = self.sample.lines[self.skipped :]
        if self.comment:
            mark = self.quote.chosen.value
            lines = list(without_comments(lines, self.comment, mark)) or lines
        return self.sample.with_lines(lines)


def find_layout(
    text: str, options: LoadSettings, *, whole: bool = True, end: Sequence[str] = ()
) -> Layout:
    """Read a file's beginning, or `whole` text, in the best way; options take precedence.

    `end` are the last lines of a file that is longer.
    """
    sample = Sample(text)
    quote, notes = _decide_on_quote(text, options)
    mark = quote.chosen.value
    skipped, separator, above = _read_beginning(text, options)
    notes += above
    comment = _find_comment(sample, options)
    given = _Given(sample, options, quote, skipped, comment, whole, end)
    likely = given.likely
    separators = (
        state("separator", separator, *GIVEN) if separator else find_separator(likely, mark)
    )
    layouts = [_lay_out(given, likely, decision) for decision in _list_likely(separators)]
    rated = decide("reading", (_rate_layout(n, layout) for n, layout in enumerate(layouts)))
    best = layouts[int(rated.chosen.value)]
    advice = _advise_runner_up(best, layouts, rated)
    return replace(best, notes=(*notes, *best.notes, *advice), decisions=(rated, *best.decisions))


def _read_beginning(text: str, options: LoadSettings) -> tuple[int, str | None, list[str]]:
    """Return the number of lines to skip first, the separator if it is named, and notes."""
    if options.skip is not None:
        return options.skip, options.separator, []
    if named := SEPARATOR_LINE.match(text):
        note = f"line 1 names the separator: {named[0].strip()}"
        return 1, options.separator or named["separator"], [note]
    if block := LEADING_COMMENT.match(text):
        lines = block[0].splitlines()
        return len(lines), options.separator, describe_titles(lines)
    return 0, options.separator, []


def _find_comment(sample: Sample, options: LoadSettings) -> str:
    """Return the start of the lines that are comments; empty if there are none."""
    comment = options.comment or DEFAULT_COMMENT
    if any(line.startswith(comment) for line in sample.lines) or options.comment:
        return comment
    for mark in OTHER_COMMENTS:
        # Several first lines begin with it, but not all lines.
        others = (n for n, line in enumerate(sample.lines) if not line.startswith(mark))
        if next(others, 0) > MIN_ANNOTATIONS:
            return mark
    return ""


def _are_all_comments(given: _Given, rows: Sequence[Row], separator: str) -> bool:
    """Return whether lines with as many cells as a row are comments, too."""
    if given.options.comment is not None or given.comment in OTHER_COMMENTS:
        return True
    if separator == " ":
        return _are_sentences(given, rows)
    return _is_annotated(given, rows)


def _decide_on_quote(text: str, options: LoadSettings) -> tuple[Decision, list[str]]:
    """Decide on the character around values, with a note if it is not the usual one."""
    if options.quote:
        quote = state("quote", options.quote, *GIVEN)
    else:
        quote = find_quote(text, options.separator)
    mark = quote.chosen.value
    if mark == NO_QUOTE:
        note = "`\"` is a character of the values and encloses none; quote='\"' reads it as one"
        return quote, [note]
    if mark != '"' and options.quote is None:
        return quote, [f"values are inside the quotes `{mark}`"]
    return quote, []


def _list_likely(decision: Decision) -> list[Decision]:
    """Return a decision for each hypothesis that is nearly as likely as the best one."""
    near = max(1, decision.points - NEAR_POINTS)
    best, *others = decision.hypotheses
    likely = [best, *(hypothesis for hypothesis in others if hypothesis.points >= near)]
    return [*map(decision.choosing, likely)]


def _rate_layout(number: int, layout: Layout) -> Hypothesis:
    """Rate a whole reading by the points of its decisions."""
    signals = []
    for decision in layout.decisions:
        points = decision.points
        if decision.name == "header":
            points = min(layout.dialect.header * points / max(layout.width, 1), MAX_HEADER_POINTS)
        elif decision.name in LINES_LEFT_OUT:
            points = LEFT_OUT_POINTS
        signals.append(Signal(f"{decision.name}: {decision.chosen.reading}", points))
    reading = f"{layout.width:,} cells between {_show(layout)}"
    return Hypothesis(str(number), reading, tuple(signals))


def _show(layout: Layout) -> str:
    return SHOWN.get(layout.separator, f"`{layout.separator}`")


def _advise_runner_up(best: Layout, layouts: Sequence[Layout], rated: Decision) -> list[str]:
    """Return the advice to read the file otherwise, if that is nearly as likely.

    A separator that gives fewer cells is that of lists inside of them.
    """
    if rated.runner_up is None or rated.distance > PROPOSED_POINTS:
        return []
    other = layouts[int(rated.runner_up.value)]
    if other.width < best.width:
        return []
    read = f"rows are read as {best.width:,} cells between {_show(best)}"
    option = f"separator={other.separator!r} reads them so"
    return [Advice(f"{read}; {rated.runner_up.reading} are nearly as likely: {option}")]


def _lay_out(given: _Given, likely: Sample, separators: Decision) -> Layout:
    """Return the layout for one separator."""
    options, lines = given.options, given.sample.lines
    separator, quote = separators.chosen.value, given.quote.chosen.value
    notes: list[str] = []
    if separator in UNUSUAL_SEPARATORS and GIVEN not in separators.chosen.signals:
        shown = "blanks" if separator == " " else f"`{separator}`"
        notes.append(f"cells are separated by {shown}")
    rows = likely.rows(separator, quote)
    width = usual_width(rows)
    escape = escape_of(given.sample.text, quote)
    if escape != quote:
        notes.append(f"`{escape}{quote}` inside of values is read as `{quote}`")
    dialect = Dialect(separator, quote, escape, header=True, names=())
    layout = Layout(
        dialect, width, given.skipped, given.comment,
        _are_all_comments(given, rows, separator),
        padded=separator == " " or (width > 1 and is_padded(likely.lines, rows, dialect)),
        decisions=(given.quote, separators),
    )  # fmt: skip
    layout, table = _leave_out_comments(layout, given)
    if layout.padded and separator != " ":
        notes.append(f"blanks around `{separator}` are removed")
    tables = find_tables(table.lines, dialect, whole=given.whole) if width > 1 else []
    layout, more = (
        choose_table(layout, lines, tables, options)
        if tables
        else _skip_titles(layout, table, options)
    )
    notes += more
    end = None if layout.length is None else layout.preamble + layout.length
    table = table.with_lines(table.lines[layout.preamble : end])
    layout, table, more = _leave_out_footer(layout, table, given)
    notes += more
    layout = _find_header(layout, table, options)
    notes += _advise_blanks(layout, table.rows(separator, quote), options)
    notes += _advise_name(layout, len(table.lines))
    words = find_bare_words(table.lines, layout.dialect)
    notes += (f"`{word}` without quotes is a missing value: texts are in quotes" for word in words)
    return replace(layout, bare_words=words, notes=tuple(notes))


def _leave_out_comments(layout: Layout, given: _Given) -> tuple[Layout, Sample]:
    """Return the lines without comments; lines that begin as these do can be rows."""
    comments = SkippedLines()
    table = given.sample.with_lines(list(layout.read_lines(given.sample.lines, comments)))
    if not layout.comment:
        return layout, table
    has_tags = not layout.all_comments and (
        layout.width < 2 or _has_tags(table.rows(layout.separator, layout.dialect.quote))
    )
    if (comments.comments or comments.names) and not has_tags:
        return layout, table
    layout = replace(layout, comment="")
    lines = list(layout.read_lines(given.sample.lines, SkippedLines()))
    return layout, given.sample.with_lines(lines)


def _has_tags(rows: Sequence[Row]) -> bool:
    """Return whether rows below the first begin with `#` and a character, as `#red,1` does."""
    marked = (row for _, row in rows[1:] if row[0].startswith(DEFAULT_COMMENT))
    return any(row[0][1:2].strip() and not has_marks(row, DEFAULT_COMMENT) for row in marked)


def _is_annotated(given: _Given, rows: Sequence[Row]) -> bool:
    """Return whether comments are above a header only, as annotations of its columns are."""
    marked = [line.startswith(DEFAULT_COMMENT) for line in given.sample.lines[given.skipped :]]
    annotations = marked.index(False) if False in marked else 0
    return (
        annotations >= MIN_ANNOTATIONS
        and not any(marked[annotations:])
        and is_certain_header([row for _, row in rows], usual_width(rows))
    )


def _are_sentences(given: _Given, rows: Sequence[Row]) -> bool:
    """Return whether several comments are above a table between blanks, which split sentences.

    Only the last of them can be a header.
    """
    first = given.sample.lines[given.skipped :]
    marked = [*takewhile(lambda line: line.startswith(given.comment), first)]
    has_several = bool(given.comment) and len(marked) > MIN_ANNOTATIONS
    return has_several and len(marked[-1].split()) != usual_width(rows)


def _skip_titles(layout: Layout, table: Sample, options: LoadSettings) -> tuple[Layout, list[str]]:
    """Skip the lines before a table, with a note."""
    if (options.skip, options.header, options.header_rows) != (None, None, None):
        return layout, []
    rows = table.rows(layout.separator, layout.dialect.quote)
    first, signals = find_titles(rows, layout.width)
    chosen = Hypothesis(str(first), str(first), tuple(signals))
    if not first or chosen.points <= 0:
        return layout, []
    titles = table.lines[:first]
    layout = replace(layout, preamble=first).with_decision(Decision("titles", (chosen,)))
    return layout, describe_titles(titles)


def _leave_out_footer(
    layout: Layout, table: Sample, given: _Given
) -> tuple[Layout, Sample, list[str]]:
    """Leave out the lines after the last row of a table, with a note that holds them."""
    footer = _count_footer_lines(layout, table, given)
    if not footer:
        return layout, table, []
    has_end = layout.length is not None or given.whole
    last = (table.lines if has_end else given.end)[-footer:]
    shown = format_count(sum(bool(line.strip()) for line in last), "line")
    note = f"{shown} after the last row left out: {show_lines(last)}; strict=True loads such lines"
    if layout.length is None:
        layout = replace(layout, footer=footer)
    else:
        layout = replace(layout, length=layout.length - footer)
    decision = state("footer", str(footer), f"{shown} below: totals or remarks")
    table = table.with_lines(table.lines[:-footer]) if has_end else table
    return layout.with_decision(decision), table, [note]


def _count_footer_lines(layout: Layout, table: Sample, given: _Given) -> int:
    """Return the number of lines after the last row of a table."""
    rows = table.rows(layout.separator, layout.dialect.quote)
    last = [*(table.lines if given.whole or layout.length is not None else given.end)]
    last = last[-MAX_END_LINES:]
    body = [row for _, row in rows[1:]]
    if given.options.strict or layout.width < 2 or len(last) < MIN_END_LINES:
        return 0
    final = next((line for line in reversed(last) if line.strip()), "")
    if not may_be_footer(parse_line(final, layout.dialect), max(map(len, body), default=0)):
        return 0
    tail = [parse_line(line, layout.dialect) for line in last]
    complete = given.whole and len(rows) <= SAMPLE_ROWS
    in_lines = not any(line.count(layout.dialect.quote) % 2 for line in last)
    count = count_footer_rows(body, tail, whole=complete, in_lines=in_lines)
    # With an odd number of quotes, these lines begin inside of a value of the last row.
    return 0 if count and "".join(last[-count:]).count(layout.dialect.quote) % 2 else count


def _find_header(layout: Layout, table: Sample, options: LoadSettings) -> Layout:
    """Find the rows of the header and the names of the columns."""
    dialect, rows = layout.dialect, table.rows(layout.separator, layout.dialect.quote)
    texts = [row for _, row in rows]
    depth = _count_header_rows(texts, options)
    upper = tuple(map(tuple, texts[: depth - 1]))
    if depth > 1:
        line = rows[depth - 1][0]
        length = None if layout.length is None else layout.length - line
        layout = replace(layout, preamble=layout.preamble + line, upper=upper, length=length)
        table, texts = table.with_lines(table.lines[line:]), texts[depth - 1 :]
    first = _read_first(table.lines, texts[0], dialect) if texts else []
    texts = [first, *texts[1:]] if texts else []
    header, decision = _decide_on_header(texts, depth, options)
    names = name_columns(first, texts, upper) if header else _number_columns(first, options)
    cells = tuple(cell.strip() for cell in first)
    dialect = replace(
        dialect, header=header, names=tuple(names.names), notes=tuple(names.notes),
        cells=cells if header else (), trailing=names.trailing,
        first_row=() if header or options.header is not None else cells,
    )  # fmt: skip
    return replace(layout, dialect=dialect).with_decision(decision)


def _count_header_rows(texts: Sequence[Sequence[str]], options: LoadSettings) -> int:
    """Return the number of header rows; 1 unless several rows name the columns."""
    is_given = (options.header, options.header_rows) != (None, None)
    depth = (options.header_rows or 0) if is_given else count_tall_header(texts)
    return depth if 1 < depth <= len(texts) else 1


def _number_columns(first: Sequence[str], options: LoadSettings) -> Names:
    names = [f"column{number}" for number, _ in enumerate(first)]
    return Names(names, [NO_HEADER] if options.header is None and names else [])


def _decide_on_header(
    texts: Sequence[Sequence[str]], depth: int, options: LoadSettings
) -> tuple[bool, Decision]:
    """Return whether there is a header, which options or several rows of names also decide."""
    if depth > 1 or (options.header, options.header_rows) != (None, None):
        header = options.header_rows is not None or depth > 1 or bool(options.header)
        return header, state("header", f"{depth} rows" if header else "none", *GIVEN)
    signals = rate_header(texts)
    header = sum(signal.points for signal in signals) > 0
    reading = "first row" if header else "none"
    signals = signals if header else [Signal(what, -points) for what, points in signals]
    return header, Decision("header", (Hypothesis(reading, reading, tuple(signals)),))


def _read_first(lines: Sequence[str], row: list[str], dialect: Dialect) -> list[str]:
    """Return the cells of the first row; those with misplaced quotes as they are in other rows."""
    line = next((line.rstrip("\r\n") for line in lines if line.strip("\r\n")), "")
    if all(is_well_quoted(cell, dialect) for cell in split_cells(line, dialect)):
        return row
    cells = repair_cells(line, len(row), dialect)
    doubled = replace(dialect, escape=dialect.quote)
    return row if cells is None else [read_cell(cell, doubled) or "" for cell in cells]


def _advise_name(layout: Layout, lines: int) -> list[str]:
    """Return the advice to read the first of several texts in lines as a value, not as a name."""
    names, points = layout.dialect.names, layout.decisions[-1].points
    if not layout.dialect.header or len(names) != 1 or lines < 2 or points > DOUBTFUL_NAME_POINTS:
        return []
    return [Advice(f"`{names[0]}` is read as the name of the only column; header=False reads it "
                   "as a value")]  # fmt: skip


def _advise_blanks(layout: Layout, rows: Sequence[Row], options: LoadSettings) -> list[str]:
    """Return the advice to separate a single column at blanks, if all rows have as many."""
    texts = [row[0].strip() for _, row in rows if len(row) == 1]
    counts = {len(text.split()) for text in texts}
    if options.separator is not None or layout.width != 1 or len(texts) != len(rows):
        return []
    if len(texts) < MIN_END_LINES or len(counts) != 1 or counts == {1}:
        return []
    cells = counts.pop()
    return [Advice(f"each line is one value; separator=' ' reads {cells:,} values between blanks")]
