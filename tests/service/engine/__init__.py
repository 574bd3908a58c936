"""Tests of the search engine."""
