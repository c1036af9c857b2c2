"""Off-policy actor-critic with V-trace targets (IMPALA)."""
