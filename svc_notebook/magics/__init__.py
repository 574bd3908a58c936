"""`%svc` and `%%svc`: the verbs in a notebook."""
