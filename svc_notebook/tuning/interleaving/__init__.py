"""Interleaving of two variants on live traffic: lists of both, credits, and the outcome."""
