"""What `%svc VERB` and `svc VERB` both do: a function and a row of the table for each verb."""
