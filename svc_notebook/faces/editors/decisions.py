"""Decisions of the user in an editor, as traits that cells can follow.

`observe` follows them in every notebook. marimo runs the cells that read an element again only when
its view saves a trait: views save `seen_revision` after each change of `revision`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import anywidget
import traitlets


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
