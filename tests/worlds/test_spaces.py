import numpy as np
import pytest
from gymnasium import spaces

from respawn.errors import ConfigError, WorldError
from respawn.worlds.foreign.spaces import Layout, translate

BOX = spaces.Box(-1, 1, (2,), np.float32)
DISCRETE = spaces.Discrete(2)


def encoded(space, observation):
    translation = translate("X-v0", space, DISCRETE)
    row = np.full(translation.layout.observation_shape, 7, translation.layout.observation_dtype)
    translation.encode(observation, row)
    return row


def decoded(space, rows):
    translation = translate("X-v0", BOX, space)
    rows = np.asarray(rows, translation.layout.action_dtype)
    assert rows.shape[1:] == translation.layout.action_shape
    return list(translation.decode(rows))


def test_layout():
    layout = translate("X-v0", BOX, spaces.MultiDiscrete([2, 3])).layout
    assert layout == Layout((2,), "float32", "multi-discrete", (2, 3))
    assert (layout.action_shape, layout.action_dtype) == ((2,), "int64")


def test_observations_become_numbers():
    assert encoded(BOX, np.array([0.5, -0.5], np.float32)).tolist() == [0.5, -0.5]
    assert encoded(BOX, [0.5, -0.5]).tolist() == [0.5, -0.5]
    assert encoded(spaces.Box(-9, 9, (2, 2), np.float64), np.arange(4.0).reshape(2, 2)).tolist() == [0, 1, 2, 3]
    assert encoded(spaces.Box(-9, 9, (), np.float32), np.float32(3)).tolist() == [3]
    assert encoded(spaces.Discrete(3, start=5), 6).tolist() == [0, 1, 0]
    assert encoded(spaces.MultiBinary(3), np.array([1, 0, 1], np.int8)).tolist() == [1, 0, 1]
    assert encoded(spaces.MultiDiscrete([2, 2]), np.array([0, 1])).tolist() == [1, 0, 0, 1]
    both = spaces.Dict({"a": spaces.Discrete(2), "b": BOX})
    assert encoded(both, {"a": 1, "b": np.array([0.5, 1], np.float32)}).tolist() == [0, 1, 0.5, 1]
    assert encoded(spaces.Tuple([DISCRETE, DISCRETE]), (0, 1)).tolist() == [1, 0, 0, 1]


def test_pictures_become_channels_first():
    picture = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
    row = encoded(spaces.Box(0, 255, (4, 5, 3), np.uint8), picture)
    assert row.dtype == np.uint8 and np.array_equal(row, picture.transpose(2, 0, 1))
    stacked = np.arange(2 * 6 * 5, dtype=np.uint8).reshape(2, 6, 5)
    assert np.array_equal(encoded(spaces.Box(0, 255, (2, 6, 5), np.uint8), stacked), stacked)
    grey = np.arange(20, dtype=np.uint8).reshape(4, 5)
    assert np.array_equal(encoded(spaces.Box(0, 255, (4, 5), np.uint8), grey), grey[None])


@pytest.mark.parametrize(
    ("space", "observation", "message"),
    [
        (BOX, np.zeros(3, np.float32), r"shape \(2,\) and dtype float32.*got shape \(3,\) and dtype float32"),
        (BOX, np.float32(1), r"got shape \(\)"),  # would be copied to every number without a check
        (BOX, np.array(["a", "b"]), "dtype <U1"),
        (spaces.Box(0, 255, (4, 5, 3), np.uint8), np.zeros((4, 5, 3)), "dtype uint8.*got shape .* dtype float64"),
        (spaces.Discrete(3, start=5), 4, "from 5 to 7, got 4"),
        (spaces.Tuple([DISCRETE, DISCRETE]), (0,), "space Tuple"),
    ],
)
def test_wrong_observations_are_noticed(space, observation, message):
    with pytest.raises(WorldError, match=message):
        encoded(space, observation)


def test_actions_become_the_environments_own():
    assert decoded(spaces.Discrete(3), [0, 2]) == [0, 2]
    assert decoded(spaces.Discrete(3, start=-1), [0, 2]) == [-1, 1]
    assert all(type(action) is int for action in decoded(spaces.Discrete(3, start=-1), [0, 2]))
    (action,) = decoded(spaces.MultiDiscrete([2, 3], start=[1, 10]), [[1, 2]])
    assert action.tolist() == [2, 12] and spaces.MultiDiscrete([2, 3], start=[1, 10]).contains(action)
    (action,) = decoded(spaces.MultiBinary([2, 2]), [[1, 0, 0, 1]])
    assert action.tolist() == [[1, 0], [0, 1]] and spaces.MultiBinary([2, 2]).contains(action)


def test_continuous_actions_are_clipped_and_scaled():
    space = spaces.Box(np.array([0, -2], np.float32), np.array([10, 2], np.float32))
    low, middle, high, beyond = decoded(space, [[-1, -1], [0, 0], [1, 1], [7, -7]])
    assert (low.tolist(), middle.tolist(), high.tolist()) == ([0, -2], [5, 0], [10, 2])
    assert beyond.tolist() == [10, -2] and space.contains(beyond) and beyond.dtype == np.float32


def test_unbounded_actions_pass_through():
    space = spaces.Box(np.array([-np.inf, 0, -1], np.float32), np.array([np.inf, np.inf, 3], np.float32))
    (action,) = decoded(space, [[123, -5, 0]])
    assert action.tolist() == [123, 0, 1]


@pytest.mark.parametrize(
    ("observations", "actions", "message"),
    [
        (spaces.Sequence(DISCRETE), DISCRETE, "observation space Sequence"),
        (spaces.Graph(BOX, None), DISCRETE, "observation space Graph"),
        (BOX, spaces.Dict({"a": DISCRETE}), "action space Dict"),
    ],
)
def test_spaces_without_a_way_are_named(observations, actions, message):
    with pytest.raises(ConfigError, match=f"'X-v0' has the {message}"):
        translate("X-v0", observations, actions)
