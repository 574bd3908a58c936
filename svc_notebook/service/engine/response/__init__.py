"""Hits, highlights, facets and pages of a search."""
