"""The weights of attributes in textual relevance, as `attributeWeights` gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.service.engine.index.schema import Searched, read_searched

ATTRIBUTE_WEIGHTS = "attributeWeights"
HALVING, FLAT = "halving", "flat"


def read_weights(
    given: str | Sequence[tuple[str, float]], entries: Sequence[Searched]
) -> tuple[float, ...]:
    """Return the weight of each entry of searchableAttributes; 1 for one that is not named.

    Attributes that are no longer searched are ignored, as `searchableAttributes` may have changed.
    """
    weights = {} if isinstance(given, str) else dict(given)
    return tuple(float(weights.get(entry.path, 1)) for entry in entries)


def check_weights(given: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Raise `BadInput` if the weights among given parameters are of attributes not searched."""
    weights = given.get(ATTRIBUTE_WEIGHTS)
    if not isinstance(weights, Mapping):
        return
    paths = [entry.path for entry in read_searched(settings)]
    for path in weights:
        if not paths:
            raise BadInput(
                f"{ATTRIBUTE_WEIGHTS}: without searchableAttributes all attributes count as one "
                f'text; set searchableAttributes before the weight of "{path}"'
            )
        if path not in paths:
            raise BadInput(
                f'{ATTRIBUTE_WEIGHTS}: "{path}" is not in searchableAttributes'
                f"{did_you_mean(path, paths)}"
            )
