"""The native module: what each fish of many schools can tell about its neighbours."""

import numpy as np
import torch
from numpy.typing import NDArray

Floats = torch.Tensor | NDArray[np.float32]
Bools = torch.Tensor | NDArray[np.bool_]

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
    radius squared. The same bytes come out for any number of threads, on any SIMD path and whatever the other
    schools do. Arrays are tensors in the CPU's memory or NumPy arrays, in C order, and are not copied.

    Args:
        positions: [schools, fish, 2] float32.
        velocities: [schools, fish, 2] float32.
        alive: [schools, fish] bool; the dead neither have nor are neighbours.
        radius: How far a fish sees.
        average_count: How many of the nearest neighbours the average offset is made of.
        out: [schools, fish, 7] float32: the number of neighbours; x and y of the average offset of the nearest
            `average_count`, in radii, of equally near ones the first; the distance to the nearest, in radii; mean
            and population standard deviation of the speeds of all, halved; how fast all swim away from the fish on
            average, halved. Must not overlap the other arrays.
        threads: Among which the schools are shared; with more than one, callers at the same time take turns.

    Raises:
        TypeError: If something is not an array that can be shared, or has other elements.
        ValueError: If a shape, an order in memory or a number is not as above, or `out` is read-only.
    """

def simd_path() -> str:
    """The path in use."""

def simd_paths() -> list[str]:
    """The paths this machine can use, fastest first."""

def set_simd_path(name: str) -> None:
    """Take this path from now on; all give the same bytes."""
