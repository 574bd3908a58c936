"""The files of indices for version control: a folder for each index, with objects in YAML files.

The name of a folder is one that every file system takes, and no two collide. Objects are sorted,
one entry below the other, and comments are kept.

YAML and not JSON, because a reviewer needs the reason beside a synonym, and JSON and TOML readers
lose comments or values. Text is plain only where every reader of YAML takes it for text; all other
text is quoted as JSON, which YAML contains. So a written file reads back exactly.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import msgspec

from svc_notebook.core.api.validation import same
from svc_notebook.core.yaml_nodes import build_value, read_document, read_word
from svc_notebook.errors import BadInput, unreadable

# The suffix of a crawler's file.
CRAWLER_SUFFIX = ".crawler.js"
# The file with the name of the index, where the name of the folder does not contain all of it.
NAME_FILE = "index.txt"
SAFE_CHARACTERS = " -_"  # besides letters, digits and dots, in the name of a folder
# File systems take 255 bytes; some of the path, as ecryptfs, only 143.
MAX_NAME_CHARACTERS = 120
SHORTENED_CHARACTERS = 60
DIGEST_CHARACTERS = 12
# Names of devices, with any extension, on Windows.
RESERVED = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(10))}
# Plain text: neither an indicator, nor a number, a date or a word that some reader takes for one.
_PLAIN = re.compile(r"[A-Za-z_<][\w<>/().*+-]*(?: [\w<>/().*+-]+)*", re.ASCII)
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"}
# Characters that JSON allows inside quotes and YAML does not, and invisible ones.
_ESCAPED = re.compile(
    "[\x7f-\xa0\xad\u2000-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ud800-\udfff\ufffe\uffff]"
)
MAX_KEY_CHARACTERS = 900  # longer keys have an explicit `?`; YAML allows 1,024
ID = "objectID"
# The name of an entry, its value, and the number of its first line.
PlacedValue = tuple[str, Any, int]


class FileEntry(NamedTuple):
    """One entry of a file: its name, its value, the comments above it, and its own lines."""

    name: str
    value: Any
    above: list[str]
    lines: list[str]

    def keeps(self, value: Any) -> bool:
        """Return whether the lines of the entry have a value, of the same types."""
        return bool(self.lines) and same(self.value, value) and _same_types(self.value, value)


class EntryFile(NamedTuple):
    """The entries of a file, with the comments before the first and after the last one."""

    head: list[str]
    entries: list[FileEntry]
    tail: list[str]

    @property
    def values(self) -> dict[str, Any]:
        """The values by name."""
        return {entry.name: entry.value for entry in self.entries}


def write_entries(values: Mapping[str, Any], *, as_list: bool, earlier: str = "") -> str:
    """Write settings by name, or objects as a list, sorted by name.

    Of the `earlier` text of the file, comments stay with their entries, and the lines of entries
    with the same value stay as they are.
    """
    old = read_entries(earlier, "the earlier file", as_list=as_list)
    earlier_entries = {entry.name: entry for entry in old.entries}
    lines = [*old.head]
    for name in sorted(values):
        entry, value = earlier_entries.get(name), values[name]
        if entry and entry.keeps(value):
            lines += [*entry.above, *entry.lines]
            continue
        lines += entry.above if entry else []
        lines += _item(value) if as_list else _member(name, value)
    if not values:
        lines.append("[]" if as_list else "{}")
    return "\n".join([*lines, *old.tail]) + "\n"


def read_entries(text: str, name: str, *, as_list: bool) -> EntryFile:
    """Read the entries of a file; raise `BadInput` with name and line if it is not valid."""
    node = read_document(text, name)
    lines = _split_lines(text)
    if node is None:
        return EntryFile(lines, [], [])
    if node.id != ("sequence" if as_list else "mapping"):
        form = "a list of objects" if as_list else "settings, each as `name: value`"
        raise BadInput(f"{name} must contain {form}")
    read = _read_object if as_list else _read_setting
    values = [read(part, text, lines, name) for part in node.value]
    _refuse_repeated([entry_name for entry_name, *_ in values], name)
    if node.flow_style:
        rewritten = [FileEntry(entry_name, value, [], []) for entry_name, value, _ in values]
        head, tail = lines[: node.start_mark.line], lines[node.end_mark.line + 1 :]
        return EntryFile(list(head), rewritten, list(tail))
    return _split(lines, values)


def _split_lines(text: str) -> list[str]:
    lines = text.splitlines() if "\r" in text else text.split("\n")
    return lines[:-1] if lines and not lines[-1] else lines


def _refuse_repeated(names: Sequence[str], file_name: str) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise BadInput(f"{file_name}: `{name}` is given twice")


def _read_setting(part: Any, text: str, lines: Sequence[str], file_name: str) -> PlacedValue:
    """Return the name and value of a setting, and the number of its first line."""
    key, value = part
    return build_value(key, str, text), build_value(value, Any, text), key.start_mark.line


def _read_object(part: Any, text: str, lines: Sequence[str], file_name: str) -> PlacedValue:
    """Return the objectID of an object, the object, and the number of its first line."""
    value = build_value(part, Any, text)
    line = part.start_mark.line
    object_id = value.get(ID) if isinstance(value, dict) else None
    if not isinstance(object_id, str) or not object_id:
        raise BadInput(
            f"{file_name}, line {line + 1}: an object needs an `{ID}` that is text; put "
            "a number in quotes"
        )
    while line and not lines[line].startswith("-"):
        line -= 1
    return object_id, value, line


def _split(lines: Sequence[str], values: Sequence[PlacedValue]) -> EntryFile:
    """Give each entry its lines and the comments above it."""
    starts = [line for *_, line in values]
    tops = [_top(lines, start) for start in starts]
    end = _top(lines, len(lines))
    head_end = tops[0]
    for number in range(tops[0], starts[0]):
        if not lines[number].strip():
            head_end = number + 1  # a blank line ends the comments of the whole file
    head = list(lines[:head_end])
    tops[0] = head_end
    entries = [
        FileEntry(name, value, list(lines[top:start]), list(lines[start:after]))
        for (name, value, start), top, after in zip(values, tops, [*tops[1:], end], strict=True)
    ]
    return EntryFile(head, entries, list(lines[end:]))


def _top(lines: Sequence[str], start: int) -> int:
    """Return the first line of the comments and blank lines directly above a line."""
    while start and (not lines[start - 1].strip() or lines[start - 1].startswith("#")):
        start -= 1
    return start


def _same_types(value: Any, other: Any) -> bool:
    """Return whether equal values are equal as JSON, too: 1 and 1.0 are not."""
    return msgspec.json.encode(value, order="sorted") == msgspec.json.encode(other, order="sorted")


def _item(value: Mapping[str, Any]) -> list[str]:
    lines = [line for name in _ordered(value) for line in _member(name, value[name])]
    return [f"{'- ' if number == 0 else '  '}{line}" for number, line in enumerate(lines)]


def _ordered(value: Mapping[str, Any]) -> list[str]:
    return sorted(value, key=lambda name: (name != ID, name))


def _member(name: str, value: Any) -> list[str]:
    key = write_text(name)
    explicit = len(key) > MAX_KEY_CHARACTERS
    first = ":" if explicit else f"{key}:"
    above = [f"? {key}"] if explicit else []
    if isinstance(value, dict | list) and value:
        return [*above, first, *(f"  {line}" for line in _block(value))]
    return [*above, f"{first} {_scalar(value)}"]


def _block(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name in _ordered(value):
            yield from _member(name, value[name])
        return
    for item in value:
        if isinstance(item, dict | list) and item:
            for number, line in enumerate(_block(item)):
                yield f"{'  ' if number else '- '}{line}"
        else:
            yield f"- {_scalar(item)}"


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return write_text(value)
    if isinstance(value, dict | list):
        return "{}" if isinstance(value, dict) else "[]"
    return msgspec.json.encode(value).decode()


def write_text(text: str) -> str:
    """Write a text plain, or in the quotes of JSON."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS and read_word(text) == text:
        return text
    quoted = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def list_folders(folder: Path) -> dict[str, Path]:
    """Return the folders of indices in a folder, by the name of the index."""
    if not folder.is_dir():
        return {}
    return {_read_name(path): path for path in sorted(folder.iterdir()) if path.is_dir()}


