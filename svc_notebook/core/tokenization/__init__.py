"""Texts as words: the same rules for the search engine and for what measures and tunes it."""
