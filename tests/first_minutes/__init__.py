"""What a user does in the first minutes: fresh processes and kernels, nothing warm, no waits."""
