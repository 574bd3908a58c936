"""Query expansion: variants of query words from language resources and synonyms."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain

from svc_notebook.service.engine.query.options import EffectiveParameters
from svc_notebook.service.engine.query.term_variants import Alternative
from svc_notebook.service.engine.text.languages import speak
from svc_notebook.service.engine.text.synonyms import Replacement


def expand(
    said: Sequence[str], dropped: AbstractSet[int], before: int, options: EffectiveParameters
) -> Iterator[tuple[int, Alternative]]:
    """Return the variants from languages and synonyms for a run of words, with word positions.

    Words at `dropped` positions are not searched and not counted in the returned positions, but a
    synonym may match them. `before` is the number of words before the run.
    """
    left = [place for place in range(len(said)) if place not in dropped]
    moved = {place: number for number, place in enumerate(left)}
    ways = chain(speak(said, options), _find_synonyms(said, moved, before, options))
    yield from ((moved[place], way) for place, way in ways if place in moved)


def _find_synonyms(
    said: Sequence[str], left: Collection[int], before: int, options: EffectiveParameters
) -> Iterator[tuple[int, Alternative]]:
    if options["synonyms"]:
        found = options.knowledge.synonyms.find(said, options.rules)
        for sense in dict.fromkeys(sense for sense in found if _counts(sense, said, options)):
            yield from _spread(sense, said, left, before, exact=_is_exact(sense, options))


def _counts(sense: Replacement, words: Sequence[str], options: EffectiveParameters) -> bool:
    """Return whether a synonym applies: corrections count as typos and need typo tolerance."""
    if not sense.typos:
        return True
    if options.typo_tolerance is False:
        return False
    return options.unforgiven.isdisjoint(_source(sense, words))


def _is_exact(sense: Replacement, options: EffectiveParameters) -> bool:
    single = sense.length == len(sense.words) == 1
    kind = "singleWordSynonym" if single else "multiWordsSynonym"
    return not sense.typos and kind in options["alternativesAsExact"]


def _spread(
    sense: Replacement, said: Sequence[str], left: Collection[int], before: int, *, exact: bool
) -> Iterator[tuple[int, Alternative]]:
    """Return one variant of a whole run for each of its words.

    If all words of the run match by it, it counts as one match of the run; only the first has its
    typo cost.
    """
    instead = " ".join(_source(sense, said))
    span = before + sense.start + 1 if sense.length > 1 else 0
    typos = sense.typos
    for place in range(sense.start, sense.start + sense.length):
        if place in left:
            yield place, Alternative(sense.words, typos, exact=exact, span=span, instead=instead)
            typos = 0


def _source(sense: Replacement, words: Sequence[str]) -> Sequence[str]:
    return words[sense.start : sense.start + sense.length]
