"""Texts in messages of the local service that clients look for."""

from __future__ import annotations

NEURAL_MESSAGE = "neuralSearch: "
"""The start of a note about the mode `neuralSearch` in the member `message` of a response."""
VECTORS_PENDING = "vectors are being computed"
"""Part of such a note while a later search will have more semantic hits."""
