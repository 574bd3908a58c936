r"""Tables of statistics offices, as Eurostat writes them: the first column has all dimensions.

The first line is `freq,unit,geo\TIME_PERIOD`, a tab and the periods; values are `6.5 b` or `: c`,
with flags for provisional and other data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

# The names of the dimensions, that of the time, and the first period.
HEADER = re.compile(r"(?P<dimensions>[\w.-]+(?:,[\w.-]+)*)\\[\w.-]+ *\t\d{4}")
# A value or the sign for none, and its flags.
FLAGGED = re.compile(r"(?P<value>[-+]?[\d.]+(?:[eE][-+]?\d+)?|:)(?: +[a-zA-Z]+)?")
MISSING = ":"


def find_sdmx_table(lines: Sequence[str]) -> tuple[str, Callable[[str], list[str] | None]] | None:
    """Return the note and the reader of lines of such a table; `None` for other files."""
    header = HEADER.match(lines[0]) if lines else None
    if header is None:
        return None
    dimensions = header["dimensions"].split(",")
    periods = [cell.strip() for cell in lines[0].split("\t")[1:]]

    def read(line: str) -> list[str] | None:
        first, *cells = line.split("\t")
        if HEADER.match(line):
            return [*dimensions, *periods]
        keys = [key.strip() for key in first.split(",")]
        if len(keys) != len(dimensions) or len(cells) != len(periods):
            return None
        return [*keys, *map(_read_value, cells)]

    # Flags can be in any line, also after the lines that were looked at.
    return (
        f"the first column has the dimensions {', '.join(dimensions)}, each of which becomes a "
        "column; `:` is a missing value, and flags after values, as in `6.5 b`, are left out"
    ), read


def _read_value(cell: str) -> str:
    match = FLAGGED.fullmatch(cell.strip())
    value = match["value"] if match else cell.strip()
    return "" if value == MISSING else value
