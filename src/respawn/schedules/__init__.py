"""Deciding numbers: pure state machines over reports."""
