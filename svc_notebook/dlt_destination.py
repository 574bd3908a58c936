"""A destination of dlt pipelines: each table is an index, each row a record.

>>> import dlt
>>> from svc_notebook.dlt_destination import svc_notebook
>>> pipeline = dlt.pipeline("shop", destination=svc_notebook(index_prefix="dev_"))

Nested tables are not made: lists and objects stay in the record of their row.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final, Self

import msgspec
from dlt.common.configuration import configspec
from dlt.common.destination import Destination, DestinationCapabilitiesContext
from dlt.common.destination.client import (
    DestinationClientConfiguration,
    JobClientBase,
    LoadJob,
    RunnableLoadJob,
)
from dlt.common.destination.exceptions import DestinationTerminalException
from dlt.common.destination.typing import PreparedTableSchema
from dlt.common.schema.utils import get_columns_names_with_prop, is_dlt_table_or_column
from dlt.common.storages import FileStorage
from dlt.destinations.job_impl import FinalizedLoadJob

from svc_notebook.core.display import format_count
from svc_notebook.data import loading
from svc_notebook.data.client import Client, background_loop
from svc_notebook.data.client.operations import index_exists
from svc_notebook.data.client.temporary_index import (
    TemporaryIndex,
    copy_around,
    name_temporary_index,
)
from svc_notebook.data.session.connection import current, make_client
from svc_notebook.errors import BadInput, KeyRefused

ROW_ID = "_dlt_id"
NUMBER_TYPES = ("decimal", "wei")
TOKEN_CHARACTERS = 8  # of a temporary index


@configspec
class SvcDestinationConfiguration(DestinationClientConfiguration):
    """The profile of the service, by default the current client, and a prefix of all indices."""

    destination_type: Final[str] = dataclasses.field(
        default="svc_notebook", init=False, repr=False, compare=False
    )
    profile: str | None = None
    index_prefix: str = ""


class svc_notebook(Destination[SvcDestinationConfiguration, "SvcDestinationClient"]):  # noqa: N801 - dlt names destinations so
    """A service as the destination of a pipeline.

    `append` adds records, `merge` replaces those with the same `primary_key`, and `replace` fills
    a temporary index that replaces the index when all of its files are loaded. The objectID is the
    `primary_key`, its columns joined by `-`, else dlt's id of the row.

    Parameters
    ----------
    profile : str, default None
        Profile of the service; None selects the current client.
    index_prefix : str, default ""
        Beginning of the names of all indices, before the names of the tables.
    """

    spec = SvcDestinationConfiguration

    def __init__(self, profile: str | None = None, index_prefix: str = "", **options: Any) -> None:
        super().__init__(profile=profile, index_prefix=index_prefix, **options)

    def _raw_capabilities(self) -> DestinationCapabilitiesContext:
        limits = DestinationCapabilitiesContext.generic_capabilities(
            "jsonl", naming_convention="direct"
        )
        limits.supported_loader_file_formats = ["jsonl"]
        limits.supported_merge_strategies = ["upsert"]
        limits.supported_replace_strategies = ["truncate-and-insert"]
        limits.max_table_nesting = 0
        return limits

    @property
    def client_class(self) -> type[SvcDestinationClient]:
        """The class that carries out load packages."""
        return SvcDestinationClient


class SvcDestinationClient(JobClientBase):
    """Loads the files of a load package, and finishes it."""

    config: SvcDestinationConfiguration

    def initialize_storage(self, truncate_tables: Iterable[str] | None = None) -> None:
        """Do nothing: indices are made by their first records."""

    def is_storage_initialized(self) -> bool:
        """Return whether the storage exists: always."""
        return True

    def drop_storage(self) -> None:
        """Delete the indices of all tables."""
        client = self.connect()
        for table in self.schema.data_table_names():
            index = self.index_of(table)
            if _run(index_exists(client.aio, index)):
                client.wait(dict(client.delete_index(index)), index=index)

    def create_load_job(
        self, table: PreparedTableSchema, file_path: str, load_id: str, restore: bool = False
    ) -> LoadJob:
        """Return the job that loads a file; a restored one sends its rows again."""
        if is_dlt_table_or_column(str(table["name"]), self.schema._dlt_tables_prefix):
            return FinalizedLoadJob(file_path)
        return SvcLoadJob(file_path)

    def complete_load(self, load_id: str) -> None:
        """Put the filled temporary indices in place of those that are replaced."""
        client = self.connect().aio
        for table in self.schema.data_table_names():
            temporary = self.temporary_index(table, load_id)
            if self.should_truncate_table_before_load(table) and _run(
                index_exists(client, temporary.name)
            ):
                _run(temporary.claim(drop_at_exit=False))
                _run(temporary.promote())

    def connect(self) -> Client:
        """Return the client of the profile."""
        return make_client(self.config.profile) if self.config.profile else current()

    def index_of(self, table: str) -> str:
        """Return the name of the index of a table."""
        return f"{self.config.index_prefix}{table}"

    def temporary_index(self, table: str, load_id: str) -> TemporaryIndex:
        """Return the temporary index of a table that is replaced, the same in a repeated load."""
        index = self.index_of(table)
        token = hashlib.sha256(f"{load_id}\n{index}".encode()).hexdigest()[:TOKEN_CHARACTERS]
        name = name_temporary_index(index, "load")[:-TOKEN_CHARACTERS] + token
        return TemporaryIndex(self.connect().aio, index, "load", name=name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class SvcLoadJob(RunnableLoadJob):
    """The load of one file into an index, or into the temporary index that replaces it."""

    def run(self) -> None:
        """Send all rows; errors that a repetition does not solve end the pipeline."""
        client: Any = self._job_client
        try:
            result = _run(self._load(client))
        except (BadInput, KeyRefused) as error:
            raise DestinationTerminalException(str(error)) from error
        if result is not None and result.rejected_rows:
            first = result.rejected.iloc[0]
            raise DestinationTerminalException(
                f"{format_count(result.rejected_rows, 'row')} of {self.load_table_name} cannot be "
                f"sent; the first is row {first['row']}: {first['reason']}"
            )

    async def _load(self, client: SvcDestinationClient) -> loading.LoadResult | None:
        table = self._load_table
        name = str(table["name"])
        index, service = client.index_of(name), client.connect().aio
        if table["write_disposition"] == "replace":
            temporary = client.temporary_index(name, self._load_id)
            await copy_around(service, index, temporary.name)
            index = temporary.name
        rows = read_rows(self._file_path, table)
        first = next(rows, None)
        if first is None:
            return None
        return await loading.load(
            service,
            chain([first], rows),
            index,
            id=_ids_of(table),
            duplicates="last",
            replace_records=True,
        )


def read_rows(path: str, table: PreparedTableSchema) -> Iterator[dict[str, Any]]:
    """Yield the records of a file, without the columns of dlt, and with numbers as numbers."""
    numbers = {
        name for name, column in table["columns"].items() if column.get("data_type") in NUMBER_TYPES
    }
    by_row_id = _ids_of(table) is None
    with FileStorage.open_zipsafe_ro(path, "rb") as file:
        for line in file:
            row: dict[str, Any] = msgspec.json.decode(line)
            record = {name: value for name, value in row.items() if not name.startswith("_dlt_")}
            for name in numbers & record.keys():
                record[name] = _as_number(record[name])
            if by_row_id and ROW_ID in row:
                record["objectID"] = row[ROW_ID]
            yield record


def _as_number(value: Any) -> Any:
    """Return a decimal, which dlt writes as a text, as a number."""
    if not isinstance(value, str):
        return value
    number = float(value)
    return int(value) if number.is_integer() and value.lstrip("-").isdigit() else number


def _ids_of(table: Mapping[str, Any]) -> list[str] | None:
    """Return the columns of the primary key; None if the table has none."""
    names = get_columns_names_with_prop(table, "primary_key")
    if not names and table["write_disposition"] == "merge":
        raise BadInput(
            f"the table {table['name']} is merged, but has no `primary_key`, from which records "
            "get their ids: name its columns in the resource"
        )
    return names or None


def _run(call: Coroutine[Any, Any, Any]) -> Any:
    return background_loop.run(call)


svc_notebook.register()
