"""Respawn: a training laboratory for game agents that survives anything."""

__version__ = "0.1.0"
