"""The nouns and the seams. No logic; imports nothing of ours but errors."""
