"""The synonym editor and the rule editor: lists of objects around an index, drafted as a whole."""
