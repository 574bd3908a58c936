"""Configurations of crawlers as JavaScript: `new Crawler({ ... })`, read and written.

A script is evaluated by the engine of extractors, in a process without files and network. Functions
become their source text. Module syntax and simple type annotations are removed from a script that
is not plain JavaScript; every line keeps its number.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from svc_notebook.core.files import expand_path, write_named_file
from svc_notebook.core.terminal import warn_user
from svc_notebook.errors import BadInput, unreadable
from svc_notebook.faces.functions.text_values import is_json

SUFFIXES = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")
# The type of a tagged function, and the member with its text.
TAG, SOURCE = "__type", "source"
MASK = "••••••"

_FILE_NAME = re.compile(r"[^\n]*\.[a-z]{2,6}", re.IGNORECASE)
_SCRIPT = re.compile(
    r"new\s+Crawler\b|module\.exports\b|export\s|import\s|(?:const|let|var|function)\s|\(|//|/\*"
    r"|[\"']use strict[\"']"
)
_COMMENTS = re.compile(r"\s*(?:(?://[^\n]*\n|/\*(?:(?!\*/)[\s\S])*\*/)\s*)*")
# Texts and comments, which are left as they are; then what to replace.
_LITERALS = (
    r"(?P<kept>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\[\s\S]|[^`\\])*`"
    r"|//[^\n]*|/\*(?:(?!\*/)[\s\S])*\*/)"
)
_MODULE = re.compile(
    _LITERALS + r"|^[ \t]*(?:(?P<imported>import\s+(?:type\b[^;\n]*|\{?\s*Crawler\s*\}?\s*from\b"
    r"\s*(?:\"[^\"\n]*\"|'[^'\n]*'));?)|(?P<default>export\s+default\b)"
    r"|export\s*\{\s*(?P<named>\w+)\s+as\s+default\s*\}|export\s+(?=(?:async|const|let|var|function)\b))",
    re.MULTILINE,
)
_TYPE_NAME = r"[A-Za-z_$][\w$.]*(?:<[^<>;{}()]*>)?(?:\[\])*"
_TYPES = re.compile(
    _LITERALS
    + r"|^[ \t]*(?:export\s+)?(?:interface\s+\w+[^{]*\{[^}]*\}|type\s+\w+\s*=[^;]*;)"
    + rf"|\s+as\s+const\b|\s+(?:as|satisfies)\s+{_TYPE_NAME}(?=\s*(?:[;,)\]}}]|$))"
    + rf"|(?P<declared>\b(?:const|let|var)\s+[\w$]+)\s*:\s*{_TYPE_NAME}(?=\s*=)"
    + r"|(?P<parameter>\(\s*(?:\{[^{}()]*\}|[\w$]+))\s*:\s*"
    + rf"(?:{_TYPE_NAME}|\{{[^{{}}]*\}})(?=\s*\))",
    re.MULTILINE,
)
_DECLARED = re.compile(r"^(?:const|let|var|(?:async\s+)?function|class)\s+([\w$]+)", re.MULTILINE)
_METHOD = re.compile(r"(?:async\s+)?\*?\s*(?!async\b|function\b)[A-Za-z_$][\w$]*\s*\(")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")
MAX_LINE_CHARACTERS = 80


def is_script(text: str) -> bool:
    """Return whether a text is JavaScript other than JSON, by its beginning."""
    start = _COMMENTS.match(text)
    assert start
    if text[start.end() : start.end() + 1] == "{":
        return not is_json(text)
    return _SCRIPT.match(text, start.end()) is not None or bool(start[0].strip())


def read_script_source(given: object) -> tuple[str, str] | None:
    """Return the text and the name of a script that was given as text or as a file; else None."""
    if isinstance(given, str) and "{" in given and not _FILE_NAME.fullmatch(given):
        return given, "the text"
    if isinstance(given, str | os.PathLike) and Path(given).suffix.lower() in SUFFIXES:
        path = expand_path(given)
        try:
            return path.read_text(encoding="utf-8-sig"), str(path)
        except UnicodeDecodeError:
            raise BadInput(f"{path} is not UTF-8 text") from None
        except OSError as error:
            raise unreadable(path, error) from None
    return None


def read_script(text: str, name: str = "the text", *, keep_masks: bool = False) -> dict[str, Any]:
    """Return the configuration that a script describes; its functions are tagged.

    An empty `appId` or `apiKey`, as public configurations have it, is left out. Raises `BadInput`
    with name, line and column, and for a masked secret unless `keep_masks` is set.
    """
    from svc_notebook.service.crawl.extraction import Extractors

    try:
        with Extractors(processes=1) as engine:
            config = engine.read_configuration(*_spellings(text))
        if not keep_masks:
            _refuse_masks(config, "")
    except BadInput as error:
        raise BadInput(f"{name}: {error}{_advise(str(error))}") from None
    _warn_outer_names(text, config)
    for member in ("appId", "apiKey"):
        if config.get(member) == "":
            del config[member]
    return config


def write_script(config: Mapping[str, Any]) -> str:
    """Write a configuration as `new Crawler({ ... });`, functions as their source."""
    return f"new Crawler({_write(config, '')});\n"


def check_suffix(path: str | os.PathLike[str]) -> None:
    """Raise `BadInput` unless the name of a file is that of a script."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise BadInput(f"unsupported format `{Path(path).suffix}` of {path}; use .js")


