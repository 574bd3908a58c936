"""Traits that editors share, and the decisions of the user that cells can follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import anywidget
import traitlets

from svc_notebook.core.api.values import list_texts
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


class DecisionTraits(anywidget.AnyWidget):
    """A widget whose traits named in `decided` are what the user decided."""

    decided: ClassVar[tuple[str, ...]] = ()

    revision = traitlets.Int(0).tag(sync=True)  # changes of decisions; counted in marimo only
    seen_revision = traitlets.Int(0).tag(sync=True)

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        if self.decided and self._is_in_marimo():  # no names would observe all traits
            self.observe(self._count_revision, list(self.decided))

    def decisions(self) -> dict[str, Any]:
        """Return the decisions by the name of their trait."""
        return {name: getattr(self, name) for name in self.decided}

    def set_decisions(self, decisions: Mapping[str, Any]) -> None:
        """Set traits of decisions; equal values change nothing."""
        for name, value in decisions.items():
            self.set_trait(name, value)

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> Any:
        """Return the synced traits; in marimo, the decisions.

        `mo.ui.anywidget(editor).value` is the whole state. A comm is opened, before this, with the
        synced traits; later messages name their traits.
        """
        if key is None and self._is_in_marimo():
            return self.decisions()
        return super().get_state(key, drop_defaults)

    def _is_in_marimo(self) -> bool:
        return hasattr(self.comm, "ui_element_id")

    def _count_revision(self, _: Any) -> None:
        self.revision += 1
