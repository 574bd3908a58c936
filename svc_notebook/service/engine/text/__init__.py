"""Text to words: tokenization, languages, typos, synonyms."""
