"""The service's HTTP layer: connections, routing, bodies, authentication and rate limits."""
