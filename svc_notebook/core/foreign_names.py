"""Names that users of pandas and of other search tools type first, and what they are here.

Among them are the methods of the official client, which the API's vendor publishes for Python.
`api.md`, Client helpers, describes its helpers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from svc_notebook.errors import deletes, did_you_mean

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
        ("SearchClient", "SearchClientSync", "CrawlerClient", "InsightsClient", "create_client"),
        ("connect",)),
    **dict.fromkeys(("init_index", "get_index"), ("search", "push")),
    **dict.fromkeys(("wait_task", "wait_for_tasks", "wait_for_pending_update"), ("wait",)),
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


class Equivalent(NamedTuple):
    """What takes the place of a method of the official client; None where nothing does.

    `function` is called as `svc.NAME` and works with DataFrames; `method` is called as
    `client.NAME` and works with the service's JSON.
    """

    function: str | None
    method: str | None


# The page that compares the two clients method by method.
COMPARISON_PAGE = "docs/coming-from/python-client.md"

# All methods of the official search client without its `..._with_http_info` variants.
OFFICIAL_NAMES: dict[str, Equivalent] = {
    "add_api_key": Equivalent("add_key", "add_key"),
    "add_or_update_object": Equivalent("push", "put_object"),
    "add_user_agent": Equivalent(None, "with_options"),
    "append_source": Equivalent("add_source", "append_source"),
    "assign_user_id": Equivalent("assign_users", "assign_user"),
    "batch": Equivalent("push", "batch"),
    "batch_assign_user_ids": Equivalent("assign_users", "assign_users"),
    "batch_dictionary_entries": Equivalent("save_entries", "batch_dictionary"),
    "browse": Equivalent("read_browse", "browse"),
    "browse_objects": Equivalent("read_browse", "browse_pages"),
    "browse_rules": Equivalent("read_rules", "iterate_rules"),
    "browse_synonyms": Equivalent("read_synonyms", "iterate_synonyms"),
    "chunked_batch": Equivalent("push", "batch"),
    "clear_objects": Equivalent("clear_index", "clear_objects"),
    "clear_rules": Equivalent("clear_rules", "clear_rules"),
    "clear_synonyms": Equivalent("clear_synonyms", "clear_synonyms"),
    "close": Equivalent(None, "close"),
    "create_temporary_name": Equivalent(None, None),
    "create_with_config": Equivalent("connect", None),
    "custom_delete": Equivalent("call", "custom"),
    "custom_get": Equivalent("call", "custom"),
    "custom_post": Equivalent("call", "custom"),
    "custom_put": Equivalent("call", "custom"),
    "delete_api_key": Equivalent("delete_key", "delete_key"),
    "delete_by": Equivalent("delete_records", "delete_by"),
    "delete_index": Equivalent("drop_index", "delete_index"),
    "delete_object": Equivalent("delete_records", "delete_object"),
    "delete_objects": Equivalent("delete_records", "batch"),
    "delete_rule": Equivalent("delete_rules", "delete_rule"),
    "delete_source": Equivalent("delete_source", "delete_source"),
    "delete_synonym": Equivalent("delete_synonyms", "delete_synonym"),
    "generate_secured_api_key": Equivalent("secured_key", None),
    "get_api_key": Equivalent("get_key", "get_key"),
    "get_app_task": Equivalent("wait", "get_app_task"),
    "get_dictionary_languages": Equivalent("read_languages", "list_languages"),
    "get_dictionary_settings": Equivalent("dictionary_settings", "get_dictionary_settings"),
    "get_logs": Equivalent("read_logs", "get_logs"),
    "get_object": Equivalent("read_records", "get_object"),
    "get_objects": Equivalent("read_records", "get_objects"),
    "get_rule": Equivalent("get_rule", "get_rule"),
    "get_secured_api_key_remaining_validity": Equivalent("get_remaining_validity", None),
    "get_settings": Equivalent("read_settings", "get_settings"),
    "get_sources": Equivalent("read_sources", "list_sources"),
    "get_synonym": Equivalent("get_synonym", "get_synonym"),
    "get_task": Equivalent("wait", "get_task"),
    "get_top_user_ids": Equivalent("read_top_users", "top_users"),
    "get_user_id": Equivalent("get_user", "get_user"),
    "has_pending_mappings": Equivalent("pending_users", "pending_mappings"),
    "index_exists": Equivalent("read_indices", "index_exists"),
    "list_api_keys": Equivalent("read_keys", "list_keys"),
    "list_clusters": Equivalent("read_clusters", "list_clusters"),
    "list_indices": Equivalent("read_indices", "list_indices"),
    "list_user_ids": Equivalent("read_users", "list_users"),
    "multiple_batch": Equivalent("push", "batch_many"),
    "operation_index": Equivalent("copy_index", "operate_index"),
    "partial_update_object": Equivalent("push", "partial_update_object"),
    "partial_update_objects": Equivalent("push", "batch"),
    "partial_update_objects_with_transformation": Equivalent("push", "batch"),
    "remove_user_id": Equivalent("remove_user", "remove_user"),
    "replace_all_objects": Equivalent("load", "replace_all"),
    "replace_all_objects_with_transformation": Equivalent("load", "replace_all"),
    "replace_sources": Equivalent("replace_sources", "replace_sources"),
    "restore_api_key": Equivalent("restore_key", "restore_key"),
    "save_object": Equivalent("push", "put_object"),
    "save_objects": Equivalent("push", "batch"),
    "save_objects_with_transformation": Equivalent("push", "batch"),
    "save_rule": Equivalent("save_rules", "save_rule"),
    "save_rules": Equivalent("save_rules", "save_rules"),
    "save_synonym": Equivalent("save_synonyms", "save_synonym"),
    "save_synonyms": Equivalent("save_synonyms", "save_synonyms"),
    "search": Equivalent("search_many", "search_many"),
    "search_dictionary_entries": Equivalent("read_dictionary", "search_dictionary"),
    "search_for_facet_values": Equivalent("read_facet_values", "search_facet"),
    "search_rules": Equivalent("read_rules", "search_rules"),
    "search_single_index": Equivalent("search", "search"),
    "search_synonyms": Equivalent("read_synonyms", "search_synonyms"),
    "search_user_ids": Equivalent("read_users", "search_users"),
    "set_client_api_key": Equivalent("connect", None),
    "set_dictionary_settings": Equivalent("dictionary_settings", "set_dictionary_settings"),
    "set_settings": Equivalent("set_settings", "set_settings"),
    "set_transformation_options": Equivalent(None, None),
    "update_api_key": Equivalent("update_key", "update_key"),
    "wait_for_api_key": Equivalent("wait", "wait"),
    "wait_for_app_task": Equivalent("wait", "wait"),
    "wait_for_task": Equivalent("wait", "wait"),
}


def suggest_function(name: str) -> str:
    """Return `; use X` for a name of the official client or of another tool."""
    return _suggest(name, "function", "svc") or suggest_foreign(name)


def suggest_method(name: str) -> str:
    """Return `; use X` for a name of the official client, where our clients call it otherwise."""
    return _suggest(name, "method", "client")


def _suggest(name: str, kind: Literal["function", "method"], owner: str) -> str:
    if name not in OFFICIAL_NAMES:
        return ""
    replacement = getattr(OFFICIAL_NAMES[name], kind)
    # Nobody who tries names until one works may end with a deletion.
    if replacement is None or deletes(replacement):
        return f"; {COMPARISON_PAGE} lists the official client's methods and what replaces each"
    return f"; use `{owner}.{replacement}` for the official client's `{name}`"
