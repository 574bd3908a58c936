"""The format of a file, by its first bytes, and the formats that are refused by name."""

from __future__ import annotations

import re
import unicodedata
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.encoding import read_part, sniff_encoding
from svc_notebook.data.loading.sources.given_files import is_workbook, may_be_workbook
from svc_notebook.data.loading.text_cells.signals import Signal, total_points
from svc_notebook.errors import BadInput

FORMAT_SAMPLE_BYTES = 4096
JSON_LINES = (".ndjson", ".jsonl")
BLANKS = b" \t\r\n"
# The options that say how a delimited file is read: with one of them, text is read as it is.
DELIMITED_OPTIONS = ("separator", "quote", "header", "header_rows", "skip", "comment")

# The first bytes of the binary formats that are read.
SIGNATURES: Sequence[tuple[bytes, str]] = (
    (b"PAR1", "parquet"),
    (b"ARROW1\0\0", "arrow"),
    (b"\xff\xff\xff\xff", "arrow"),
    (b"FEA1", "feather"),
    (b"ORC", "orc"),
    (b"Obj\x01", "avro"),
    (b"SQLite format 3\0", "sqlite"),
)
YAML = (".yaml", ".yml")
YAML_START = re.compile(
    rb"%YAML|---\s*\n(#[^\n]*\n)*(- [\w\"']+:|-\s*\n\s+\w+:|[\w\"']+:( |\s*\n))"
)
# The first element, after declarations and comments.
MARKUP = re.compile(
    rb"(?:<\?.*?\?>\s*|<!--.*?-->\s*|<!doctype[^>\[]*(?:\[.*?\]\s*)?>\s*)*<([A-Za-z_][\w.:-]*)[\s/>]",
    re.I | re.S,
)
HTML_DOCTYPE = re.compile(rb"<!doctype\s+html", re.I)
HTML_ELEMENTS = (
    b"html", b"head", b"body", b"table", b"meta", b"style", b"div", b"center", b"font", b"p",
    b"title", b"link", b"script", b"h1", b"h2", b"span", b"form",
)  # fmt: skip
TAIL_BYTES = 200


class RefusedFormat(NamedTuple):
    """A format that is not read: its name, its first bytes, and what to do instead."""

    name: str
    starts: tuple[bytes, ...]
    advice: str
    # The position of the bytes.
    offset: int = 0


AS_TABLE = "export its table as CSV, JSON or Parquet, and load that file"
AS_TEXT = "extract its tables or its text with a program for this format, and load the result"
NO_TABLE = "it contains no table"


def _by_pandas(function: str) -> str:
    return f"read it with pandas: svc.load(pandas.{function}(…), index)"


