"""JSON encoding of rows: SQL expressions for DuckDB, and a Python encoder with the same rules."""
