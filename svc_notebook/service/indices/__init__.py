"""Published indices: registry, replicas, settings, records and browse cursors."""
