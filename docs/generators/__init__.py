"""Modules, types and pages that are written from the declarations of functions."""
