"""Standard stop words of each language: words without meaning for a search."""

from __future__ import annotations

from functools import cache, lru_cache

from svc_notebook.core.tokenization.tokenizer import TokenizerSettings, split

# The source lists words of web pages and domain endings as English stop words, among them many
# words that people search for. Here they are not stop words.
SHORT_ENGLISH_STOP_WORDS = frozenset(
    """
    a am an as at be by do go he i if in is it me my no of oh on or so to up us we
    """.split()  # noqa: SIM905 - quotes around each would hide the words
)
ENGLISH_SEARCH_WORDS = frozenset(
    """
    abroad area areas backed best better big bill billion book bottom brief call caption case
    cases clear click computer con copy course cry data date dear detail dot downs early edge
    edu effect eight eighty eleven empty end face faces fact facts fifteen fifth fifty fill film
    fire first five fix forty four free front full general good goods great greater greatest
    group groups half hell hello help high higher highest home homepage html http hundred index
    information inner inside interest interests invention keys kind large last latest length
    line little long longer longest low lower man member members men microsoft mill million mine
    minus miss move msie mug name near net netscape new newer newest nine ninety novel number
    numbers old older oldest open order orders org outside page pages part parts past place
    places plus point points problem problems proud recent refs research result results right
    ring room rooms round run saw second seconds section self seven seventy shell show shows
    side sides site six sixty small smaller smallest sorry state states stop system taking ten
    test text thick thin thing things third thirty thousand three tip today top trillion turn
    twelve twenty two uucp value versus vol vols web webpage website wed wells whim wish wonder
    words work works world year years young younger youngest zero
    """.split()  # noqa: SIM905
)
# Languages that use the stop words of another language.
ALIASES = {"nb": "no", "nn": "no"}
# More than the existing languages: unknown language codes are cached, too.
MAX_CACHED_LANGUAGES = 200


@cache
def standard_languages() -> tuple[str, ...]:
    """Return the languages with standard stop words."""
    import stopwordsiso

    return tuple(sorted(stopwordsiso.langs()))


@lru_cache(maxsize=MAX_CACHED_LANGUAGES)
def standard_words(language: str) -> tuple[str, ...]:
    """Return a language's stop words as written, sorted; empty for a language without a list."""
    import stopwordsiso

    code = ALIASES.get(language, language).partition("-")[0]
    listed = stopwordsiso.stopwords(code) if stopwordsiso.has_lang(code) else ()
    return tuple(sorted(word for word in listed if _is_word(word) and _is_stop_word(word, code)))


@lru_cache(maxsize=MAX_CACHED_LANGUAGES)
def standard_stops(language: str) -> frozenset[str]:
    """Return a language's stop words, normalized for comparison with query words."""
    folded = (split(word, TokenizerSettings()) for word in standard_words(language))
    return frozenset(words[0] for words in folded if len(words) == 1)


def _is_word(text: str) -> bool:
    return any(map(str.isalpha, text)) and not any(map(str.isdigit, text))


def _is_stop_word(word: str, language: str) -> bool:
    if language != "en":
        return True
    # Normalization removes the apostrophe: "we'll" must not make "well" a stop word.
    folded = word.replace("'", "")
    return word in SHORT_ENGLISH_STOP_WORDS if len(word) < 3 else folded not in ENGLISH_SEARCH_WORDS
