"""The queue of writes, and the thread that applies them."""
