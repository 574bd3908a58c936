"""Changes of settings, synonyms and rules: journal, undo, snapshots, scratch copies."""