REFUSED: Sequence[RefusedFormat] = (
    RefusedFormat(
        "a pickle", tuple(b"\x80" + bytes([version]) for version in range(2, 6)),
        "reading it runs code of its author; if you trust it: "
        "svc.load(pandas.read_pickle(…), index)",
    ),
    RefusedFormat("an HDF5 file", (b"\x89HDF",), _by_pandas("read_hdf")),
    RefusedFormat("an SPSS file", (b"$FL2", b"$FL3"), _by_pandas("read_spss")),
    RefusedFormat(
        "a Stata file",
        (b"<stata_dta>", *(bytes([v, order, 1, 0]) for v in range(104, 117) for order in (1, 2))),
        _by_pandas("read_stata"),
    ),
    RefusedFormat("a SAS file", (b"\0" * 12 + b"\xc2\xea\x81\x60",), _by_pandas("read_sas")),
    RefusedFormat("a SAS transport file", (b"HEADER RECORD*******LIB",), _by_pandas("read_sas")),
    RefusedFormat("an R file", (b"RDX2", b"RDX3", b"RDA2", b"RDA3", b"X\n\0\0\0", b"B\n\2\0"),
                  "write its table as CSV or Parquet in R, and load that file"),
    RefusedFormat("a NumPy file", (b"\x93NUMPY",), "load a DataFrame of it: "
                  "svc.load(pandas.DataFrame(numpy.load(…)), index)"),
    RefusedFormat("a MATLAB file", (b"MATLAB 5.0 MAT",), AS_TABLE),
    RefusedFormat("a DuckDB database", (b"DUCK",),
                  "attach it: con = duckdb.connect(…); svc.load(con.sql('SELECT …'), index)", 8),
    RefusedFormat("an Access database", (b"Standard Jet DB", b"Standard ACE DB"), AS_TABLE, 4),
    RefusedFormat("a shapefile", (b"\0\0\x27\x0a",), "convert it to GeoJSON, and load that file"),
    RefusedFormat("a property list", (b"bplist",), "convert it to JSON: plutil -convert json"),
    RefusedFormat("a pointer of Git LFS, not the file itself",
                  (b"version https://git-lfs",), "run `git lfs pull`, and load it again"),
    RefusedFormat("a PDF document", (b"%PDF-",), AS_TEXT),
    RefusedFormat("a PostScript document", (b"%!PS",), AS_TEXT),
    RefusedFormat("an RTF document", (b"{\\rtf",), AS_TEXT),
    RefusedFormat("an image", (b"\x89PNG", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\0",
                               b"MM\0*"), NO_TABLE),
    RefusedFormat("an audio or video file", (b"ID3", b"OggS", b"fLaC", b"\x1aE\xdf\xa3"), NO_TABLE),
    RefusedFormat("an audio, video or image file", (b"RIFF",), NO_TABLE),
    RefusedFormat("a program", (b"\x7fELF", b"MZ\x90\0", b"\xca\xfe\xba\xbe"), NO_TABLE),
    RefusedFormat("an archive of 7-Zip", (b"7z\xbc\xaf\x27\x1c",),
                  "extract it, and load its files"),
    RefusedFormat("a RAR archive", (b"Rar!\x1a\x07",), "extract it, and load its files"),
    RefusedFormat("an encrypted Parquet file", (b"PARE",), "decrypt it, and load that file"),
)  # fmt: skip


class RefusedText(NamedTuple):
    """A kind of text that is not a table: its name, a pattern, and what to do instead."""

    name: str
    pattern: re.Pattern[str]
    advice: str
    # The minimum share of lines that match; 0 if the pattern matches the beginning of the file.
    share: float = 0.0

    def matches(self, text: str) -> bool:
        """Return whether a text is of this kind."""
        if not self.share:
            return self.pattern.match(text) is not None
        lines = [line for line in text.splitlines() if line.strip()]
        return sum(map(bool, map(self.pattern.match, lines))) >= self.share * len(lines)


