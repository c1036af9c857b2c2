"""The reference's files, made from a run folder's own: JSON, JSON lines and TensorBoard's."""
