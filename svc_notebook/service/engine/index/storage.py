"""Files of segments and vectors: written once, memory-mapped and listed in one manifest.

A file is a header with the offsets of its arrays, followed by the arrays, each aligned. The
manifest lists the segments, their live records and the stamp. It is replaced atomically, so that a
reader finds either the old state or the new one.
"""

from __future__ import annotations

import io
import mmap
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import IO
from weakref import WeakSet
from zlib import crc32

import msgspec
import numpy as np

from svc_notebook.core.files import write_atomically
from svc_notebook.core.tokenization.tokenizer import TokenizerSettings
from svc_notebook.service.engine.arrays import Array, Arrays, add_prefix
from svc_notebook.service.engine.index.attribute_lengths import no_word_counts
from svc_notebook.service.engine.index.columns import Labels, Numbers
from svc_notebook.service.engine.index.postings import Postings
from svc_notebook.service.engine.index.schema import Schema
from svc_notebook.service.engine.index.segment import Segment, SegmentReader
from svc_notebook.service.engine.semantic.latent_model import LatentModel
from svc_notebook.service.engine.semantic.vector_index import VectorIndex
from svc_notebook.service.engine.semantic.vector_table import VectorTable
from svc_notebook.service.engine.term_dictionary import TermDictionary

FILE_FORMAT = 7
MANIFEST = "manifest.json"
SUFFIX = ".segment"
VECTORS_SUFFIX = ".vectors"
ALIGNMENT_BYTES = 64
# The mapped files of the process.
_mappings: WeakSet[mmap.mmap] = WeakSet()
_mappings_lock = threading.Lock()
READ_ERRORS = (OSError, ValueError, KeyError, TypeError, IndexError, msgspec.MsgspecError)


class ArrayPosition(msgspec.Struct):
    """The position of an array in a file, counted from the end of the header."""

    kind: str
    shape: list[int]
    start: int


class FileHeader(msgspec.Struct):
    """The header of a file of arrays; `slots` and `paths` are those of a segment.

    The checksum is that of all arrays, 0 for none.
    """

    slots: list[str]
    paths: dict[str, list[str]]
    arrays: dict[str, ArrayPosition]
    size: int
    checksum: int = 0


class StoredSegment(msgspec.Struct):
    """One segment of a manifest."""

    name: str
    records: int
    alive: bytes
    vectors: str = ""
    latent: str = ""


class StoredVectors(msgspec.Struct):
    """The vectors of a manifest: their generation, and what they were computed by."""

    name: str
    source: str
    has_model: bool
    fitted: int
    added: int


class StoredSchema(msgspec.Struct):
    """A schema as stored in a manifest."""

    searched: list[str]
    facets: list[str]
    sorts: list[str]
    distinct: str
    separators: str
    diacritics: str
    camel: list[str]
    replacing: list[tuple[str, str]]
    languages: list[tuple[str, str]]


class Manifest(msgspec.Struct):
    """The contents of an index folder."""

    format: int
    stamp: int
    form: StoredSchema
    segments: list[StoredSegment]
    vectors: StoredVectors | None = None
    latent: StoredVectors | None = None


def save_readers(
    folder: Path,
    stamp: int,
    shape: Schema,
    readers: Sequence[SegmentReader],
    vectors: VectorIndex | None = None,
) -> None:
    """Write new files, then the manifest, then delete files that it does not list."""
    folder.mkdir(parents=True, exist_ok=True)
    names = _write_segments(folder, readers)
    latent = vectors and vectors.latent
    tables, latent_tables = (save_vectors(folder, readers, part) for part in (vectors, latent))
    kept = [
        StoredSegment(
            reader.segment.name,
            len(reader.segment),
            np.packbits(reader.alive).tobytes(),
            tables.get(reader.segment.name, ""),
            latent_tables.get(reader.segment.name, ""),
        )
        for reader in readers
    ]
    stored = [_to_stored_vectors(part) if part else None for part in (vectors, latent)]
    manifest = Manifest(FILE_FORMAT, stamp, _to_stored_schema(shape), kept, *stored)
    _write_file(folder / MANIFEST, [msgspec.json.encode(manifest)])
    generations = [part.name for part in (vectors, latent) if part]
    files = (*tables.values(), *latent_tables.values(), *generations)
    names |= {f"{name}{VECTORS_SUFFIX}" for name in files}
    _delete_other_files(folder, names)


def _write_segments(folder: Path, readers: Sequence[SegmentReader]) -> set[str]:
    """Write the files of new segments; return the names of the files of all."""
    paths = {folder / f"{reader.segment.name}{SUFFIX}": reader.segment for reader in readers}
    for path, segment in paths.items():
        if not path.exists():
            _write_file(path, _encode_segment(segment))
    return {path.name for path in paths}


