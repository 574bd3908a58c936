"""Japanese in its other scripts: hiragana as katakana and the other way round, and from Latin."""

from __future__ import annotations

from collections.abc import Iterator

from svc_notebook.service.engine.words import Rules, split


def transliterate(word: str, rules: Rules) -> Iterator[tuple[str, ...]]:
    """Return a word in the kana it is not written in; Latin letters only if they spell kana."""
    import jaconv

    if word.isascii():
        kana = jaconv.alphabet2kana(word) if word.isalpha() else ""
        if kana and jaconv.kana2alphabet(kana) == word:
            yield from (tuple(split(text, rules)) for text in (kana, jaconv.hira2kata(kana)))
        return
    for other in (jaconv.hira2kata(word), jaconv.kata2hira(word)):
        if other != word:
            yield tuple(split(other, rules))
