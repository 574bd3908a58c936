"""Loads by the workers of a Dask cluster, and an index as a Dask DataFrame."""
