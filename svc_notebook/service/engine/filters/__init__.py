"""Filters and geo search: grammar, terms and their evaluation on a segment."""
