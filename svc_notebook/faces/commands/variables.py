"""Names of variables that a line uses where words are taken literally."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from svc_notebook.errors import BadInput, NotFound, SvcError
from svc_notebook.faces.commands.name_completion import is_tool
from svc_notebook.faces.commands.verb import PARAMS, Option, Verb

# A name alone, and in the syntax of a shell or IPython: $name, {name}, ${name}.
_NAME = re.compile(r"\$?\{?(\w+)\}?")
# What accepts a variable in place of verbs that accept none.
ALTERNATIVES = {
    "load": "use `%svc push INDEX --from {}`",
    "restore": "use svc.tuning.restore",
    "diff": "use svc.tuning.diff",
    **{
        f"{family} import": f"use `%svc {family} save ... --from {{}}`"
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
        if name in variables and not is_tool(variables[name]) and not _accepts_any_word(operand):
            advice = _advice(verb, words, operand, name, variables[name])
            if advice.startswith("did you mean `-") or word in f"{error}":
                return advice
    return ""


def _advice(
    verb: Verb, words: Sequence[str], operand: Option | None, name: str, value: object
) -> str:
    of_index = operand is not None and operand.completes == "index"
    option = _variable_option(verb, words)
    parameter = operand.parameter if operand else ""
    if option and (option.required or not of_index or option.parameter == parameter):
        return f"did you mean `--{option.name} {name}`?"
    if operand is None and PARAMS in verb.options:
        return f"did you mean `--{PARAMS.name} {name}`?"
    if isinstance(value, str):
        # Its value is not shown: it can be a key.
        return f"`{name}` is a variable, but words of a line are literal; write its value"
    advice = ALTERNATIVES.get(verb.name, "words of a line are literal").format(name)
    return f"`{name}` is a variable; {advice}"


def literal_variable(verb: Verb, words: Sequence[str], variables: Variables) -> str:
    """Warn that a word is taken literally, though a variable of that name could be passed."""
    option = _variable_option(verb, words)
    placed = list(_placed(verb, words)) if option else []
    if not option or not placed:
        return ""
    operand, word = placed[-1]
    alone = sum(candidate is operand for candidate, _ in placed) == 1
    value = variables.get(word)
    many = isinstance(value, Iterable) and not isinstance(value, str) and not is_tool(value)
    if not (alone and many and _accepts_any_word(operand)):
        return ""
    return f"`{word}` is literal text here; for the variable, pass `--{option.name} {word}`"


def _variable_option(verb: Verb, words: Sequence[str]) -> Option | None:
    """Return the option by which a verb takes a variable, unless the line has it."""
    options = [o for o in verb.options if o.completes == "variable" and o is not PARAMS]
    option = options[0] if options else None
    is_given = option and any(word.partition("=")[0] == f"--{option.name}" for word in words)
    return None if is_given else option


def _placed(verb: Verb, words: Sequence[str]) -> Iterator[Place]:
    """Return the positional words, each with its operand."""
    operands = verb.placed("magic")
    last = operands[-1] if operands and operands[-1].rest else None
    for position, word in enumerate(verb.split_words(words, "magic")[0]):
        yield operands[position] if position < len(operands) else last, word


def _accepts_any_word(operand: Option | None) -> bool:
    """Return whether an operand accepts any word, including the name of a variable."""
    return operand is not None and operand.rest and operand.type in (str, list[str])


def _name_of(word: str) -> str:
    match = _NAME.fullmatch(word)
    return match[1] if match else ""
