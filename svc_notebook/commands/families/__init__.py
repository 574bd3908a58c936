"""The rows of the verb table, one module for each family of verbs."""
