"""A run as figures look at it: series without gaps, probes, phases."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from respawn.evaluation.artefacts.probe_views import ProbeView, probe_views
from respawn.evaluation.plots.figure import DIM
from respawn.evaluation.run_record import CURRICULUM, RunRecord

Drawn = Figure | str
"""a figure, or why there is none"""

STAGE_COLOURS = ("#3a6ea5", "#e08e2b", "#2a9d5c", "#8e5ea2", "#d64545", "#8a8f9c")
"""of kinds of hard starts, in the order of their names"""


@dataclass(frozen=True)
class ShownRun:
    """What figures are drawn from."""

    record: RunRecord

    @property
    def name(self) -> str:
        """The run's name."""
        return self.record.name

    @cached_property
    def probes(self) -> list[ProbeView]:
        """The run's probes."""
        return probe_views(self.record)

    def points(self, metric: str) -> tuple[list[int], list[float]]:
        """Updates, and what a metric was after each of those that tell it."""
        known = [
            (update.update, value)
            for update, value in zip(self.record.updates, self.record.series(metric), strict=True)
            if value is not None
        ]
        return [update for update, _ in known], [value for _, value in known]

    @cached_property
    def phase_starts(self) -> list[int]:
        """The updates in which a phase of the curriculum began, without the first."""
        phases = [(update, facts.get("phase")) for update, facts in sorted(self.record.rulings[CURRICULUM].items())]
        return [now for (_, before), (now, phase) in pairwise(phases) if phase != before]

    @cached_property
    def stage_colours(self) -> dict[str, str]:
        """A colour for each kind of hard starts that training was dealt at a probe."""
        kinds = sorted({death["tail_stage_type"] for probe in self.probes for death in probe.step_one_deaths})
        return {kind: STAGE_COLOURS[place % len(STAGE_COLOURS)] for place, kind in enumerate(kinds)}

    def mark_phases(self, axes: Axes, *, named: bool = True) -> None:
        """A thin line where each phase of the curriculum begins, named in the legend or not."""
        for number, update in enumerate(self.phase_starts):
            label = "a phase begins" if number == 0 and named else "_"
            axes.axvline(update - 0.5, color=DIM, linewidth=0.8, linestyle=":", label=label, zorder=0)


def marker_for(count: int) -> str:
    """Dots where lines are too short to be seen without."""
    return "o" if count < 25 else ""
