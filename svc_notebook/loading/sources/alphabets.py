"""The encoding of a text in a Latin alphabet, by the letters that its language has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

MAC = "mac_roman"
# The letters beyond ASCII of languages, by the encoding of Windows that contains them.
WESTERN = {
    "cp1252": (
        "äöüß", "àâæçéèêëîïôœùûüÿ", "áéíñóúü", "àáâãçéêíóôõúü", "àèéìíîòóùú", "åäöéà", "æøåéèêóòô",
        "áðéíóúýþæö", "áäâéëèïíîöóüúûç", "àçéèíïóòúü", "áàâäéèêëíìîïóòôöúùûüŵŷ",
    ),
}  # fmt: skip
OTHERS: Mapping[str, tuple[str, ...]] = {
    "cp1250": (
        "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "ąćęłńóśźż", "áéíóöőúüű", "ăâîşţ", "čćđšž",
    ),
    "cp1254": ("çğıöşüâîûİ",),
    "cp1257": ("ąčęėįšųūž", "āčēģīķļņšūž", "äöüõšž"),
    # Old programs of the Mac write it; other bytes are letters there.
    MAC: WESTERN["cp1252"],
    "iso8859_2": ("áčďéěíňóřšťúůýž", "ąćęłńóśźż", "áéíóöőúüű"),
}  # fmt: skip
# The minimum share of a text's letters beyond ASCII that its language has.
MIN_SHARE = 0.99
# Letters that cp1252 would read otherwise: the minimum number, and number of different ones.
MIN_LETTERS, MIN_DIFFERENT = 5, 2
# A character beyond ASCII that is a letter, or that stands between letters.
BEYOND = re.compile(r"[^\W\d_]|(?<=[^\W\d_])[^\w\s](?=[^\W\d_])")
# In text that is read as cp1252: signs inside of words, and letters that bytes of a Mac become.
IMPLAUSIBLE = re.compile(r"\ufffd|(?<=[^\W\d_])[^\w\s\u2019'-](?=[^\W\d_])|(?<=[a-z])[ŠŽŸƒ]")
MIN_IMPLAUSIBLE = 2


def find_encoding(text: bytes) -> str | None:
    """Return the encoding, other than cp1252, in which a text is of one language; None in doubt.

    A text that is of one language in cp1252 is in doubt.
    """
    western = _characters(text, "cp1252")
    if any(_is_of(western, alphabet) for alphabet in WESTERN["cp1252"]):
        return None
    fitting = [
        (sum(found.values()), encoding)
        for encoding, alphabets in OTHERS.items()
        if (encoding != MAC or _is_implausible(text))
        if _differs(text, encoding) and (found := _characters(text, encoding))
        if any(_is_of(found, alphabet) for alphabet in alphabets)
    ]
    return max(fitting, key=lambda each: each[0])[1] if fitting else None


def _is_implausible(text: bytes) -> bool:
    return len(IMPLAUSIBLE.findall(text.decode("cp1252", "replace"))) >= MIN_IMPLAUSIBLE


def _characters(text: bytes, encoding: str) -> Counter[str]:
    """Count the characters beyond ASCII that are letters, or that stand between letters."""
    found = BEYOND.findall(text.decode(encoding, "replace"))
    return Counter(character for character in found if not character.isascii())


def _is_of(characters: Counter[str], alphabet: str) -> bool:
    known = {*alphabet, *alphabet.upper()}
    good = sum(number for character, number in characters.items() if character in known)
    return good > 0 and good >= MIN_SHARE * sum(characters.values())


def _differs(text: bytes, encoding: str) -> bool:
    """Return whether enough letters of a text are others in cp1252."""
    different = Counter(_different(text, encoding))
    return sum(different.values()) >= MIN_LETTERS and len(different) >= MIN_DIFFERENT


def _different(text: bytes, encoding: str) -> Iterator[str]:
    # One byte is one character in all of these encodings.
    pairs = zip(text.decode(encoding, "replace"), text.decode("cp1252", "replace"), strict=True)
    return (letter for letter, other in pairs if letter != other and letter.isalpha())
