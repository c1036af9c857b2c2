"""Worlds as Gymnasium environments that `gymnasium.make` finds by name."""
