"""What hints may look at: what the run is, its latest rows, and a little of what went before."""

from collections import deque
from dataclasses import dataclass
from math import isfinite, nan
from statistics import fmean, median

from respawn.contracts.records import EvaluationReport, ResourceReport, UpdateReport
from respawn.contracts.saveable import StateTree

RECENT_ROWS = 100
"""rows of updates that conditions may look back over"""
BLOCK_ROWS = 20
"""rows that are summed up by their median, for what must be remembered longer"""
MOST_BLOCKS = 50
MOST_EVALUATIONS = 20
JUDGED_BY = "evaluation/return_mean"
"""by which evaluations are compared here"""
MOST_RESOURCES = 360
"""an hour, at one sample in ten seconds"""

LONG_REMEMBERED = ("loss/value", "return/mean")
"""metrics whose medians are kept for longer than the latest rows"""

WATCHED = frozenset(
    {
        "collect/scripted_fraction", "episodes/terminated_fraction", "gradient/clipped_fraction", "gradient/norm",
        "learn/dropped", "loss/value", "policy/entropy", "policy/kl", "replay/fill",
        "replay/sampled", "return/max", "return/mean", "return/min", "return/p10", "return/std",
        "time/actors_waiting_share", "time/collect_share", "time/idle_share", "time/learn_share",
        "time/learner_waiting_share", "time/other_share", "time/total_seconds", "time/update_seconds",
        "value/explained_variance", "weights/lag",
    }
)  # fmt: skip
"""metrics that conditions ask for, beside the share of each action and progress; a checkpoint need not hold the rest"""
ACTION_SHARE = "policy/action_share_"


@dataclass(frozen=True, slots=True)
class HintFacts:
    """What a run is, as far as hints must know: plain numbers and words."""

    num_lanes: int
    """lanes of each world"""
    horizon_steps: int
    planned_updates: int
    num_actions: int | None = None
    """None: actions are continuous"""
    device_type: str = "cpu"
    """such as 'cuda'"""
    usable_cores: int = 1
    threads: int = 1
    """that torch computes with; 0: one per core"""
    learner: str = "ppo"
    """'ppo' or 'vtrace'"""
    kl_limit: float = 0.0
    """nats at which PPO ends an update by itself; 0: it does not"""
    gradient_norm: float = 0.0
    """the longest gradient that is followed unscaled; 0: any"""
    has_replay: bool = False
    lag: int = 0
    is_threaded: bool = True
    """with lag 1: a thread of its own gathers, beside learning"""
    actors: int = 0
    is_judged_as_trained: bool = False
    """evaluations are played in what is trained in, so that their returns compare: no levels that wait to be opened, no
    hard starts, no knob of the world that is turned in training"""
    best_kept_by: str = JUDGED_BY
    """the metric by whose highest value checkpoint 'best' is kept; empty: none is"""
    progress_metric: str | None = None
    """the share of decisions that led forward, such as 'world/forward_share'; None: the world does not say"""

    @property
    def lanes_in_all(self) -> int:
        """Lanes of all worlds together."""
        return self.num_lanes * max(self.actors, 1)


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """An evaluation, and what training was like when it was made."""

    update: int
    judged: float
    """its JUDGED_BY"""
    trained: float | None
    """return/mean; None: there is none, or it does not compare"""
    trained_low: float | None
    """return/p10"""


