"""The consequences of rules: changed search parameters, pinned hits, more response members."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from svc_notebook.core.tokenization.tokenizer import TokenizerSettings, split, tokens
from svc_notebook.service.engine.ranking.promoted_hits import NO_PINS, Pin, Pins
from svc_notebook.service.rules.filters import (
    AUTOMATIC,
    AUTOMATIC_OPTIONAL,
    FILTERS,
    OPTIONAL,
    join_filters,
    join_optional,
)
from svc_notebook.service.rules.rule import PLACEHOLDER, AppliedRule, Capture, Words

RENDERING = "renderingContent"
# Parameters of a rule that are merged with the query's instead of replacing them.
MERGED_PARAMETERS = {*FILTERS, AUTOMATIC, AUTOMATIC_OPTIONAL, RENDERING, "query"}
# Maximum characters of a query after rules; a longer one is not edited further, but truncated.
MAX_QUERY_CHARACTERS = 1000
# Maximum number of forms of the deleted words that are searched for.
MAX_FORMS = 100
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class RuleOutcome:
    """A search after its rules: its parameters, pinned hits and additional response members.

    `faults` are messages about consequences that could not be applied.
    """

    params: Mapping[str, Any]
    pins: Pins = NO_PINS
    applied: tuple[str, ...] = ()
    user_data: tuple[Any, ...] = ()
    rendering: Mapping[str, Any] | None = None
    redirect: str | None = None
    faults: tuple[str, ...] = ()


def apply_consequences(
    applied: Sequence[AppliedRule],
    params: Mapping[str, Any],
    words: Sequence[str],
    rules: TokenizerSettings,
) -> RuleOutcome:
    """Apply rules to the parameters of a search; in conflicts, the earlier rule wins."""
    consequences = [entry.rule.consequence for entry in applied]
    rule_params = [consequence.get("params") or {} for consequence in consequences]
    changed = _override(params, rule_params)
    if (query := _change_query(applied, params, words, rules)) is not None:
        changed["query"] = query
    changed |= _add_filters(changed, applied)
    return RuleOutcome(
        changed,
        _pin(consequences),
        tuple(entry.rule.id for entry in applied),
        tuple(data for entry in consequences if (data := entry.get("userData")) is not None),
        merge(entry[RENDERING] for entry in rule_params if entry.get(RENDERING)),
        next(
            (entry["redirect"]["indexName"] for entry in consequences if entry.get("redirect")),
            None,
        ),
    )


def merge(contents: Iterator[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Merge objects recursively; in conflicts, the earlier object takes precedence."""
    merged: dict[str, Any] | None = None
    for content in contents:
        merged = dict(content) if merged is None else _merge_under(content, merged)
    return merged


