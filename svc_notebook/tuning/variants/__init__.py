"""A search over variants of settings, synonyms and rules."""
