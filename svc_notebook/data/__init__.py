"""Calls and rows: the client, answers as DataFrames, loads, plots, session, declarations."""
