"""Many runs of one kind with other settings, to find out which are best. Needs Optuna, which is an extra."""
