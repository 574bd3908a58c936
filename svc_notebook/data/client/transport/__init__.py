"""Hosts, retries, connections and the mapping of responses to errors."""
