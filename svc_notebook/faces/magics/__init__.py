"""`%svc` and `%%svc`: the commands in a notebook."""
