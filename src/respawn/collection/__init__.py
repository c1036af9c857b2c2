"""Turning weights into rollouts."""