CONVERT = "convert it to JSON, and load that file"
ENTRIES = "convert it to CSV or JSON, or pass its entries as a list of dicts"
BANK_STATEMENT = "export the statement as CSV, or pass its bookings as a list of dicts"
LEVELS = "TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL"
# A time, perhaps a thread, a process or a logger, a level, and a message of several words; or a
# level and a logger, as Python writes them without a format.
PROGRAM_LINE = re.compile(
    r"\[?\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d\S* +"
    r"([-\w./#]*[\[(][^\])]*[\])] *|\d+ +|- +|[\w.]+ +- +)*"
    rf"\[?({LEVELS})\b\]?(?=[ :])(\S* +\S+){{4}}|({LEVELS}):[\w.]+:.+",
    re.I,
)
# A statement over several lines, or one that ends with a semicolon.
SQL_QUERY = re.compile(
    r"(\s|--[^\n]*\n|/\*.*?\*/)*(WITH\s+(RECURSIVE\s+)?\w+\s+AS\s*\(\s*)?"
    r"SELECT\s([^;]*\n\s*FROM\s+[\w.\"`\[(]|[^;\n]*\sFROM\s+[^;]*;\s*(\Z|\n))",
    re.I | re.S,
)
# The rows of a listing are numbered below names between pipes.
STATA_LISTING = re.compile(r"\s*\+-+\+\s*\n(\s*\|[^\n]*\|\s*\n)+\s*1\. \|")
# Two keys with different names, of which the first is dotted or in capitals.
SETTINGS = re.compile(
    r"(?:\s|[#!;][^\n]*\n)*([a-z][\w-]*(?:\.[\w-]+)+|[A-Z][A-Z0-9]*_[A-Z0-9_]+) ?=[^\n]*\n"
    r"(?:\s|[#!;][^\n]*\n)*(?!\1)[\w-]+(?:\.[\w-]+)* ?="
)
ACCESS_LINE = re.compile(r'\S+ \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "')
SYSLOG_LINE = re.compile(
    r"(<\d+>\d? ?)?([A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\S*) "
    r"\S+ [\w./-]+(\[\d+\])?: "
)
REQUIREMENT = re.compile(
    r"[A-Za-z][\w.-]*(\[[\w, -]+\])? ?(===?|[<>~!]=|[<>]) ?\d[\w.*+!-]*"
    r"( ?, ?([=<>~!]=|[<>]) ?[\w.*]+)*"
    r"( *[;#].*|( --hash.*)? ?\\?)?$"
)
# A title and a heading, each before a blank line, without a table.
MARKDOWN = re.compile(
    r"(?!(.*\n)*?\|.*\|[ \t]*\r?\n)\s*# \S.*\r?\n\s*\n(.*\n)*?#{2,4} \S.*\r?\n[ \t]*\r?\n"
)
REFUSED_TEXTS: Sequence[RefusedText] = (
    RefusedText("a BibTeX file", re.compile(r"(%[^\n]*\n|\s)*@[a-z]+\s*[{(]\s*[^\s,{}]+\s*,", re.I),
                ENTRIES),
    RefusedText("an RIS file", re.compile(r"TY  - \w"), ENTRIES),
    RefusedText("a vCard file", re.compile(r"BEGIN:VCARD", re.I), ENTRIES),
    RefusedText("a log of Git", re.compile(r"commit [0-9a-f]{7,64}\b.*\n(Merge: .*\n)?Author: "),
                "print a line for each commit instead, such as --pretty=format:%h%x09%an%x09%s"),
    RefusedText("a listing of files", re.compile(
        r"(total \d\S*|.*:)?\s*[-dlbcps][-rwxsStT]{9}[+.@]?\s"), ENTRIES),
    RefusedText("a calendar", re.compile(r"BEGIN:VCALENDAR", re.I), ENTRIES),
    RefusedText("a mailbox", re.compile(r"From \S+ .*\d{4}\n[A-Z][\w-]+: "), ENTRIES),
    RefusedText("a mail", re.compile(
        r"(?=(?:.*\n)*?From: )(?=(?:.*\n)*?(?:Subject|Date|To): )"
        r"(?:(?:[A-Z][\w-]*: .*|[ \t]+\S.*)\r?\n){3,}\r?\n"), ENTRIES),
    RefusedText("an LDIF file", re.compile(r"(#[^\n]*\n|version: \d+\s|\s)*dn:{1,2} \S+="),
                ENTRIES),
    RefusedText("a bank statement in MT940", re.compile(
        r"(\{1:|\s|[A-Z0-9]+\n)*:20:[^\n]*\n(:2[15]|:28)"), BANK_STATEMENT),
    RefusedText("a bank statement in QIF", re.compile(r"!(Type|Account|Option):?"), BANK_STATEMENT),
    RefusedText("a bank statement in OFX", re.compile(r"OFXHEADER:"), BANK_STATEMENT),
    RefusedText("an EDIFACT message", re.compile(r"UNA.{6}\s*UNB|UNB\+"), ENTRIES),
    RefusedText("a GEDCOM file", re.compile(r"0 HEAD\r?\n1 "), ENTRIES),
    RefusedText("a game in PGN", re.compile(r"\[Event \""), ENTRIES),
    RefusedText("a file of subtitles", re.compile(
        r"WEBVTT|\d+\r?\n\d\d:\d\d:\d\d[,.]\d{3} --> \d\d:"), ENTRIES),
    RefusedText("a file of translations", re.compile(r"(#[^\n]*\n|\s)*msgid \"[^\n]*\n"), ENTRIES),
    RefusedText("a file in the form of LibSVM", re.compile(
        r"[-+]?\d+(\.\d+)?( qid:\d+)?( \d+:[-+.\de]+)+ *(#.*)?$"), ENTRIES, 0.9),
    RefusedText("a log of a program", PROGRAM_LINE,
                "parse its lines, and pass a list of dicts", 0.5),
    RefusedText("a log of a web server", ACCESS_LINE, "parse its lines, and pass a list of dicts; "
                "separator=' ' splits them at blanks", 0.8),
    RefusedText("a system log", SYSLOG_LINE, "parse its lines, and pass a list of dicts", 0.8),
    RefusedText("an SQL query", SQL_QUERY, "run it in its database, and load the result: "
                "svc.load(pandas.read_sql(…), index)"),
    RefusedText("a data file of JMulTi", re.compile(r"\s*/\*.*?\*/\s*<\d[^>\n]*>\s*\n", re.S),
                "skip= leaves out the lines above its names, and separator=' ' splits the others"),
    RefusedText("a listing of Stata", STATA_LISTING,
                "write its data as CSV with `export delimited`, and load that file"),
    RefusedText("a file of SQL statements", re.compile(
        r"(\s|--[^\n]*\n|/\*.*?\*/;?)*(-- (MySQL|MariaDB|PostgreSQL) (database )?dump"
        r"|((CREATE( OR REPLACE)?|DROP|ALTER) (TABLE|DATABASE|SCHEMA|VIEW|FUNCTION|PROCEDURE)"
        r"|INSERT INTO)\s+[\w\"`\[]|SET \w+ ?=|(BEGIN( TRANSACTION)?|USE \w+);\s*?(\n|\Z)"
        r"|UPDATE \w+ SET\s|PRAGMA \w+)", re.I | re.S),
        "restore it into a database, and load a query or an export of its table"),
    RefusedText("an ARFF file", re.compile(r"(%[^\n]*\n|\s)*@relation\s", re.I),
                "load its rows after @data as CSV: skip= leaves out the lines before them"),
    RefusedText("a plot of Grace", re.compile(
        r"([#@][^\n]*\n)*@\s*(title|subtitle|xaxis|yaxis|legend|world|view|TYPE|s\d+)\s"),
        "load the lines without @ as a table: skip= leaves out the lines before them"),
    RefusedText("a FASTA file", re.compile(r">\S[^\n]*\n[A-Za-z*-]{20,}\n"), ENTRIES),
    RefusedText("a list of requirements of Python", REQUIREMENT,
                "split its lines into names and versions, and pass a list of dicts", 0.5),
    RefusedText("a file of metrics of Prometheus", re.compile(
        r"# (HELP|TYPE) \w+ [^\n]*\n(# (HELP|TYPE) |\w+[{ ])"),
        "query its values as JSON, and load that file"),
    RefusedText("a table of LaTeX", re.compile(
        r"(%[^\n]*\n|\s)*\\begin\{(table\*?|tabular[*x]?|longtable)\}"),
        "write it as CSV instead, and load that file"),
    RefusedText("a LaTeX document", re.compile(r"(%[^\n]*\n|\s)*\\documentclass"), AS_TEXT),
    RefusedText("an encrypted or signed file", re.compile(r"-----BEGIN [A-Z ]+-----"),
                "decrypt it, and load the result"),
    RefusedText("a TOML file", re.compile(
        r"(\s|#[^\n]*\n)*\[\[[\w.-]+\]\][ \t]*\r?\n\s*[\w-]+ ?="), CONVERT),
    RefusedText("a file of settings", re.compile(
        r"(\s|[;#][^\n]*\n)*\[[\w .:-]+\][ \t]*\r?\n(\s|[;#][^\n]*\n)*[\w .-]+="), CONVERT),
    RefusedText("a file of settings", SETTINGS, CONVERT),
    RefusedText("a file of code or settings", re.compile(
        r"(\s|(#|//|/\*)[^\n]*\n)*([\w.@#:*-][^\n\"|\t,;]*\{[ \t]*\r?\n"
        # One line can be the header of a table of imports.
        r"|((import [\w., ]+|from [\w.]+ import [\w., *]+)\r?\n\s*){2}"
        r"|((import [\w., ]+|from [\w.]+ import [\w., *]+)\r?\n\s*)?"
        r"(async )?(def|class) \w+(\([^\n]*\))?( -> [^\n]*)?:[ \t]*\r?\n)"), NO_TABLE),
    RefusedText("a document in Markdown", MARKDOWN, AS_TEXT),
    RefusedText("a file of JavaScript", re.compile(
        r"\s*(/\*\*/)?\s*(typeof [^&\n]+&&\s*)?([\w.$]+\s*\(\s*[\[{]"
        r"|(var|let|const|export default|module\.exports|window\.\w+)\b[^\n=]*=?\s*[\[{])"),
        "remove the text before and after the JSON, and load the rest"),
    RefusedText("JSON with comments", re.compile(
        r"(\s*//[^\n]*\n|\s*/\*.*?\*/)+\s*[\[{]", re.S), "remove the comments, and load the rest"),
    RefusedText("a sequence of JSON texts", re.compile(r"\x1e\s*[\[{]"),
                "remove the character 0x1E before each text, and load the rest"),
    RefusedText("a patch", re.compile(r"diff --git |--- \S+.*\n\+\+\+ \S"), NO_TABLE),
)  # fmt: skip

