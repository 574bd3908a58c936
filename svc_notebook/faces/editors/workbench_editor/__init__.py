"""The workbench: the editors of an index, linked, with one draft of its configuration."""
