"""Turning rollouts into weights."""
