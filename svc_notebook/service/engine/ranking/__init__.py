"""Retrieval, ranking criteria, distinct and promoted hits."""
