"""Tests of which rules apply, and what follows."""
