"""Decisions on columns and rows of text, whatever format they were read from."""
