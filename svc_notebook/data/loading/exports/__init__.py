"""Export the records of an index to files."""
