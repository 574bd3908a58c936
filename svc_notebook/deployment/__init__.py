"""Configurations and records between services: clones, deployments, configurations in files."""
