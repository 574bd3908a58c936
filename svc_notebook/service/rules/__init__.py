"""Rules: which rules apply to a search, and their consequences."""
