"""An embedder: a function of the user that returns the vectors of texts."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from svc_notebook.errors import LocalServiceFailed
from svc_notebook.service.engine.arrays import Array

MAX_DIMENSIONS = 8192
CACHED_QUERIES = 1024

EmbedTexts = Callable[[list[str]], Any]


class Embedder:
    """A function from a list of texts to an array with a row for each; several threads call it.

    Vectors are kept by its name, and by its attribute `version` if it has one: texts are embedded
    again under another name or version.
    """

    def __init__(self, name: str, function: EmbedTexts) -> None:
        version = getattr(function, "version", None)
        self.name = name if version is None else f"{name} {version}"
        self._function = function
        self.embed_query = lru_cache(CACHED_QUERIES)(self._embed_query)

    @classmethod
    def load(cls, name: str) -> Embedder:
        """Import `module:function`, also from the current folder; raises `LocalServiceFailed`."""
        module, _, path = name.partition(":")
        if not module or not path:
            raise LocalServiceFailed(f'invalid embedder "{name}": use --embedder module:function')
        if (here := str(Path.cwd())) not in sys.path:
            sys.path.insert(0, here)
        try:
            found: Any = importlib.import_module(module)
            for part in path.split("."):
                found = getattr(found, part)
        except Exception as error:  # the module of a user may raise anything
            raise LocalServiceFailed(
                f"the embedder {name} cannot be imported: {_describe(error)}"
            ) from error
        if not callable(found):
            raise LocalServiceFailed(f"the embedder {name} is not a function")
        return cls(name, found)

    def embed(self, texts: Sequence[str]) -> Array:
        """Return the vectors of texts, a row for each; raises `LocalServiceFailed`."""
        try:
            vectors = np.asarray(self._function(list(texts)), np.float32)
        except Exception as error:  # the function of a user may raise anything
            raise LocalServiceFailed(
                f"the embedder {self.name} failed: {_describe(error)}"
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

    def _embed_query(self, text: str) -> Array:
        return np.asarray(self.embed([text])[0])


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
