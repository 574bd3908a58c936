"""Docstrings in the format of numpydoc: the entries of the section `Parameters`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_SECTION = re.compile(r"^(?P<title>[A-Z][\w ]+)\n-{3,}$", re.M)
_HEAD = re.compile(r"^(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : (?P<type>.*))?$", re.M)
PARAMETERS, RETURNS, RAISES = "Parameters", "Returns", "Raises"
# The order of sections is that of numpydoc.
SECTIONS = (PARAMETERS, RETURNS, "Yields", RAISES, "Warns", "See Also", "Notes", "Examples")


class ParameterEntry(NamedTuple):
    """A parameter as a docstring describes it; `start` and `end` are its place in the text."""

    name: str
    type: str
    text: str
    start: int
    end: int


def summary(doc: str) -> str:
    """Return the first paragraph in one line, without the final period."""
    return " ".join(doc.strip().split("\n\n")[0].split()).removesuffix(".")


def read_entries(doc: str) -> dict[str, ParameterEntry]:
    """Return the parameters that a docstring describes, by name."""
    start, end = find_section(doc, PARAMETERS)
    heads = list(_HEAD.finditer(doc, start, end))
    ends = [*(head.start() for head in heads), end][1:]
    return {
        entry.name: entry
        for head, stop in zip(heads, ends, strict=True)
        for entry in _entries(head, doc[head.end() : stop], stop)
    }


def _entries(head: re.Match[str], body: str, stop: int) -> Iterator[ParameterEntry]:
    text = " ".join(body.split())
    for name in head["names"].split(", "):
        yield ParameterEntry(name.lstrip("*"), head["type"] or "", text, head.start(), stop)


def find_section(doc: str, title: str) -> tuple[int, int]:
    """Return where the content of a section begins and ends; an empty range without one."""
    sections = list(_SECTION.finditer(doc))
    for number, section in enumerate(sections):
        if section["title"] == title:
            following = sections[number + 1].start() if number + 1 < len(sections) else len(doc)
            return section.end() + 1, following
    return 0, 0


def replace_entry(doc: str, name: str, text: str) -> str:
    """Replace the entry of a parameter; add it if there is none.

    An empty text removes the entry.
    """
    entry = read_entries(doc).get(name)
    if entry is None:
        return add_entries(doc, text)
    if not text:
        return doc[: entry.start] + doc[entry.end :]
    gap = "\n\n" if doc[: entry.end].endswith("\n\n") else "\n"
    return f"{doc[: entry.start]}{text}{gap}{doc[entry.end :]}".rstrip("\n")


def add_entries(doc: str, text: str) -> str:
    """Add entries to the end of the section `Parameters`; make the section if there is none."""
    return insert_section(doc, PARAMETERS, text)


def insert_section(doc: str, title: str, text: str) -> str:
    """Add text to the end of a section; make the section, in its order, if there is none."""
    _, end = find_section(doc, title)
    if end:
        before, after = doc[:end].rstrip("\n"), doc[end:]
        return f"{before}\n{text}" + (f"\n\n{after}" if after else "")
    later_titles = SECTIONS[SECTIONS.index(title) + 1 :]
    later = [s.start() for s in _SECTION.finditer(doc) if s["title"] in later_titles]
    start = min(later, default=len(doc))
    before, after = doc[:start].rstrip("\n"), doc[start:]
    section = f"{title}\n{'-' * len(title)}\n{text}"
    return f"{before}\n\n{section}" + (f"\n\n{after}" if after else "")
