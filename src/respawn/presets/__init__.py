"""Named run configurations."""
