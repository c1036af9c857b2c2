"""A school of fish with one shared policy, and a predator that falls and bounces."""
