"""Profiles, the current client, the local service."""
