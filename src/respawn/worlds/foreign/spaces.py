"""Gymnasium spaces and our specs: how observations and actions are carried over, as plain NumPy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from gymnasium import spaces
from gymnasium.spaces.utils import flatten, flatten_space

from respawn.errors import ConfigError, WorldError

Array: TypeAlias = "np.ndarray[Any, Any]"
Space: TypeAlias = "spaces.Space[Any]"
Encode: TypeAlias = "Callable[[Any, Array], None]"
Decode: TypeAlias = "Callable[[Array], Sequence[Any]]"


@dataclass(frozen=True)
class Layout:
    """What the rest of the house must know of an environment's spaces; plain, so that a worker can tell its parent."""

    observation_shape: tuple[int, ...]
    observation_dtype: Literal["float32", "uint8"]
    action_kind: Literal["discrete", "multi-discrete", "continuous"]
    action_sizes: tuple[int, ...]
    """choices of each part; for continuous actions one number, how many there are"""

    @property
    def action_shape(self) -> tuple[int, ...]:
        """The shape of one lane's action."""
        if self.action_kind == "discrete":
            return ()
        return (self.action_sizes[0],) if self.action_kind == "continuous" else (len(self.action_sizes),)

    @property
    def action_dtype(self) -> Literal["float32", "int64"]:
        """The dtype of actions."""
        return "float32" if self.action_kind == "continuous" else "int64"


@dataclass(frozen=True)
class Translation:
    """Between one environment and rows of our arrays."""

    layout: Layout
    encode: Encode
    """writes an observation of the environment into a row of ours; raises if it is not what its space promises"""
    decode: Decode
    """turns our rows of actions into what each environment's step takes"""


def translate(env_id: str, observation_space: Space, action_space: Space) -> Translation:
    """How to carry observations and actions over; raises ConfigError where there is no way."""
    shape, dtype, encode = _observations(env_id, observation_space)
    kind, sizes, decode = _actions(env_id, action_space)
    return Translation(Layout(shape, dtype, kind, sizes), encode, decode)


def _observations(env_id: str, space: Space) -> tuple[tuple[int, ...], Literal["float32", "uint8"], Encode]:
    if isinstance(space, spaces.Box):
        if space.dtype == np.uint8 and len(space.shape) in (2, 3):
            shape, encode = _pictures(space)
            return shape, "uint8", encode
        return (int(np.prod(space.shape)),), "float32", _box_encoder(space)
    if isinstance(space, spaces.Discrete):
        return (int(space.n),), "float32", _one_hot_encoder(space)
    flat = flatten_space(space) if space.is_np_flattenable else None
    if not isinstance(flat, spaces.Box):
        raise ConfigError(
            f"environment '{env_id}' has the observation space {space}, which cannot be laid out as numbers of a fixed "
            "shape; wrap the environment so that it gives a Box, Discrete, MultiDiscrete, MultiBinary, Dict or Tuple"
        )
    return (int(flat.shape[0]),), "float32", _flattening_encoder(space, int(flat.shape[0]))


def _pictures(space: spaces.Box) -> tuple[tuple[int, ...], Encode]:
    """Pictures become [channels, height, width]. The channels are the shorter of the outer axes; if even, the last."""
    axes: tuple[int, ...] | None = None
    if len(space.shape) == 2:
        shape: tuple[int, ...] = (1, *space.shape)
    elif space.shape[0] < space.shape[2]:
        shape = space.shape
    else:
        axes, shape = (2, 0, 1), (space.shape[2], space.shape[0], space.shape[1])

    def encode(observation: Any, row: Array) -> None:
        picture = _checked(observation, space)
        row[...] = picture if axes is None else picture.transpose(axes)

    return shape, encode


def _box_encoder(space: spaces.Box) -> Encode:
    if space.dtype == np.float32 and len(space.shape) == 1:
        shape, dtype = space.shape, space.dtype

        def encode_float32(observation: Any, row: Array) -> None:
            # The common case, in as few operations as possible: this runs once a lane and step.
            if observation.__class__ is not np.ndarray or observation.shape != shape or observation.dtype != dtype:
                observation = _checked(observation, space)
            row[:] = observation

        return encode_float32

    def encode(observation: Any, row: Array) -> None:
        row[:] = _checked(observation, space).reshape(-1)

    return encode


