"""The client, against real sockets."""
