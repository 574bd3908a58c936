"""Names that users of pandas and of other search tools type first, and what they are here."""

from __future__ import annotations

from collections.abc import Iterable

from svc_notebook.errors import did_you_mean

_LOAD = "load"
_PUSH = "push"
_HITS = ("hitsPerPage", "limit", "length", "k", "depth")
# Functions by the names of others; a deletion is named only to who asked for one.
FUNCTIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("read_csv", "read_excel", "read_json", "read_parquet", "read_sql", "read_table",
         "import", "import_file", "create_index", "upload"), (_LOAD,)),
    **dict.fromkeys(
        ("add", "add_documents", "bulk", "index", "insert", "save", "save_records", "update",
         "update_documents", "update_records", "upsert", "write", "append", "send", "to_svc"),
        (_PUSH, _LOAD)),
    **dict.fromkeys(("to_csv", "to_json", "to_parquet", "download", "dump"), ("export",)),
    **dict.fromkeys(
        ("delete", "drop", "remove", "rm", "delete_documents", "delete_by_query"),
        ("delete_records", "drop_index")),
    **dict.fromkeys(
        ("all", "fetch", "head", "iterate", "sample", "scan", "scroll", "read", "records", "browse",
         "get_all", "read_all", "read_index", "to_dataframe", "to_df", "to_pandas"),
        ("read_browse",)),
    **dict.fromkeys(("get", "get_document", "get_documents", "get_record"), ("read_records",)),
    **dict.fromkeys(
        ("count", "describe", "get_indexes", "indexes", "indices", "list", "list_indexes", "ls",
         "stats"),
        ("read_indices",)),
    **dict.fromkeys(
        ("analytics", "read_analytics", "get_analytics", "popular_searches", "top_queries"),
        ("read_top_searches", "read_search_counts")),
    **dict.fromkeys(("find", "filter", "query", "msearch"), ("search", "search_many")),
    **dict.fromkeys(("facets", "groupby", "value_counts"), ("read_facets", "count_values")),
    **dict.fromkeys(("analyze", "analyse", "debug"), ("explain", "why")),
    **dict.fromkeys(("info", "health", "ping", "status"), ("whoami", "read_indices")),
    **dict.fromkeys(("login", "open", "init", "configure", "config"), ("connect", "profiles")),
    **dict.fromkeys(
        ("start_crawler", "crawl", "crawl_now", "start_crawl"),
        ("reindex_crawler", "run_crawler")),
    "stop_crawler": ("pause_crawler",),
    "reindex": ("replace_records", "reindex_crawler"),
    **dict.fromkeys(("rename", "rename_index", "mv"), ("move_index",)),
    **dict.fromkeys(("cp", "duplicate", "copy"), ("copy_index",)),
    "cache": ("paths",),
    **dict.fromkeys(("disconnect", "shutdown", "quit"), ("stop",)),
    **dict.fromkeys(("add_synonym", "create_synonym", "add_synonyms"), ("save_synonyms",)),
    "add_rule": ("save_rules",), "add_rules": ("save_rules",),
    "promote": ("pin",), "bury": ("hide",), "logs": ("read_logs",), "tail": ("read_logs",),
    "settings_of": ("settings",),
}  # fmt: skip
# Methods of `df.svc` by the names of others, beside those of functions.
METHODS = {"upload": (_PUSH,), "load": (_PUSH,)}
# Editors by the names of others.
EDITORS = {
    "search": "query", "searches": "query", "hits": "query", "synonym": "synonyms", "rule": "rules",
    "pins": "rules", "judge": "judgments", "ratings": "judgments", "config": "settings",
    "ranking": "settings", "crawlers": "crawler", "index": "workbench", "dashboard": "analytics",
}  # fmt: skip
# Second words of verbs by the names of others; the first that a family has is meant.
ACTIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("add", "create", "insert", "new", "put"), ("save", "add", "create", "assign")),
    **dict.fromkeys(("delete", "remove", "revoke", "rm", "drop"), ("delete", "remove")),
    **dict.fromkeys(("edit", "set", "update", "change"), ("update", "set", "config", "save")),
    **dict.fromkeys(("start", "trigger"), ("reindex", "run")), "stop": ("pause", "cancel"),
    **dict.fromkeys(("show", "read", "view", "get"), ("show", "get")), "download": ("export",),
}  # fmt: skip
# Arguments by the names of others; the first that a function has is meant.
ARGUMENTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("limit", "size", "top", "top_k", "topk", "k", "n", "rows", "per_page", "page_size",
         "max_results", "max", "nrows", "count", "length", "tail", "last"), _HITS),
    **dict.fromkeys(("key", "token", "apikey", "password", "secret"), ("api_key", "key")),
    **dict.fromkeys(("app", "application", "application_id", "user"), ("app_id",)),
    **dict.fromkeys(("host", "address", "endpoint", "server", "base_url"), ("url", "hosts")),
    "timeout": ("timeout", "read_timeout", "search_timeout"),
    **dict.fromkeys(("q", "text", "term", "terms", "keywords"), ("query", "queries")),
    **dict.fromkeys(("index_name", "index_uid", "collection", "table"), ("index",)),
    **dict.fromkeys(("filter", "where", "fq", "filter_by"), ("filters",)),
    **dict.fromkeys(
        ("fields", "attributes", "cols", "usecols", "select", "attributes_to_retrieve"),
        ("columns", "attributesToRetrieve")),
    **dict.fromkeys(("from", "start", "skip_hits"), ("offset", "page")),
    **dict.fromkeys(
        ("mode", "overwrite", "on_conflict", "replace", "append", "write_disposition"),
        ("if_exists",)),
    **dict.fromkeys(
        ("primary_key", "pk", "id_column", "id_field", "object_id", "objectID", "index_col"),
        ("id", "ids", "object_id")),
    **dict.fromkeys(("types", "dtypes", "schema", "converters"), ("dtype",)),
    **dict.fromkeys(("sep", "delimiter"), ("separator",)),
    **dict.fromkeys(("sort", "sort_by", "order", "order_by"), ("ranking",)),
    **dict.fromkeys(("json", "csv", "output", "out"), ("format",)),
    "quotechar": ("quote",), "sheet_name": ("sheet",), "skiprows": ("skip",), "tz": ("timezone",),
    **dict.fromkeys(("batch_size", "chunk_size", "chunksize"), ("batch", "chunksize")),
    **dict.fromkeys(("verbose", "show_progress", "tqdm", "bar"), ("progress",)),
    **dict.fromkeys(("file", "data", "df", "frame", "input"), ("source", "data", "path")),
    **dict.fromkeys(("judgements", "qrels", "relevance"), ("judgments",)),
    "dryrun": ("dry_run",), "facet_by": ("facets",),
}  # fmt: skip


