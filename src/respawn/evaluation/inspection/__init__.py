"""What is wrong with a run, read from its folder alone."""
