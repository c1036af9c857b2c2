"""What every implementer of a seam must pass."""
