"""Verbs for operating a service, as rows of the verb table."""

from __future__ import annotations

from typing import Literal

from svc_notebook.api.families.indices import CopyScope
from svc_notebook.api.parameters import SearchOptions
from svc_notebook.api.shapes import DictionaryName
from svc_notebook.commands.options import IDS_FROM, INDEX, PARAMS
from svc_notebook.commands.verb import Option, Verb, operand

DESTINATION = operand("destination", "the index that it becomes", completes="index")
QUERY = operand("query", "only what these words find", rest=True, required=False)

LISTING: tuple[Verb, ...] = (
    Verb(
        "logs", "Read logged requests, the newest first",
        "svc_notebook.functions.blocking.read_logs",
        options=(
            Option("index", "only of this index", completes="index", argument="indexName"),
            Option("type", "only of this kind", Literal["all", "query", "build", "error"]),
            Option("length", "how many, 10 unless told otherwise, 1000 at the most", int),
            Option("offset", "leave out so many of the newest", int),
        ),
        examples=("logs", "logs --index products --type error --length 100"),
    ),
    Verb(
        "facets", "Count facet values among what a search finds, or search the values of one facet",
        "svc_notebook.functions.verb_variants.facets_or_values",
        operands=(INDEX, operand("query", "the words looked for", rest=True, required=False)),
        options=(
            Option(
                "in", "look for the words in the values of this facet",
                completes="facet", argument="facet",
            ),
            PARAMS,
        ),
        spread=SearchOptions,
        body="search parameters",
        examples=(
            'facets products lamp --facets brand,color --filters "price < 50"',
            "facets products co --in brand",
        ),
    ),
    Verb(
        "synonyms", "List an index's synonyms",
        "svc_notebook.functions.blocking.read_synonyms",
        operands=(INDEX, QUERY),
        options=(
            Option("type", "only of this type; several have commas between"),
        ),
        examples=("synonyms products", "synonyms products lamp --type synonym,onewaysynonym"),
    ),
    Verb(
        "rules", "List an index's rules",
        "svc_notebook.functions.blocking.read_rules",
        operands=(INDEX, QUERY),
        options=(
            Option("context", "only rules of this context"),
            Option("enabled", "only those that are on, or with `false` off", bool | None),
        ),
        examples=("rules products", "rules products sale --enabled"),
    ),
    Verb(
        "dictionaries", "List the entries of a dictionary, standard ones among them",
        "svc_notebook.functions.blocking.read_dictionary",
        operands=(
            operand("dictionary", "stopwords, plurals or compounds", DictionaryName),
            QUERY,
        ),
        options=(
            Option("language", "only of this language, by its two letters"),
        ),
        examples=("dictionaries stopwords --language en", "dictionaries plurals horse"),
    ),
    Verb(
        "languages", "List the languages and how many dictionary entries of your own each has",
        "svc_notebook.functions.blocking.read_languages",
        examples=("languages",),
    ),
    Verb(
        "keys", "List the API keys",
        "svc_notebook.functions.blocking.read_keys",
        operands=(
            operand(
                "index", "list the keys of this index, with `*` of every index",
                completes="index", required=False,
            ),
        ),
        options=(
            Option("reveal", "show them whole; they stay where the result is kept", bool),
        ),
        examples=("keys", "keys products", "keys --reveal"),
    ),
    Verb(
        "clusters", "List the clusters and what they hold",
        "svc_notebook.functions.blocking.read_clusters",
        examples=("clusters",),
    ),
    Verb(
        "users", "List which cluster holds which user",
        "svc_notebook.functions.verb_variants.users_or_top",
        operands=(QUERY,),
        options=(
            Option("cluster", "only those of this cluster"),
            Option("top", "only those with the most records of each cluster, ranked", bool),
        ),
        examples=("users", "users smith --cluster c1-eu", "users --top"),
    ),
    Verb(
        "sources", "List the networks that may call; none listed means that all may",
        "svc_notebook.functions.blocking.read_sources",
        examples=("sources",),
    ),
)  # fmt: skip

REMOVING: tuple[Verb, ...] = (
    Verb(
        "delete", "Delete records by their objectIDs, or all that pass filters",
        "svc_notebook.functions.blocking.delete_records",
        operands=(
            INDEX, operand("ids", "objectIDs; or say --from", list[str], rest=True, required=False)
        ),
        options=(
            IDS_FROM,
            Option("filters", "delete every record that passes these", completes="facet"),
        ),
        destructive="delete records of {index}",
        spares=lambda given: not given.keys() & {"ids", "filters"},  # it is refused
        examples=("delete products 17 18", 'delete products --filters "price < 1" --yes'),
    ),
    Verb(
        "clear", "Delete all records of an index; its settings, synonyms and rules stay",
        "svc_notebook.functions.blocking.clear_index",
        operands=(INDEX,),
        destructive="delete all records of {index}",
        examples=("clear products", "clear products --yes"),
    ),
    Verb(
        "copy", "Copy an index onto another, all of it or only what goes with the records",
        "svc_notebook.functions.blocking.copy_index",
        operands=(INDEX, DESTINATION),
        options=(
            Option("scope", "only these, with commas between", list[CopyScope]),
        ),
        destructive="copy {index} onto {destination}",
        examples=("copy products products-new", "copy products test --scope settings,rules --yes"),
    ),
    Verb(
        "move", "Move an index to another name; what is there gives way",
        "svc_notebook.functions.blocking.move_index",
        operands=(INDEX, DESTINATION),
        destructive="move {index} onto {destination}",
        examples=("move products-new products",),
    ),
    Verb(
        "drop", "Delete an index with its records, settings, synonyms and rules",
        "svc_notebook.functions.blocking.drop_index",
        operands=(INDEX,),
        destructive="delete the whole index {index}",
        examples=("drop products-old", "drop products-old --yes"),
    ),
)  # fmt: skip
