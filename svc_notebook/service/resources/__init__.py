"""Synonyms, rules and dictionaries as stored and as compiled for searches."""
