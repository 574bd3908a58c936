"""The declaration of a public function, and what is made from it."""

from __future__ import annotations

from svc_notebook.data.declarations.arguments import SELF, check_arguments, describe_misfit
from svc_notebook.data.declarations.blocking_variants import blocking_variant, lazy_attribute
from svc_notebook.data.declarations.declaration import (
    BOTH,
    AccessorMethod,
    BodyDocument,
    Face,
    Settles,
    Spares,
    accessor,
    accessor_only,
    declaration_of,
    described,
    public,
    verb,
    verb_only,
)
from svc_notebook.data.declarations.signatures import (
    ABOVE_BLOCKING,
    describe_member,
    present_names,
    read_entries,
    replace_entry,
    spell_out,
)

__all__ = [
    "ABOVE_BLOCKING",
    "BOTH",
    "SELF",
    "AccessorMethod",
    "BodyDocument",
    "Face",
    "Settles",
    "Spares",
    "accessor",
    "accessor_only",
    "blocking_variant",
    "check_arguments",
    "declaration_of",
    "describe_member",
    "describe_misfit",
    "described",
    "lazy_attribute",
    "present_names",
    "public",
    "read_entries",
    "replace_entry",
    "spell_out",
    "verb",
    "verb_only",
]
