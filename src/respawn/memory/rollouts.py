"""What can be done with a whole rollout: written down, taken up again, cut down to some of its lanes."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from respawn.contracts.records import Episode, Rollout
from respawn.contracts.saveable import StateTree

ROW_FIELDS = (
    "observations", "actions", "behaviour_log_probs", "rewards", "terminated", "truncated", "valid", "scripted",
)  # fmt: skip


def row_fields(rows: Mapping[str, Any]) -> dict[str, Any]:
    """Of what is there by name, that which a rollout has a row of for every step."""
    return {name: rows[name] for name in ROW_FIELDS}


def some_lanes(rollout: Rollout, first: int, last: int) -> Rollout:
    """Lanes `first` up to, not including, `last`, as views; the episodes stay those of all lanes."""
    inside = (rollout.cuts[:, 1] >= first) & (rollout.cuts[:, 1] < last)
    return replace(
        rollout,
        **{name: getattr(rollout, name)[:, first:last] for name in ROW_FIELDS},
        cuts=rollout.cuts[inside] - torch.tensor([0, first]),
        cut_observations=rollout.cut_observations[inside.to(rollout.cut_observations.device)],
        memory={name: tensor[first:last] for name, tensor in rollout.memory.items()},
    )


def rollout_to(rollout: Rollout, device: torch.device) -> Rollout:
    """The same rollout on `device`; where it is there already, nothing is copied."""
    if rollout.rewards.device == device:
        return rollout
    return replace(
        rollout,
        **{name: getattr(rollout, name).to(device) for name in (*ROW_FIELDS, "cut_observations")},
        memory={name: tensor.to(device) for name, tensor in rollout.memory.items()},
    )


def rollout_state(rollout: Rollout) -> StateTree:
    """A rollout that has been collected and not yet learned from, as a part of a checkpoint."""
    return {
        **{name: getattr(rollout, name).clone() for name in (*ROW_FIELDS, "cuts", "cut_observations")},
        "memory": {name: tensor.clone() for name, tensor in rollout.memory.items()},
        "weights_version": rollout.weights_version,
        "knobs_version": rollout.knobs_version,
        "episodes": [
            {
                "lane": e.lane,
                "episode_return": e.episode_return,
                "length": e.length,
                "end": e.end,
                "facts": dict(e.facts),
            }
            for e in rollout.episodes
        ],
        "phase_seconds": dict(rollout.phase_seconds),
        "counts": dict(rollout.counts),
        "flow": dict(rollout.flow),
    }


def rollout_from_state(state: StateTree, device: torch.device) -> Rollout:
    """The rollout that `rollout_state` described, in memory of its own on `device`."""
    # Checkpoints from before there were scripts do not speak of them.
    rows = {"scripted": torch.zeros_like(state["valid"]), **state}
    return Rollout(
        **{name: rows[name].to(device, copy=True) for name in (*ROW_FIELDS, "cut_observations")},
        cuts=state["cuts"].clone(),
        memory={name: tensor.to(device, copy=True) for name, tensor in state["memory"].items()},
        weights_version=state["weights_version"],
        knobs_version=state["knobs_version"],
        episodes=tuple(Episode(**episode) for episode in state["episodes"]),
        phase_seconds=state["phase_seconds"],
        counts=state.get("counts", {}),
        flow=state.get("flow", {}),
    )