# Sentences of a text: the lines below which nothing is decided, the words of a line, and the points
# with which a file is prose.
MIN_PROSE_LINES, MIN_PROSE_WORDS, PROSE_POINTS = 4, 4, 2
SENTENCE_ENDS = (".", "!", "?", ":", '."', '!"', '?"', ".)")
WORD = re.compile(r"[^\W\d_]{2,}")
PROSE_MARK = re.compile(r"([=~*-])\1{3,}|(?:[-*\u2022]|\d{1,2}[.)])\s+(?=[^\W\d])")
COMMA = re.compile(r",\s?")
# The points of separators that are in all lines equally often.
CELL_SEPARATORS = {",": -1, ";": -3, "\t": -3, "|": -3}
CELL_VALUE = re.compile(r"(?:^|[,;\t|])[ \"]*[-+]?\d[\d.,:/-]*[ \"]*(?:$|[,;\t|])|^\W?\d[\d:/-]+\b")
TABLE_SUFFIXES = (".csv", ".tsv", ".tab", ".psv", ".data", ".dat")

# The minimum number of characters that no text has, and the share of them, in a binary file.
MIN_BINARY_CHARACTERS, MIN_BINARY_SHARE = 4, 0.03
# Control characters that delimited files contain: separators of Hive and ASCII, and Ctrl-Z.
UNPRINTABLE = re.compile(r"[^ -\x7f\t\n\r]")
ALLOWED_CONTROLS = frozenset("\t\n\r\f\v\x01\x1a\x1b\x1c\x1d\x1e\x1f\x85\ufeff")


