"""The judgment editor: hits graded by hand, query by query."""
