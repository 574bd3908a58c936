"""Loads that run on the workers of a Dask cluster, and reads of an index as a Dask DataFrame."""
