"""The local service: the whole API on one port of the loopback interface."""
