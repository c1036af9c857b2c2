"""The run folder as an API."""
