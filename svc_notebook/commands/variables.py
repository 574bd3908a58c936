"""Names of variables that a line uses where words are taken literally."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from svc_notebook.commands.name_completion import is_tool
from svc_notebook.commands.verb import OUTPUT, PARAMS, Option, Verb
from svc_notebook.errors import BadInput, NotFound, SvcError

# A name alone, and in the syntax of a shell or IPython: $name, {name}, ${name}.
_NAME = re.compile(r"\$?\{?(\w+)\}?")
# Verbs that take a variable, for verbs that take none.
TAKERS = {
    "load": "`%svc push INDEX --from {}` takes it",
    "restore": "svc.tuning.restore takes it",
    "diff": "svc.tuning.diff takes it",
    **{
        f"{family} import": f"`%svc {family} save ... --from {{}}` takes it"
        for family in ("synonyms", "rules", "dictionaries")
    },
}
Variables = Mapping[str, object]
Place = tuple[Option | None, str]


def variable_meant(verb: Verb, words: Sequence[str], variables: Variables, error: SvcError) -> str:
    """Advise how to pass a variable whose name a failed line contains."""
    if not isinstance(error, (BadInput, NotFound)):
        return ""
    for operand, word in _placed(verb, words):
        name = _name_of(word)
        if name in variables and not is_tool(variables[name]) and not _stands(operand):
            advice = _advice(verb, words, operand, name, variables[name])
            if advice.startswith("did you mean `-") or word in f"{error}":
                return advice
    return ""


def _advice(
    verb: Verb, words: Sequence[str], operand: Option | None, name: str, value: object
) -> str:
    of_index = operand is not None and operand.completes == "index"
    option = _taking(verb, words)
    own = operand.parameter if operand else ""
    if option and (option.required or not of_index or option.parameter == own):
        return f"did you mean `--{option.name} {name}`?"
    if operand is None and PARAMS in verb.options:
        return f"did you mean `--{PARAMS.name} {name}`?"
    if isinstance(value, str):
        # Its value is not shown: it can be a key.
        return f"`{name}` is a variable; a line takes words as they stand: write what it holds"
    taker = TAKERS.get(verb.name, "a line takes words as they stand").format(name)
    return f"`{name}` is a variable; {taker}"


def literal_variable(verb: Verb, words: Sequence[str], variables: Variables) -> str:
    """Warn that a word is taken literally, though a variable of that name could be passed."""
    option = _taking(verb, words)
    placed = list(_placed(verb, words)) if option else []
    if not option or not placed:
        return ""
    operand, word = placed[-1]
    alone = sum(each is operand for each, _ in placed) == 1
    value = variables.get(word)
    many = isinstance(value, Iterable) and not isinstance(value, str) and not is_tool(value)
    if not (alone and many and _stands(operand)):
        return ""
    return f"`{word}` is taken as it stands; for the variable say `--{option.name} {word}`"


def _taking(verb: Verb, words: Sequence[str]) -> Option | None:
    """Return the option by which a verb takes a variable, unless the line has it."""
    options = [o for o in verb.options if o.completes == "variable" and o is not PARAMS]
    option = options[0] if options else None
    said = option and any(word.partition("=")[0] == f"--{option.name}" for word in words)
    return None if said else option


def _placed(verb: Verb, words: Sequence[str]) -> Iterator[Place]:
    """Return the positional words, each with its operand."""
    named = verb.named("magic")
    operands = verb.placed("magic")
    last = operands[-1] if operands and operands[-1].rest else None
    left: list[str] = []
    awaits: Option | None = None
    for word in words:
        if word == OUTPUT.name:
            awaits = OUTPUT
        elif word.startswith("--"):
            awaits = None if "=" in word else named.get(word[2:])
        elif awaits and awaits.may_take(word):
            awaits = None
        else:
            left.append(word)
    for place, word in enumerate(left):
        yield operands[place] if place < len(operands) else last, word


def _stands(operand: Option | None) -> bool:
    """Return whether an operand accepts any word, including the name of a variable."""
    return operand is not None and operand.rest and operand.type in (str, list[str])


def _name_of(word: str) -> str:
    found = _NAME.fullmatch(word)
    return found[1] if found else ""
