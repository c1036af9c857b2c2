import math

import numpy as np
import pytest

from respawn.maths.running import Window


def test_a_window_forgets_and_answers_percentiles():
    window = Window(4)
    assert math.isnan(window.mean())
    assert math.isnan(window.percentiles(50)[0])
    window.extend([100, 1, 2])
    window.extend([3, 4])
    assert len(window) == 4
    assert window.mean() == 2.5
    assert window.percentiles(50) == (2.5,)
    assert window.percentiles(10)[0] == pytest.approx(np.percentile([1, 2, 3, 4], 10))
    assert window.std() == pytest.approx(np.std([1, 2, 3, 4]))


def test_a_window_goes_on_from_a_state():
    window, other = Window(3), Window(3)
    window.extend([1, 2, 3])
    state = window.state()
    window.extend([50])
    other.restore(state)
    other.extend([4])
    assert other.state() == {"numbers": [2.0, 3.0, 4.0]}
