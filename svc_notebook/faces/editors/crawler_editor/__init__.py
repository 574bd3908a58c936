"""The crawler editor: a configuration, and the records that it extracts from one page."""
