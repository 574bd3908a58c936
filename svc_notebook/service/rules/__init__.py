"""Rules: which of them apply to a search, and what follows."""
