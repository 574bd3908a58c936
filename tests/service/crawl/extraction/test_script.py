"""Scripts of extractors."""

from __future__ import annotations

import re

from svc_notebook.service.crawl.extraction.engine import ENTRY, FOLDER, read_script, walk_imports


def test_every_module_is_part_of_the_script() -> None:
    assert {path.name for path in FOLDER.glob("*.js")} == set(walk_imports(ENTRY))


def test_the_script_contains_no_module_syntax() -> None:
    stray = re.compile(r"^\s*(?:import|export)\b.*", re.MULTILINE)

    assert not stray.findall(read_script())


def test_imported_names_are_exported() -> None:
    for path in FOLDER.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        for names, name in re.findall(
            r'^import \{([^}]*)\} from "\./([^"]+)";$', text, re.MULTILINE
        ):
            exported = (FOLDER / name).read_text(encoding="utf-8")
            for wanted in re.findall(r"\w+", names):
                found = re.search(rf"^export (?:function|class|const) {wanted}\b", exported, re.M)
                assert found, f"{path.name} imports {wanted}, which {name} does not export"


def test_entity_names_are_those_of_python() -> None:
    assert '\\"notin;\\"' in read_script()
