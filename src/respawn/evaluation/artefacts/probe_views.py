"""A probe with everything that follows from it: computed where the probe itself does not say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from respawn.contracts.records import Probe
from respawn.evaluation.fish_statistics import LIMIT_STEPS, death_stats, survival_summary
from respawn.evaluation.run_record import RunRecord, finite
from respawn.evaluation.step_one_statistics import UNKNOWN, ne_high_speed_share, step_one_clusters, top_share


@dataclass(frozen=True)
class ProbeView:
    """One probe of a school of fish."""

    probe: Probe
    stage_type: str | None
    """the kind of hard starts that training was being dealt"""

    @property
    def iteration(self) -> int:
        """After which update it was made."""
        return self.probe.update

    def fact(self, name: str) -> Any:
        """Anything that the probe tells; None: it does not."""
        return self.probe.facts.get(name)

    def listed(self, name: str) -> list[Any]:
        """A list that the probe tells; empty: it does not."""
        found = self.fact(name)
        return list(found) if isinstance(found, list | tuple) else []

    @property
    def limit_steps(self) -> int:
        """How long its episodes last."""
        return int(finite(self.fact("limit_steps")) or LIMIT_STEPS)

    @cached_property
    def death_timesteps(self) -> list[list[int]]:
        """The step in which each fish of each episode died; -1: it survived."""
        return [list(record.get("death_timesteps") or ()) for record in self.listed("records")]

    @cached_property
    def summary(self) -> Mapping[str, Any] | None:
        """How many survived; computed where it is not told."""
        told = self.fact("summary")
        alive = [record.get("final_num_alive") for record in self.listed("records")]
        if told or not alive or not self.fact("num_fish") or None in alive:
            return told or None
        return survival_summary(alive, int(self.fact("num_fish")))

    @cached_property
    def death_stats(self) -> Mapping[str, Any] | None:
        """When fish died: from their deaths, where these are known, and else as told."""
        if any(self.death_timesteps):
            return death_stats(self.death_timesteps, self.limit_steps)
        return self.fact("death_stats") or None

    @cached_property
    def step_one_deaths(self) -> list[dict[str, Any]]:
        """Who was caught in the first step, each with the iteration and the kind of hard starts."""
        return [
            {"iteration": self.iteration, "tail_stage_type": self.stage_type or UNKNOWN, **death}
            for death in self.listed("step_one_deaths")
        ]

    @property
    def step_one_count(self) -> int | None:
        """How many were caught in the first step."""
        told = finite(self.fact("step_one_death_count"))
        return (
            int(told)
            if told is not None
            else len(self.step_one_deaths)
            if "step_one_deaths" in self.probe.facts
            else None
        )

    @property
    def step_one_ratio(self) -> float | None:
        """Which share was."""
        told, count = finite(self.fact("step_one_death_ratio")), self.step_one_count
        fish = (finite(self.fact("num_fish")) or 0.0) * (finite(self.fact("episodes")) or 0.0)
        return told if told is not None or count is None or not fish else count / fish

    @property
    def doomed_count(self) -> int | None:
        """How many of them would have been caught whatever they had done."""
        doomed = self.fact("doomed")
        told = finite(doomed.get("count")) if isinstance(doomed, Mapping) else None
        return None if told is None else int(told)

    @cached_property
    def clusters(self) -> dict[str, Any]:
        """The deaths in the first step by the predator's heading and speed."""
        return step_one_clusters(self.step_one_deaths)

    @property
    def top_share(self) -> float | None:
        """The share of the largest cluster."""
        return top_share(self.clusters)

    @property
    def ne_share(self) -> float | None:
        """The share of fast predators with headings between 90 and 150 degrees."""
        return ne_high_speed_share(self.clusters)


def probe_views(record: RunRecord) -> list[ProbeView]:
    """All probes of a run."""
    return [ProbeView(probe, record.stage_type(probe.update)) for probe in record.probes]


def all_step_one_deaths(probes: Sequence[ProbeView]) -> list[dict[str, Any]]:
    """Of all probes, in order."""
    return [death for probe in probes for death in probe.step_one_deaths]
