"""The tables of tuning: judgments, queries, runs; their files and samples."""
