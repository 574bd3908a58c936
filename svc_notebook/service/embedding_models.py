"""Embedding models by name: packages with models, an HTTP endpoint, or a function of the user."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from svc_notebook.errors import LocalServiceFailed
from svc_notebook.service.engine.arrays import Array

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
NAMES = (
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
MODELS: dict[str, tuple[Callable[[str], Any], str]] = {
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
    if kind not in MODELS:
        return import_function("embedder", name, NAMES)
    if (kind == "static") == (":" in name):
        example = "static" if kind == "static" else f"{kind}:NAME"
        raise LocalServiceFailed(f'invalid embedder "{name}": use --embedder {example}')
    model, requirement = MODELS[kind]
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
