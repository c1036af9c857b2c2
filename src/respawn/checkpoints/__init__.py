"""Exact resume."""
