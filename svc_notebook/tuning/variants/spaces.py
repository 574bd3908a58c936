"""The search space of variants: values for settings, synonyms and rules."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from svc_notebook.core.api.parameters import PARAMETERS
from svc_notebook.core.display import shorten, text_of
from svc_notebook.errors import BadInput
from svc_notebook.tuning.changes.request_part import BY_QUERY, belongs_to_request, check_request
from svc_notebook.tuning.changes.state import IGNORED_SETTINGS, KINDS, Objects, Scope
from svc_notebook.tuning.evaluation.runs import FIXED
from svc_notebook.tuning.proposed_changes.change_spec import read_proposal

MAX_VALUE_CHARACTERS = 60


@dataclass(frozen=True)
class Variant:
    """One variant: a value for each changed name."""

    choices: Mapping[str, Any]

    @cached_property
    def key(self) -> str:
        """Return its identity."""
        return msgspec.json.encode(dict(self.choices), order="sorted").decode()

    @property
    def parts(self) -> dict[Scope, Objects]:
        """Return its changes of the index, by scope and name."""
        settings = {
            name: value
            for name, value in self.choices.items()
            if name not in KINDS and not belongs_to_request(name, value)
        }
        given: dict[str, Any] = {
            name: value for name, value in self.choices.items() if name in KINDS and value
        }
        if settings:
            given["settings"] = settings
        return read_proposal(given) if given else {}

    @property
    def request(self) -> dict[str, Any]:
        """Return its parameters of each search, which no index can save."""
        return {
            name: value
            for name, value in self.choices.items()
            if value is not None and name not in KINDS and belongs_to_request(name, value)
        }

    def __str__(self) -> str:
        described = [f"{name}={_short(value)}" for name, value in self.choices.items()]
        return ", ".join(described) or "current settings"


def _short(value: Any) -> str:
    return (
        "default" if value is None else shorten(text_of(value, compact=True), MAX_VALUE_CHARACTERS)
    )


AS_IT_IS = Variant({})


class Space:
    """The values of each name; `None` is a setting's default.

    Names that need a copy of the index change slowest, so that the copy is rarely reconfigured;
    `names` are in the given order. `starts` are variants from which a sampler may begin.
    """

    def __init__(self, given: Mapping[str, Sequence[Any]], starts: Iterable[Variant] = ()) -> None:
        if not isinstance(given, Mapping) or not given:
            raise BadInput('a space is a dict of values: {"ignorePlurals": [False, True]}')
        for name, values in given.items():
            _check(name, values)
        self.names = list(given)
        apart = {start.key: start for start in starts if start.choices}
        self.starts = [*apart.values()]
        names = sorted(given, key=lambda name: not _wants_copy(name))
        self.values: dict[str, list[Any]] = {name: list(given[name]) for name in names}

    def __len__(self) -> int:
        return math.prod(len(values) for values in self.values.values())

    def __iter__(self) -> Iterator[Variant]:
        for values in itertools.product(*self.values.values()):
            yield Variant(dict(zip(self.values, values, strict=True)))

    def draw(self, count: int, seed: int) -> list[Variant]:
        """Draw distinct variants randomly, in order; all if there are not more."""
        if count >= len(self):
            return list(self)
        chosen = random.Random(seed).sample(range(len(self)), count)
        return [self[number] for number in sorted(chosen)]

    def __getitem__(self, number: int) -> Variant:
        choices: dict[str, Any] = {}
        for name in reversed(self.values):
            number, choice = divmod(number, len(self.values[name]))
            choices[name] = self.values[name][choice]
        return Variant({name: choices[name] for name in self.values})


def _wants_copy(name: str) -> bool:
    if name in KINDS:
        return True
    return name != BY_QUERY and PARAMETERS[name].scope == "setting" and name != "customRanking"


def _check(name: str, values: Any) -> None:
    """Reject values that cannot be tried, before any trial."""
    if name in (*IGNORED_SETTINGS, *FIXED):
        raise BadInput(f"`{name}` does not affect the ranking")
    if isinstance(values, str | bytes) or not isinstance(values, Sequence) or not values:
        raise BadInput(f"`{name}`: give a list of values to try, such as [False, True]")
    if name in KINDS:
        for value in values:
            if value:
                read_proposal({f"{name}": value})
        return
    for value in values:
        if belongs_to_request(name, value):
            check_request({name: value})
        else:
            read_proposal({"settings": {name: value}})
