"""Published indices: registry, replicas, settings, records, cursors."""
