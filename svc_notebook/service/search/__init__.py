"""Search responses: rules, visible attributes, natural language."""
