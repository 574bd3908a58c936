"""A query as words with their variants, and the parameters of a search."""
