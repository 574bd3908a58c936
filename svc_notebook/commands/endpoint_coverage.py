"""The functions, verbs and accessors that call each endpoint of the API."""

from __future__ import annotations

from svc_notebook.commands.registry import VERBS

# The functions that call an endpoint, the main one first; `call` also reaches every endpoint.
REACHED: dict[str, tuple[str, ...]] = {
    "search": ("search", "show_search", "explain", "read_facets"),
    "get_search": (),
    "search_many": ("search_many",),
    "search_facet": ("read_facet_values",),
    "browse": ("read_browse", "export"),
    "get_browse": (),
    "add_object": (),
    "put_object": (),
    "delete_object": (),
    "delete_by": ("delete_records",),
    "clear_objects": ("clear_index",),
    "partial_update_object": (),
    "batch": ("push", "load", "delete_records", "replace_records"),
    "batch_many": (),
    "get_objects": ("read_records",),
    "get_object": (),
    "get_settings": ("read_settings", "settings", "diff_settings", "reset_settings"),
    "set_settings": ("settings", "set_settings", "reset_settings"),
    "delete_index": ("drop_index",),
    "operate_index": ("copy_index", "move_index", "replace_records"),
    "list_indices": ("read_indices",),
    "save_synonym": (),
    "save_synonyms": ("save_synonyms", "replace_synonyms"),
    "get_synonym": ("get_synonym",),
    "clear_synonyms": ("clear_synonyms",),
    "delete_synonym": ("delete_synonyms",),
    "search_synonyms": ("read_synonyms", "export_synonyms"),
    "add_key": ("add_key",),
    "update_key": ("update_key",),
    "list_keys": ("read_keys",),
    "get_key": ("get_key", "whoami"),
    "delete_key": ("delete_key",),
    "restore_key": ("restore_key",),
    "add_index_key": ("add_key",),
    "update_index_key": ("update_key",),
    "list_index_keys": ("read_keys",),
    "list_all_index_keys": ("read_keys",),
    "get_index_key": ("get_key",),
    "delete_index_key": ("delete_key",),
    "save_rule": (),
    "save_rules": ("save_rules", "replace_rules", "pin", "hide", "unpin", "unhide"),
    "get_rule": ("get_rule",),
    "delete_rule": ("delete_rules",),
    "clear_rules": ("clear_rules",),
    "search_rules": ("read_rules", "export_rules"),
    "batch_dictionary": ("save_entries", "replace_entries", "delete_entries", "clear_entries"),
    "get_dictionary_entries": (),
    "search_dictionary": ("read_dictionary", "export_entries"),
    "set_dictionary_settings": ("dictionary_settings",),
    "get_dictionary_settings": ("dictionary_settings",),
    "list_languages": ("read_languages",),
    "assign_user": ("assign_users", "move_user"),
    "assign_users": ("assign_users",),
    "top_users": ("read_top_users",),
    "get_user": ("get_user",),
    "list_clusters": ("read_clusters",),
    "list_users": ("read_users",),
    "remove_user": ("remove_user",),
    "search_users": ("read_users",),
    "pending_mappings": ("pending_users",),
    "list_sources": ("read_sources",),
    "replace_sources": ("replace_sources",),
    "append_source": ("add_source",),
    "delete_source": ("delete_source",),
    "get_logs": ("read_logs",),
    "get_task": ("read_tasks", "read_writes", "wait"),
    "get_app_task": ("read_tasks", "read_writes", "wait"),
    "create_crawler": ("create_crawler",),
    "list_crawlers": ("read_crawlers",),
    "get_crawler": ("get_crawler", "read_crawlers"),
    "update_crawler": ("rename_crawler", "configure_crawler"),
    "update_crawler_config": ("configure_crawler",),
    "run_crawler": ("run_crawler",),
    "pause_crawler": ("pause_crawler",),
    "reindex_crawler": ("reindex_crawler",),
    "crawler_url_stats": ("read_crawler_urls",),
    "list_crawled_urls": ("read_crawled_urls",),
    "crawl_urls": ("crawl_urls",),
    "test_crawler_url": ("try_url",),
    "get_crawler_task": ("crawler_task",),
    "cancel_crawler_task": ("cancel_crawler_task",),
    "list_domains": ("read_domains",),
    "push_events": ("send_events",),
    "list_events": ("read_events",),
    "list_searches": ("read_searches",),
    "delete_user_token": ("delete_user_events",),
}
# The equivalent of an endpoint that only `call` reaches: another form, or a bulk form.
INSTEAD = {
    "get_search": "search",
    "get_browse": "read_browse",
    "add_object": "push",
    "put_object": "push",
    "delete_object": "delete_records",
    "partial_update_object": "push(action='update')",
    "batch_many": "push",
    "get_object": "read_records",
    "save_synonym": "save_synonyms",
    "save_rule": "save_rules",
    "get_dictionary_entries": "read_dictionary",
}
# Functions behind a verb besides the function of the same name.
_BEHIND = {
    "restore_key_in_cell": ("restore_key",),
    "restore_key_in_shell": ("restore_key",),
    "load_or_plan": ("load",),
    "facets_or_values": ("read_facets", "read_facet_values"),
    "delete_key_and_show": ("delete_key",),
    "users_or_top": ("read_users", "read_top_users"),
}
ACCESSORS: dict[str, tuple[str, ...]] = {
    "search": ("df.svc.refresh", "df.svc.next_page", "series.svc.facet"),
    "search_many": ("series.svc.search",),
    "browse": ("df.svc.browse", "df.svc.refresh", "df.svc.next_page", "df.svc.diff"),
    "batch": ("df.svc.push", "df.svc.delete"),
    "get_objects": ("df.svc.records", "series.svc.records"),
    "list_clusters": ("df.svc.clusters",),
    "push_events": ("df.svc.events",),
    "get_logs": ("df.svc.logs",),
    "crawler_url_stats": ("df.svc.crawler_urls",),
    "crawl_urls": ("series.svc.crawl",),
}


def functions_of(endpoint: str) -> tuple[str, ...]:
    """Return the functions that call an endpoint."""
    return REACHED[endpoint] or ("call",)


def instead_of(endpoint: str) -> str:
    """Return the equivalent function of an endpoint that only `call` reaches."""
    return INSTEAD.get(endpoint, "")


def verbs_of(endpoint: str) -> list[str]:
    """Return the verbs that call an endpoint."""
    wanted = set(functions_of(endpoint))
    found = [verb.name for verb in VERBS if wanted & set(_behind(verb.does))]
    return list(dict.fromkeys(found)) or ["call"]


def accessors_of(endpoint: str) -> tuple[str, ...]:
    """Return the accessors that call an endpoint."""
    return ACCESSORS.get(endpoint, ())


def _behind(does: str) -> tuple[str, ...]:
    name = does.rpartition(".")[2]
    return _BEHIND.get(name, (name,))
