"""A page that shows a run's figures: Markdown, with paths as seen from the page itself."""

from collections.abc import Mapping
from pathlib import Path

from respawn.evaluation.artefacts.probe_views import ProbeView
from respawn.evaluation.learning_health import entropy_limit, learning_health, told
from respawn.evaluation.out_files import prepare_place, written_aside
from respawn.evaluation.plots.shown_run import ShownRun
from respawn.evaluation.run_record import finite

PAGE = "index.md"

_SENTENCES = {
    "learning_curve": "Returns, and what else the world tells, in training and when judged.",
    "learning_health": "Entropy, KL divergence, explained variance and learning rate; dashed lines are what to pass.",
    "survival": "Which share of a school was left at the end of training episodes, and how many fish.",
    "first_death": "In which step the first fish of a training episode died.",
    "multi_eval_timeline": "How probes judged the policy: mean and worst survival, early deaths, 10th percentile.",
    "death_histogram": "When fish died in the last probe, and how many were left over time, beside the first probe.",
    "gate_timeline": "What the penalty gate saw, the limits it went by, its medians, and what it decided.",
    "penalty_vs_first_death": "Whether fish die sooner as the density penalty rises.",
    "penalty_vs_entropy": "The density penalty beside the cost of entropy, and the entropy that came of it.",
    "step_one_heading_polar": "Where predators were heading that caught somebody in the first step.",
    "step_one_stage_distribution": "Deaths in the first step, probe by probe and by kind of hard starts.",
    "tail_stage_warning": "How many hard starts are left, when that was warned of, and when their end is foreseen.",
}
_LAST_PROBE = (
    ("survival, mean", "summary", "avg_final_survival_rate", "{:.1%}"),
    ("survival, worst episode", "summary", "min_final_survival_rate", "{:.1%}"),
    ("dead before step 100", "death_stats", "early_death_fraction_100", "{:.2%}"),
    ("dead before step 150", "death_stats", "early_death_fraction_150", "{:.2%}"),
    ("a tenth is dead by step", "death_stats", "p10", "{:.1f}"),
    ("mean death step", "death_stats", "mean_death_step", "{:.1f}"),
)


def write_index(run: ShownRun, left_out: Mapping[str, str]) -> Path:
    """Write index.md beside the figures, showing all that are there; answers its path.

    Args:
      run: the run.
      left_out: figures that were not drawn, and why.
    """
    place = run.record.folder.path / "plots"
    page = place / PAGE
    health = learning_health(run.record.updates, entropy_limit(run.record.config))
    updates = run.record.updates[-1].update if run.record.updates else 0
    decisions = run.record.updates[-1].decisions if run.record.updates else 0
    lines = [f"# {run.name}", "", f"After {updates:,} updates and {decisions:,} decisions. {told(health)}", ""]
    if run.probes:
        lines += _last_probe(run.probes[-1])
    for name, sentence in _SENTENCES.items():
        file = f"{run.name}_{name}"
        if (place / f"{file}.png").is_file():
            also = f" ([SVG]({file}.svg))" if (place / f"{file}.svg").is_file() else ""
            lines += [f"## {_title(name)}", "", f"{sentence}{also}", "", f"![{sentence}]({file}.png)", ""]
    lines += _histograms(run, place)
    film = f"{run.name}_curve.gif"
    if (place.parent / "media" / film).is_file():
        lines += ["## The curve, growing", "", f"![The learning curve, update by update](../media/{film})", ""]
    if left_out:
        lines += ["## Not drawn", "", *(f"- {_title(name)}: {why}" for name, why in left_out.items()), ""]
    prepare_place(page)
    with written_aside(page) as aside:
        aside.write_text("\n".join(lines), encoding="utf-8")
    return page


def _last_probe(probe: ProbeView) -> list[str]:
    rows = [f"| probe after update | {probe.iteration} |"]
    if probe.fact("episodes") and probe.fact("num_fish"):
        rows.append(f"| played | {probe.fact('episodes')} episodes of {probe.fact('num_fish')} fish |")
    for label, group, name, form in _LAST_PROBE:
        value = finite((getattr(probe, group) or {}).get(name))
        if value is not None:
            rows.append(f"| {label} | {form.format(value)} |")
    if probe.step_one_count is not None and probe.step_one_ratio is not None:
        rows.append(f"| died in the first step | {probe.step_one_count} ({probe.step_one_ratio:.2%}) |")
    if probe.doomed_count is not None:
        rows.append(f"| … of them beyond saving | {probe.doomed_count} |")
    if probe.stage_type:
        rows.append(f"| hard starts in training | {probe.stage_type} |")
    return ["| the last probe | |", "|---|---|", *rows, ""]


def _histograms(run: ShownRun, place: Path) -> list[str]:
    folder = f"{run.name}_multi_eval_hist"
    shown = [
        f"[update {probe.iteration}]({folder}/{name})"
        for probe in run.probes
        if (place / folder / (name := f"{run.name}_iter{probe.iteration:03d}_death_hist.png")).is_file()
    ]
    if not shown:
        return []
    return ["## Deaths in every probe", "", f"When fish died, after {', '.join(shown)}.", ""]


def _title(name: str) -> str:
    return name.replace("_vs_", " and ").replace("_", " ").capitalize()
