"""Search responses: rules, visible attributes and natural languages."""
