"""Apply an index's rules to a search, before its key has the last word."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from svc_notebook.errors import KeyRefused
from svc_notebook.service.engine.facets import Named
from svc_notebook.service.engine.options import Options
from svc_notebook.service.engine.pinning import NO_PINS
from svc_notebook.service.handlers.registry import Call
from svc_notebook.service.rulebook.consequence import RENDERING, Outcome, follow, merge
from svc_notebook.service.rulebook.reading import Reading
from svc_notebook.service.shelf import Shelf


@dataclass(frozen=True, eq=False)
class Curated:
    """A search after its rules: which index it is for, as whom it was asked, and what came of it.

    `asked` are its parameters before, `outcome.params` those after; neither has what the key adds.
    """

    shelf: Shelf
    asked: Mapping[str, Any]
    outcome: Outcome


def curate(call: Call, shelf: Shelf, asked: Mapping[str, Any]) -> Curated:
    """Find the rules that apply and follow them.

    What the caller's key embeds decides which rules apply, as if it had been asked for; no rule
    changes it, for it is bound to the search afterwards, and promoted records must pass it, too.
    """
    library = call.service.catalog.library
    untouched = Curated(shelf, asked, Outcome(asked))
    bound = call.caller.bind(asked, shelf.name)
    options = Options(shelf.settings, bound, library.knowledge(shelf.id))
    if not options["enableRules"]:
        return untouched
    reading = Reading(options, partial(_find_named, shelf, options))
    applied = library.rules(shelf.id).find(reading, time.time())
    if not applied:
        return untouched
    outcome = follow(applied, asked, reading.words, options.rules)
    if outcome.rendering is not None:
        base = [outcome.rendering, options[RENDERING] or {}]
        outcome = replace(outcome, params={**outcome.params, RENDERING: merge(iter(base))})
    goal = _redirected(call, shelf, outcome)
    return Curated(goal, asked, _guard(call, goal, outcome))


def _find_named(shelf: Shelf, options: Options, facet: str, words: Sequence[str]) -> list[Named]:
    return shelf.engine.get().named(facet, words, options.rules)


def _redirected(call: Call, shelf: Shelf, outcome: Outcome) -> Shelf:
    """Return the index a rule sends the search to, if it is there and the key reaches it."""
    goal = call.service.catalog.get(outcome.redirect) if outcome.redirect else None
    if goal is None:
        return shelf
    try:
        call.caller.require("search", [goal.name])
    except KeyRefused:
        return shelf
    return goal


def _guard(call: Call, shelf: Shelf, outcome: Outcome) -> Outcome:
    if outcome.pins == NO_PINS:
        return outcome
    return replace(outcome, pins=replace(outcome.pins, within=call.caller.bind({}, shelf.name)))
