"""Judgments joined with their records: values of the records, and records that have changed."""

from __future__ import annotations

import numbers
from typing import Any

from pandas import DataFrame

from svc_notebook.declarations.declaration import public
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.session.connection import AnyClient, asynchronous
from svc_notebook.tuning.diagnosis.record_words import read_records
from svc_notebook.tuning.evaluation.metric_names import VALUE
from svc_notebook.tuning.evaluation.record_texts import RECORD_HASH, digest_record
from svc_notebook.tuning.tables.tables import Table, check_judgments


@public()
async def add_values(
    index: str, judgments: Table, value: str, *, client: AnyClient | None = None
) -> DataFrame:
    """Add the value of each judged record to judgments, for the metric `value@k`.

    The metric sums rating times value over the hits, and later ranks count less. With ratings that
    are shares of clicks or conversions, it is the expected amount of a search.

    Parameters
    ----------
    value : str
        Attribute of the records with a number, such as `margin`.

    Returns
    -------
    DataFrame
        The judgments with the column `value` (float64), 0 for a record without a number.
        `attrs["svc"]["without_value"]` is the number of such judgments.

    Raises
    ------
    BadInput
        If no judged record has a number in the attribute.
    BadRecord
        If a judgment is not valid.
    NotFound

    Examples
    --------
    >>> judged = svc.tuning.add_values("products", "judgments.csv", "price")
    >>> svc.tuning.measure("products", judged, ["ndcg@10", "value@10"])["metric"].tolist()
    ['ndcg@10', 'value@10']
    """
    judged = check_judgments(judgments)
    ids = judged["objectID"].drop_duplicates().tolist()
    records = await read_records(asynchronous(client), index, ids)
    values = {name: _read_value(record.get(value)) for name, record in records.items()}
    amounts = judged["objectID"].map(values).astype("float64")
    if amounts.isna().all():
        names = sorted({name for record in records.values() for name in record})
        raise BadInput(
            f"no judged record of {index} has a number in `{value}`{did_you_mean(value, names)}"
        )
    frame = judged.assign(**{VALUE: amounts.fillna(0.0)})
    frame.attrs["svc"] = {"index": index, "without_value": int(amounts.isna().sum())}
    return frame


@public()
async def find_changed(
    index: str, judgments: Table, *, client: AnyClient | None = None
) -> DataFrame:
    """Return the judgments whose record has changed since, to judge them again.

    Judgments of `rate` and of the judgment editor have the column `record_hash`, a digest of the
    texts of the record that was judged; changed numbers, such as prices, do not count. Others are
    never returned.

    Returns
    -------
    DataFrame
        One row per judgment, with the columns of the judgments. `attrs["svc"]["unknown"]` is the
        number of judgments without a digest.

    Raises
    ------
    BadRecord
        If a judgment is not valid.
    NotFound

    Examples
    --------
    >>> hits = svc.tuning.run("products", ["mug"], k=2)
    >>> judged = svc.tuning.rate("products", hits, lambda pairs: [1] * len(pairs))
    >>> len(svc.tuning.find_changed("products", judged))
    0
    """
    judged = check_judgments(judgments)
    if RECORD_HASH not in judged:
        changed = judged.head(0)
        changed.attrs["svc"] = {"index": index, "unknown": len(judged)}
        return changed
    kept = judged[judged[RECORD_HASH].fillna("") != ""]
    ids = kept["objectID"].drop_duplicates().tolist()
    records = await read_records(asynchronous(client), index, ids)
    digests = {name: digest_record(record) for name, record in records.items()}
    current = kept["objectID"].map(digests)
    changed = kept[current.notna() & (current != kept[RECORD_HASH])].reset_index(drop=True)
    changed.attrs["svc"] = {"index": index, "unknown": len(judged) - len(kept)}
    return changed


def _read_value(value: Any) -> float:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return float(value) if is_number and value >= 0 else float("nan")