def format_of(path: Path) -> str:
    """Return a file's format by its first bytes; its name decides only between texts."""
    sample = read_part(path, FORMAT_SAMPLE_BYTES)
    for signature, name in SIGNATURES:
        if sample.startswith(signature):
            return name
    if may_be_workbook(sample) and is_workbook(path):
        return "workbook"
    if sniff_encoding(sample).startswith(("utf-16", "utf-32")):
        sample = sample.decode(sniff_encoding(sample), "replace").encode()
    start = sample.removeprefix(BOM_UTF8).lstrip(BLANKS)
    return _format_of_markup(path, start) or _format_of_text(start, path.suffix.lower())


def _format_of_markup(path: Path, start: bytes) -> str | None:
    """Return whether a file is XML or HTML: it begins with an element, and ends with one."""
    first = MARKUP.match(start)
    if first is None:
        return "xml" if start.startswith(b"<?xml") else None
    tail = read_part(path, TAIL_BYTES, max(path.stat().st_size - TAIL_BYTES, 0))
    ends = tail.rstrip(BLANKS + b"\0").endswith(b">")
    if first[1].lower() in HTML_ELEMENTS or HTML_DOCTYPE.match(start):
        return "html" if ends or HTML_DOCTYPE.match(start) else None
    return "xml" if ends or start.startswith(b"<?xml") else None


