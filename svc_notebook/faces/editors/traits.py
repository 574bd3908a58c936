"""Traits that editors share."""

from __future__ import annotations

from typing import Any

import traitlets

from svc_notebook.core.api.texts import list_texts
from svc_notebook.errors import BadOption

DEFAULT_HEIGHT_PIXELS = 560
WORKBENCH_HEIGHT_PIXELS = 720
MIN_HEIGHT_PIXELS = 240


class Texts(traitlets.List):  # type: ignore[type-arg]
    """A list of texts; accepts a str, a Series or a DataFrame, of which it reads `column`, too."""

    def __init__(self, column: str = "", **options: Any) -> None:
        self.column = column
        super().__init__(traitlets.Unicode(), **options)

    def validate(self, obj: Any, value: Any) -> Any:
        """Return the texts as a list; raise `BadInput` for values that are not texts."""
        return super().validate(obj, list_texts(value, str(self.name), column=self.column))


class Height(traitlets.Any):
    """The height of an editor in pixels; None is as high as its content."""

    default_value = DEFAULT_HEIGHT_PIXELS

    def validate(self, obj: Any, value: Any) -> int | None:
        """Return the height; raise `BadOption` for a value that is not one."""
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < MIN_HEIGHT_PIXELS:
            raise BadOption(
                f"`{self.name}` must be a whole number of at least {MIN_HEIGHT_PIXELS} pixels, "
                f"or None for the height of the content, not {value!r}"
            )
        return value
