"""The native module: how many schools of fish move, what they sense, what they are paid, who is near whom.

Every sum, product, quotient and root is rounded to float32 on its own, in the order of the Python code. The same bytes
come out for any number of threads, on any SIMD path and whatever the other schools do.

Arrays are tensors in the CPU's memory or NumPy arrays, in C order; they are not copied, and must not overlap. All
functions raise TypeError if something is not an array that can be shared, or has other elements; and ValueError if a
shape, an order in memory or a number is not as said, or what is written is read-only.

Schools are shared among `threads` where there are enough of them for that to pay; with more than one, callers at the
same time take turns.
"""

import numpy as np
import torch
from numpy.typing import NDArray

Floats = torch.Tensor | NDArray[np.float32]
Bools = torch.Tensor | NDArray[np.bool_]
Integers = torch.Tensor | NDArray[np.int64]
ShortIntegers = torch.Tensor | NDArray[np.int32]
Doubles = torch.Tensor | NDArray[np.float64]

FACTS: int
"""numbers of each fish in what `neighbours` writes"""

def neighbours(
    positions: Floats,
    velocities: Floats,
    alive: Bools,
    radius: float,
    average_count: int,
    out: Floats,
    threads: int = 1,
) -> None:
    """Write the facts of every fish into `out`, all zeros for the dead and for those without neighbours.

    Neighbours are the other living fish of the same school whose squared distance, in float32, is at most the
    radius squared.

    Args:
        positions: [schools, fish, 2] float32.
        velocities: [schools, fish, 2] float32.
        alive: [schools, fish] bool; the dead neither have nor are neighbours.
        radius: How far a fish sees.
        average_count: How many of the nearest neighbours the average offset is made of.
        out: [schools, fish, 7] float32: the number of neighbours; x and y of the average offset of the nearest
            `average_count`, in radii, of equally near ones the first; the distance to the nearest, in radii; mean
            and population standard deviation of the speeds of all, halved; how fast all swim away from the fish on
            average, halved.
        threads: Among which the schools are shared.
    """

def neighbours_of(
    fish: Floats,
    alive: Bools,
    radius: float,
    average_count: int,
    out: Floats,
    threads: int = 1,
) -> None:
    """As `neighbours` does, from planes: `fish` is [4, schools, fish] float32, x, y, vx, vy."""

def step(
    fish: Floats,
    predator: Floats,
    alive: Bools,
    actions: Integers | Floats,
    distance: Floats,
    caught: Bools,
    threads: int = 1,
) -> None:
    """Move the living and the predators, and let these catch.

    Args:
        fish: [4, schools, fish] float32: x, y, vx, vy; changed in place where alive.
        predator: [4, schools] float32: x, y, vx, vy; changed in place.
        alive: [schools, fish] bool: before the step; changed in place to those after it.
        actions: [schools, fish] int64: forward, left, right, brake; whatever is none of them coasts. Or [schools,
            fish, 2] float32: a turn and an effort, cut to -1 to 1.
        distance: [schools, fish] float32, written: from the predators after it; of the dead too.
        caught: [schools, fish] bool, written: those who died in it.
        threads: Among which the schools are shared.
    """

def look(
    fish: Floats,
    predator: Floats,
    distance: Floats,
    alive: Bools,
    out: Floats,
    statistics: Floats | None = None,
    average_count: int = 1,
    threads: int = 1,
) -> None:
    """Write what each fish senses into `out` [schools, fish, 11 or more]: 11 numbers, zeros for the dead.

    With `statistics` of `neighbours` 7 more, the number of neighbours as a share of `average_count`, at most 1. What
    `out` has beyond these is left alone.
    """

class Prices:
    """What a fish is paid for a step, see FishRewards; and for its neighbours, see FishConfig."""

    def __init__(
        self,
        *,
        alive: float,
        sight: float,
        out_of_sight: float,
        reach: float,
        wall: float,
        scale: float,
        death: float,
        smooth: bool,
        crowd_count: float = 1.0,
        crowd_target: float = 0.0,
        crowd: float = 0.0,
        divergence: float = 0.0,
    ) -> None: ...

def pay(
    fish: Floats,
    distance: Floats,
    alive: Bools,
    caught: Bools,
    prices: Prices,
    out: Floats,
    statistics: Floats | None = None,
    threads: int = 1,
) -> None:
    """Write what each fish is paid into `out` [schools, fish]; for its neighbours if there are `statistics` of them."""

def tally(
    reward: Floats,
    alive: Bools,
    caught: Bools,
    steps: ShortIntegers,
    death_steps: ShortIntegers,
    rewards: Doubles,
    living: Integers,
    threads: int = 1,
) -> None:
    """Write down a step.

    Args:
        reward: [schools, fish] float32.
        alive: [schools, fish] bool, after it.
        caught: [schools, fish] bool, in it.
        steps: [schools] int32, since the episodes began.
        death_steps: [schools, fish] int32; written where a fish was caught.
        rewards: [schools] float64, written: the sums over the fish, in their order.
        living: [schools] int64, written: how many there are.
        threads: Among which the schools are shared.
    """

def simd_path() -> str:
    """The path in use."""

def simd_paths() -> list[str]:
    """The paths this machine can use, fastest first."""

def set_simd_path(name: str) -> None:
    """Take this path from now on; all give the same bytes."""
