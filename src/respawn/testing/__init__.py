"""Shipped, so that others can test their worlds."""
