"""Figures, drawn from run folders and from episodes."""
