"""The inverted index: schema, segments, postings, columns and their files."""
