"""Files as UTF-8: decompress them, and rewrite other encodings and mixed line ends."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from svc_notebook.errors import BadInput
from svc_notebook.loading.database import Database
from svc_notebook.loading.sources.read_limits import CHUNK_BYTES, copy_unpacked

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
# Bytes of lines beyond ASCII that a guess is based on.
GUESSED_BYTES = 100_000
# The minimum number of different letters of another script, and the maximum share of its words that
# have ASCII letters as well. Words of one letter of an alphabet can be signs of another encoding.
MIN_OTHER_LETTERS, MAX_MIXED_SHARE = 6, 0.2
FIRST_IDEOGRAPH = "\u2e80"
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
MAC = "mac_roman"
# The letters beyond ASCII of languages, by the encoding of Windows that contains them.
WESTERN = {
    "cp1252": (
        "äöüß", "àâæçéèêëîïôœùûüÿ", "áéíñóúü", "àáâãçéêíóôõúü", "àèéìíîòóùú", "åäöéà", "æøåéèêóòô",
        "áðéíóúýþæö", "áäâéëèïíîöóüúûç", "àçéèíïóòúü", "áàâäéèêëíìîïóòôöúùûüŵŷ",
    ),
}  # fmt: skip
OTHER_ALPHABETS: Mapping[str, tuple[str, ...]] = {
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
LANGUAGE_SHARE = 0.99
# Letters that cp1252 would read otherwise: the minimum number, and number of different ones.
MIN_LETTERS, MIN_DIFFERENT = 5, 2
# A character beyond ASCII that is a letter, or that is between letters.
BEYOND = re.compile(r"[^\W\d_]|(?<=[^\W\d_])[^\w\s](?=[^\W\d_])")
# In text that is read as cp1252: signs inside of words, and letters that bytes of a Mac become.
IMPLAUSIBLE = re.compile(r"\ufffd|(?<=[^\W\d_])[^\w\s\u2019'-](?=[^\W\d_])|(?<=[a-z])[ŠŽŸƒ]")
MIN_IMPLAUSIBLE = 2


def _open_zstd(path: Path) -> Any:
    import pyarrow as pa

    return pa.input_stream(str(path), compression="zstd")


COMPRESSIONS: tuple[tuple[bytes, Callable[[Path], Any]], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
    (b"\x28\xb5\x2f\xfd", _open_zstd),
)


def decompress(path: Path, db: Database, given: Path | None = None) -> Path:
    """Return an uncompressed file: the given one, or a temporary copy.

    `given` is the caller's file if `path` is inside of it; its size limits that of the copy.
    """
    with path.open("rb") as file:
        start = file.read(6)
    for magic, opener in COMPRESSIONS:
        if start.startswith(magic):
            return _decompressed(path, opener, db.folder, given or path)
    return path


def _decompressed(path: Path, opener: Callable[[Path], Any], folder: Path, given: Path) -> Path:
    target = fresh(folder, path.with_suffix("").name)
    try:
        with opener(path) as source, target.open("wb") as sink:
            copy_unpacked(source, sink, given, given.stat().st_size)
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise BadInput(
            f"{given} cannot be decompressed: {error}; check that it is complete"
        ) from error
    return target


def sniff_encoding(sample: bytes) -> str:
    """Guess the encoding from a file's first bytes: UTF-8 unless they are not valid UTF-8."""
    for mark, encoding in MARKS:
        if sample.startswith(mark):
            return encoding
    if sample[1::2].count(0) > len(sample) // 6:
        return "utf-16-le"
    if sample[0::2].count(0) > len(sample) // 6:
        return "utf-16-be"
    return "utf-8" if is_utf8(sample) else "cp1252"


