"""Write the records of an index to files."""
