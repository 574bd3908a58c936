"""The bundle of an editor's browser modules."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import zlib
from pathlib import Path

import pytest

from svc_notebook.errors import BadInput
from svc_notebook.faces.editors import bundle
from tests.looping import loop_over

MODULES = {
    "entry.js": (
        '// The entry.\nimport { one, Two as Second } from "./kit/a.js";\n'
        'import {\n  later,\n} from "./kit/b.js";\n'
        "const own = 1;\nexport default { all: [own, one(), new Second().name, later()] };\n"
    ),
    "kit/a.js": (
        'import { later } from "./b.js";\n/**\n * Says one.\n */\nexport function one() {\n'
        '  return `one // no comment ${later()}`;\n}\nconst own = "hidden";\n'
        "export class Two {\n  name = own;\n}\n"
    ),
    "kit/b.js": 'export const later = () => /** @type {string} */ ("b");\nlet own = 2;\nown++;\n',
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in MODULES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(bundle, "FOLDER", tmp_path)
    return tmp_path


def run(text: str, folder: Path) -> object:
    (folder / "made.mjs").write_text(text, encoding="utf-8")
    node = shutil.which("node")
    assert node
    code = "import('./made.mjs').then(m => console.log(JSON.stringify(m.default.all)))"
    done = subprocess.run(
        [node, "-e", code], capture_output=True, text=True, cwd=folder, check=True
    )
    return json.loads(done.stdout)


def test_the_one_module_does_what_the_many_do(folder: Path) -> None:
    text = bundle.assemble("entry.js")

    assert run(text, folder) == [1, "one // no comment b", "hidden", "b"]


def test_comments_stay_behind(folder: Path) -> None:
    text = bundle.assemble("entry.js")

    assert "The entry" not in text
    assert "Says one" not in text


def test_a_module_used_twice_is_there_once(folder: Path) -> None:
    assert bundle.assemble("entry.js").count("own++") == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('import { own } from "./entry.js";\nexport default {};\n', "cycle"),
        ('import * as a from "./kit/a.js";\nexport default {};\n', "not a supported import"),
        ('import "./kit/a.js";\nexport default {};\n', "not a supported import"),
        ("export { own };\nexport default {};\n", "not a supported import"),
        ("export let own = 1;\nexport default {};\n", "not a supported import"),
    ],
    ids=["cycle", "star", "bare", "list", "let"],
)
def test_modules_that_cannot_be_bundled_are_refused(folder: Path, text: str, words: str) -> None:
    (folder / "entry.js").write_text(text, encoding="utf-8")

    with pytest.raises(BadInput, match=words):
        bundle.assemble("entry.js")


@loop_over("path", sorted(bundle.FOLDER.rglob("*.js")))
def test_no_text_in_a_module_goes_over_several_lines(path: Path) -> None:
    texts = re.findall(r"`[^`]*`", path.read_text(encoding="utf-8"))

    assert [text for text in texts if "\n" in text] == []


def test_an_error_can_be_found_by_its_module(folder: Path) -> None:
    text = bundle.assemble("entry.js")

    assert "// kit/a.js\n" in text
    assert text.endswith("//# sourceURL=svc-notebook/entry.js\n")


@pytest.mark.parametrize("entry", sorted(path.name for path in bundle.FOLDER.glob("*.js")))
def test_every_editors_module_is_small_and_complete(entry: str) -> None:
    """A notebook keeps it once for each editor that it shows."""
    text = bundle.read_module(entry)
    [packed] = re.findall(r'atob\("([^"]+)"\)', text)

    assert len(text) < 48_000
    assert zlib.decompress(base64.b64decode(packed), -15).decode() == bundle.assemble(entry)
    assert not re.findall(r"^\s*import\b", bundle.assemble(entry), re.M)


def test_every_style_is_the_editors_own() -> None:
    """A notebook's page is shared: each rule names a class of ours."""
    for path in bundle.FOLDER.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        heads = [part.split("}")[-1].split("*/")[-1].strip() for part in text.split("{")[:-1]]
        selectors = [one for head in heads if not head.startswith("@") for one in head.split(",")]
        strange = [s for s in selectors if s.strip() and "svc-" not in s and s.strip() != "to"]
        assert not strange, path.name


def test_no_two_editors_give_one_class_different_styles() -> None:
    """A page has the styles of all its editors: each names its editor, or is the only one."""
    owners: dict[str, set[str]] = {}
    for path in bundle.FOLDER.glob("*.css"):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
        for selector in re.findall(
            r"(?:^|[},])\s*(?:\.svc-editor )?(\.svc-[\w-]+)(?=\s*[{,])", text
        ):
            owners.setdefault(selector, set()).add(path.name)

    shared = {name: files for name, files in owners.items() if len(files) > 1}

    assert shared.keys() <= {".svc-error-text"}
