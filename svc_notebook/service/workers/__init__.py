"""Searches in processes of their own, so that a service uses all cores."""
