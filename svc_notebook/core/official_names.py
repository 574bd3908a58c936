"""Names of the official Python client, and what each is called here.

The official client is the one that the API's vendor publishes for Python. `api.md`, Client helpers,
describes its helpers.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from svc_notebook.core.foreign_names import suggest_foreign
from svc_notebook.errors import deletes


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
