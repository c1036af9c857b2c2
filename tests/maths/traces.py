"""Random traces for the tests of gae and vtrace, and the value after each row worked out one row at a time."""

from dataclasses import dataclass

import torch
from hypothesis import strategies as st
from torch import Tensor

from respawn.maths.bootstrap import next_values


@dataclass(frozen=True)
class Trace:
    rewards: Tensor
    values: Tensor  # [T+1, B]
    terminated: Tensor
    truncated: Tensor
    cuts: Tensor
    cut_values: Tensor
    log_rhos: Tensor

    @property
    def ended(self) -> Tensor:
        return self.terminated | self.truncated

    @property
    def after(self) -> Tensor:
        return next_values(self.values, self.terminated, self.cuts, self.cut_values)


def random_trace(seed: int, num_rows: int, num_lanes: int) -> Trace:
    g = torch.Generator().manual_seed(seed)
    fate = torch.rand(num_rows, num_lanes, generator=g)
    truncated = (fate > 0.1) & (fate < 0.3)
    cuts = truncated.nonzero()
    return Trace(
        rewards=torch.randn(num_rows, num_lanes, generator=g),
        values=torch.randn(num_rows + 1, num_lanes, generator=g),
        terminated=fate <= 0.1,
        truncated=truncated,
        cuts=cuts,
        cut_values=torch.randn(len(cuts), generator=g),
        log_rhos=0.7 * torch.randn(num_rows, num_lanes, generator=g),
    )


def traces() -> st.SearchStrategy[Trace]:
    return st.builds(random_trace, st.integers(0, 2**31), st.integers(1, 9), st.integers(1, 4))