def load_readers(folder: Path) -> tuple[Schema, int, tuple[SegmentReader, ...]] | None:
    """Load a folder; None if it is empty or unreadable."""
    try:
        manifest = _read_manifest(folder)
        if manifest.format != FILE_FORMAT:
            return None
        readers = tuple(_load_reader(folder, kept) for kept in manifest.segments)
    except READ_ERRORS:
        return None
    return _from_stored_schema(manifest.form), manifest.stamp, readers


def save_vectors(
    folder: Path, readers: Sequence[SegmentReader], vectors: VectorIndex | None
) -> dict[str, str]:
    """Write the files of vectors that are new; return their names by segment."""
    if vectors is None:
        return {}
    files: dict[str, Arrays] = {}
    if vectors.model:
        files[vectors.name] = vectors.model.arrays()
    tables = {}
    for reader in readers:
        if (table := vectors.table_of(reader)) is not None:
            tables[reader.segment.name] = table.name
            files[table.name] = table.arrays()
    for name, arrays in files.items():
        path = folder / f"{name}{VECTORS_SUFFIX}"
        if not path.exists():
            _write_file(path, _encode_arrays([], {}, arrays, checked=True))
    return tables


def load_vectors(folder: Path) -> VectorIndex | None:
    """Load the vectors that the manifest of a folder lists; None without them or if unreadable.

    A table that cannot be read is left out: it is computed again.
    """
    try:
        manifest = _read_manifest(folder)
    except READ_ERRORS:
        return None
    if manifest.format != FILE_FORMAT:
        return None
    files = [(kept, kept.vectors) for kept in manifest.segments]
    vectors = _load_generation(folder, manifest.vectors, files)
    if vectors is None:
        return None
    files = [(kept, kept.latent) for kept in manifest.segments]
    return replace(vectors, latent=_load_generation(folder, manifest.latent, files))


def _load_generation(
    folder: Path, stored: StoredVectors | None, files: Sequence[tuple[StoredSegment, str]]
) -> VectorIndex | None:
    if stored is None:
        return None
    model = None
    try:
        if stored.has_model:
            model = LatentModel.from_arrays(_read_vectors(folder, stored.name))
    except READ_ERRORS:
        return None
    tables = {}
    for kept, name in files:
        with suppress(*READ_ERRORS):
            table = VectorTable.from_arrays(_read_vectors(folder, name), name)
            if len(table) == kept.records:
                tables[kept.name] = table
    return VectorIndex(stored.source, model, tables, stored.fitted, stored.added, name=stored.name)


def _read_manifest(folder: Path) -> Manifest:
    return msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)


def _read_vectors(folder: Path, name: str) -> Arrays:
    return _read_arrays(folder / f"{name}{VECTORS_SUFFIX}")[1]


def _load_reader(folder: Path, kept: StoredSegment) -> SegmentReader:
    segment = read_segment(folder, kept.name)
    if len(segment) != kept.records:
        raise ValueError(f"{kept.name} is not the segment of the manifest")
    bits = np.unpackbits(np.frombuffer(kept.alive, np.uint8), count=kept.records)
    return SegmentReader(segment, bits.astype(bool))


def _encode_segment(segment: Segment) -> list[bytes | memoryview]:
    columns: dict[str, Mapping[str, Labels | Numbers]] = {
        "labels": segment.labels,
        "texts": segment.texts,
        "numbers": segment.numbers,
    }
    arrays = {
        **add_prefix("ids", segment.ids.arrays()),
        **add_prefix("postings", segment.postings.arrays()),
        "groups": segment.groups,
        "word_counts": segment.word_counts,
    }
    for group, named in columns.items():
        for number, column in enumerate(named.values()):
            arrays |= add_prefix(f"{group}/{number}", column.arrays())
    paths = {group: list(named) for group, named in columns.items()}
    return _encode_arrays(list(segment.slots), paths, arrays)


def _encode_arrays(
    slots: list[str], paths: dict[str, list[str]], arrays: Arrays, *, checked: bool = False
) -> list[bytes | memoryview]:
    places: dict[str, ArrayPosition] = {}
    pieces: list[bytes | memoryview] = []
    start = 0
    for name, array in arrays.items():
        places[name] = ArrayPosition(array.dtype.str, list(array.shape), start)
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
        pieces += [data, _padding(len(data))]
        start += len(data) + len(pieces[-1])
    checksum = reduce(lambda before, piece: crc32(piece, before), pieces, 0) if checked else 0
    header = msgspec.json.encode(FileHeader(slots, paths, places, start, checksum))
    first = b"%d\n%s" % (len(header), header)
    return [first, _padding(len(first)), *pieces]


def measure_segment(folder: Path, name: str) -> int:
    """Return the size of a segment's file in bytes."""
    return (folder / f"{name}{SUFFIX}").stat().st_size


def read_segment(folder: Path, name: str) -> Segment:
    """Open a segment file; its arrays are memory-mapped."""
    header, arrays = _read_arrays(folder / f"{name}{SUFFIX}")
    return _build_segment(header, arrays, name)


