"""Scratch copies: copies of an index to change and measure, then promoted or dropped.

They are temporary indices; the others, of loads and of previews, are listed and dropped here, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from svc_notebook.core.api.values import OneOrMany, list_texts
from svc_notebook.data.client import (
    background_loop,
    drop_temporary_indices,
    list_temporary_indices,
)
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.tuning.changes.snapshots import Snapshot
from svc_notebook.tuning.changes.state import Differences
from svc_notebook.tuning.evaluation.scores import METRICS
from svc_notebook.tuning.tables.tables import Queries, Table

if TYPE_CHECKING:
    from svc_notebook.tuning.evaluation.comparison import Comparison
from svc_notebook.tuning.changes.scratch_copy import AsyncScratch

# The columns of `scratches`, with their types.
COLUMNS = {
    "name": "string", "index": "string", "purpose": "string", "entries": "int64", "updatedAt": "",
    "owner": "string", "in_use": "bool",
}  # fmt: skip


class Scratch:
    """A temporary copy of an index with blocking methods; `aio` is its asynchronous version.

    Attributes
    ----------
    index : str
        Name of the index that was copied.
    name : str
        Name of the copy.
    before : Snapshot or None
        Settings, synonyms and rules of the index when it was copied.
    state : str
        `open`, `dropped` or `promoted`.

    Examples
    --------
    >>> copy = svc.tuning.scratch("products").open()
    >>> copy.state
    'open'
    >>> copy.drop()
    """

    def __init__(self, index: str, client: AnyClient | None = None) -> None:
        self.aio = AsyncScratch(index, client)

    @property
    def index(self) -> str:
        """The index that was copied."""
        return self.aio.index

    @property
    def name(self) -> str:
        """The name of the copy."""
        return self.aio.name

    @property
    def before(self) -> Snapshot | None:
        """The settings, synonyms and rules of the index at the time of copying."""
        return self.aio.before

    @property
    def state(self) -> str:
        """Whether it is open, dropped or promoted."""
        return self.aio.state

    def open(self) -> Self:
        """Copy records, settings, synonyms and rules of the index.

        Returns
        -------
        Scratch
            The copy itself, until `drop` or `promote`.

        Raises
        ------
        NotFound
            If the index does not exist.
        KeyRefused
            If the key may not create or delete the copy.
        """
        background_loop.run(self.aio.open())
        return self

    def run(self, queries: Queries, params: Any = None, **options: Any) -> pd.DataFrame:
        """Search the copy for many queries.

        Parameters
        ----------
        queries : str, list, DataFrame or path
            Queries: texts, dicts, a table with the column `query`, or a CSV or Parquet file
            of it.
        params : dict, default None
            Search parameters of every query.
        **options
            Options of `svc.tuning.run`.

        Returns
        -------
        DataFrame
            One row per hit, as `svc.tuning.run` returns it.

        Raises
        ------
        BadInput
            If the copy is not open, or an argument is not valid.
        """
        return background_loop.run(self.aio.run(queries, params, **options))

    def evaluate(
        self,
        queries: Queries,
        judgments: Table,
        metrics: str | Iterable[str] = METRICS,
        **options: Any,
    ) -> pd.DataFrame:
        """Search the copy for many queries and score the hits.

        Parameters
        ----------
        queries : str, list, DataFrame or path
            Queries: texts, dicts, a table with the column `query`, or a CSV or Parquet file
            of it.
        judgments : DataFrame, list of dict or path
            Judgments with the columns `query`, `objectID` and `rating`, or a CSV or Parquet
            file of them.
        metrics : str or list of str, default 'ndcg@10'
            Metrics to compute: `ndcg@k`, `ndcg_exp@k`, `p@k`, `r@k`, `rr@k`, `ap@k`,
            `err@k`, `rbp(p)`, `judged@k`.
        **options
            Options of `svc.tuning.evaluate`, and `k`, the number of hits of each query (10
            by default).

        Returns
        -------
        DataFrame
            One row per query and metric, as `svc.tuning.evaluate` returns it.

        Raises
        ------
        BadInput
            If the copy is not open, or an argument is not valid.
        """
        return background_loop.run(self.aio.evaluate(queries, judgments, metrics, **options))

    def compare(self, queries: Queries, judgments: Table, **options: Any) -> Comparison:
        """Compare the index with the copy.

        Parameters
        ----------
        queries : str, list, DataFrame or path
            Queries: texts, dicts, a table with the column `query`, or a CSV or Parquet file
            of it.
        judgments : DataFrame, list of dict or path
            Judgments with the columns `query`, `objectID` and `rating`, or a CSV or Parquet
            file of them.
        **options
            Options of `svc.tuning.compare`, and `k`, the number of hits of each query (10
            by default).

        Returns
        -------
        Comparison
            The comparison of the index, the base, with the copy.

        Raises
        ------
        BadInput
            If the copy is not open, or an argument is not valid.
        """
        return background_loop.run(self.aio.compare(queries, judgments, **options))

    def diff(self) -> Differences:
        """Return the differences between the copy and the index when it was copied.

        Returns
        -------
        DataFrame
            One row per differing name, as `svc.tuning.diff` returns it.

        Raises
        ------
        BadInput
            If the copy is not open.
        """
        return background_loop.run(self.aio.diff())

    def promote(self, note: str = "", *, force: bool = False) -> Differences:
        """Give the index the settings, synonyms and rules of the copy, and delete the copy.

        Records and the set of replicas stay. `svc.tuning.undo` reverts the change.

        Parameters
        ----------
        note : str, default "promote"
            Note in the journal.
        force : bool, default False
            Overwrite changes that were made to the index since it was copied.

        Returns
        -------
        DataFrame
            One row per changed name, as `svc.tuning.diff` returns it.

        Raises
        ------
        BadInput
            If the copy is not open, or the index was changed since it was copied.
        CallFailed
            If the service cannot be reached or refuses the call.
        """
        return background_loop.run(self.aio.promote(note, force=force))

    def drop(self) -> None:
        """Delete the copy; the index is unchanged."""
        background_loop.run(self.aio.drop())

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *raised: object) -> None:
        background_loop.run(self.aio.__aexit__(*raised))

    def __repr__(self) -> str:
        return repr(self.aio)


def scratch(index: str, *, client: AnyClient | None = None) -> Scratch:
    """Create a temporary copy of an index as a context manager.

    Change the copy by its name with any function, measure it with `evaluate` or `compare`, then
    `promote` it. Leaving the block without that deletes the copy, and so does the end of the
    process. In a notebook, `open()` keeps the copy from cell to cell. `scratches` lists copies
    that a killed process left.

    Parameters
    ----------
    index : str
        Name of the index.
    client : Client or AsyncClient, default the current client
        Client to use.

    Returns
    -------
    Scratch
        The copy, with `name`, `run`, `evaluate`, `compare`, `diff`, `promote` and `drop`.

    Raises
    ------
    NotFound
        If the index does not exist, on entering.
    KeyRefused
        If the key may not create or delete the copy, on entering.

    Examples
    --------
    >>> with svc.tuning.scratch("products") as copy:
    ...     svc.set_settings(copy.name, {"customRanking": ["desc(reviews)"]})
    ...     change = copy.promote(note="most reviewed first")
    >>> change[["name", "after"]]
                name            after
    0  customRanking  [desc(reviews)]
    """
    return Scratch(index, client)


@public(name="scratch", awaited=True)
def async_scratch(index: str, *, client: AnyClient | None = None) -> AsyncScratch:
    """Create a temporary copy of an index as an asynchronous context manager.

    Returns
    -------
    AsyncScratch
        The copy, whose methods are coroutines.

    Raises
    ------
    NotFound
        If the index does not exist, on entering.
    KeyRefused
        If the key may not create or delete the copy, on entering.

    Examples
    --------
    >>> copy = svc.tuning.aio.scratch("products")
    >>> copy.state
    'not made yet'
    """
    return AsyncScratch(index, client)


@public(verb("scratches", "scratches"))
async def scratches(*, client: AnyClient | None = None) -> pd.DataFrame:
    """List temporary indices: scratch copies, and those of loads and previews.

    An index of this machine that is not in use was left behind by a process that was killed, or
    by a load that `resume=True` continues; `drop_scratches` deletes it. The key needs the right
    `listIndexes`.

    Returns
    -------
    DataFrame
        One row per temporary index: `name` and `index` (str, the index for which it was made),
        `purpose` (str: `scratch`, `load`, `replace`, `preview`, or `unknown` for an index of an
        earlier release or of a crawler), `entries` (int64), `updatedAt` (datetime64[us, UTC]),
        `owner` (str: `this machine`, `another machine` or `unknown`) and `in_use` (bool, whether a
        process of this machine uses it).

    Examples
    --------
    >>> with svc.tuning.scratch("products") as copy:
    ...     copies = svc.tuning.scratches()
    >>> copies[["index", "purpose", "entries", "in_use"]]
          index  purpose  entries  in_use
    0  products  scratch      240    True
    """
    temporary = await list_temporary_indices(asynchronous(client))
    rows = [
        (item["name"], name.index, name.purpose, item["entries"], item["updatedAt"], name.owner,
         name.in_use)
        for item, name in temporary
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame["updatedAt"] = pd.to_datetime(frame["updatedAt"], utc=True, format="ISO8601")
    return frame.astype({name: dtype for name, dtype in COLUMNS.items() if dtype})


@public(
    verb(
        "scratches drop",
        "scratches drop --yes",
        completes={"names": "index"},
        destructive="delete temporary indices",
    )
)
async def drop_scratches(
    names: OneOrMany | None = None, *, client: AnyClient | None = None
) -> list[str]:
    """Delete temporary indices: those named, else those left behind.

    Other indices are never deleted. A load that was interrupted and whose temporary index is
    deleted starts again when it is resumed.

    Parameters
    ----------
    names : str or list of str, default None
        Names of the temporary indices, in use or not; None selects those of this machine that no
        process uses and whose purpose is known.

    Returns
    -------
    list of str
        Names of the deleted indices.

    Raises
    ------
    BadInput
        If a name is not the name of a temporary index.
    TaskFailed
        If the service accepts a deletion but does not publish it within 600 seconds.

    Examples
    --------
    >>> svc.tuning.drop_scratches()
    []
    """
    caller = asynchronous(client)
    temporary = {item["name"]: name for item, name in await list_temporary_indices(caller)}
    if names is None:
        left = [name for name, facts in temporary.items() if facts.is_left]
        return await drop_temporary_indices(caller, left, unused=True)
    chosen = list_texts(names, "names", column="name")
    for name in chosen:
        if name not in temporary:
            raise BadInput(f"`{name}` is not a temporary index{did_you_mean(name, temporary)}")
    return await drop_temporary_indices(caller, chosen)