class HintView:
    """Remembers what conditions look at. Names that a row lacks, or that are not finite, are simply not there."""

    def __init__(self, facts: HintFacts) -> None:
        self.facts = facts
        self.update = 0
        self.decisions = 0
        self.episodes = 0
        self.evaluations: deque[JudgedRow] = deque(maxlen=MOST_EVALUATIONS)
        self.best_evaluation: tuple[int, float] | None = None
        self.worst_evaluation: float | None = None
        self.replacements: deque[tuple[int, str]] = deque(maxlen=RECENT_ROWS)
        """update and log of each worker or actor that was lost and replaced"""
        self.resources: deque[dict[str, float]] = deque(maxlen=MOST_RESOURCES)
        self.first_sampled_update = 0.0
        """that of this process's first sample: later ones were taken after an update of its own"""
        self._rows: deque[dict[str, float]] = deque(maxlen=RECENT_ROWS)
        self._blocks: dict[str, deque[float | None]] = {name: deque(maxlen=MOST_BLOCKS) for name in LONG_REMEMBERED}

    def note_update(self, report: UpdateReport) -> None:
        """Take in a row of updates.jsonl."""
        self.update, self.decisions, self.episodes = report.update, report.decisions, report.episodes
        self._rows.append({name: value for name, value in report.metrics.items() if self._is_watched(name, value)})
        if report.update % BLOCK_ROWS == 0:
            for name, blocks in self._blocks.items():
                values = self.recent(name, BLOCK_ROWS)
                blocks.append(median(values) if values else None)  # all have a place, so that they go together

    def note_evaluation(self, report: EvaluationReport) -> None:
        """Take in a row of evaluations.jsonl, beside the update that it came after."""
        judged = report.metrics.get(JUDGED_BY)
        if judged is None or not isfinite(judged):
            return
        # Episodes that the judge cut short count with what they had reached: that compares with no training.
        is_whole = report.metrics.get("evaluation/unfinished", 0.0) == 0
        row = self._rows[-1] if self._rows and is_whole else {}
        self.evaluations.append(JudgedRow(report.update, judged, row.get("return/mean"), row.get("return/p10")))
        if self.best_evaluation is None or judged > self.best_evaluation[1]:
            self.best_evaluation = (report.update, judged)
        self.worst_evaluation = judged if self.worst_evaluation is None else min(judged, self.worst_evaluation)

    def note_resources(self, report: ResourceReport) -> None:
        """Take in a row of resources.jsonl, and which update it came after."""
        if not self.resources:
            self.first_sampled_update = float(report.update)
        known = {name: value for name, value in report.metrics.items() if isfinite(value)}
        self.resources.append({**known, "update": float(report.update)})

    def recent(self, name: str, rows: int) -> list[float] | None:
        """A metric in the last `rows` rows; None where there are not as many, or one of them lacks it."""
        assert rows <= RECENT_ROWS, f"only {RECENT_ROWS} rows are remembered"
        if len(self._rows) < rows:
            return None
        values = [row[name] for row in list(self._rows)[-rows:] if name in row]
        return values if len(values) == rows else None

    def latest(self, name: str) -> float | None:
        """A metric in the newest row."""
        return self._rows[-1].get(name) if self._rows else None

    def middle(self, name: str, rows: int) -> float | None:
        """The median of the last rows, on which single odd rows have no hold; None as for `recent`."""
        values = self.recent(name, rows)
        return None if values is None else median(values)

    def mean(self, name: str, rows: int) -> float | None:
        """The mean of the last rows: of shares of time, in which every evaluation and checkpoint counts."""
        values = self.recent(name, rows)
        return None if values is None else fmean(values)

    def mean_by_time(self, name: str, rows: int) -> float | None:
        """The mean of a share of time over the last rows, each as long as it took: one long row may be most of it."""
        values, seconds = self.recent(name, rows), self.recent("time/update_seconds", rows)
        if values is None or seconds is None or sum(seconds) <= 0:
            return None
        return sum(value * weight for value, weight in zip(values, seconds, strict=True)) / sum(seconds)

    def earlier(self, name: str) -> list[float]:
        """Medians of the metric over blocks of 20 updates, oldest first, where known, but for the newest block."""
        return [value for value in list(self._blocks[name])[:-1] if value is not None]

    def blocks(self, *names: str) -> list[tuple[float, ...]]:
        """Medians of metrics over the same blocks of 20 updates, oldest first; NaN where one is not known."""
        columns = ([nan if value is None else value for value in self._blocks[name]] for name in names)
        return list(zip(*columns, strict=True))

    def was_scripted(self, rows: int) -> bool:
        """Whether anything was forced in the last rows, so that they do not show what the policy does."""
        return any(row.get("collect/scripted_fraction", 0.0) > 0 for row in list(self._rows)[-rows:])

    def action_shares(self, rows: int) -> dict[str, float]:
        """How often each action was taken, on average over the last rows; empty where that is not known."""
        if len(self._rows) < rows:
            return {}
        names = [name for name in self._rows[-1] if name.startswith(ACTION_SHARE)]
        means = {name: self.mean(name, rows) for name in names}
        return {name.removeprefix(ACTION_SHARE): share for name, share in means.items() if share is not None}

    def resource(self, name: str, samples: int = 1) -> list[float] | None:
        """A resource in the last samples of this process; None where there are not as many, or one lacks it."""
        if len(self.resources) < samples:
            return None
        values = [row[name] for row in list(self.resources)[-samples:] if name in row]
        return values if len(values) == samples else None

    def state(self) -> StateTree:
        """All but resources: what another process used says nothing about the one that takes the run up."""
        return {
            "update": self.update,
            "decisions": self.decisions,
            "episodes": self.episodes,
            "rows": len(self._rows),
            "columns": {name: [row.get(name) for row in self._rows] for name in sorted(set().union(*self._rows))},
            "blocks": {name: list(values) for name, values in self._blocks.items()},
            "evaluations": [[row.update, row.judged, row.trained, row.trained_low] for row in self.evaluations],
            "best_evaluation": None if self.best_evaluation is None else list(self.best_evaluation),
            "worst_evaluation": self.worst_evaluation,
            "replacements": [list(replacement) for replacement in self.replacements],
        }

    def restore(self, state: StateTree) -> None:
        """Know it again."""
        self.update, self.decisions, self.episodes = state["update"], state["decisions"], state["episodes"]
        self._rows = deque(({} for _ in range(state["rows"])), maxlen=RECENT_ROWS)
        for name, values in state["columns"].items():
            for row, value in zip(self._rows, values, strict=True):
                if value is not None:
                    row[name] = value
        saved = {name: list(state["blocks"].get(name, [])) for name in self._blocks}
        most = max(map(len, saved.values()))
        for name, blocks in self._blocks.items():  # older versions left out what was not known, mostly at first
            blocks.clear()
            blocks.extend([None] * (most - len(saved[name])) + saved[name])
        self.evaluations = deque((JudgedRow(*row) for row in state["evaluations"]), maxlen=MOST_EVALUATIONS)
        best = state["best_evaluation"]
        self.best_evaluation = None if best is None else (best[0], best[1])
        self.worst_evaluation = state["worst_evaluation"]
        self.replacements = deque(((update, log) for update, log in state["replacements"]), maxlen=RECENT_ROWS)
        self.resources.clear()

    def _is_watched(self, name: str, value: float) -> bool:
        known = name in WATCHED or name == self.facts.progress_metric or name.startswith(ACTION_SHARE)
        return known and isfinite(value)
