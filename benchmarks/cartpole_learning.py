"""Do both learners solve CartPole-v1 (over 475, mean of 100 greedy episodes) within 150,000 decisions?"""

import sys
from dataclasses import asdict

from harness import keep, show
from learning import train_seeds
from respawn.presets import find_preset

SEEDS = (1, 2, 3)
LEAST_RETURN = 475.0
MOST_DECISIONS = 150_000


def main() -> int:
    trained = [
        run for preset in ("cartpole-ppo", "cartpole-vtrace") for run in train_seeds(preset, find_preset(preset), SEEDS)
    ]
    columns = ("preset", "seed", "decisions", "return", "lowest", "seconds")
    rows = [(t.preset, t.seed, f"{t.decisions:,}", t.return_mean, t.return_min, t.train_seconds) for t in trained]
    show("CartPole-v1, 100 greedy episodes", columns, rows)
    solved = all(run.return_mean > LEAST_RETURN and run.decisions <= MOST_DECISIONS for run in trained)
    keep("cartpole_learning", __doc__ or "", {"solved": solved, "runs": [asdict(run) for run in trained]})
    print("yes" if solved else "no")
    return 0 if solved else 1


if __name__ == "__main__":
    sys.exit(main())
