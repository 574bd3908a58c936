"""The draft of an edited value: the saved value, the current value, and the undo history."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from svc_notebook.core.api.validation import same

MAX_UNDO_STEPS = 200


@dataclass(frozen=True)
class Draft:
    """One immutable state of an edit; every change creates another, for use by several threads."""

    value: Any
    saved: Any = None
    past: tuple[Any, ...] = ()
    future: tuple[Any, ...] = ()

    @classmethod
    def of(cls, saved: Any) -> Self:
        """Return the draft of an unchanged saved value."""
        return cls(value=saved, saved=saved)

    @property
    def is_dirty(self) -> bool:
        """Whether the value differs from what is saved."""
        return not same(self.value, self.saved)

    def put(self, value: Any, *, merge: bool = False) -> Self:
        """Change the value; with `merge` it replaces the last value without a new undo step.

        The redo history is cleared. An equal value is not a change.
        """
        if same(value, self.value):
            return self
        past = self.past if merge and self.past else (*self.past, self.value)[-MAX_UNDO_STEPS:]
        if same(value, past[-1]):  # the merge restored the previous value
            past = past[:-1]
        return replace(self, value=value, past=past, future=())

    def undo(self) -> Self:
        """Go back one step, if there is one."""
        if not self.past:
            return self
        return replace(
            self, value=self.past[-1], past=self.past[:-1], future=(self.value, *self.future)
        )

    def redo(self) -> Self:
        """Redo one undone step, if there is one."""
        if not self.future:
            return self
        return replace(
            self, value=self.future[0], past=(*self.past, self.value), future=self.future[1:]
        )

    def revert(self) -> Self:
        """Return to the saved value, as a step that can be undone."""
        return self.put(self.saved)

    def keep(self, saved: Any) -> Self:
        """Set the saved value; the current value and its history stay."""
        return replace(self, saved=saved)

    def rebase(self, saved: Any) -> Self:
        """Set the saved value, and follow it unless the value was edited."""
        return self.keep(saved) if self.is_dirty else replace(self, saved=saved, value=saved)
