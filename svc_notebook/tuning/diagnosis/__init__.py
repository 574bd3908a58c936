"""Diagnosis: what fails for judged queries, and what to change first."""
