"""Embedders and rerankers: models, or functions of the user, that return vectors or scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from svc_notebook.errors import LocalServiceFailed
from svc_notebook.service.embedding_models import (
    describe_error,
    import_function,
    load_model,
    load_package,
)
from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.index.flatten import Record, number_text, read_leaves
from svc_notebook.service.engine.index.schema import INTERNAL, covers, read_searched

RERANKER_NAMES = "sentence-transformers:NAME, fastembed:NAME or module:function"
MAX_DIMENSIONS = 8192
CACHED_QUERIES = 1024
# The end of an embedder's name with which the latent vectors are fused with its own.
LATENT_SUFFIX = "+latent"
EmbedTexts = Callable[[list[str]], Any]
ScoreTexts = Callable[[str, list[str]], Any]


class Embedder:
    """A function from a list of texts to an array with a row for each; several threads call it.

    Vectors are kept by its name, and by its attribute `version` if it has one: texts are embedded
    again under another name or version. Optional attributes of the function: `embed_queries` for
    the texts of queries; `splits_records` if the first searchable attribute counts as much as the
    whole text; `take_usage`, which returns what its calls cost since the last time.
    """

    def __init__(self, name: str, function: EmbedTexts, *, fuses_latent: bool = False) -> None:
        version = getattr(function, "version", None)
        self.name = name if version is None else f"{name} {version}"
        self.fuses_latent = fuses_latent
        self.take_usage: Callable[[], str] = getattr(function, "take_usage", str)
        self._function = function
        self._embed_queries: EmbedTexts = getattr(function, "embed_queries", function)
        self._splits_records = bool(getattr(function, "splits_records", False))
        self.embed_query = lru_cache(CACHED_QUERIES)(self._embed_query)

    @classmethod
    def load(cls, name: str, folder: Path | None = None) -> Embedder:
        """Load a model, or import `module:function`, also from the current folder.

        The name may end with `+latent`. `folder` is that of the service's data, which keeps what
        an endpoint returned. Raises `LocalServiceFailed`.
        """
        fuses_latent = name.endswith(LATENT_SUFFIX)
        model_name = name.removesuffix(LATENT_SUFFIX)
        return cls(model_name, load_model(model_name, folder), fuses_latent=fuses_latent)

    def source(self, settings: Mapping[str, Any]) -> str:
        """Return the name of the vectors of records under the settings of an index."""
        apart = first_attributes(settings) if self._splits_records else []
        return f"{self.name} ({', '.join(apart)} apart)" if apart else self.name

    def embed_records(
        self, records: Sequence[Record], settings: Mapping[str, Any], default: str
    ) -> Array:
        """Return the vectors of records; that of a record without text is 0.

        `default` is a text that gives the number of dimensions if no record has one. Raises
        `LocalServiceFailed`.
        """
        vectors = self._embed_filled(read_texts(records, settings), default)
        apart = first_attributes(settings) if self._splits_records else []
        if not apart:
            return vectors
        texts = read_texts(records, {"searchableAttributes": apart})
        firsts = self._embed_filled(texts, default)
        return np.add(_to_unit(vectors), _to_unit(firsts))

    def _embed_filled(self, texts: Sequence[str], default: str) -> Array:
        filled = [number for number, text in enumerate(texts) if text]
        embedded = self.embed([texts[number] for number in filled] or [default])
        vectors = np.zeros((len(texts), embedded.shape[1]), np.float32)
        if filled:
            vectors[filled] = embedded
        return vectors

    def embed(self, texts: Sequence[str]) -> Array:
        """Return the vectors of texts, a row for each; raises `LocalServiceFailed`."""
        return self._call(self._function, texts)

    def _embed_query(self, text: str) -> Array:
        return np.asarray(self._call(self._embed_queries, [text])[0])

    def _call(self, function: EmbedTexts, texts: Sequence[str]) -> Array:
        try:
            vectors = np.asarray(function(list(texts)), np.float32)
        except LocalServiceFailed:
            raise
        except Exception as error:  # the function of a user may raise anything
            raise LocalServiceFailed(
                f"the embedder {self.name} failed: {describe_error(error)}"
            ) from error
        expected = f"expected an array of shape ({len(texts)}, dimensions)"
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise LocalServiceFailed(
                f"the embedder {self.name} returned an array of shape {vectors.shape}: {expected}"
            )
        if not 1 <= vectors.shape[1] <= MAX_DIMENSIONS:
            raise LocalServiceFailed(
                f"the embedder {self.name} returned {vectors.shape[1]} dimensions: expected 1 to "
                f"{MAX_DIMENSIONS}"
            )
        if not np.isfinite(vectors).all():
            raise LocalServiceFailed(
                f"the embedder {self.name} returned values that are not finite numbers"
            )
        return vectors


def _to_unit(vectors: Array) -> Array:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Array = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return unit


def read_texts(records: Sequence[Record], settings: Mapping[str, Any]) -> list[str]:
    """Return the text of each record, a line for each value; empty if it has none.

    Without `searchableAttributes`, these are all texts of a record, as in a search.
    """
    leaves = read_leaves(records)
    entries = read_searched(settings)
    kinds: tuple[type, ...] = (str, int, float) if entries else (str,)
    lines: list[list[str]] = [[] for _ in records]
    for path in _order_paths(list(leaves), [entry.path for entry in entries]):
        for row, value in zip(leaves[path].rows, leaves[path].values, strict=True):
            if type(value) in kinds:
                lines[row].append(value if type(value) is str else number_text(value))
    return ["\n".join(line for line in record_lines if line.strip()) for record_lines in lines]


def first_attributes(settings: Mapping[str, Any]) -> list[str]:
    """Return the attributes that `searchableAttributes` has first; none if there are no others."""
    entries = read_searched(settings)
    first = [entry.path for entry in entries if not entry.rank]
    return first if len(first) < len(entries) else []


def _order_paths(paths: Sequence[str], entries: Sequence[str]) -> list[str]:
    if not entries:
        return [path for path in paths if path not in INTERNAL]
    ordered = [path for entry in entries for path in paths if covers(entry, path)]
    return list(dict.fromkeys(ordered))


class Reranker:
    """A function from a query and texts to a score for each; several threads call it."""

    def __init__(self, name: str, function: ScoreTexts) -> None:
        self.name = name
        self._function = function

    @classmethod
    def load(cls, name: str) -> Reranker:
        """Load a model, or import `module:function`, also from the current folder.

        Raises `LocalServiceFailed`.
        """
        kind, _, argument = name.partition(":")
        if kind not in RERANKER_MODELS:
            return cls(name, import_function("reranker", name, RERANKER_NAMES))
        if not argument:
            raise LocalServiceFailed(f'invalid reranker "{name}": use --reranker {kind}:NAME')
        return cls(name, load_package("reranker", name, RERANKER_MODELS[kind], argument, kind))

    def score(self, query: str, texts: Sequence[str]) -> Array:
        """Return the scores of texts, higher for better ones; raises `LocalServiceFailed`."""
        try:
            scores = np.asarray(self._function(query, list(texts)), np.float64)
        except Exception as error:  # the function of a user may raise anything
            raise LocalServiceFailed(
                f"the reranker {self.name} failed: {describe_error(error)}"
            ) from error
        if scores.shape != (len(texts),) or not np.isfinite(scores).all():
            raise LocalServiceFailed(
                f"the reranker {self.name} must return {len(texts)} numbers: one for each text"
            )
        return scores


class CrossEncoderModel:
    """A cross-encoder of the package sentence-transformers."""

    def __init__(self, name: str) -> None:
        from sentence_transformers import CrossEncoder

        self._model = CrossEncoder(name)

    def __call__(self, query: str, texts: list[str]) -> Any:
        """Return the scores of texts."""
        return self._model.predict([(query, text) for text in texts], show_progress_bar=False)


class FastEmbedCrossEncoder:
    """A cross-encoder of the package fastembed."""

    def __init__(self, name: str) -> None:
        from fastembed.rerank.cross_encoder import TextCrossEncoder

        self._model = TextCrossEncoder(model_name=name)

    def __call__(self, query: str, texts: list[str]) -> Any:
        """Return the scores of texts."""
        return list(self._model.rerank(query, texts))


RERANKER_MODELS: dict[str, Callable[[str], Any]] = {
    "sentence-transformers": CrossEncoderModel,
    "fastembed": FastEmbedCrossEncoder,
}
