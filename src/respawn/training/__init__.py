"""The room with the loop."""
