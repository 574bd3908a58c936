"""Synonyms, rules and dictionaries: stored entries, and their compiled form for searches."""
