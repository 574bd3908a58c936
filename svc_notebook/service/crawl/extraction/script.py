"""Bundle the engine's JavaScript modules into one script, each in its own scope."""

from __future__ import annotations

import html.entities
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "script"
ENTRY = "runner.js"

IMPORT = re.compile(r'^import (?:\{[^}]*\} from )?"\./([^"]+)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:function|class|const) (\w+))", re.MULTILINE)
COMMENT = re.compile(r"^ *(?:/\*\*(?:(?!\*/)[\s\S])*\*/|//[^\n]*)\n", re.MULTILINE)
ENTITIES = 'const ENTITIES = "{}";'


@cache
def read_script() -> str:
    """Return the script; it evaluates to the entry's exports and defines no globals."""
    order = dict.fromkeys(walk(ENTRY))
    texts = {name: COMMENT.sub("", (FOLDER / name).read_text(encoding="utf-8")) for name in order}
    texts["entities.js"] = texts["entities.js"].replace(ENTITIES, name_entities())
    scopes = [f"const {names_in(text)} = (() => {{{body_of(text)}}})();" for text in texts.values()]
    return "\n".join(['(() => {"use strict";', *scopes, f"return {names_in(texts[ENTRY])};}})()"])


def walk(name: str) -> Iterator[str]:
    """Yield the modules that a module imports, then the module itself."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    for match in IMPORT.finditer(text):
        yield from walk(match[1])
    yield name


def names_in(text: str) -> str:
    """Return the exported names in braces, valid both as a pattern and as an object."""
    return "{" + ", ".join(EXPORT.findall(text)) + "}"


def body_of(text: str) -> str:
    """Return a module without imports that returns its exports; outer scopes hold the imports."""
    return f"{EXPORT.sub('', IMPORT.sub('', text))}\nreturn {names_in(text)};"


def name_entities() -> str:
    """Return the HTML entity names as a JSON constant, parsed only by pages that need it."""
    return f"const ENTITIES = {json.dumps(json.dumps(html.entities.html5))};"
