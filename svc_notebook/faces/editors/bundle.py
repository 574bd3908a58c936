"""The JavaScript bundle of an editor: browser modules joined into the one that front ends load.

Notebook front ends load a widget's module from an address that they generate, where a module cannot
import its neighbours, and some allow no other address. Therefore the modules that an entry imports
are placed before it in one text, each in its own scope:

    const m0 = (() => { ...; return { draw, split }; })();
    const m1 = (() => { const { draw } = m0; ...; return { default: { render } }; })();
    export default m1.default;

Each scope begins with its module's name, and the whole is named after the entry, so that browser
errors are readable. Comments, types of expressions and indentation are removed. A string in a
module must not span lines, because a line of it that looks like a comment would be removed too.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from svc_notebook.errors import BadInput

_OPENER = """\
const bytes = Uint8Array.from(atob("{packed}"), (character) => character.charCodeAt(0));
const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
const text = await new Response(unpacked).text();
const address = URL.createObjectURL(new Blob([text], {{ type: "text/javascript" }}));
const module = await import(/* webpackIgnore: true */ /* @vite-ignore */ address);
URL.revokeObjectURL(address);
export default module.default;
"""


def pack_module(text: str) -> str:
    """Return a small module with the same default export as the module `text`."""
    deflated = zlib.compress(text.encode(), 9, wbits=-zlib.MAX_WBITS)
    return _OPENER.format(packed=base64.b64encode(deflated).decode())


_PACKED = Path(__file__).parents[2] / "_widgets"
# In a checkout the folder is next to the package.
FOLDER = (_PACKED if _PACKED.is_dir() else Path(__file__).parents[3] / "widgets").resolve()

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";$', re.M)
_EXPORT = re.compile(r"^export (?=(?:async )?function\*? (\w+)|class (\w+)|const (\w+))", re.M)
_DEFAULT = re.compile(r"^export default ", re.M)
_COMMENT = re.compile(r"^[ \t]*(?:/\*\*(?:(?!\*/)[\s\S])*\*/|//[^\n]*)[ \t]*\n", re.M)
_CSS_COMMENT = re.compile(r"/\*(?:(?!\*/)[\s\S])*\*/\s*")
_TYPE = re.compile(r"/\*\* @(?:type|param) (?:(?!\*/)[^\n])*\*/ ?")
_INDENTATION = re.compile(r"^[ \t]+", re.M)
_UNSUPPORTED = re.compile(r"^(?:import|export)\b.*$", re.M)


@lru_cache
def read_library(name: str) -> str:
    """Return the text of a vendored module, which a view loads when it needs it."""
    return (FOLDER / "vendor" / name).read_text(encoding="utf-8")


@lru_cache
def read_module(entry: str) -> str:
    """Return `entry` and the modules that it imports as one compressed module."""
    return pack_module(assemble(entry))


def assemble(entry: str) -> str:
    """Join `entry` and the modules that it imports into one readable text."""
    order = list(_walk(FOLDER / entry, ()))
    modules = list(dict.fromkeys(order))
    names = {path: f"m{number}" for number, path in enumerate(modules)}
    scopes = [_write_scope(path, names) for path in modules]
    end = f"export default {names[modules[-1]]}.default;\n//# sourceURL=svc-notebook/{entry}\n"
    return "\n".join([*scopes, end])


@lru_cache
def read_styles(*names: str) -> str:
    """Return style sheets as one, without their comments."""
    sheets = [(FOLDER / name).read_text(encoding="utf-8") for name in names]
    return _CSS_COMMENT.sub("", "\n".join(sheets))


def _walk(path: Path, trail: tuple[Path, ...]) -> Iterator[Path]:
    """Yield the imports of a module, then the module itself."""
    if path in trail:
        raise BadInput(f"browser modules have an import cycle at {path.name}")
    for imported in _IMPORT.finditer(path.read_text(encoding="utf-8")):
        yield from _walk((path.parent / imported[2]).resolve(), (*trail, path))
    yield path.resolve()


def _write_scope(path: Path, names: dict[Path, str]) -> str:
    text = _TYPE.sub("", _COMMENT.sub("", path.read_text(encoding="utf-8")))
    text = _INDENTATION.sub("", text)
    exported = [next(filter(None, match.groups())) for match in _EXPORT.finditer(text)]
    text = _EXPORT.sub("", text)
    if _DEFAULT.search(text):
        text, exported = _DEFAULT.sub("const $default = ", text), [*exported, "default: $default"]
    text = _IMPORT.sub(lambda match: _write_import(match, path, names), text)
    if unsupported := _UNSUPPORTED.search(text):
        raise BadInput(f"{path.name}: `{unsupported[0]}` is not a supported import or export")
    head = f"// {path.relative_to(FOLDER.resolve()).as_posix()}\nconst {names[path]} = (() => {{"
    return f"{head}\n{text.strip()}\nreturn {{ {', '.join(exported)} }};\n}})();"


def _write_import(match: re.Match[str], path: Path, names: dict[Path, str]) -> str:
    module = names[(path.parent / match[2]).resolve()]
    return f"const {{{match[1].replace(' as ', ': ')}}} = {module};"
