"""The synonym editor and the rule editor, which draft the whole list of an index."""
