"""What users of pandas and of other search tools type first: it works, or names what works."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

import svc_notebook as svc
from svc_notebook.errors import BadOption
from svc_notebook.faces.commands.binding import bind_words
from svc_notebook.faces.commands.registry import pick_verb
from svc_notebook.faces.commands.tokenizer import split_line

# Lines of a terminal, each with "" if it is right, else with what its error names.
LINES = {
    "search products lamp": "",
    "search products desk lamp --filters 'price < 5'": "",
    "search products lamp --hits-per-page 3": "",
    "search products lamp --hitsPerPage=3": "",
    "search products lamp --hitsperpage 3": "",
    "search products lamp --limit 3": "--hitsPerPage",
    "search products lamp --size 3": "--hitsPerPage",
    "search products lamp -n 3": "--hitsPerPage",
    "search products lamp -x": "follow `--`",
    "search products lamp -- -x": "",
    "search products lamp -desk": "",
    "drop products -y": "--yes",
    "settings products -f json": "--format",
    "search products lamp --top-k 3": "--hitsPerPage",
    "search products lamp --filter 'price < 5'": "--filters",
    "search products lamp --where 'price < 5'": "--filters",
    "search products lamp --fields name": "--columns",
    "search products lamp hitsPerPage=3": "",
    "--profile x search products lamp": "",
    "--format json search products lamp": "",
    "load products.csv products": "",
    "load - products": "",
    "load products.csv products --ifExists replace": "",
    "load products.csv products --if_exists replace": "",
    "load products.csv products --if-exist replace": "--if-exists",
    "load products.csv products --mode replace": "--if-exists",
    "load products.csv products --overwrite": "--if-exists",
    "load products.csv products --primary-key sku": "--id",
    "load products.csv products --id-column sku": "--id",
    "load products.csv products --sep ';'": "--separator",
    "load products.csv products --delimiter ';'": "--separator",
    "load products.csv products --batch-size 100": "--batch",
    "load products.csv products --dtype price=number": "",
    "load products.csv products --dryRun": "",
    "load products.xlsx products --sheet-name Stores": "--sheet",
    "load products.csv products --nrows 10": "--limit",
    "upload products.csv products": "`load`",
    "import-file products.csv products": "`load`",
    "index products.csv products": "`load`",
    "read_csv products.csv": "`load`",
    "read_logs": "`logs`",
    "logs 20": "",
    "logs --limit 20": "",
    "logs --indexName products": "--index",
    "list-indexes": "`indices`",
    "read_indices": "`indices`",
    "set_settings products": "`settings set`",
    "settings products --searchable-attributes name,brand": "",
    "settings products --searchableAttribute name": "--searchableAttributes",
    "synonyms save products 'sofa, couch'": "",
    "synonyms add products 'sofa, couch'": "`synonyms save`",
    "save_synonyms products a.csv": "`synonyms save`",
    "keys add --acl search --validity 24h": "",
    "keys create --acl search": "`keys add`",
    "crawlers create docs https://docs.example.com/": "",
    "crawlers start docs": "`crawlers reindex`",
    "start-crawler docs": "`crawlers reindex`",
    "delete-index products": "`drop`",
    "drop_index products": "`drop`",
    "delete products --filter 'price < 5'": "--filters",
    "why products lamp --filters 'a:b'": "",
    "explain products lamp": "",
    "facets products lamp --facets brand": "",
    "evaluate products judgments.csv": "",
    "compare products other": "",
    "whoami": "",
    "ping": "`whoami`",
    "delete products 1 2": "",
    "remove products 1": "`delete`",
    "rm products": "`drop`",
    "rename products articles": "`move`",
    "move products articles": "",
    "cp products articles": "`copy`",
    "get products 1": "",
    "fetch products 1": "`browse`",
    "head products": "`browse`",
    "sample products": "`browse`",
    "query products lamp": "`search`",
    "find products lamp": "`search`",
    "count products": "`indices`",
    "stats products": "`indices`",
    "ls": "`indices`",
    "list": "`indices`",
    "undo products": "",
    "settings get products": "`settings show`",
    "settings update products --searchableAttributes name": "`settings set`",
    "rules create products rule.json": "`rules save`",
    "synonyms list products": "",
    "keys list": "",
    "keys remove 1f3a": "`keys delete`",
    "keys revoke 1f3a": "`keys delete`",
    "keys show 1f3a": "`keys get`",
    "crawl docs": "`crawlers reindex`",
    "crawlers stop docs": "`crawlers pause`",
    "promote products staging": "`pin`",
    "export products products.csv": "",
    "dump products products.csv": "`export`",
    "download products products.csv": "`export`",
    "import products.csv products": "`load`",
    "config": "`profiles`",
    "tail": "`logs`",
    "logs --tail 20": "--limit",
    "search products lamp --max 3": "--hitsPerPage",
    "search products lamp --page-size 3": "--hitsPerPage",
    "search products lamp --sort price": "--ranking",
    "search products lamp --order-by price": "--ranking",
    "search products lamp --facet brand": "--facets",
    "search products --query lamp": "",
    "search products lamp --json": "--format",
    "whoami --json": "--format",
    "load products.csv products --append": "--if-exists",
    "load products.csv products --skiprows 2": "--skip",
    "load products.csv products --usecols name,price": "--columns",
    "load products.csv products --index-col sku": "--id",
    "load products.csv products --chunksize 100": "--batch",
    "paths": "",
    "cache clear": "`paths`",
}
# Names of functions that do not exist, each with what its error names.
NAMES = {
    "read_csv": "svc.load", "to_csv": "svc.export", "delete": "svc.delete_records",
    "index": "svc.push", "indices": "svc.read_indices", "start_crawler": "svc.reindex_crawler",
    "evaluate": "svc.tuning.evaluate", "measure": "svc.tuning.measure",
    "save_objects": "svc.push", "get_object": "svc.read_records", "serach": "search",
    "facets": "svc.read_facets", "login": "svc.connect", "head": "svc.read_browse",
    "logs": "svc.read_logs", "analyze": "svc.explain", "upsert": "svc.push",
    "read": "svc.read_browse", "to_dataframe": "svc.read_browse", "disconnect": "svc.stop",
    "add_synonym": "svc.save_synonyms", "to_svc": "svc.push",
}  # fmt: skip
METHODS = {"upload": "df.svc.push", "save": "df.svc.push", "to_svc": "df.svc.push", "psh": "push"}
EDITORS = {"search": "svc.edit.query", "rule": "svc.edit.rules", "synonims": "synonyms"}


def test_the_first_guesses_are_a_hundred_and_more() -> None:
    assert len(LINES) >= 100


def answer_to(line: str) -> str:
    try:
        bind_words(*pick_verb([word.text for word in split_line(line)], "command"), "command")
    except BadOption as error:
        return str(error)
    return ""


def test_each_line_is_right_or_answered_with_the_right_one() -> None:
    answers = {line: answer_to(line) for line in LINES}

    assert [
        f"{line}: {answers[line]!r}"
        for line, meant in LINES.items()
        if meant not in answers[line] or bool(meant) != bool(answers[line])
    ] == []


def test_each_name_is_answered_with_the_function_that_was_meant() -> None:
    assert find_wrong_answers(svc, NAMES) == []


def test_each_method_of_a_frame_and_each_editor_is_answered_with_the_one_that_was_meant() -> None:
    frame: Any = pd.DataFrame({"objectID": ["1"]})

    assert find_wrong_answers(frame.svc, METHODS) == []
    assert find_wrong_answers(svc.edit, EDITORS) == []


def find_wrong_answers(owner: Any, names: Mapping[str, str]) -> list[str]:
    """Return the names that exist, and those whose error does not name what was meant."""
    offenders = []
    for name, meant in names.items():
        try:
            getattr(owner, name)
            offenders.append(f"{name} exists")
        except AttributeError as error:
            offenders += [f"{name}: {error}"] if meant not in str(error) else []
    return offenders
