"""Bundle the engine's JavaScript modules into one script, each in its own scope."""

from __future__ import annotations

import html.entities
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "script"
ENTRY = "running.js"

IMPORT = re.compile(r'^import (?:\{[^}]*\} from )?"\./([^"]+)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:function|class|const) (\w+))", re.MULTILINE)
COMMENT = re.compile(r"^ *(?:/\*\*(?:(?!\*/)[\s\S])*\*/|//[^\n]*)\n", re.MULTILINE)
ENTITIES = 'const ENTITIES = "{}";'


@cache
def read_script() -> str:
    """Return the script: its value holds what the entry exports, and nothing is global."""
    order = dict.fromkeys(walk(ENTRY))
    texts = {name: COMMENT.sub("", (FOLDER / name).read_text(encoding="utf-8")) for name in order}
    texts["entities.js"] = texts["entities.js"].replace(ENTITIES, name_entities())
    scopes = [f"const {names_in(text)} = (() => {{{body_of(text)}}})();" for text in texts.values()]
    return "\n".join(['(() => {"use strict";', *scopes, f"return {names_in(texts[ENTRY])};}})()"])


def walk(name: str) -> Iterator[str]:
    """Yield the modules that one imports, before itself."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    for found in IMPORT.finditer(text):
        yield from walk(found[1])
    yield name


def names_in(text: str) -> str:
    """Return the exported names, as both a pattern and an object have them."""
    return "{" + ", ".join(EXPORT.findall(text)) + "}"


def body_of(text: str) -> str:
    """Return a module without its imports, its exports returned: what it imports is around it."""
    return f"{EXPORT.sub('', IMPORT.sub('', text))}\nreturn {names_in(text)};"


def name_entities() -> str:
    """Return HTML's names of characters as a constant, to be read only by a page that needs one."""
    return f"const ENTITIES = {json.dumps(json.dumps(html.entities.html5))};"
