"""Advancing the clock by one update, and saying what the update was like."""

from collections.abc import Mapping
from math import isnan
from time import monotonic, time

from respawn.contracts.clock import Clock
from respawn.contracts.knobs import Knobs
from respawn.contracts.records import EpisodeReport, LearnReport, Rollout, UpdateReport
from respawn.contracts.saveable import StateTree
from respawn.contracts.world import WorldSpec
from respawn.maths.running import Window

RECENT_EPISODES = 100


class Reporter:
    """Forms the row of each update. Remembers the most recent episodes, over which returns are summed up."""

    def __init__(self, clock: Clock, world: WorldSpec) -> None:
        self._clock = clock
        self._frames_per_step = world.frames_per_step
        self._tail_facts = world.tail_facts
        self._share_counts = world.share_counts
        self._returns = Window(RECENT_EPISODES)
        self._lengths = Window(RECENT_EPISODES)
        self._terminations = Window(RECENT_EPISODES)
        self._facts: dict[str, Window] = {}
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
        metrics = {
            **learned.metrics,
            **{f"knob/{name}": value for name, value in knobs.values.items()},
            **self._about_episodes(rollout),
            "collect/scripted_fraction": int((rollout.scripted & rollout.valid).sum()) / max(decisions, 1),
            **self._about_world(rollout.counts, decisions),
            **{f"time/{phase}_seconds": value for phase, value in {**rollout.phase_seconds, **seconds}.items()},
            **{f"time/{name}": value for name, value in rollout.flow.items()},
            "time/update_seconds": update_seconds,
            "time/total_seconds": clock.seconds,
            "time/decisions_per_second": decisions / max(update_seconds, 1e-9),
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

    def _about_episodes(self, rollout: Rollout) -> dict[str, float]:
        self._returns.extend(episode.episode_return for episode in rollout.episodes)
        self._lengths.extend(episode.length for episode in rollout.episodes)
        # Not from the episodes' ends: a word of the world's own may stand for either.
        self._terminations.extend(rollout.terminated[rollout.terminated | rollout.truncated].tolist())  # by step, lane
        for episode in rollout.episodes:
            for name, fact in episode.facts.items():
                if not isinstance(fact, str) and not isnan(fact):  # NaN: what it tells of never happened
                    self._facts.setdefault(name, Window(RECENT_EPISODES)).extend([fact])
        if not len(self._returns):
            return {}
        return {
            "return/mean": self._returns.mean(),
            "return/p10": self._returns.percentile(10),
            "return/p50": self._returns.percentile(50),
            "return/p90": self._returns.percentile(90),
            "return/max": self._returns.percentile(100),
            "length/mean": self._lengths.mean(),
            "episodes/terminated_fraction": self._terminations.mean(),
            **{f"episode/{name}": window.mean() for name, window in self._facts.items()},
            **{
                f"episode/{name}_p10": self._facts[name].percentile(10)
                for name in self._tail_facts
                if name in self._facts
            },
        }

    def state(self) -> StateTree:
        """The recent episodes."""
        return {
            "returns": self._returns.state(),
            "lengths": self._lengths.state(),
            "terminations": self._terminations.state(),
            "facts": {name: window.state() for name, window in self._facts.items()},
        }

    def restore(self, state: StateTree) -> None:
        """The recent episodes again."""
        self._returns.restore(state["returns"])
        self._lengths.restore(state["lengths"])
        self._terminations.restore(state["terminations"])
        for name, window in state.get("facts", {}).items():
            self._facts.setdefault(name, Window(RECENT_EPISODES)).restore(window)
