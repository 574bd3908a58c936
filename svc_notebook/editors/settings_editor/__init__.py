"""The settings editor: how an index searches and ranks, tried on queries before it is applied."""
