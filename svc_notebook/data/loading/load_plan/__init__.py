"""The plan of a load: column types, ids, and rows that cannot be sent."""
