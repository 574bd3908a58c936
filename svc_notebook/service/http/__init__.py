"""HTTP: connections, routing, bodies, authentication, rate limits."""
