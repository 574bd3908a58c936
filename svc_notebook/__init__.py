"""The workbench for a hosted search service."""