def _format_of_text(start: bytes, suffix: str) -> str:
    if suffix in YAML or YAML_START.match(start):
        return "yaml"
    if start.startswith(b"["):
        inside = start[1:].lstrip(BLANKS)[:1]
        if suffix == ".json" or inside in (b"{", b"]"):
            return "array"
    if suffix in JSON_LINES or re.match(rb'\{\s*("|\}|$)', start):
        return "lines"
    return "lines" if suffix == ".json" and start.startswith(b"{") else "delimited"


def refuse_unreadable(path: Path, given: Path, file_format: str, options: LoadSettings) -> None:
    """Raise `BadInput` for a file that is not read; `given` is the file that the caller named."""
    sample = read_part(path, FORMAT_SAMPLE_BYTES)
    for refused in REFUSED:
        if sample[refused.offset :].startswith(refused.starts):
            raise BadInput(f"{given} is {refused.name}, which is not read; {refused.advice}")
    if file_format != "delimited":
        return
    encoding = options.encoding or sniff_encoding(sample)
    try:
        text = sample.decode(encoding, "replace")
    except (LookupError, ValueError):
        return  # the reader names the encodings
    if is_binary(text):
        raise BadInput(f"{given} is a binary file of an unknown format, which is not read; "
                       f"{AS_TABLE}")  # fmt: skip
    if any(getattr(options, name) is not None for name in DELIMITED_OPTIONS):
        return
    _refuse_text(text.lstrip("\ufeff"), given)


def is_binary(text: str) -> bool:
    """Return whether a decoded sample has more characters that no text has than a damaged text."""
    strange = sum(
        unicodedata.category(character) in ("Cc", "Cn", "Co", "Cs")
        for character in UNPRINTABLE.findall(text)
        if character not in ALLOWED_CONTROLS
    )
    return strange >= max(MIN_BINARY_CHARACTERS, MIN_BINARY_SHARE * len(text))


def _refuse_text(text: str, given: Path) -> None:
    lines = [line.strip() for line in text.splitlines()]
    if not any(lines):
        return
    for refused in REFUSED_TEXTS:
        if refused.matches(text):
            raise BadInput(f"{given} is {refused.name}, which is not read; {refused.advice}")
    if total_points(rate_prose(lines, given.suffix.lower())) > PROSE_POINTS:
        raise BadInput(
            f"{given} is a text of sentences, which is not read as a table; to load its "
            "lines, pass a list of dicts: [{'text': line} for line in open(…)]"
        )


def rate_prose(lines: Sequence[str], suffix: str) -> Iterator[Signal]:
    """Yield the signals for and against lines being sentences, and not the rows of a table."""
    texts = [line for line in lines if line and not PROSE_MARK.fullmatch(line)]
    if len(texts) < MIN_PROSE_LINES:
        return
    ends = _share(texts, lambda line: line.endswith(SENTENCE_ENDS))
    yield Signal(f"{ends:.0%} of the lines end as a sentence does", 2 * ends)
    words = len(WORD.findall("\n".join(texts))) / len(texts)
    yield Signal(f"a line has {words:.1f} words", 1 if words >= MIN_PROSE_WORDS else -1)
    if "\n\n" in "\n".join(lines).strip():
        yield Signal("blank lines separate paragraphs", 0.5)
    if any(map(PROSE_MARK.match, lines)):
        yield Signal("a line is underlined, or begins as one of a list", 0.5)
    yield from _rate_cells(texts)
    if suffix in TABLE_SUFFIXES:
        yield Signal("the name of the file is that of a table", -2)


def _rate_cells(texts: Sequence[str]) -> Iterator[Signal]:
    """Yield the signals of the separators in lines, and of the cells that they would have."""
    commas = [comma for line in texts for comma in COMMA.findall(line)]
    if commas and all(comma != "," for comma in commas):
        yield Signal("all commas precede a blank", 0.5)
    for separator, points in CELL_SEPARATORS.items():
        if len({line.count(separator) for line in texts}) == 1 and separator in texts[0]:
            yield Signal("a separator is in all lines equally often", points)
    values = _share(texts, CELL_VALUE.search)
    yield Signal(f"{values:.0%} of the lines have a number or a date as a cell", -2 * values)


def _share(lines: Sequence[str], holds: Callable[[str], object]) -> float:
    return sum(map(bool, map(holds, lines))) / len(lines)
