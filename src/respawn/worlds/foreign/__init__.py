"""Any Gymnasium environment as a World, in this process or in worker processes that are watched and replaced.

What a worker process imports (`worker`, `lanes`, `making`, `spaces`, `adaptors`, `sharing`) and `respawn.processes`
stay clear of torch and of the contracts, so that a worker is up in a fraction of a second.
"""