def write_script_file(path: str | os.PathLike[str], text: str) -> None:
    """Write a script into a file that the user has named."""
    write_named_file(expand_path(path), text)


def _spellings(text: str) -> Iterator[str]:
    """Yield a script as it is, without module syntax, and without types, too."""
    start = _COMMENTS.match(text)
    assert start
    if text[start.end() : start.end() + 1] == "{":
        text = f"{text[: start.end()]}({text[start.end() :].rstrip().rstrip(';')}\n)"
    plain = _MODULE.sub(_replace_module_syntax, text)
    yield from dict.fromkeys((text, plain, _TYPES.sub(_remove_type, plain)))


def _replace_module_syntax(match: re.Match[str]) -> str:
    if match["kept"]:
        return match[0]
    if match["default"]:
        return match[0].replace(match["default"], "module.exports =")
    if match["named"]:
        return f"module.exports = {match['named']}"
    return "\n" * match[0].count("\n")


def _remove_type(match: re.Match[str]) -> str:
    if match["kept"]:
        return match[0]
    remaining = match["declared"] or match["parameter"] or ""
    return remaining + "\n" * (match[0].count("\n") - remaining.count("\n"))


def _advise(message: str) -> str:
    if "is not defined" in message:
        return "; write the value itself, because nothing but this text is read"
    if "import" in message:
        return "; modules are not read: write everything into this text"
    if message.startswith(("Unexpected", "Missing", "missing", "Invalid")):
        return "; the text must be JavaScript such as `new Crawler({ ... })`"
    return ""


def _warn_outer_names(text: str, config: Mapping[str, Any]) -> None:
    """Warn once of each name declared outside of the functions that use it."""
    functions = list(_functions(config, ""))
    for name in dict.fromkeys(_DECLARED.findall(text)):
        paths = [path for path, source in functions if _uses_outer_name(source, name)]
        if paths:
            warn_user(
                f"{', '.join(paths)}: `{name}` is declared outside of the function; a crawler has "
                "only the text of the function: declare it inside"
            )


def _uses_outer_name(source: str, name: str) -> bool:
    """Return whether a function uses a name that it does not declare."""
    escaped = re.escape(name)
    return bool(
        re.search(rf"(?<![\w$.]){escaped}(?![\w$])", source)
        and not re.search(rf"\b(?:const|let|var|function)\s+{escaped}\b", source)
    )


def _functions(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value.get(TAG) == "function":
        yield path, str(value.get(SOURCE))
        return
    for name, member in _members(value):
        yield from _functions(member, f"{path}{name}".removeprefix("."))


def _refuse_masks(value: Any, path: str) -> None:
    if value == MASK:
        raise BadInput(f"`{path}` is masked: write its value instead of {MASK}")
    for name, member in _members(value):
        _refuse_masks(member, f"{path}{name}".removeprefix("."))


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        yield from ((f".{name}", member) for name, member in value.items())
    elif isinstance(value, list):
        yield from ((f"[{at}]", member) for at, member in enumerate(value))


def _write(value: Any, indent: str) -> str:
    if isinstance(value, Mapping):
        if value.get(TAG) == "function" and isinstance(value.get(SOURCE), str):
            return _write_function(value[SOURCE])
        return _write_block(
            "{}", [_write_member(*item, f"{indent}  ") for item in value.items()], indent
        )
    if isinstance(value, list | tuple):
        return _write_block("[]", [_write(item, f"{indent}  ") for item in value], indent)
    return json.dumps(value, ensure_ascii=False)


def _write_block(brackets: str, parts: list[str], indent: str) -> str:
    line = ", ".join(parts)
    if "\n" not in line and len(indent) + len(line) <= MAX_LINE_CHARACTERS:
        return (
            f"{{ {line} }}" if parts and brackets == "{}" else f"{brackets[0]}{line}{brackets[1]}"
        )
    rows = "".join(f"{indent}  {part},\n" for part in parts)
    return f"{brackets[0]}\n{rows}{indent}{brackets[1]}"


def _write_member(name: str, value: Any, indent: str) -> str:
    text = _write(value, indent)
    is_function = isinstance(value, Mapping) and value.get(TAG) == "function"
    if is_function and _METHOD.match(text) and text.startswith((name, f"async {name}")):
        return text
    key = (
        name
        if _IDENTIFIER.fullmatch(name) and name != "__proto__"
        else json.dumps(name, ensure_ascii=False)
    )
    return f"{f'[{key}]' if name == '__proto__' else key}: {text}"


def _write_function(source: str) -> str:
    """Write the source of a function as an expression; a comment at its end stays a comment."""
    text = source.strip().removesuffix(";").rstrip()
    return f"{text}\n" if "//" in text.rpartition("\n")[2] else text
