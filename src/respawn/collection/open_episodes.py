"""How long the episodes are that have not ended yet: returns say nothing of those, and they may never end."""

import torch

from respawn.contracts.records import Rollout
from respawn.contracts.saveable import StateTree


class OpenEpisodes:
    """Counts each lane's steps since its last episode ended, or since somebody came back into it, rollout by rollout.

    A caught fish is gone until its school begins anew, and its lane's next episode begins then.
    """

    def __init__(self, num_lanes: int) -> None:
        self._steps = torch.zeros(num_lanes, dtype=torch.int64)  # [B]

    def note(self, rollout: Rollout) -> dict[str, float]:
        """Take in a rollout; answers how long the open episodes are after it, where somebody is there to live them."""
        ended = (rollout.terminated | rollout.truncated | ~rollout.valid).cpu()  # [T, B]
        horizon = len(ended)
        since = ended.flip(0).to(torch.uint8).argmax(0)  # steps after the last end
        self._steps = torch.where(ended.any(0), since, self._steps + horizon)
        lived = self._steps[rollout.valid[-1].cpu()].double()
        if not len(lived):
            return {}
        return {
            "open_length_mean": float(lived.mean()),
            "open_length_p50": float(lived.quantile(0.5)),
            "open_length_max": float(lived.max()),
        }

    def begin_anew(self) -> None:
        """All lanes begin an episode."""
        self._steps.zero_()

    def state(self) -> StateTree:
        """Each lane's steps."""
        return {"steps": self._steps.clone()}

    def restore(self, state: StateTree) -> None:
        """Count on."""
        self._steps = state["steps"].to("cpu", copy=True)
