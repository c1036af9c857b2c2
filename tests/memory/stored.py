"""Small rollouts to keep, in which every number tells where it is from."""

import torch

from respawn.contracts.records import Rollout


def numbered_rollout(first=0, *, num_rows=3, num_lanes=4, version=0, cuts=(), device="cpu"):
    """Row t of lane b holds first + 10 b + t; `cuts` are (row, lane) of truncated ones."""
    rows, lanes = torch.meshgrid(torch.arange(num_rows + 1), torch.arange(num_lanes), indexing="ij")
    numbers = first + 10 * lanes + rows
    truncated = torch.zeros((num_rows, num_lanes), dtype=torch.bool)
    for row, lane in cuts:
        truncated[row, lane] = True
    where = truncated.nonzero()
    on = {"device": device}
    return Rollout(
        observations=numbers[..., None].to(torch.uint8).to(**on),
        actions=numbers[:-1].to(**on),
        behaviour_log_probs=-0.01 * numbers[:-1].float().to(**on),
        rewards=numbers[:-1].float().to(**on),
        terminated=torch.zeros_like(truncated).to(**on),
        truncated=truncated.to(**on),
        valid=torch.ones_like(truncated).to(**on),
        scripted=(numbers[:-1] % 7 == 0).to(**on),
        cuts=where,
        cut_observations=(100 + numbers[:-1][truncated])[:, None].to(torch.uint8).to(**on),
        memory={"core": torch.arange(num_lanes)[:, None].float().to(**on) + first},
        weights_version=version,
        knobs_version=0,
        episodes=(),
        phase_seconds={},
    )
