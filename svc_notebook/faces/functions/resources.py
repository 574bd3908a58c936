"""Verbs and docstrings that functions of synonyms, rules and dictionary entries share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from svc_notebook.core.api.shapes import DictionaryEntry, Rule, Synonym
from svc_notebook.data.declarations import BodyDocument, public, verb

F = TypeVar("F", bound=Callable[..., Any])

SAVING = """
Parameters
----------
{parameter} : dict, list of dict, DataFrame or path
    {given}: one, several, the rows of a table, or a CSV, JSON or NDJSON file.{generated}
extra : dict, default None
    Members to add to each object without validation; objects are merged at every depth.

Returns
-------
dict
    {saved}, and the number of {members}
    `before` and `after` (None if the key may not read them); `status` if the key may not read
    tasks.

Raises
------
BadInput
    If {wrong} a wrong or unknown member.
TaskFailed
"""
DELETING = """
Parameters
----------
ids : str or list of str
    objectIDs of the {parameter}.

Returns
-------
dict
    `{owner}`, and the number of {members} `before` and `after` (None if the key may not read
    them); `status` if the key may not read tasks.

Raises
------
NotFound
    If {missing} does not exist.
TaskFailed
"""
EXPORTING = """
Parameters
----------
path : path
    File to write; its suffix `.csv`, `.json` or `.ndjson` determines the format. An
    existing file is replaced.

Returns
-------
dict
    `{owner}`, `path` and `written` (number of {parameter}).

Raises
------
BadInput
    If the suffix is not supported or the file cannot be written.
"""


@dataclass(frozen=True)
class Resource:
    """Objects with an objectID that belong to an index or to a dictionary.

    - `family`: the word that begins their verbs.
    - `parameter`: the parameter that takes them, which is their word in docstrings.
    - `member`, `members`: the words for one writable object and for all of them.
    - `owner`: the parameter for what they belong to, and its words in confirmations.
    - `saved`: the members of a result of saving, besides their number.
    """

    family: str
    parameter: str
    shape: Any
    member: str
    members: str
    owner: str
    of_owner: str
    saved: str
    generated: str = ""

    def saves(self, *examples: str, imports: str, **facts: Any) -> Callable[[F], F]:
        """Declare the function that adds objects or replaces those with the same objectID."""
        return public(
            verb(
                f"{self.family} save",
                *examples,
                variable=self.parameter,
                document=BodyDocument(self.parameter, self.shape),
            ),
            verb(
                f"{self.family} import",
                imports,
                summary=f"Save the {self.parameter} of a file",
                names={self.parameter: "file"},
                completes={self.parameter: "path"},
            ),
            like=self._describe(
                SAVING, given=self.parameter.capitalize(), wrong=f"{self._a_member} has"
            ),
            **facts,
        )

    def replaces(self, example: str, **facts: Any) -> Callable[[F], F]:
        """Declare the function that replaces all objects at once."""
        return public(
            verb(
                f"{self.family} replace",
                example,
                variable=self.parameter,
                document=BodyDocument(self.parameter, self.shape),
                destructive=f"replace all {self.members} of {self.of_owner}",
            ),
            like=self._describe(
                SAVING,
                given=f"New {self.parameter}",
                wrong=f"the {self.parameter} are empty, or one has",
            ),
            **facts,
        )

    def deletes(self, example: str, *, completes: str = "", **facts: Any) -> Callable[[F], F]:
        """Declare the function that deletes objects by objectID."""
        return public(
            verb(
                f"{self.family} delete",
                example,
                completes={"ids": completes} if completes else {},
                destructive=f"delete {self.parameter} of {self.of_owner}",
            ),
            like=self._describe(DELETING),
            **facts,
        )

    def clears(self, example: str, **facts: Any) -> Callable[[F], F]:
        """Declare the function that deletes all objects."""
        return public(
            verb(
                f"{self.family} clear",
                example,
                destructive=f"delete all {self.members} of {self.of_owner}",
            ),
            like=self._describe(DELETING),
            **facts,
        )

    def exports(self, example: str, **facts: Any) -> Callable[[F], F]:
        """Declare the function that writes all objects to a file."""
        return public(
            verb(f"{self.family} export", example, names={"path": "file"}),
            like=self._describe(EXPORTING),
            **facts,
        )

    @property
    def _a_member(self) -> str:
        return f"{'an' if self.member[0] in 'aeiou' else 'a'} {self.member}"

    def _describe(self, template: str, **words: str) -> str:
        in_index = self.owner == "index"
        missing = f"the index or {self._a_member}" if in_index else self._a_member
        return template.format(**vars(self), missing=missing, **words)


GENERATED = " One without\n    an objectID gets an id that is derived from its content."
SAVED_IN_INDEX = "`index`, `saved`, `made` (list of the derived objectIDs, if any)"
SYNONYMS = Resource(
    "synonyms", "synonyms", Synonym, "synonym", "synonyms", "index", "{index}",
    SAVED_IN_INDEX, GENERATED,
)  # fmt: skip
RULES = Resource(
    "rules", "rules", Rule, "rule", "rules", "index", "{index}", SAVED_IN_INDEX, GENERATED
)
ENTRIES = Resource(
    "dictionaries", "entries", DictionaryEntry, "entry", "custom entries", "dictionary",
    "the dictionary {dictionary}", "`dictionary`, `saved`",
)  # fmt: skip
