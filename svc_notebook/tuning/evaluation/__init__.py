"""Runs, metrics, comparisons and statistics over judged queries."""
