"""Files as UTF-8: decide on their encoding, rewrite them with one line end."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from svc_notebook.data.loading.sources.read_limits import CHUNK_BYTES
from svc_notebook.data.loading.text_cells.signals import Decision, Hypothesis, Signal, decide
from svc_notebook.errors import BadInput

SAMPLE_BYTES = 1_000_000
# The characters of a file's beginning from which its layout is inferred.
SAMPLE_CHARACTERS = SAMPLE_BYTES // 4
# The byte order marks; if one is the beginning of another, the longer one is first.
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Encodings that are guessed: of other scripts than the Latin one, and of that.
OTHER_SCRIPTS = (
    "cp932", "euc_jp", "gb18030", "big5", "cp949", "cp1251", "koi8_r", "cp866", "cp1253", "cp1255",
    "cp1256", "cp874",
)  # fmt: skip
OTHER_ENCODINGS = (*OTHER_SCRIPTS, "cp1250", "cp1252", "cp1254")
# Bytes of lines beyond ASCII that a decision is based on.
MAX_DECISION_BYTES = 100_000
# The minimum number of different letters of another script, and the maximum share of its words that
# have ASCII letters as well. Words of one letter of an alphabet can be signs of another encoding.
MIN_OTHER_LETTERS, MAX_MIXED_SHARE = 6, 0.2
FIRST_IDEOGRAPH = "\u2e80"
# Latin letters at an end of a word of ideographs or syllables, as an abbreviation has them.
LATIN_END = re.compile(r"\b[A-Za-z]+(?=[\u2e80-\uff60]{2})|(?<=[\u2e80-\uff60]{2})[A-Za-z]+\b")
MIN_TORN_WORDS = 2
WORD = re.compile(r"[^\W\d_]+")
# Bytes that are letters in the encodings of alphabets, and words of Hebrew ones.
MIN_HEBREW_LETTERS = 20
HIGH_LETTER, HIGH_WORD = re.compile(rb"[\xc0-\xff]"), re.compile(rb"[\xc0-\xff]+")
HEBREW_WORD = re.compile(rb"[\xe0-\xe9\xeb\xec\xee\xf0-\xf2\xf4\xf6-\xfa]*[\xe0-\xfa]")
# Accented capitals in cp1252 look like these Japanese letters.
HALF_WIDTH = re.compile("[\uff61-\uff9f]")
# A sign such as ³ between letters, or £ before an accented one: it is a letter in another encoding.
# A sign at one end of a word is ordinary: m³, £m, a footnote, ¿qué?
TORN_WORD = re.compile(r"[^\W\d_][£¥¦³¹¼¾][^\W\d_]|[£¥](?![a-zA-Z])[^\W\d_]")
# Vowels of Thai on no letter, and digits inside of words: another text that is read as Thai.
TORN_THAI = re.compile(
    r"(?<![ก-ฮ\u0e31-\u0e4e])[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]|[ก-ฮ][\u0e50-\u0e59]+[ก-ฮ]"
    r"|[เ-ไ][\u0e30-\u0e4e]"
)
MAC, DOS = "mac_roman", "cp850"
# The letters beyond ASCII of languages: those of cp1252, and of others by their encoding.
WESTERN = (
    "äöüß", "àâæçéèêëîïôœùûüÿ", "áéíñóúü", "àáâãçéêíóôõúü", "àèéìíîòóùú", "åäöéà", "æøåéèêóòô",
    "áðéíóúýþæö", "áäâéëèïíîöóüúûç", "àçéèíïóòúü", "áàâäéèêëíìîïóòôöúùûüŵŷ",
)  # fmt: skip
OTHER_ALPHABETS: Mapping[str, tuple[str, ...]] = {
    "cp1250": (
        "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "ąćęłńóśźż", "áéíóöőúüű", "ăâîşţ", "čćđšž",
    ),
    "cp1254": ("çğıöşüâîûİ",),
    "cp1257": ("ąčęėįšųūž", "āčēģīķļņšūž", "äöüõšž"),
    # Old programs of the Mac and of DOS write them; other bytes are letters there.
    MAC: WESTERN,
    DOS: WESTERN,
    "iso8859_2": ("áčďéěíňóřšťúůýž", "ąćęłńóśźż", "áéíóöőúüű"),
}  # fmt: skip
# The minimum share of a text's letters beyond ASCII that its language has.
LANGUAGE_SHARE = 0.99
# Letters that cp1252 would read otherwise: the minimum number, and number of different ones.
MIN_LETTERS, MIN_DIFFERENT = 5, 2
# A character beyond ASCII that is a letter, or that is between letters.
BEYOND = re.compile(r"[^\W\d_]|(?<=[^\W\d_])[^\w\s](?=[^\W\d_])")
# In text that is read as cp1252: signs inside of words, and letters that bytes of a Mac become.
IMPLAUSIBLE = re.compile(r"\ufffd|(?<=[^\W\d_])[^\w\s\u2019'-](?=[^\W\d_])|(?<=[a-z])[ŠŽŸƒ]")
MIN_IMPLAUSIBLE = 2
# Currencies whose letters are others in cp1252, after a number.
CURRENCIES = {"cp1250": re.compile(r"\d[\d.,\s]*(?:zł|Kč)(?!\w)")}
# The points of signals: UTF-8 with a few other bytes, words of another script, a currency, a
# language of cp1252 or of another encoding, and a few torn words.
BROKEN_POINTS, SCRIPT_POINTS, CURRENCY_POINTS, WESTERN_POINTS = 20, 15, 10, 8
LANGUAGE_POINTS, TORN_POINTS, UNDEFINED_POINTS = 4, 2, -9


def sniff_encoding(sample: bytes) -> str:
    """Guess the encoding from a file's first bytes: UTF-8 unless they are not valid UTF-8."""
    for mark, encoding in MARKS:
        if sample.startswith(mark):
            return encoding
    if sample[1::2].count(0) > len(sample) // 6:
        return "utf-16-le"
    if sample[0::2].count(0) > len(sample) // 6:
        return "utf-16-be"
    try:
        # The last character may be incomplete.
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def is_broken_utf8(path: Path) -> bool:
    """Return whether a file that is not valid UTF-8 is UTF-8 but for some bytes.

    It has as many characters beyond ASCII as bytes that belong to none; in another encoding, few
    bytes are by chance a character.
    """
    decode = codecs.getincrementaldecoder("utf-8")("ignore").decode
    characters = broken = 0
    with path.open("rb") as file:
        while piece := file.read(CHUNK_BYTES):
            if not piece.isascii():
                beyond = [character for character in decode(piece) if not character.isascii()]
                characters += len(beyond)
                broken += sum(byte > 127 for byte in piece) - len("".join(beyond).encode())
    return characters >= max(1, broken)


