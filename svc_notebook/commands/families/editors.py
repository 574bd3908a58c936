"""Verbs that open editors, as rows of the verb table."""

from __future__ import annotations

from dataclasses import replace

from svc_notebook.api.parameters import SearchOptions
from svc_notebook.commands.families.crawlers import CRAWLER
from svc_notebook.commands.options import FORWARD, INDEX, PARAMS
from svc_notebook.commands.verb import PROFILE, Option, Verb, operand

_TRIED = operand("queries", "queries to try it on; quote those of several words", list[str],
                 rest=True, required=False)  # fmt: skip

EDITING: tuple[Verb, ...] = (
    Verb(
        "edit query", "Open the query editor: search as you type, and see what decides",
        "svc_notebook.editors.query",
        operands=(
            INDEX, operand("query", "the words to begin with", rest=True, required=False),
        ),
        options=(Option("images", "show pictures that other hosts serve", bool), PARAMS),
        spread=SearchOptions,
        common=(PROFILE,),
        body="search parameters",
        faces=("magic",),
        examples=("edit query products", "edit query products lamp --hitsPerPage 5"),
    ),
    Verb(
        "edit settings", "Open the settings editor: change the ranking, and see what comes of it",
        "svc_notebook.editors.settings",
        operands=(INDEX, _TRIED),
        options=(replace(FORWARD, argument="forward"),),
        common=(PROFILE,),
        faces=("magic",),
        examples=("edit settings products", "edit settings products lamp 'oak table'"),
    ),
    Verb(
        "edit synonyms", "Open the synonym editor: all in one table, tried before they are applied",
        "svc_notebook.editors.synonyms",
        operands=(INDEX, _TRIED),
        options=(replace(FORWARD, argument="forward"),),
        common=(PROFILE,),
        faces=("magic",),
        examples=("edit synonyms products", "edit synonyms products lamp 'oak table'"),
    ),
    Verb(
        "edit rules", "Open the rule editor: a form for each rule, tried before it is applied",
        "svc_notebook.editors.rules",
        operands=(INDEX, _TRIED),
        options=(replace(FORWARD, argument="forward"),),
        common=(PROFILE,),
        faces=("magic",),
        examples=("edit rules products", "edit rules products lamp 'oak table'"),
    ),
    Verb(
        "edit judgments", "Open the judgment editor: grade the hits of queries by one key each",
        "svc_notebook.editors.judgments",
        operands=(INDEX, operand("queries", "queries to judge; quote those of several words",
                                 list[str], rest=True, required=False)),
        options=(
            Option("from", "a variable holding judgments to go on with", completes="variable",
                   argument="judgments"),
            Option("file", "a CSV or Parquet file that has each judgment as soon as it is given",
                   completes="path"),
            Option("depth", "how many hits of each query, 10 unless told otherwise", int),
            Option("rater", "whose judgments they are"),
            Option("blind", "hide where hits were found", bool),
            Option("shuffled", "mix the hits", bool),
        ),
        common=(PROFILE,),
        faces=("magic",),
        examples=(
            "edit judgments products lamp 'oak table'",
            "edit judgments products --from graded --rater ada --blind",
            "edit judgments products lamp --file judged.csv",
        ),
    ),
    Verb(
        "edit crawler", "Open the crawler editor: change it, and see what it makes of a page",
        "svc_notebook.editors.crawler",
        operands=(CRAWLER, operand("urls", "pages to try it on", list[str], rest=True,
                                   required=False)),
        common=(PROFILE,),
        faces=("magic",),
        examples=("edit crawler docs", "edit crawler docs https://example.com/page"),
    ),
)  # fmt: skip
