"""A reranker: a model, or a function of the user, that scores the first hits of a search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from svc_notebook.errors import LocalServiceFailed
from svc_notebook.service.embedding_models import describe_error, import_function, load_package
from svc_notebook.service.engine.arrays import Array

NAMES = "sentence-transformers:NAME, fastembed:NAME or module:function"

ScoreTexts = Callable[[str, list[str]], Any]


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
        if kind not in MODELS:
            return cls(name, import_function("reranker", name, NAMES))
        if not argument:
            raise LocalServiceFailed(f'invalid reranker "{name}": use --reranker {kind}:NAME')
        return cls(name, load_package("reranker", name, MODELS[kind], argument, kind))

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


MODELS: dict[str, Callable[[str], Any]] = {
    "sentence-transformers": CrossEncoderModel,
    "fastembed": FastEmbedCrossEncoder,
}