def _override(params: Mapping[str, Any], all_params: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    changed = dict(params)
    for rule_params in reversed(all_params):
        changed |= {
            name: value
            for name, value in rule_params.items()
            if name not in MERGED_PARAMETERS and value is not None
        }
    return changed


def _change_query(
    applied: Sequence[AppliedRule],
    params: Mapping[str, Any],
    words: Sequence[str],
    rules: TokenizerSettings,
) -> str | None:
    """Return the new query: the first replacement text, or the old query edited by each rule."""
    text: str | None = None
    for rule in applied:
        query = (rule.rule.consequence.get("params") or {}).get("query")
        if query is not None and (text is None or not isinstance(query, str)):
            before = params.get("query", "") if text is None else text
            text = QueryRewriter(rule.captures, words, rules).change(before, query)
    return None if text is None else text[:MAX_QUERY_CHARACTERS]


def _add_filters(params: Mapping[str, Any], applied: Sequence[AppliedRule]) -> dict[str, Any]:
    added: dict[str, Any] = {}
    params_of_rules = [
        (rule.rule.consequence.get("params") or {}, rule.captures) for rule in applied
    ]
    if filters := join_filters(params.get("filters"), params_of_rules):
        added["filters"] = filters
    if any(given.get(AUTOMATIC_OPTIONAL) for given, _ in params_of_rules) and (
        optional := join_optional(params, params_of_rules)
    ):
        added[OPTIONAL] = optional
    return added


def _pin(consequences: Sequence[Mapping[str, Any]]) -> Pins:
    """Collect promoted and hidden records; for one record, the earlier rule takes precedence."""
    pins: list[Pin] = []
    promoted: set[str] = set()
    hidden: set[str] = set()
    for consequence in consequences:
        hidden |= {item["objectID"] for item in consequence.get("hide") or ()} - promoted
        for item in consequence.get("promote") or ():
            names = item["objectIDs"] if "objectIDs" in item else [item["objectID"]]
            shown = tuple(name for name in names if name not in hidden)
            pins.append(Pin(shown, item["position"], bool(consequence.get("filterPromotes"))))
            promoted |= set(shown)
    return Pins(tuple(pins), frozenset(hidden))


def _merge_under(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **lower,
        **{
            name: _merge_under(lower[name], value)
            if isinstance(value, dict) and isinstance(lower.get(name), dict)
            else value
            for name, value in upper.items()
        },
    }


class QueryRewriter:
    """Rewrites a query as one rule requires; `words` are those that its captures refer to."""

    def __init__(
        self, captures: Sequence[Capture], words: Sequence[str], rules: TokenizerSettings
    ) -> None:
        self._captures = captures
        self._words = words
        self._rules = rules

    def change(self, text: str, change_spec: str | Mapping[str, Any]) -> str:
        """Return the query after the rule's changes."""
        if isinstance(change_spec, str):
            return self._fill(change_spec)
        for word in change_spec.get("remove") or ():
            text = self._replace(text, word, "")
        for edit in change_spec.get("edits") or ():
            insert = edit.get("insert", "") if edit["type"] == "replace" else ""
            text = self._replace(text, edit["delete"], self._fill(insert))
        return text

    def _replace(self, text: str, deleted: str, insert: str) -> str:
        """Replace each occurrence of consecutive words by a text."""
        if len(text) > MAX_QUERY_CHARACTERS:
            return text
        for run in dict.fromkeys(self._forms(deleted)):
            spans = list(_find_runs(text, run, self._rules))
            if spans:
                bounds = [0, *(edge for span in spans for edge in span), len(text)]
                kept = [
                    text[start:end] for start, end in zip(bounds[::2], bounds[1::2], strict=True)
                ]
                text = (insert or " ").join(kept)
            if spans and not insert:
                text = _BLANKS.sub(" ", text).strip()
        return text

    def _forms(self, deleted: str) -> Iterator[Words]:
        """Yield the words to delete, and their forms in the query if the pattern allows them."""
        pieces = PLACEHOLDER.split(deleted)
        choices = [
            self._captured_words(piece.strip())
            if number % 2
            else [tuple(split(piece, self._rules))]
            for number, piece in enumerate(pieces)
        ]
        for parts in islice(product(*choices), MAX_FORMS):
            if words := sum(parts, ()):
                yield words
                yield from self._as_typed(words)

    def _as_typed(self, words: Words) -> Iterator[Words]:
        for capture in self._captures:
            for start in range(len(words) - len(capture.words) + 1 if capture.words else 0):
                end = start + len(capture.words)
                if words[start:end] == capture.words:
                    yield words[:start] + self._typed_words(capture) + words[end:]

    def _captured_words(self, facet: str) -> list[Words]:
        words = (self._typed_words(capture) for capture in self._captures if capture.facet == facet)
        return list(dict.fromkeys(words))

    def _typed_words(self, capture: Capture) -> Words:
        return tuple(self._words[capture.start : capture.end])

    def _fill(self, text: str) -> str:
        """Replace placeholders by the text that they matched."""
        pieces = PLACEHOLDER.split(text)
        return "".join(
            " ".join(" ".join(words) for words in self._captured_words(piece.strip()))
            if number % 2
            else piece
            for number, piece in enumerate(pieces)
        )


def _find_runs(text: str, run: Words, rules: TokenizerSettings) -> Iterator[tuple[int, int]]:
    text_tokens = tokens(text, rules)
    end = 0
    for start in range(len(text_tokens) - len(run) + 1):
        matched = text_tokens[start : start + len(run)]
        if start >= end and tuple(token.text for token in matched) == run:
            yield matched[0].start, matched[-1].end
            end = start + len(run)
