"""The value of what comes after each row, where an episode ended and where it did not."""

import torch
from torch import Tensor

from respawn.maths.rows import check_rows


@torch.no_grad()
def next_values(values: Tensor, terminated: Tensor, cuts: Tensor, cut_values: Tensor) -> Tensor:
    """The value after each row: nothing after an end, the cut observation's own after a cut, else the next row's.

    Args:
      values: [T+1, B] of each row's observation; row T is where the next rollout begins.
      terminated: [T, B] bool.
      cuts: [K, 2] int64 (t, lane) of each truncated row.
      cut_values: [K] of the last observation of each truncated episode.

    Returns:
      [T, B], without gradient.
    """
    assert values.ndim == 2 and values.shape[0] == terminated.shape[0] + 1, (
        f"expected one row of values more than the {terminated.shape[0]} of terminated, got {tuple(values.shape)}"
    )
    assert cuts.shape == (cut_values.shape[0], 2), f"expected cuts [K, 2], got {tuple(cuts.shape)}"
    check_rows(numbers=(values[1:],), flags=(terminated,))
    after = values[1:].masked_fill(terminated, 0.0)  # [T, B]
    if cuts.shape[0] > 0:
        rows, lanes = cuts.to(values.device).unbind(1)
        after[rows, lanes] = cut_values.to(after.dtype)
    return after
