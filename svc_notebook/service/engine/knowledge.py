"""What a search knows of words beyond how they are written."""

from __future__ import annotations

from dataclasses import dataclass, field

from svc_notebook.service.engine.lexicon import Lexicon
from svc_notebook.service.engine.thesaurus import Thesaurus


@dataclass(frozen=True, eq=False)
class Knowledge:
    """The synonyms of an index and the languages of its application."""

    synonyms: Thesaurus = field(default_factory=Thesaurus)
    lexicon: Lexicon = field(default_factory=Lexicon)


UNTAUGHT = Knowledge()
"""Knows nothing."""
