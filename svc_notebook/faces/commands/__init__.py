"""The commands of `%svc VERB` and `svc VERB`: a table of verbs, each with its function."""
