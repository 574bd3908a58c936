"""The options of a distributed load, which each partition applies by itself."""

from __future__ import annotations

from dataclasses import replace

from svc_notebook.data.loading.load_plan.profile import ID_NAMES
from svc_notebook.data.loading.options import IfExists, LoadSettings
from svc_notebook.data.loading.sources.partitions import SourcePartitions
from svc_notebook.errors import BadInput


def check_partition_options(
    partitions: SourcePartitions,
    options: LoadSettings,
    if_exists: IfExists,
    *,
    verify: bool,
) -> LoadSettings:
    """Reject options that single partitions cannot apply; determine the source of the ids."""
    if if_exists == "sync":
        raise BadInput(
            "if_exists='sync' does not work with a source in partitions, because it deletes the "
            "records that its source does not have: load all of them at once, ddf.compute()"
        )
    refused = {
        "`verify`": verify,
        f"if_exists='{if_exists}'": if_exists == "merge",
    }
    if option := next((name for name, is_given in refused.items() if is_given), None):
        raise BadInput(
            f"{option} does not work with a source in partitions; load the partitions one by one"
        )
    if options.limit is not None:
        raise BadInput("`limit` would apply to each partition; load ddf.head(…) or one partition")
    detected = [name for name, kind in options.dtype.items() if kind in ("list", "levels")]
    if unnamed := next((name for name in detected if not options.separator_of(name)), None):
        raise BadInput(
            f"each partition would find its own separator of `{unnamed}`; pass it: "
            f"list_separator={{'{unnamed}': '|'}}"
        )
    if options.unrepeatable:
        raise BadInput(
            f"{options.unrepeatable} changes the records each time it is sent, and the partition "
            "of a lost worker is sent again; compute() the DataFrame and push the result"
        )
    if options.id or options.action != "replace":
        return options
    likely = [name for name in ID_NAMES if name in partitions.columns]
    if likely[:1] == ["objectID"]:
        return replace(options, id="objectID")
    if likely:
        raise BadInput(
            "whether ids are unique over all partitions is not checked: pass "
            f"id='{likely[0]}' if that column is unique, or rename it"
        )
    return options