def rewrite(path: Path, folder: Path, encoding: str, given: Path | None = None) -> Path:
    """Write a copy in UTF-8 with the line end "\\n", without blank lines at the beginning.

    `given` is the caller's file if `path` is a copy of it.
    """
    target = fresh(folder, path.name)
    try:
        with (
            path.open(encoding=encoding, newline=None) as source,
            target.open("w", encoding="utf-8", newline="\n") as sink,
        ):
            sink.write(source.read(CHUNK_BYTES).lstrip("\n\ufeff"))
            while piece := source.read(CHUNK_BYTES):
                sink.write(piece)
    except UnicodeError as error:
        name, line = given or path, _find_undecodable_line(given or path, encoding)
        reason = getattr(error, "reason", error)
        what = f"line {line:,} cannot be decoded ({reason})" if line else str(error)
        raise BadInput(
            f"{name} is not {encoding.removesuffix('-sig')}: {what}; "
            "pass its encoding, for example encoding='latin-1'"
        ) from error
    except LookupError as error:
        raise BadInput(
            f"`{encoding}` is not an encoding; use one such as 'utf-8', 'latin-1', 'cp1252'"
        ) from error
    return target


def _find_undecodable_line(path: Path, encoding: str) -> int:
    """Return the number of the first line that an encoding does not have; 0 if it is unknown."""
    if encoding.startswith(("utf-16", "utf-32")):
        return 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError:
                return number
    return 0


def read_part(path: Path, size: int, first: int = 0) -> bytes:
    """Return at most `size` bytes of a file, from the byte `first` on."""
    with path.open("rb") as file:
        file.seek(first)
        return file.read(size)


def fresh(folder: Path, name: str) -> Path:
    """Return the path of a file in the folder that does not exist yet."""
    return next(
        path for number in range(1_000_000) if not (path := folder / f"{number}-{name}").exists()
    )


def find_encoding(path: Path) -> Decision:
    """Decide on the encoding of a file that is not UTF-8, from its lines beyond ASCII.

    Mostly it is cp1252. Another encoding needs several characters, in words of one script: in text
    of a Latin alphabet, letters beyond ASCII stand next to ASCII letters, and nearly all are of one
    language.
    """
    text = _read_beyond_ascii(path)
    candidates: dict[str, list[Signal]] = {"cp1252": [*_rate_western(text)]}
    for encoding, signal in _rate_others(text):
        candidates.setdefault(encoding, []).append(signal)
    if is_broken_utf8(path):
        what = "most characters beyond ASCII are of UTF-8"
        candidates["utf-8"] = [Signal(what, BROKEN_POINTS)]
    return decide(
        "encoding", [Hypothesis(name, name, (*signals,)) for name, signals in candidates.items()]
    )


def _rate_western(text: bytes) -> Iterator[Signal]:
    """Yield the signals of cp1252."""
    yield Signal("is the usual encoding of Windows", 1)
    characters = _characters(text, "cp1252")
    if any(_is_of(characters, alphabet) for alphabet in WESTERN):
        yield Signal("its letters beyond ASCII are those of one language", WESTERN_POINTS)
    if "\ufffd" in text.decode("cp1252", "replace"):
        yield Signal("some bytes are no character of it", UNDEFINED_POINTS)


