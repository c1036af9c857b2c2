"""Networks: they know tensors, not worlds."""
