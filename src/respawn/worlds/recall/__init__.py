"""Recall: a small memory task, and the template for a world of your own."""
