"""Vectors of records and queries: their model, their tables, their files and their fusion."""
