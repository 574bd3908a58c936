"""The functions of `svc` as coroutines (`aio`) and as blocking functions (`blocking`)."""