def assign_folders(folder: Path, indices: Iterable[str]) -> dict[str, Path]:
    """Return a folder for each index: the existing one, or the path of a new one.

    Where names differ only by the case of letters, one is shortened and gets a digest.
    """
    existing = list_folders(folder)
    taken = {path.name.casefold() for path in existing.values()}
    paths: dict[str, Path] = {}
    for index in sorted(indices, key=lambda name: (name != name.casefold(), name)):
        if index not in existing:
            name = folder_name(index)
            if name.casefold() in taken:
                name = _add_digest(index)
            taken.add(name.casefold())
            paths[index] = folder / name
        else:
            paths[index] = existing[index]
    return paths


def folder_name(index: str) -> str:
    """Return the name of the folder of an index, valid on every file system."""
    text = _encode(index)
    is_reserved = text.partition(".")[0].casefold() in RESERVED
    return _add_digest(index) if is_reserved or len(text) > MAX_NAME_CHARACTERS else text


def name_file_of(index: str, path: Path) -> dict[Path, str]:
    """Return the file that names the index, if the name of the folder does not."""
    return {} if unquote(path.name) == index else {path / NAME_FILE: f"{index}\n"}


def read_text(path: Path) -> str:
    """Return the text of a file, empty if there is none."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8 text") from None
    except OSError as error:
        raise unreadable(path, error) from None


def _encode(index: str) -> str:
    text = quote(index, safe=SAFE_CHARACTERS)
    if text.startswith(".") or text.endswith((".", " ")):
        text = text.replace(".", "%2E").replace(" ", "%20")
    return text


def _add_digest(index: str) -> str:
    """Return the beginning of an encoded name with the digest of all of it."""
    text = ""
    for character in index:
        if len(text) + len(_encode(character)) > SHORTENED_CHARACTERS:
            break
        text += _encode(character)
    digest = hashlib.sha256(index.encode()).hexdigest()[:DIGEST_CHARACTERS]
    return f"{text}~{digest}"


def _read_name(path: Path) -> str:
    """Return the name of the index of a folder."""
    try:
        return (path / NAME_FILE).read_text(encoding="utf-8").rstrip("\r\n")
    except (FileNotFoundError, NotADirectoryError):
        return unquote(path.name)
    except UnicodeDecodeError:
        raise BadInput(f"{path / NAME_FILE} is not UTF-8 text") from None
    except OSError as error:
        raise unreadable(path / NAME_FILE, error) from None