def _read_arrays(path: Path) -> tuple[FileHeader, dict[str, Array]]:
    """Open a file of arrays; raises `ValueError` if it is not complete."""
    with path.open("rb") as file:
        header, start = _read_header(file)
        if path.stat().st_size != start + header.size:
            raise ValueError(f"{path} is cut short")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    with _mappings_lock:
        _mappings.add(mapped)
    whole = np.frombuffer(mapped, np.uint8, header.size, start) if header.size else None
    if header.checksum and whole is not None and crc32(whole.data) != header.checksum:
        raise ValueError(f"{path} is damaged")
    return header, {key: _map_array(whole, position) for key, position in header.arrays.items()}


def release_mapped_pages() -> None:
    """Let the process hold no pages of mapped files; they are mapped again when they are read.

    The system can free such pages itself, but counts them as memory of the process.
    """
    with _mappings_lock:
        mappings = list(_mappings)
    if hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
        for mapped in mappings:
            mapped.madvise(mmap.MADV_DONTNEED)


def encode_segment(segment: Segment) -> bytes:
    """Return the content of a segment's file."""
    return b"".join(_encode_segment(segment))


def decode_segment(content: bytes, name: str) -> Segment:
    """Return the segment of a file's content; its arrays are views of it."""
    header, start = _read_header(io.BytesIO(content))
    whole = np.frombuffer(content, np.uint8, header.size, start) if header.size else None
    arrays = {key: _map_array(whole, position) for key, position in header.arrays.items()}
    return _build_segment(header, arrays, name)


def _read_header(file: IO[bytes]) -> tuple[FileHeader, int]:
    """Return the header and the position of the first array."""
    size = int(file.readline(20))
    end = file.tell() + size
    return msgspec.json.decode(file.read(size), type=FileHeader), end + -end % ALIGNMENT_BYTES


def _build_segment(header: FileHeader, arrays: Arrays, name: str) -> Segment:
    def columns(group: str) -> list[tuple[str, dict[str, Array]]]:
        return [
            (path, _arrays_with_prefix(f"{group}/{number}", arrays))
            for number, path in enumerate(header.paths[group])
        ]

    ids = TermDictionary.from_arrays(_arrays_with_prefix("ids", arrays))
    # Files of earlier versions have none.
    word_counts = arrays.get("word_counts", no_word_counts())
    if word_counts.shape != (len(header.slots), len(ids)):
        word_counts = no_word_counts()
    return Segment(
        ids,
        tuple(header.slots),
        Postings.from_arrays(_arrays_with_prefix("postings", arrays)),
        {path: Labels.from_arrays(parts) for path, parts in columns("labels")},
        {path: Labels.from_arrays(parts) for path, parts in columns("texts")},
        {path: Numbers(**parts) for path, parts in columns("numbers")},
        arrays["groups"],
        word_counts,
        name,
        mapped=True,
    )


def _arrays_with_prefix(name: str, arrays: Arrays) -> dict[str, Array]:
    start = f"{name}/"
    return {key[len(start) :]: array for key, array in arrays.items() if key.startswith(start)}


def _map_array(whole: Array | None, position: ArrayPosition) -> Array:
    kind = np.dtype(position.kind)
    size = int(np.prod(position.shape, dtype=np.int64)) * kind.itemsize
    if whole is None or not size:
        return np.zeros(position.shape, kind)
    return (
        np.asarray(whole[position.start : position.start + size]).view(kind).reshape(position.shape)
    )


def _padding(size: int) -> bytes:
    return bytes(-size % ALIGNMENT_BYTES)


def _write_file(path: Path, pieces: Sequence[bytes | memoryview]) -> None:
    # A draft of a fixed name is deleted with the other files that no index needs.
    write_atomically(path, pieces, draft=path.with_name(f"{path.name}.new"), sync=True)


def _delete_other_files(folder: Path, names: set[str]) -> None:
    for path in (*folder.glob(f"*{SUFFIX}*"), *folder.glob(f"*{VECTORS_SUFFIX}*")):
        if path.name not in names:
            with suppress(PermissionError):  # Windows locks mapped files: the next save retries
                path.unlink(missing_ok=True)


def _to_stored_vectors(vectors: VectorIndex) -> StoredVectors:
    has_model = vectors.model is not None
    return StoredVectors(vectors.name, vectors.source, has_model, vectors.fitted, vectors.added)


def _to_stored_schema(shape: Schema) -> StoredSchema:
    rules = shape.rules
    return StoredSchema(
        list(shape.searched),
        list(shape.facets),
        sorted(shape.sorts),
        shape.distinct,
        rules.separators,
        rules.diacritics,
        sorted(rules.camel),
        list(rules.replacing),
        list(rules.languages),
    )


def _from_stored_schema(form: StoredSchema) -> Schema:
    return Schema(
        tuple(form.searched),
        tuple(form.facets),
        frozenset(form.sorts),
        form.distinct,
        TokenizerSettings(
            form.separators,
            form.diacritics,
            frozenset(form.camel),
            tuple(form.replacing),
            tuple(form.languages),
        ),
    )
