"""The query editor: search as you type, and see why a hit stands where it stands."""
