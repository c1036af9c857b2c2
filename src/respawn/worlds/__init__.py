"""Things that step."""
