"""Save, replace, delete and export custom dictionary entries; enable and disable standard ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from pandas import DataFrame

from svc_notebook.core.api.shapes import (
    DictionaryEntry,
    DictionaryName,
    DictionaryRequest,
    StandardEntries,
)
from svc_notebook.core.api.values import OneOrMany, list_texts
from svc_notebook.data import frames
from svc_notebook.data.client import (
    HITS_PER_PAGE,
    AsyncClient,
    each_page,
    own_members,
    write_and_wait,
)
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.frames import Backend
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, KeyRefused, did_you_mean
from svc_notebook.faces.functions import curation
from svc_notebook.faces.functions.curation import WriteSummary, read_ids
from svc_notebook.faces.functions.documents import Documents, take_documents, write_file

_NAMES: tuple[DictionaryName, ...] = get_args(DictionaryName)


@curation.ENTRIES.saves(
    "dictionaries save stopwords words.csv",
    imports="dictionaries import plurals plurals.csv",
    endpoints=("batch_dictionary",),
)
async def save_entries(
    dictionary: DictionaryName, entries: Documents, *, client: AnyClient | None = None
) -> WriteSummary:
    """Add custom entries to a dictionary, or replace those with the same objectID.

    Examples
    --------
    >>> svc.save_entries("stopwords", {"objectID": "please", "language": "en", "word": "please"})
    {'dictionary': 'stopwords', 'saved': 1, 'before': 0, 'after': 1}
    """
    requests = _additions(dictionary, entries)
    batches = [
        requests[start : start + HITS_PER_PAGE] for start in range(0, len(requests), HITS_PER_PAGE)
    ]
    return await _write(asynchronous(client), dictionary, batches, saved=len(requests))


@curation.ENTRIES.replaces(
    "dictionaries replace stopwords words.csv --yes", endpoints=("batch_dictionary",)
)
async def replace_entries(
    dictionary: DictionaryName, entries: Documents, *, client: AnyClient | None = None
) -> WriteSummary:
    """Replace all custom entries of a dictionary at once.

    Examples
    --------
    >>> entries = pd.DataFrame({"objectID": ["a", "b"], "language": "en", "word": ["buy", "shop"]})
    >>> svc.replace_entries("stopwords", entries)["after"]
    2
    """
    requests = _additions(dictionary, entries)
    if not requests:
        raise BadInput(f"no entries to save; svc.clear_entries({dictionary!r}) deletes all")
    saved = len(requests)
    return await _write(asynchronous(client), dictionary, [requests], clears=True, saved=saved)


@curation.ENTRIES.deletes("dictionaries delete stopwords down-en", endpoints=("batch_dictionary",))
async def delete_entries(
    dictionary: DictionaryName, ids: Iterable[Any], *, client: AnyClient | None = None
) -> WriteSummary:
    """Delete custom entries of a dictionary.

    Nothing is deleted if one of them does not exist; a key that may not read entries deletes
    without that check.

    Examples
    --------
    >>> svc.save_entries("stopwords", {"objectID": "please", "language": "en", "word": "please"})
    >>> svc.delete_entries("stopwords", "please")["after"]
    0
    """
    _check(dictionary)
    aio = asynchronous(client)
    names, before = await read_ids(
        ids, lambda: _custom_entries(aio, dictionary), f"{dictionary} have no custom entry"
    )
    requests: list[DictionaryRequest] = [
        {"action": "deleteEntry", "body": {"objectID": item}} for item in names
    ]
    return await _write(aio, dictionary, [requests] if requests else [], before=before)


@curation.ENTRIES.clears("dictionaries clear compounds --yes", endpoints=("batch_dictionary",))
async def clear_entries(
    dictionary: DictionaryName, *, client: AnyClient | None = None
) -> WriteSummary:
    """Delete all custom entries of a dictionary.

    Raises
    ------
    BadInput
        If the dictionary does not exist.
    TaskFailed

    Examples
    --------
    >>> svc.clear_entries("stopwords")["after"]
    0
    """
    return await _write(asynchronous(client), dictionary, [[]], clears=True)


@curation.ENTRIES.exports(
    "dictionaries export stopwords words.csv", endpoints=("search_dictionary",)
)
async def export_entries(
    dictionary: DictionaryName, path: str | Path, *, client: AnyClient | None = None
) -> WriteSummary:
    """Write the custom entries of a dictionary to a file.

    Examples
    --------
    >>> svc.export_entries("stopwords", "stopwords.csv")["path"]
    'stopwords.csv'
    """
    entries = await _custom_entries(asynchronous(client), dictionary)
    write_file(Path(path), entries, DictionaryEntry)
    return {"dictionary": dictionary, "path": str(path), "written": len(entries)}


@public(
    verb(
        "dictionaries settings",
        "dictionaries settings",
        "dictionaries settings stopwords --off fr,de --on en",
        "dictionaries settings stopwords --reset",
        completes={"off": "language", "on": "language"},
    ),
    endpoints=("set_dictionary_settings", "get_dictionary_settings"),
)
async def dictionary_settings(
    dictionary: DictionaryName | None = None,
    *,
    off: OneOrMany = (),
    on: OneOrMany = (),
    reset: bool = False,
    client: AnyClient | None = None,
) -> DataFrame:
    """Read or change which standard entries are disabled, by dictionary and language.

    Parameters
    ----------
    dictionary : {'stopwords', 'plurals', 'compounds'}, default None
        Name of the dictionary; None reads the settings of all.
    off : str or list of str, default none
        Codes of the languages whose standard entries to disable.
    on : str or list of str, default none
        Codes of the languages whose standard entries to enable.
    reset : bool, default False
        Enable the standard entries of every language.

    Returns
    -------
    DataFrame
        One row per language that was changed: `dictionary` and `language` (str) and `off`
        (bool). If the key may not read the settings, the rows are those sent, and
        `attrs["svc"]["unread"]` is the reason.

    Raises
    ------
    BadInput
        If a change does not name the dictionary, or contradicts itself.
    TaskFailed

    Examples
    --------
    >>> svc.dictionary_settings("stopwords", off="en")
      dictionary language   off
    0  stopwords       en  True
    >>> svc.dictionary_settings("stopwords", reset=True)
    """
    aio, changes, facts = asynchronous(client), StandardEntries(), dict[str, str]()
    if off or on or reset:
        changes = _standard_entries(dictionary, list_texts(off, "off"), list_texts(on, "on"), reset)
        facts = (await write_and_wait(aio, aio.set_dictionary_settings(changes))).facts()
    try:
        states: Any = (await aio.get_dictionary_settings())["disableStandardEntries"]
    except KeyRefused:
        if not changes:
            raise
        states = changes
        facts["unread"] = "this key may not read the settings; the rows contain the values sent"
    frame = _tabulate({name: states[name] for name in states if dictionary in (None, name)})
    if facts:
        frame.attrs["svc"] = facts
    return frame


def _tabulate(states: Mapping[str, Mapping[str, bool] | None]) -> DataFrame:
    rows = [
        (name, language, switched)
        for name, languages in states.items()
        if isinstance(languages, Mapping)
        for language, switched in sorted(languages.items())
    ]
    frame = DataFrame(rows, columns=["dictionary", "language", "off"])
    return frame.astype({"dictionary": "str", "language": "str", "off": "bool"})


def _standard_entries(
    dictionary: DictionaryName | None, off: Sequence[str], on: Sequence[str], reset: bool
) -> StandardEntries:
    if dictionary is None:
        raise BadInput(f"`dictionary` is missing; pass one of {', '.join(_NAMES)}")
    if reset and (off or on):
        raise BadInput("`reset` applies to every language; omit `off` and `on`")
    if both := sorted({*off} & {*on}):
        raise BadInput(f"{both[0]} is in both `off` and `on`")
    _check(dictionary)
    changes = {**dict.fromkeys(off, True), **dict.fromkeys(on, False)}
    entries: Any = {dictionary: None if reset else changes}
    return entries  # type: ignore[no-any-return]


def _check(dictionary: str) -> None:
    if dictionary not in _NAMES:
        raise BadInput(
            f"`dictionary` must be one of {', '.join(_NAMES)}, not {dictionary!r}"
            f"{did_you_mean(str(dictionary), _NAMES)}"
        )


def _additions(dictionary: str, entries: Documents) -> list[DictionaryRequest]:
    _check(dictionary)
    documents: list[Any] = take_documents(entries, DictionaryEntry, "entries")
    for entry in documents:
        entry.pop("type", None)  # the service sets it, and it is always `custom`
    return [{"action": "addEntry", "body": entry} for entry in documents]


async def _custom_entries(client: AsyncClient, dictionary: DictionaryName) -> list[dict[str, Any]]:
    """Find the custom entries; only languages that have some are searched, up to the last one."""
    entries: list[dict[str, Any]] = []
    for language, held in (await _custom_counts(client, dictionary)).items():
        entries += await _custom_entries_of(client, dictionary, language, held)
    return sorted(entries, key=lambda entry: str(entry["objectID"]))


async def _custom_entries_of(
    client: AsyncClient, dictionary: DictionaryName, language: str, held: int
) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    pages = each_page(
        lambda page: client.search_dictionary(dictionary, "", page, HITS_PER_PAGE, language), "hits"
    )
    async for hits in pages:
        custom = [own_members(hit) for hit in hits if hit.get("type", "custom") == "custom"]
        entries += [{name: entry[name] for name in entry if name != "type"} for entry in custom]
        if len(entries) >= held:
            break
    return entries


async def _count_custom(client: AsyncClient, dictionary: DictionaryName) -> int | None:
    """Count the custom entries; None if the key may not read them."""
    _check(dictionary)
    try:
        return sum((await _custom_counts(client, dictionary)).values())
    except KeyRefused:
        return None


async def _custom_counts(client: AsyncClient, dictionary: DictionaryName) -> dict[str, int]:
    """Return the number of custom entries by language, without languages that have none."""
    _check(dictionary)
    counts = {
        language: (of.get(dictionary) or {}).get("nbCustomEntries", 0)
        for language, of in (await client.list_languages()).items()
    }
    return {language: held for language, held in counts.items() if held}


async def _write(
    client: AsyncClient,
    dictionary: DictionaryName,
    batches: Sequence[list[DictionaryRequest]],
    *,
    clears: bool = False,
    before: int | None = None,
    **more: Any,
) -> WriteSummary:
    """Send batches of requests, after deleting all entries if `clears`; summarize the effect."""
    if before is None:
        before = await _count_custom(client, dictionary)
    answers = [await client.batch_dictionary(dictionary, batch, clears) for batch in batches]
    outcome = await write_and_wait(client, answers)
    counts = {"before": before, "after": await _count_custom(client, dictionary)}
    return {"dictionary": dictionary, **more, **counts, **outcome.facts()}


@public(
    verb("dictionaries", "dictionaries stopwords --language en", "dictionaries plurals horse"),
    endpoints=("search_dictionary",),
    replaces={"get_dictionary_entries": "read_dictionary"},
)
async def read_dictionary(
    dictionary: DictionaryName,
    query: str = "",
    *,
    language: str | None = None,
    client: AnyClient | None = None,
    dtype_backend: Backend | None = None,
) -> DataFrame:
    """Read the entries of a dictionary, standard entries included.

    Parameters
    ----------
    query : str, default ""
        Words or word prefixes that an entry contains; "" matches every entry.
    language : str, default None
        Language code, such as `en`; None reads every language.

    Returns
    -------
    DataFrame
        One row per entry: `objectID` and `language` (str), `word` (str, of stop words and
        compounds), `words` (object, the list of a plural or None), `decomposition` (object, the
        list of a compound or None), `state` (str, enabled or disabled) and `type` (str, custom
        or standard).

    Raises
    ------
    BadInput
        If the dictionary does not exist.

    Examples
    --------
    >>> svc.read_dictionary("stopwords", "the", language="en")[["word", "type"]]
    """
    return await frames.read_dictionary(
        asynchronous(client), dictionary, query, language=language, dtype_backend=dtype_backend
    )


@public(verb("languages", "languages", lists=True), endpoints=("list_languages",))
async def read_languages(
    *, client: AnyClient | None = None, dtype_backend: Backend | None = None
) -> DataFrame:
    """Read the number of custom entries that each language has in each dictionary.

    Returns
    -------
    DataFrame
        One row per language: `language` (str) and `stopwords`, `plurals` and `compounds`
        (Int64, missing if the language has no such dictionary).

    Examples
    --------
    >>> svc.read_languages().set_index("language").loc["de"]
    """
    return await frames.read_languages(asynchronous(client), dtype_backend=dtype_backend)