def _rate_others(text: bytes) -> Iterator[tuple[str, Signal]]:
    """Yield the signals for other encodings."""
    if encoding := _find_other_script(text):
        yield encoding, Signal("its words are of another script", SCRIPT_POINTS)
    yield from _rate_languages(text)
    western, central = (text.decode(name, "replace") for name in ("cp1252", "cp1250"))
    torn = len(TORN_WORD.findall(western))
    if torn >= MIN_TORN_WORDS and not TORN_WORD.search(central):
        yield "cp1250", Signal(f"{torn:,} signs of cp1252 inside of words are letters", TORN_POINTS)
    for encoding, pattern in CURRENCIES.items():
        decoded = text.decode(encoding, "replace")
        if (match := pattern.search(decoded)) and not TORN_WORD.search(decoded):
            yield encoding, Signal(f"`{match[0]}` has the sign of a currency", CURRENCY_POINTS)


def _rate_languages(text: bytes) -> Iterator[tuple[str, Signal]]:
    """Yield the signals for encodings in which the letters are those of a language."""
    implausible = len(IMPLAUSIBLE.findall(text.decode("cp1252", "replace"))) >= MIN_IMPLAUSIBLE
    for encoding, alphabets in OTHER_ALPHABETS.items():
        if encoding in (MAC, DOS) and not implausible:
            continue
        characters = _characters(text, encoding) if _differs(text, encoding) else Counter()
        if any(_is_of(characters, alphabet) for alphabet in alphabets):
            letters = sum(characters.values())
            what = f"{letters:,} letters beyond ASCII are those of one language"
            yield encoding, Signal(what, LANGUAGE_POINTS + letters / 1e6)


def _find_other_script(text: bytes) -> str:
    """Return the encoding of a script other than the Latin one; empty without evidence of one."""
    from charset_normalizer import from_bytes

    matches = from_bytes(text, cp_isolation=[*OTHER_ENCODINGS], enable_fallback=False)
    likely = (match for match in matches
              if match.encoding != "cp874" or not TORN_THAI.search(str(match)))  # fmt: skip
    best = next(likely, None)
    if best is None or best.encoding not in OTHER_SCRIPTS or not _is_other_script(str(best)):
        return ""
    return "cp1255" if _is_hebrew(text) else best.encoding


def _is_hebrew(text: bytes) -> bool:
    """Return whether letters are those of Hebrew, the final ones at the end of words only.

    In a Cyrillic encoding, short texts of these letters can look like words as well.
    """
    letters = HIGH_LETTER.findall(text)
    return len(letters) >= MIN_HEBREW_LETTERS and all(
        HEBREW_WORD.fullmatch(word) for word in HIGH_WORD.findall(text)
    )


def _is_other_script(text: str) -> bool:
    words = [word for word in WORD.findall(LATIN_END.sub("", text)) if not word.isascii()]
    mixed = sum(any(letter.isascii() and letter.isalpha() for letter in word) for word in words)
    long = (word for word in words if len(word) > 1 or word >= FIRST_IDEOGRAPH)
    letters = {letter for word in long for letter in HALF_WIDTH.sub("", word).casefold()}
    other = sum(not letter.isascii() for letter in letters)
    return other >= MIN_OTHER_LETTERS and mixed <= MAX_MIXED_SHARE * len(words)


def _characters(text: bytes, encoding: str) -> Counter[str]:
    """Count the characters beyond ASCII that are letters, or that are between letters."""
    characters = BEYOND.findall(text.decode(encoding, "replace"))
    return Counter(character for character in characters if not character.isascii())


def _is_of(characters: Counter[str], alphabet: str) -> bool:
    letters = {*alphabet, *alphabet.upper()}
    good = sum(number for character, number in characters.items() if character in letters)
    return good > 0 and good >= LANGUAGE_SHARE * sum(characters.values())


def _differs(text: bytes, encoding: str) -> bool:
    """Return whether enough letters of a text are different ones in cp1252."""
    # One byte is one character in all of these encodings.
    pairs = zip(text.decode(encoding, "replace"), text.decode("cp1252", "replace"), strict=True)
    different = [letter for letter, other in pairs if letter != other and letter.isalpha()]
    return len(different) >= MIN_LETTERS and len({*different}) >= MIN_DIFFERENT


def _read_beyond_ascii(path: Path) -> bytes:
    """Return the first lines of a file that contain other bytes than ASCII."""
    lines: list[bytes] = []
    size = 0
    with path.open("rb") as file:
        for line in file:
            if not line.isascii():
                lines.append(line)
                size += len(line)
            if size > MAX_DECISION_BYTES:
                break
    return b"".join(lines)
