"""Notes of a plan, of two kinds: what differs from the source, and advice."""

from __future__ import annotations

from collections.abc import Sequence


class Advice(str):
    """A note that proposes an option or a column; other notes say what differs from the source."""

    __slots__ = ()


def changes_of(notes: Sequence[str]) -> tuple[str, ...]:
    """Return the notes that say what was changed or left out."""
    return tuple(note for note in notes if not isinstance(note, Advice))


def advice_of(notes: Sequence[str]) -> tuple[str, ...]:
    """Return the notes that advise."""
    return tuple(note for note in notes if isinstance(note, Advice))


def write_notes(notes: Sequence[str]) -> list[str]:
    """Return a line for each note, what was changed or left out first."""
    return [
        *(f"note: {note}" for note in changes_of(notes)),
        *(f"advice: {note}" for note in advice_of(notes)),
    ]