# Arguments that are not what they are elsewhere: a browse reads every page.
OTHER_MEANINGS = {
    (function, argument)
    for function in ("read_browse", "read_dask", "export")
    for argument in ("hitsPerPage", "length", "page", "offset")
}


def suggest_foreign(name: str) -> str:
    """Return `; use X` for a function of other tools, where `svc` has one of that meaning."""
    meant = [f"`svc.{function}`" for function in FUNCTIONS.get(name, ())]
    return f"; use {' or '.join(meant)}" if meant else ""


def suggest_accessor_method(name: str, owner: str, methods: Iterable[str]) -> str:
    """Return `; use X` or `; did you mean X?` for a method that an accessor does not have."""
    candidates = METHODS.get(name) or FUNCTIONS.get(name, ())
    meant = [f"`{owner}.{method}`" for method in candidates if method in methods]
    return f"; use {' or '.join(meant)}" if meant else did_you_mean(name, methods)


def same_name(name: str, accepted: Iterable[str]) -> str | None:
    """Return the known name that is spelled otherwise: `hits_per_page` is `hitsPerPage`."""
    return {_fold(candidate): candidate for candidate in accepted}.get(_fold(name))


def suggest_argument(
    name: str, accepted: Iterable[str], prefix: str = "", function: str = ""
) -> str:
    """Return `; use X` or `; did you mean X?` for an argument that a function does not have."""
    names = [
        candidate
        for candidate in accepted
        if candidate != name and (function, candidate) not in OTHER_MEANINGS
    ]
    candidates = (name, *ARGUMENTS.get(name.replace("-", "_"), ()))
    meant = next(filter(None, (same_name(candidate, names) for candidate in candidates)), None)
    if meant:
        return f"; use `{prefix}{meant}`"
    return did_you_mean(prefix + name, [prefix + candidate for candidate in names])


def _fold(name: str) -> str:
    return name.replace("_", "").replace("-", "").casefold()