def guess_encoding(path: Path) -> str:
    """Guess the encoding of a file that is not UTF-8, from its lines beyond ASCII: mostly cp1252.

    Another encoding needs several characters, in words of one script: in text of a Latin alphabet,
    letters beyond ASCII stand next to ASCII letters, and nearly all are of one language.
    """
    from charset_normalizer import from_bytes

    text = _read_beyond_ascii(path)
    found = from_bytes(text, cp_isolation=[*OTHER_ENCODINGS], enable_fallback=False).best()
    if found and found.encoding in OTHER_SCRIPTS and _is_other_script(str(found)):
        return "cp1255" if _is_hebrew(text) else found.encoding
    if encoding := _find_latin_encoding(text):
        return encoding
    western, central = (text.decode(name, "replace") for name in ("cp1252", "cp1250"))
    torn = len(TORN_WORD.findall(western))
    return "cp1250" if torn >= MIN_TORN_WORDS and not TORN_WORD.search(central) else "cp1252"


def _is_hebrew(text: bytes) -> bool:
    """Return whether letters are those of Hebrew, the final ones at the end of words only.

    In a Cyrillic encoding, short texts of these letters can look like words as well.
    """
    letters = HIGH_LETTER.findall(text)
    return len(letters) >= MIN_HEBREW_LETTERS and all(
        HEBREW_WORD.fullmatch(word) for word in HIGH_WORD.findall(text)
    )


def _is_other_script(text: str) -> bool:
    words = [word for word in WORD.findall(text) if not word.isascii()]
    mixed = sum(any(letter.isascii() and letter.isalpha() for letter in word) for word in words)
    long = (word for word in words if len(word) > 1 or word >= FIRST_IDEOGRAPH)
    letters = {letter for word in long for letter in HALF_WIDTH.sub("", word).casefold()}
    other = sum(not letter.isascii() for letter in letters)
    return other >= MIN_OTHER_LETTERS and mixed <= MAX_MIXED_SHARE * len(words)


def _find_latin_encoding(text: bytes) -> str | None:
    """Return the encoding, other than cp1252, in which a text is of one language; None in doubt.

    A text that is of one language in cp1252 is in doubt.
    """
    western = _characters(text, "cp1252")
    if any(_is_of(western, alphabet) for alphabet in WESTERN["cp1252"]):
        return None
    fitting = [
        (sum(characters.values()), encoding)
        for encoding, alphabets in OTHER_ALPHABETS.items()
        if (encoding != MAC or _is_implausible(text))
        if _differs(text, encoding) and (characters := _characters(text, encoding))
        if any(_is_of(characters, alphabet) for alphabet in alphabets)
    ]
    return max(fitting, key=lambda fit: fit[0])[1] if fitting else None


def _is_implausible(text: bytes) -> bool:
    return len(IMPLAUSIBLE.findall(text.decode("cp1252", "replace"))) >= MIN_IMPLAUSIBLE


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
    different = Counter(_different(text, encoding))
    return sum(different.values()) >= MIN_LETTERS and len(different) >= MIN_DIFFERENT


def _different(text: bytes, encoding: str) -> Iterator[str]:
    # One byte is one character in all of these encodings.
    pairs = zip(text.decode(encoding, "replace"), text.decode("cp1252", "replace"), strict=True)
    return (letter for letter, other in pairs if letter != other and letter.isalpha())


def _read_beyond_ascii(path: Path) -> bytes:
    """Return the first lines of a file that contain other bytes than ASCII."""
    found: list[bytes] = []
    size = 0
    with path.open("rb") as file:
        for line in file:
            if not line.isascii():
                found.append(line)
                size += len(line)
            if size > GUESSED_BYTES:
                break
    return b"".join(found)


def is_utf8(sample: bytes) -> bool:
    """Return whether bytes are UTF-8; the last character may be incomplete."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def is_broken_utf8(path: Path) -> bool:
    """Return whether a file that is not valid UTF-8 is UTF-8 but for some bytes.

    It has as many characters beyond ASCII as bytes that belong to none; in another encoding, few
    bytes are by chance a character.
    """
    decode = codecs.getincrementaldecoder("utf-8")("ignore").decode
    characters = broken = 0
    for piece in _pieces(path):
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


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(CHUNK_BYTES):
            yield piece


def fresh(folder: Path, name: str) -> Path:
    """Return the path of a file in the folder that does not exist yet."""
    return next(
        path for number in range(1_000_000) if not (path := folder / f"{number}-{name}").exists()
    )
