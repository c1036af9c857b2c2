"""What is said of a school of fish when its training ends."""

from dataclasses import replace

from respawn.cli.progress import progress_bar
from respawn.cli.wording import command_for, in_one_line
from respawn.errors import RespawnError
from respawn.evaluation.learning_health import told
from respawn.runs.layout import RunFolder
from respawn.training.drive import Outcome
from respawn.training.judge_fish import SchoolTrials, judge_fish
from respawn.training.trained import load_run

CLOSING_TRIALS = SchoolTrials(episodes=40, seed_base=2_000_000, sampled=False)
"""Other seeds than those watched during training, so that what is said at the end was not chosen by looking at it."""

OTHER_BASE = 2_500_000
"""Where they begin if a run was watched by just those."""


def learned_by_fish(folder: RunFolder, device: str, outcome: Outcome) -> str:
    """Judge the final policy, and say how many survive, of how many that could."""
    trained = load_run(folder)
    watched = trained.config.evaluation
    overlaps = watched.seed_base < OTHER_BASE and watched.seed_base + watched.episodes > CLOSING_TRIALS.seed_base
    trials = replace(CLOSING_TRIALS, seed_base=OTHER_BASE) if overlaps else CLOSING_TRIALS
    print(f"Judging the final policy on {trials.episodes} fresh schools of {trials.fish} fish ...", flush=True)
    try:
        judgement = judge_fish(trained, trials, device_name=device)
    except RespawnError as error:
        error.add_note(f"(The run {folder.path} itself is finished and saved; only judging it failed.)")
        raise
    found = judgement.greedy
    best = max(
        (numbers["survival_mean"], name) for name, numbers in judgement.null_policies.items() if name != "evader"
    )
    why = ", where its goal was reached" if outcome.goal_reached else ""
    return (
        f"Learned: {100 * found['survival_mean']:.2f} % of the fish survive (95 % interval "
        f"{100 * found['survival_low']:.2f} to {100 * found['survival_high']:.2f} %), where "
        f"{100 * (1 - found['doomed_fraction']):.2f} % is all that can and always '{best[1].replace('_', ' ')}' keeps "
        f"{100 * best[0]:.1f} %, after {outcome.decisions:,} decisions in {outcome.updates:,} updates{why}."
    )


def drawn_at_the_end(folder: RunFolder) -> str:
    """Draw every figure and write every artefact of the run, and say where they are and whether it learned."""
    # Imported only now: matplotlib takes a second to load.
    from respawn.evaluation.publish import publish

    try:
        with progress_bar() as tell:
            made = publish(folder, tell=tell)
    except (OSError, RespawnError) as error:
        raise RespawnError(
            f"the run {folder.path} is finished and saved, but its figures could not be drawn ({in_one_line(error)}); "
            f"try again with: {command_for('plot', folder)}"
        ) from error
    pages = [path for path in made.figures.paths if path.suffix == ".md"]
    return "\n".join([told(made.health), *(f"Figures:    {page}" for page in pages)])
