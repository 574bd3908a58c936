"""The notes of a plan on the rows that a regular copy of a delimited file changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from svc_notebook.loading.sources.csv_ragged_rows import MAX_NUMBERED_ROWS, RegularCopy


def describe_copies(
    copies: Sequence[RegularCopy], names: Sequence[str], surplus: Sequence[str]
) -> Iterator[str]:
    """Yield a note for each file and each way in which its rows were changed."""
    for copy, name in zip(copies, names, strict=True):
        place = f" of {name}" if len(copies) > 1 else ""
        if copy.filled.number:
            yield (
                f"{copy.filled.subject('has', 'have')} fewer cells than the header; the missing "
                f"cells are empty ({copy.filled.places}{place})"
            )
        if copy.long.number:
            what = ", ".join(f"`{each}`" for each in surplus[:MAX_NUMBERED_ROWS])
            more = ", …" if len(surplus) > MAX_NUMBERED_ROWS else ""
            sent = f"the surplus is sent as {what}{more}" if what else "the surplus cells are empty"
            yield (
                f"{copy.long.subject('has', 'have')} more cells than the header; {sent} "
                f"({copy.long.places}{place}). strict=True rejects such rows"
            )
        if copy.stray.number:
            yield (
                f"{copy.stray.subject('has', 'have')} one separator too many: an empty cell is "
                "left out, because only then every other cell fits the format of its column "
                f"({copy.stray.places}{place}). strict=True rejects such rows"
            )
        if copy.repaired.number:
            yield (
                f"{copy.repaired.subject('has', 'have')} quotes inside of values that are escaped "
                "otherwise or not at all; they are read as part of the values "
                f"({copy.repaired.places}{place}). strict=True rejects such rows"
            )
        if copy.repeated.number:
            one = copy.repeated.number == 1
            lines = "1 line repeats" if one else f"{copy.repeated.number:,} lines repeat"
            skipped = "is skipped" if one else "are skipped"
            yield f"{lines} the header and {skipped} (before {copy.repeated.places}{place})"
