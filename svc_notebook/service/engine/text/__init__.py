"""Text analysis: tokenization, languages, typos and synonyms."""
