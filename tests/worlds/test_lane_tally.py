import numpy as np

from respawn.worlds.lane_tally import LaneTally


def test_only_lanes_with_somebody_there_are_added_to():
    tally = LaneTally(3)
    tally.add(np.array([1.0, 2.0, 3.0]), np.array([True, True, False]))
    kept = tally.state()
    returns, lengths = tally.close(np.array([True, False, False]))
    assert returns.tolist() == [1.0, 0.0, 0.0] and lengths.tolist() == [1, 0, 0]
    tally.add(np.ones(3), np.ones(3, bool))
    returns, lengths = tally.close(np.ones(3, bool))
    assert returns.tolist() == [1.0, 3.0, 1.0] and lengths.tolist() == [1, 2, 1]
    tally.restore(kept)
    assert tally.close(np.ones(3, bool))[0].tolist() == [1.0, 2.0, 0.0]
    tally.add(np.ones(3), np.ones(3, bool))
    tally.begin()
    assert tally.close(np.ones(3, bool))[1].tolist() == [0, 0, 0]
