"""Advancing the clock by one update, and saying what the update was like."""

from collections.abc import Mapping
from time import monotonic, time

import torch

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import Knobs
from respawn.contracts.records import EpisodeReport, LearnReport, Rollout, UpdateReport
from respawn.contracts.saveable import StateTree
from respawn.contracts.world import DiscreteActions, WorldSpec
from respawn.training.recent_episodes import RecentEpisodes

RECENT_EPISODES = 100
MOST_ACTIONS = 32
"""Of more actions than these nobody wants a column each."""


class Reporter:
    """Forms the row of each update. Remembers the most recent episodes, over which returns are summed up."""

    def __init__(
        self, clock: Clock, world: WorldSpec, recent_episodes: int = RECENT_EPISODES, *, collects_beside: bool = False
    ) -> None:
        self._clock = clock
        self._frames_per_step = world.frames_per_step
        self._share_counts = world.share_counts
        self._num_actions = world.actions.num_actions if isinstance(world.actions, DiscreteActions) else 0
        self._recent = RecentEpisodes(recent_episodes, world.tail_facts, world.forward_fact)
        self._collects_beside = collects_beside
        self._last = monotonic()

    def begin(self) -> None:
        """The clock runs from here: what came before is not training time."""
        self._last = monotonic()

    def advance(
        self, rollout: Rollout, learned: LearnReport, knobs: Knobs, seconds: Mapping[str, float]
    ) -> tuple[UpdateReport, list[EpisodeReport]]:
        """Count one update, and report it and the episodes that ended in its rollout.

        Args:
          rollout: what was learned from.
          learned: what the learner said.
          knobs: what held.
          seconds: how long each phase of the loop took.
        """
        clock = self._clock
        now = monotonic()
        update_seconds, self._last = now - self._last, now
        decisions = rollout.num_decisions
        clock.updates += 1
        clock.decisions += decisions
        clock.frames += decisions * self._frames_per_step
        clock.episodes += len(rollout.episodes)
        clock.seconds += update_seconds
        self._recent.note(rollout)
        metrics = {
            **learned.metrics,
            **{f"knob/{name}": value for name, value in knobs.values.items()},
            **self._recent.metrics(),
            **_action_shares(rollout, self._num_actions),
            "collect/scripted_fraction": int((rollout.scripted & rollout.valid).sum()) / max(decisions, 1),
            **self._about_world(rollout.counts, decisions),
            **{f"time/{phase}_seconds": value for phase, value in {**rollout.phase_seconds, **seconds}.items()},
            **{f"time/{name}": value for name, value in rollout.flow.items()},
            **self._shares(rollout, seconds, update_seconds),
            "time/update_seconds": update_seconds,
            "time/total_seconds": clock.seconds,
            "time/decisions_per_second": decisions / max(update_seconds, 1e-9),
            "time/frames_per_second": decisions * self._frames_per_step / max(update_seconds, 1e-9),
            "time/unix": time(),
        }
        report = UpdateReport(clock.updates, clock.decisions, clock.frames, clock.episodes, metrics)
        return report, [EpisodeReport(clock.updates, episode) for episode in rollout.episodes]

    def _about_world(self, counts: Mapping[str, float], decisions: int) -> dict[str, float]:
        plain = {f"world/{name}": count for name, count in counts.items() if name not in self._share_counts}
        shares = {
            f"world/{name}_share": counts[name] / max(decisions, 1) for name in self._share_counts if name in counts
        }
        return {**plain, **shares}

    def _shares(self, rollout: Rollout, seconds: Mapping[str, float], update_seconds: float) -> dict[str, float]:
        """Where an update's time went, in shares of it.

        Where the loop itself collects, collecting, learning and the rest are all there is. Where others collect beside
        it, the loop learns, waits for them (it is idle) or does something else, and collecting goes on meanwhile.
        """
        whole = max(update_seconds, 1e-9)
        collect, learn = rollout.phase_seconds.get("collect", 0.0), seconds.get("learn", 0.0)
        idle = seconds.get("wait", 0.0) if self._collects_beside else 0.0
        taken = learn + (idle if self._collects_beside else collect)
        return {
            "time/collect_share": collect / whole,
            "time/learn_share": learn / whole,
            "time/idle_share": idle / whole,
            "time/other_share": max(0.0, 1.0 - taken / whole),
        }

    def state(self) -> StateTree:
        """The recent episodes."""
        return self._recent.state()

    def restore(self, state: StateTree) -> None:
        """The recent episodes again."""
        self._recent.restore(state)


def _action_shares(rollout: Rollout, num_actions: int) -> dict[str, float]:
    """How often each of a few actions was taken, of all decisions."""
    if not 0 < num_actions <= MOST_ACTIONS:
        return {}
    taken = rollout.actions[rollout.valid].long()
    counts = torch.bincount(taken.flatten(), minlength=num_actions).tolist()
    return {f"policy/action_share_{action}": count / max(len(taken), 1) for action, count in enumerate(counts)}
