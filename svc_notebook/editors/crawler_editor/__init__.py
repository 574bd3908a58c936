"""The crawler editor: a configuration, and what it makes of one page."""
