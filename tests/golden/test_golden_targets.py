"""Targets and advantages worked out by hand, the arithmetic beside each number."""

import torch

from respawn.maths.gae import gae
from respawn.maths.vtrace import vtrace

# One lane, four rows; the episode is cut after the second, and the next one is still going on after the fourth.
# discount 1/2, trace decay 1/2: what flows back is a quarter.
REWARDS = torch.tensor([[1.0], [2.0], [-1.0], [4.0]])
VALUES = torch.tensor([[2.0], [4.0], [0.0], [6.0]])
NEXT_VALUES = torch.tensor([[4.0], [8.0], [6.0], [10.0]])
ENDED = torch.tensor([[False], [True], [False], [False]])


def test_gae():
    # delta: 1 + 2 - 2 = 1,  2 + 4 - 4 = 2,  -1 + 3 - 0 = 2,  4 + 5 - 6 = 3
    # advantage: 1 + 2/4 = 1.5,  2 (cut),  2 + 3/4 = 2.75,  3
    result = gae(REWARDS, VALUES, NEXT_VALUES, ENDED, discount=0.5, trace_decay=0.5)
    assert result.advantages.flatten().tolist() == [1.5, 2.0, 2.75, 3.0]
    assert result.targets.flatten().tolist() == [3.5, 6.0, 2.75, 9.0]


def test_vtrace():
    log_rhos = torch.tensor([[2.0], [0.5], [0.25], [4.0]]).log()
    # rho clipped at 1: 1, 1/2, 1/4, 1; deltas: 1, 2/2 = 1, 2/4 = 0.5, 3
    # v - V: 1 + 1/4 * 1 (c = 1) = 1.25,  1 (cut),  0.5 + 1/4 * 1/4 * 3 = 0.6875,  3
    # next target: 4 + 1 = 5,  8 (cut),  6 + 3 = 9,  10 (last row)
    # advantage, rho clipped at 3:  2 * (1 + 2.5 - 2) = 3,  1/2 * 2 = 1,  1/4 * (-1 + 4.5 - 0) = 0.875,  3 * 3 = 9
    result = vtrace(log_rhos, REWARDS, VALUES, NEXT_VALUES, ENDED, discount=0.5, trace_decay=0.5, pg_rho_clip=3.0)
    torch.testing.assert_close(result.targets.flatten(), torch.tensor([3.25, 5.0, 0.6875, 9.0]))
    torch.testing.assert_close(result.advantages.flatten(), torch.tensor([3.0, 1.0, 0.875, 9.0]))
