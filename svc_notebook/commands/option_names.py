"""The arguments that an error names, as options of the verb that was called."""

from __future__ import annotations

import re
from collections.abc import Iterator

from svc_notebook.commands.verb import Verb
from svc_notebook.errors import SvcError

# An argument in a message, `min_share=0`: a name, and a number, a text, a word or "…".
ARGUMENT = re.compile(r"\b(?P<name>[a-z]\w*)=(?P<value>'[^'\n]*'|[\w.…-]*[\w…])")


def name_options(verb: Verb, error: SvcError) -> None:
    """Add a note that names the arguments in an error's message as options of a verb."""
    text = "\n".join([str(error), *getattr(error, "__notes__", ())])
    if found := list(dict.fromkeys(_options(verb, text))):
        error.add_note(f"as options of `{verb.name}`: {', '.join(f'`{each}`' for each in found)}")


def _options(verb: Verb, text: str) -> Iterator[str]:
    by_parameter = {each.parameter: each for each in verb.options if not each.positional}
    for found in ARGUMENT.finditer(text):
        option = by_parameter.get(found["name"])
        if option is None or found["value"] == "False":
            continue
        value = found["value"].strip("'")
        if found["value"] == "True":
            yield f"--{option.name}"
        else:
            yield (
                f"--{option.name} {value!r}"
                if re.search(r"\s|^$", value)
                else (f"--{option.name} {value}")
            )
