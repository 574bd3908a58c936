"""Tools for agents: the functions of `svc` over the Model Context Protocol."""
