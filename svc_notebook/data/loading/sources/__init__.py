"""Sources of a load: files, DataFrames, Arrow tables, SQL, Python records."""
