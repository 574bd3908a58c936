"""The project in which the test suite of the Django integration runs.

The released suite has neither models nor settings; its modules are copied beside these.
"""
