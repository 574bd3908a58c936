"""What a load would do: column types, ids, rows that cannot be sent."""
