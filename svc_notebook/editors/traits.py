"""Traits that editors share."""

from __future__ import annotations

from typing import Any

import traitlets

from svc_notebook.api.texts import list_texts


class Texts(traitlets.List):  # type: ignore[type-arg]
    """A list of texts; accepts a str, a Series or a DataFrame, of which it reads `column`, too."""

    def __init__(self, column: str = "", **options: Any) -> None:
        self.column = column
        super().__init__(traitlets.Unicode(), **options)

    def validate(self, obj: Any, value: Any) -> Any:
        """Return the texts as a list; raise `BadInput` for values that are not texts."""
        return super().validate(obj, list_texts(value, str(self.name), column=self.column))
