"""`df.svc` and `series.svc`: what the functions do, where the data already is."""
