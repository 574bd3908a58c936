"""A tuning report as one HTML file."""
