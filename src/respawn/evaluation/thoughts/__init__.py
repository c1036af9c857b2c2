"""What a policy thinks while it plays: likelihoods of actions, values, and what really followed."""
