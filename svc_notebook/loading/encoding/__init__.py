"""Rows as JSON: SQL expressions for DuckDB, and a Python encoder with the same rules."""
