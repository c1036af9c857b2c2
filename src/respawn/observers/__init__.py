"""Watching: may read, may write files, may not change training."""
