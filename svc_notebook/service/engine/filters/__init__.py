"""Filters and places: grammar, terms and their evaluation on a segment."""
