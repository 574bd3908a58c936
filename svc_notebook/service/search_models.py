"""Embedders and rerankers: models of packages, an HTTP endpoint, or functions of the user."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from svc_notebook.errors import LocalServiceFailed
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


STATIC_PACKAGE = "wordllama"
# The release that the extra pins. It has no wheel for Python 3.14: pip builds it there, which needs
# a C++ compiler, and the extra leaves it out.
STATIC_RELEASE = f"{STATIC_PACKAGE}==0.4.0.post1"
STATIC_REQUIREMENT = (
    "svc-notebook[semantic-static]" if sys.version_info < (3, 14) else STATIC_RELEASE
)
STATIC_WEIGHTS = "wordllama/weights/l2_supercat_256.safetensors"
STATIC_TOKENIZER = "wordllama/tokenizers/l2_supercat_tokenizer_config.json"
# Tokens of a text that count, at most: a few pages.
MAX_TEXT_TOKENS = 8192
EMBEDDER_NAMES = (
    "static, model2vec:PATH, sentence-transformers:NAME, fastembed:NAME, "
    "https://HOST/PATH#MODEL or module:function"
)


class StaticModel:
    """The mean of the vectors of a text's tokens; vectors and tokenizer are of a Python package."""

    splits_records = True

    def __init__(self, _: str) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        package = metadata.distribution(STATIC_PACKAGE)
        self.version = package.version
        (stored,) = load_file(str(package.locate_file(STATIC_WEIGHTS))).values()
        self._vectors = stored.astype(np.float32)  # means of 16 bits take seven times as long
        self._tokenizer = Tokenizer.from_file(str(package.locate_file(STATIC_TOKENIZER)))

    def __call__(self, texts: Sequence[str]) -> Array:
        """Return the vectors of texts; that of a text without tokens is 0."""
        vectors = np.zeros((len(texts), self._vectors.shape[1]), np.float32)
        for row, text in enumerate(texts):
            # One text at a time: a batch starts threads, which a process that forks must not have.
            tokens = self._tokenizer.encode(text, add_special_tokens=False).ids[:MAX_TEXT_TOKENS]
            if tokens:
                self._vectors.take(tokens, axis=0).mean(axis=0, out=vectors[row])
        return vectors


class Model2Vec:
    """A static model of the package model2vec, from a folder or a name."""

    splits_records = True

    def __init__(self, name: str) -> None:
        from model2vec import StaticModel as Model

        self._encode = Model.from_pretrained(name).encode

    def __call__(self, texts: Sequence[str]) -> Any:
        """Return the vectors of texts."""
        return self._encode(list(texts))


class SentenceTransformers:
    """A model of the package sentence-transformers, from a folder or a name."""

    def __init__(self, name: str) -> None:
        from sentence_transformers import SentenceTransformer

        self._model = SentenceTransformer(name)

    def __call__(self, texts: Sequence[str]) -> Any:
        """Return the vectors of texts of records."""
        return self._model.encode(list(texts), show_progress_bar=False)

    def embed_queries(self, texts: Sequence[str]) -> Any:
        """Return the vectors of queries, with the prompt that the model has for them."""
        # Releases before 5.0 have no method for queries.
        encode = getattr(self._model, "encode_query", self._model.encode)
        return encode(list(texts), show_progress_bar=False)


class FastEmbed:
    """A model of the package fastembed, by its name."""

    def __init__(self, name: str) -> None:
        from fastembed import TextEmbedding

        self._model = TextEmbedding(model_name=name)

    def __call__(self, texts: Sequence[str]) -> Any:
        """Return the vectors of texts of records."""
        return np.array(list(self._model.embed(list(texts))))

    def embed_queries(self, texts: Sequence[str]) -> Any:
        """Return the vectors of queries."""
        return np.array(list(self._model.query_embed(list(texts))))


# The models of packages: their class, and what to install.
EMBEDDING_MODELS: dict[str, tuple[Callable[[str], Any], str]] = {
    "static": (StaticModel, STATIC_REQUIREMENT),
    "model2vec": (Model2Vec, "model2vec"),
    "sentence-transformers": (SentenceTransformers, "sentence-transformers"),
    "fastembed": (FastEmbed, "fastembed"),
}


def load_model(name: str, folder: Path | None) -> Callable[[list[str]], Any]:
    """Return the function of a name from texts to vectors; raises `LocalServiceFailed`."""
    kind, _, argument = name.partition(":")
    if name.startswith(("http://", "https://")):
        # Only here: it imports an HTTP client, for which the start of a service would wait.
        from svc_notebook.service.embedding_endpoint import EmbeddingEndpoint

        return EmbeddingEndpoint(name, folder)
    if kind not in EMBEDDING_MODELS:
        return import_function("embedder", name, EMBEDDER_NAMES)
    if (kind == "static") == (":" in name):
        example = "static" if kind == "static" else f"{kind}:NAME"
        raise LocalServiceFailed(f'invalid embedder "{name}": use --embedder {example}')
    model, requirement = EMBEDDING_MODELS[kind]
    return load_package("embedder", name, model, argument, requirement)


def load_package(
    option: str, name: str, model: Callable[[str], Any], argument: str, requirement: str
) -> Callable[..., Any]:
    """Return the model of a package; `option` is the one whose value is `name`."""
    try:
        return model(argument)  # type: ignore[no-any-return]
    except (ImportError, metadata.PackageNotFoundError) as error:
        raise LocalServiceFailed(
            f"the {option} {name} needs a package that is missing ({error}): "
            f'pip install "{requirement}", and start the service again'
        ) from error
    except Exception as error:  # a package may raise anything for a model that it does not have
        raise LocalServiceFailed(
            f"the {option} {name} cannot be loaded: {describe_error(error)}"
        ) from error


def import_function(option: str, name: str, names: str) -> Callable[..., Any]:
    """Import `module:function`, also from the current folder; `names` are the valid values."""
    module, _, path = name.partition(":")
    if not module or not path:
        raise LocalServiceFailed(f'unknown {option} "{name}": use {names}')
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        function: Any = importlib.import_module(module)
        for part in path.split("."):
            function = getattr(function, part)
    except Exception as error:  # the module of a user may raise anything
        raise LocalServiceFailed(
            f"the {option} {name} cannot be imported: {describe_error(error)}; use {names}"
        ) from error
    if not callable(function):
        raise LocalServiceFailed(f"the {option} {name} is not a function")
    return function  # type: ignore[no-any-return]


def describe_error(error: Exception) -> str:
    """Return the type and the text of an error."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
