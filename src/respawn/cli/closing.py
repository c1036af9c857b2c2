"""What is said when training ends: what was learned, and where it is."""

from respawn.evaluation.config import EvaluationConfig
from respawn.runs.layout import RunFolder
from respawn.training.drive import Outcome
from respawn.training.judge import judge

CLOSING_EVALUATION = EvaluationConfig(episodes=100, num_lanes=50, seed_base=2_000_000)
"""Other seeds than those watched during training, so that what is said at the end was not chosen by looking at it."""


def tell_closing(folder: RunFolder, outcome: Outcome) -> None:
    """Judge the final policy, unless somebody is waiting for the process to leave, and say where everything is."""
    if outcome.status == "finished":
        judgement = judge(folder, CLOSING_EVALUATION)
        metrics = judgement.metrics
        print(
            f"Learned: return {metrics['evaluation/return_mean']:.1f} on average "
            f"(95 % interval {metrics['evaluation/return_low']:.1f} to {metrics['evaluation/return_high']:.1f}) "
            f"over {int(metrics['evaluation/episodes'])} greedy episodes on fresh seeds, "
            f"after {outcome.decisions:,} decisions in {outcome.updates} updates."
        )
    else:
        print(
            f"Stopped at update {outcome.updates}; go on with: respawn resume {folder.name} --runs {folder.path.parent}"
        )
    print(f"Run folder: {folder.path}")