def _checked(observation: Any, space: spaces.Box) -> Array:
    """`observation` as an array, if it has the shape its space promises and a dtype that loses nothing that matters."""
    array = np.asarray(observation)
    if array.shape != space.shape or not np.can_cast(array.dtype, space.dtype, "same_kind"):
        raise WorldError(
            f"expected an observation of shape {space.shape} and dtype {space.dtype}, as its space says, "
            f"got shape {array.shape} and dtype {array.dtype}"
        )
    return array


def _one_hot_encoder(space: spaces.Discrete) -> Encode:
    start, count = int(space.start), int(space.n)

    def encode(observation: Any, row: Array) -> None:
        index = int(observation) - start
        if not 0 <= index < count:
            raise WorldError(f"expected an observation from {start} to {start + count - 1}, got {observation!r}")
        row.fill(0.0)
        row[index] = 1.0

    return encode


def _flattening_encoder(space: Space, size: int) -> Encode:
    def encode(observation: Any, row: Array) -> None:
        if not space.contains(observation):
            raise WorldError(f"expected an observation of the space {space}, got {observation!r}")
        flat = np.asarray(flatten(space, observation))
        if flat.shape != (size,):
            raise WorldError(f"expected an observation of {size} numbers, got shape {flat.shape} from {space}")
        row[:] = flat

    return encode


def _actions(
    env_id: str, space: Space
) -> tuple[Literal["discrete", "multi-discrete", "continuous"], tuple[int, ...], Decode]:
    if isinstance(space, spaces.Discrete):
        start = int(space.start)
        # Python integers: Gymnasium's own check of an action is several times slower for NumPy's.
        return "discrete", (int(space.n),), lambda rows: (rows + start if start else rows).tolist()
    if isinstance(space, spaces.MultiDiscrete):
        starts, dtype, shape = space.start.reshape(-1), space.dtype, space.shape
        sizes = tuple(int(size) for size in space.nvec.reshape(-1))
        return "multi-discrete", sizes, lambda rows: [(row + starts).astype(dtype).reshape(shape) for row in rows]
    if isinstance(space, spaces.MultiBinary):
        binary_shape = space.shape
        sizes = (2,) * int(np.prod(binary_shape))
        return "multi-discrete", sizes, lambda rows: [row.astype(np.int8).reshape(binary_shape) for row in rows]
    if isinstance(space, spaces.Box):
        return "continuous", (int(np.prod(space.shape)),), _box_decoder(space)
    raise ConfigError(
        f"environment '{env_id}' has the action space {space}, which no policy here can act in; "
        "wrap the environment so that it takes Discrete, MultiDiscrete, MultiBinary or Box actions"
    )


def _box_decoder(space: spaces.Box) -> Decode:
    """Policy units to the space's own: -1 and 1 are the ends of a bounded range; other numbers are passed through."""
    low, high = space.low.reshape(-1).astype(np.float64), space.high.reshape(-1).astype(np.float64)
    bounded = np.isfinite(low) & np.isfinite(high)
    middle = np.where(bounded, (np.where(bounded, low, 0.0) + np.where(bounded, high, 0.0)) / 2, 0.0)
    reach = np.where(bounded, (np.where(bounded, high, 0.0) - np.where(bounded, low, 0.0)) / 2, 1.0)
    dtype, shape = space.dtype, space.shape
    is_integer = dtype is not None and np.issubdtype(dtype, np.integer)

    def decode(rows: Array) -> Sequence[Array]:
        units = np.clip(rows.astype(np.float64) * reach + middle, low, high)
        if is_integer:
            units = np.rint(units)
        # A copy each, since an environment may keep the action that it is given.
        return [row.astype(dtype).reshape(shape) for row in units]

    return decode
