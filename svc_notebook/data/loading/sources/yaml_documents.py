"""YAML files as JSON: their documents are read by the rules of the file's records."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from svc_notebook.data.loading.sources.encoding import fresh
from svc_notebook.errors import BadInput

# References can repeat parts of a document: the maximum number of values with all repeats.
MAX_VALUES = 10_000_000


def write_as_json(path: Path, given: Path, folder: Path) -> Path:
    """Write the documents of a YAML file as JSON; `given` is the file that the caller named."""
    try:
        import yaml
    except ImportError as error:
        raise BadInput(
            f'{given} is YAML, which needs PyYAML: pip install "svc-notebook[formats]"'
        ) from error
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    target = fresh(folder, f"{path.stem}.json")
    try:
        with path.open("rb") as source:
            documents = list(yaml.load_all(source, loader))
        documents = [document for document in documents if document is not None]
        _check_size(documents, given)
        written = [msgspec.json.encode(document, enc_hook=_write_other) for document in documents]
    except (yaml.YAMLError, UnicodeError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise BadInput(f"{given} is not valid YAML: {reason}") from error
    except (TypeError, msgspec.MsgspecError) as error:
        raise BadInput(f"{given} has a value that JSON cannot represent: {error}") from error
    target.write_bytes(b"\n".join(written))
    return target


def _check_size(document: Any, given: Path) -> None:
    """Refuse references that make a document much larger than its file."""
    sizes: dict[int, int] = {}

    def count(value: Any) -> int:
        if not isinstance(value, (list, Mapping)):
            return 1
        if id(value) not in sizes:
            # A reference to an outer value has no end.
            sizes[id(value)] = MAX_VALUES + 1
            inner = value.values() if isinstance(value, Mapping) else value
            sizes[id(value)] = 1 + sum(map(count, inner))
        return sizes[id(value)]

    if count(document) > MAX_VALUES:
        raise BadInput(f"{given} repeats its parts by references too often; write them out")


def _write_other(value: Any) -> Any:
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, set):
        return sorted(value, key=str)
    raise TypeError(f"a {type(value).__name__}")
