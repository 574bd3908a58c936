"""Render pages that scripts build: a browser without a network of its own."""
