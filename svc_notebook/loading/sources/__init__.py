"""What a load reads: files, DataFrames, Arrow tables, SQL, Python records."""
