"""What a hostile tester met: red ones are marked, and turn green one by one."""
