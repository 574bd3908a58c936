"""The settings editor: changes settings of an index, and previews their effect on queries."""
