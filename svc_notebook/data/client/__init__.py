"""The HTTP client of the API, asynchronous and blocking."""

from __future__ import annotations

from svc_notebook.data.client import background_loop
from svc_notebook.data.client.attribute_checks import (
    FACETS,
    FilterFault,
    check_attributes,
    check_filters,
    read_facet_entries,
    read_names,
    warn_of_filters,
)
from svc_notebook.data.client.background_loop import Portal, run
from svc_notebook.data.client.client import AsyncClient, Client
from svc_notebook.data.client.config import ClientConfig, with_extra
from svc_notebook.data.client.crawlers import (
    ID,
    OnCount,
    count_ends,
    crawler_id,
    list_all,
    wait_crawled,
)
from svc_notebook.data.client.curation import (
    HITS_PER_PAGE,
    RULES,
    SYNONYMS,
    ResourceKind,
    find_all,
    find_few,
    own_members,
    with_id,
    write_all,
)
from svc_notebook.data.client.hosts import HostChoice
from svc_notebook.data.client.journal_file import (
    JOURNALS,
    JournalFile,
    application_folder,
    encode_name,
    short_digest,
)
from svc_notebook.data.client.operations import (
    BATCH_RECORDS,
    FULL_RECORD_PARAMS,
    MAX_IDS_PER_REQUEST,
    Confirm,
    WriteOutcome,
    browse_pages,
    count_records,
    each_page,
    index_exists,
    is_own,
    write_and_wait,
)
from svc_notebook.data.client.progress import LineOutput, Progress, in_notebook
from svc_notebook.data.client.retry import RetryPolicy
from svc_notebook.data.client.secret import Secret, discreet
from svc_notebook.data.client.task_group import run_together
from svc_notebook.data.client.tasks import OnProgress, Tasks, Write, sort_tasks
from svc_notebook.data.client.temporary_index import (
    Purpose,
    TemporaryIndex,
    copy_around,
    drop_temporary_indices,
    is_preview,
    is_scratch,
    list_temporary_indices,
    name_temporary_index,
    parse_name,
)

__all__ = [
    "BATCH_RECORDS",
    "FACETS",
    "FULL_RECORD_PARAMS",
    "HITS_PER_PAGE",
    "ID",
    "JOURNALS",
    "MAX_IDS_PER_REQUEST",
    "RULES",
    "SYNONYMS",
    "AsyncClient",
    "Client",
    "ClientConfig",
    "Confirm",
    "FilterFault",
    "HostChoice",
    "JournalFile",
    "LineOutput",
    "OnCount",
    "OnProgress",
    "Portal",
    "Progress",
    "Purpose",
    "ResourceKind",
    "RetryPolicy",
    "Secret",
    "Tasks",
    "TemporaryIndex",
    "Write",
    "WriteOutcome",
    "application_folder",
    "background_loop",
    "browse_pages",
    "check_attributes",
    "check_filters",
    "copy_around",
    "count_ends",
    "count_records",
    "crawler_id",
    "discreet",
    "drop_temporary_indices",
    "each_page",
    "encode_name",
    "find_all",
    "find_few",
    "in_notebook",
    "index_exists",
    "is_own",
    "is_preview",
    "is_scratch",
    "list_all",
    "list_temporary_indices",
    "name_temporary_index",
    "own_members",
    "parse_name",
    "read_facet_entries",
    "read_names",
    "run",
    "run_together",
    "short_digest",
    "sort_tasks",
    "wait_crawled",
    "warn_of_filters",
    "with_extra",
    "with_id",
    "write_all",
    "write_and_wait",
]
