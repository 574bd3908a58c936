"""The history of loads: a journal of them, and what undoes each."""
