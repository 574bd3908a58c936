"""Crawler: configuration, frontier, fetching, link policy and record extraction."""
